"""One spelling a number, in Python and in Spark alike: ``007`` is ``7``, ``1.50`` is ``1.5``, ``.5`` is ``0.5``."""

from __future__ import annotations

import math
import re

from pyspark.sql import Column
from pyspark.sql import functions as F

_PLAIN = r"\A[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)\z"
_SHORTEST = r"\A(0|-?[1-9][0-9]*)\z"
_STEPS = (
    (r"\A[+]", ""),
    (r"(?<![0-9])[.](?=[0-9])", "0."),
    (r"\A(-?)0+(?=[0-9])", "$1"),
    (r"([.][0-9]*[1-9])0+\z", "$1"),
    (r"[.]0*\z", ""),
    (r"\A-0\z", "0"),
)


def _python(pattern: str) -> str:
    return pattern.replace(r"\z", r"\Z")


def is_number(text: str) -> bool:
    """Whether a text is a number in plain notation, blanks around it aside."""
    return re.search(_python(_PLAIN), text.strip(" ")) is not None


def spelled(text: str) -> str:
    """The one spelling of a number in plain notation; other texts stay as they are."""
    if is_number(text):
        text = text.strip(" ")
        for pattern, replacement in _STEPS:
            text = re.sub(_python(pattern), replacement.replace("$", "\\"), text)
    return text


def spellings(text: str) -> tuple[str, ...]:
    """Every spelling that ``spelled_column`` can make of a text that shows this number; with Java's E notation of doubles."""
    plain = spelled(text)
    if not is_number(plain) or not math.isfinite(float(plain)):
        return (plain,)
    mantissa, _, exponent = f"{float(plain):e}".partition("e")
    shortest = repr(float(plain))
    digits = re.sub(r"e.*|[-.]", "", shortest).strip("0") or "0"
    sign = "-" if mantissa.startswith("-") else ""
    return plain, f"{sign}{digits[0]}.{digits[1:] or '0'}E{int(exponent)}"


def spelled_column(text: Column) -> Column:
    """``spelled`` of a text column. The commonest case, a whole number that is already so, takes one look."""
    bare = F.trim(text)
    number = bare
    for pattern, replacement in _STEPS:
        number = F.regexp_replace(number, pattern, replacement)
    return F.when(bare.rlike(_SHORTEST), bare).when(bare.rlike(_PLAIN), number).otherwise(text)
