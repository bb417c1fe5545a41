"""Reading the canonical text of a value (what Spark's cast to a string gives) and printing values back. Exact: no floats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np

Kind = Literal["text", "integer", "decimal", "date", "timestamp", "boolean"]
Value = int | Decimal | str
"""integer: int; decimal: Decimal; date: proleptic ordinal (0001-01-01 is 1); timestamp: microseconds, ordinal * DAY + time of
day; boolean: 0 or 1; text: str. NaN and the infinities of numbers are their text (SPECIALS)."""

SPECIALS = ("-Infinity", "Infinity", "NaN")
DAY = 86_400_000_000
"""Microseconds of a day."""
LAST_DAY = date.max.toordinal()

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIMESTAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?)?")
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


def _integer(text: str) -> Value | None:
    text = text.strip(" ")
    if _INTEGER.fullmatch(text):
        return int(text)
    return text if text in SPECIALS else None


def _decimal(text: str) -> Value | None:
    text = text.strip(" ")
    if _DECIMAL.fullmatch(text):
        return Decimal(text)
    return text if text in SPECIALS else None


def _date(text: str) -> Value | None:
    found = _DATE.fullmatch(text.strip(" "))
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3])).toordinal()
    except ValueError:
        return None


_day = lru_cache(1 << 15)(_date)


def _timestamp(text: str) -> Value | None:
    found = _TIMESTAMP.fullmatch(text.strip(" "))
    if found is None:
        return None
    day = _day(found[1])
    hour, minute, second = int(found[2] or 0), int(found[3] or 0), int(found[4] or 0)
    if not isinstance(day, int) or hour > 23 or minute > 59 or second > 59:
        return None
    return day * DAY + ((hour * 60 + minute) * 60 + second) * 1_000_000 + int((found[5] or "").ljust(6, "0"))


def _boolean(text: str) -> Value | None:
    return {"false": 0, "true": 1}.get(text.strip(" ").lower())


def _text(text: str) -> Value | None:
    return text


_READERS: Mapping[Kind, Callable[[str], Value | None]] = {
    "text": _text,
    "integer": _integer,
    "decimal": _decimal,
    "date": _date,
    "timestamp": _timestamp,
    "boolean": _boolean,
}


def parse(kind: Kind, text: str) -> Value | None:
    """The value that ``text`` shows, None where it shows none of that kind. Blanks around it and leading zeros don't count."""
    return _READERS[kind](text)


def parse_all(kind: Kind, texts: Iterable[str]) -> dict[str, Value | None]:
    """``parse`` of many texts."""
    read = _READERS[kind]
    return {text: read(text) for text in texts}


def print_value(kind: Kind, value: Value, text: str) -> str:
    """How ``value``, read from ``text``, is published untouched.

    Numbers are in plain notation, without exponent, plus sign, leading zeros or a negative zero; a decimal keeps its written
    places (1.50), one that was written with an exponent has at least one and no needless ones.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return _print_decimal(value, text)
    if kind == "date":
        return print_day(value)
    if kind == "timestamp":
        return print_timestamp(value)
    return ("false", "true")[value] if kind == "boolean" else str(value)


def _print_decimal(value: Decimal, text: str) -> str:
    digits = format(value, "f")
    if not value:
        digits = digits.lstrip("-")
    if "e" in text or "E" in text:
        whole, _, places = digits.partition(".")
        return f"{whole}.{places.rstrip('0') or '0'}"
    return digits


def print_timestamp(value: int) -> str:
    """``2020-01-02 03:04:05.5`` of microseconds; no fraction where it is 0."""
    day, rest = divmod(value, DAY)
    seconds, micros = divmod(rest, 1_000_000)
    fraction = f".{micros:06d}".rstrip("0") if micros else ""
    return f"{print_day(day)} {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{fraction}"


@lru_cache(1 << 15)
def print_day(ordinal: int) -> str:
    """The ISO date of an ordinal, held within years 1 to 9999."""
    return date.fromordinal(min(max(ordinal, 1), LAST_DAY)).isoformat()


def print_scaled(number: int, places: int) -> str:
    """number / 10**places in plain notation with at least one decimal place and no needless ones."""
    digits = str(abs(number)).rjust(places + 1, "0")
    whole, rest = (digits[:-places], digits[-places:]) if places else (digits, "")
    return f"{'-' if number < 0 else ''}{whole}.{rest.rstrip('0') or '0'}"


def decimal_places(number: Fraction) -> int | None:
    """Decimal places that write ``number`` exactly, None where none do (1/3)."""
    rest, places = number.denominator, 0
    while rest % 10 == 0:
        rest, places = rest // 10, places + 1
    for prime in (2, 5):
        while rest % prime == 0:
            rest, places = rest // prime, places + 1
    return places if rest == 1 else None


def places_of(values: Iterable[Value]) -> int:
    """The most decimal places that any of the numbers is written with."""
    return max((-int(value.as_tuple().exponent) for value in values if isinstance(value, Decimal)), default=0)


def scaled(values: Iterable[Value], places: int) -> list[int]:
    """Each number times 10**places, which must make it whole."""
    if not places:
        return [int(value) for value in values]
    factor = 10**places
    return [int(value.scaleb(places, _EXACT)) if isinstance(value, Decimal) else int(value) * factor for value in values]


def integers(numbers: list[int], *others: int) -> np.ndarray:
    """The numbers as int64, or as Python integers where they or the ``others`` that they will meet are too large for it."""
    small = all(abs(number) < 2**60 for number in (*others, *((min(numbers), max(numbers)) if numbers else ())))
    return np.array(numbers, dtype=np.int64 if small else object)
