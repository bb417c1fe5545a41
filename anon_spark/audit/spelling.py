"""One spelling a number and a moment, in Python and in Spark alike: ``007`` is ``7``, ``1.50`` is ``1.5``, ``1e1`` is ``10``."""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

_PLAIN = r"\A[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)\z"
_SCIENTIFIC = r"\A([+-]?)([0-9]+(?=[.eE])|(?=[.][0-9]))[.]?([0-9]*)[eE]([+-]?[0-9]{1,3})\z"
_SHORTEST = r"\A(0|-?[1-9][0-9]*)\z"
_SIGN_AND_ZEROS = (
    (r"\A[+]", ""),
    (r"(?<![0-9])[.](?=[0-9])", "0."),
    (r"\A(-?)0+(?=[0-9])", "$1"),
)
_PLACES = (
    (r"([.][0-9]*[1-9])0+\z", "$1"),
    (r"[.]0*\z", ""),
    (r"\A-0\z", "0"),
)
_MOMENT = r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]*)?)?)?\z"
_TIME_OF_DAY = (
    (r"\A(.{10})\z", "$1 00:00:00"),
    (r"\A(.{10})T", "$1 "),
    (r"\A(.{10} [0-9]{2}:[0-9]{2})\z", "$1:00"),
    (r"([.][0-9]*?)0+\z", "$1"),
    (r"[.]\z", ""),
)


def _python(pattern: str) -> str:
    return pattern.replace(r"\z", r"\Z")


def _replaced(text: str, steps: tuple[tuple[str, str], ...]) -> str:
    for pattern, replacement in steps:
        text = re.sub(_python(pattern), replacement.replace("$", "\\"), text)
    return text


def _replaced_column(text: Column, steps: tuple[tuple[str, str], ...]) -> Column:
    for pattern, replacement in steps:
        text = F.regexp_replace(text, pattern, replacement)
    return text


def is_number(text: str) -> bool:
    """Whether a text is a number, blanks around it aside."""
    return any(re.search(_python(pattern), text.strip(" ")) for pattern in (_PLAIN, _SCIENTIFIC))


def spelled(text: str) -> str:
    """The one spelling of a number, in plain notation; other texts stay as they are."""
    return _replaced(_without_exponent(text.strip(" ")), (*_SIGN_AND_ZEROS, *_PLACES)) if is_number(text) else text


def spelled_moment(text: str) -> str:
    """A day or moment with its time of day to the second, and a fraction without needless zeros; other texts stay as they are."""
    bare = text.strip(" ")
    return _replaced(bare, _TIME_OF_DAY) if re.search(_python(_MOMENT), bare) else text


def _without_exponent(text: str) -> str:
    found = re.search(_python(_SCIENTIFIC), text)
    if found is None:
        return text
    sign, whole, places, exponent = found.groups()
    digits, point = whole + places, len(whole) + int(exponent)
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return sign + digits.ljust(point, "0")[:point] + ("." + digits[point:] if point < len(digits) else "")


def spelled_column(text: Column) -> Column:
    """``spelled`` of a text column. The commonest case, a whole number that is already so, takes one look."""
    bare = F.trim(text)
    return F.when(bare.rlike(_SHORTEST), bare).when(_is_number(bare), _replaced_column(plain_column(text), _PLACES)).otherwise(text)


def plain_column(text: Column) -> Column:
    """Numbers without plus sign, leading zeros or exponent, with the decimal places that they are written with; other texts as they are."""
    bare = F.trim(text)
    number = F.when(bare.rlike(_SCIENTIFIC), _column_without_exponent(bare)).otherwise(bare)
    return F.when(_is_number(bare), _replaced_column(number, _SIGN_AND_ZEROS)).otherwise(text)


def spelled_moment_column(text: Column) -> Column:
    """``spelled_moment`` of a text column."""
    bare = F.trim(text)
    return F.when(bare.rlike(_MOMENT), _replaced_column(bare, _TIME_OF_DAY)).otherwise(text)


def _is_number(bare: Column) -> Column:
    return bare.rlike(_PLAIN) | bare.rlike(_SCIENTIFIC)


def _column_without_exponent(text: Column) -> Column:
    sign, whole, places, exponent = (F.regexp_extract(text, _SCIENTIFIC, group) for group in (1, 2, 3, 4))
    digits = F.concat(whole, places)
    # what does not match has no exponent to cast
    point = F.length(whole) + F.when(exponent != "", exponent).otherwise("0").cast("int")
    beyond = point - F.length(digits)
    return F.concat(
        sign,
        F.when(point <= 0, F.concat(F.lit("0."), F.call_function("repeat", F.lit("0"), -point), digits))
        .when(beyond >= 0, F.concat(digits, F.call_function("repeat", F.lit("0"), beyond)))
        .otherwise(F.concat(digits.substr(F.lit(1), point), F.lit("."), digits.substr(point + 1, F.length(digits)))),
    )
