"""The kinds of single values that a configuration holds, each read exactly and strictly, with advice for a wrong one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import PlainValidator

from anon_spark.config.notes import did_you_mean, show

LARGEST = 2**63 - 1
_WRITTEN = re.compile(r"[-+]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?|[0-9]+/0*[1-9][0-9]*)")
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")
_FLAGS = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}


class Refused(ValueError):
    """A value that is not what its key takes. ``{key}`` in the advice stands for the key's own name."""

    def __init__(self, found: str, expected: str, advice: str = "") -> None:
        super().__init__(found)
        self.found, self.expected, self.advice = found, expected, advice


def exact(value: object) -> Fraction | None:
    """A number as the decimal (or the fraction "1/3") it was written as, 0.1 being 1/10; None where it is none, or not finite."""
    number = _fraction(value)
    return number if number is not None and _is_double(number) else None


def _is_double(number: Fraction) -> bool:
    """Whether a double comes near it, as reports hold it: to them 1e-400 is 0. What takes a thousand digits would stop arithmetic, too."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > 4000:
        return False
    try:
        return number == 0 or float(number) != 0
    except OverflowError:
        return False


def _fraction(value: object) -> Fraction | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if isinstance(value, float):
        return Fraction(repr(float(value))) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        # 1E+999999999 would fill the memory
        return Fraction(value) if value.is_finite() and abs(value.adjusted()) < 1000 else None
    if isinstance(value, str) and len(value) <= 1000 and _WRITTEN.fullmatch(value):
        return Fraction(value)
    return None


def written(value: object) -> str | None:
    """A scalar as the text it was written as (true, 1, 0.50); None for null, lists and mappings."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() and abs(value.adjusted()) < 1000 else None
    if isinstance(value, int):
        return str(value) if abs(value) <= LARGEST else None
    return repr(float(value)) if isinstance(value, float) else None


def decimal(value: Fraction) -> str:
    """A fraction as an exact decimal where it has one, else as "1/3"."""
    rest, places = value.denominator, 0
    while rest % 10 == 0 or rest % 5 == 0 or rest % 2 == 0:
        rest, places = rest // math.gcd(rest, 10), places + 1
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


@dataclass(frozen=True)
class Number:
    """An exact number between two bounds, each part of the range unless open; a share reads 5 or "5%" as a slip for 0.05."""

    words: str
    low: Fraction | None = None
    high: Fraction | None = None
    open_low: bool = False
    open_high: bool = False
    share: bool = False

    def __call__(self, value: object) -> Fraction:
        number = exact(value)
        if number is None:
            raise Refused(show(value), self.words, self._slip(value))
        below = self.low is not None and (number < self.low or (self.open_low and number == self.low))
        above = self.high is not None and (number > self.high or (self.open_high and number == self.high))
        if below or above:
            raise Refused(show(value), self.words, self._percent(number) if above and self.share else "")
        return number

    def _slip(self, value: object) -> str:
        percent = _PERCENT.fullmatch(value) if isinstance(value, str) else None
        if percent:
            return self._percent(Fraction(percent[1]))
        number = isinstance(value, (int, Decimal)) or (isinstance(value, str) and _WRITTEN.fullmatch(value[:1000]))
        return "between 1e-300 and 1e300" if number and not isinstance(value, bool) else ""

    def _percent(self, number: Fraction) -> str:
        # alpha: 1.5 is hardly 1.5 %
        likely = number >= 2 or self.open_high
        return f"a share of 1: {decimal(number)} % is {decimal(number / 100)}" if likely and number <= 100 else ""


@dataclass(frozen=True)
class Whole:
    """An integer between two bounds, both part of the range; text, true and 5.0 are none."""

    low: int
    high: int = LARGEST

    def __call__(self, value: object) -> int:
        bounded = self.low > -LARGEST
        words = f"an integer >= {self.low}" if bounded else "an integer of 64 bits"
        if isinstance(value, bool) or not isinstance(value, int):
            raise Refused(show(value), words, _unquoted(value))
        if not self.low <= value <= self.high:
            raise Refused(show(value), f"{words}, of 64 bits" if bounded and value > self.high else words)
        return value


def _unquoted(value: object) -> str:
    number = exact(value)
    if number is None or number.denominator != 1 or abs(number) > LARGEST:
        return ""
    return f"{{key}}={value!r} is text; write {number} without quotes" if isinstance(value, str) else f"write {number}"


def value_text(value: object) -> str:
    """A data value as text; an unquoted number or true stands for its text; null is none."""
    found = written(value)
    if found is None:
        raise Refused(show(value), "text", 'write "null" in quotes for the word itself' if value is None else "")
    return found


def name(value: object) -> str:
    """A name: as a data value, but not empty."""
    found = value_text(value)
    if not found:
        raise Refused("an empty text", "a name")
    return found


def text(value: object) -> str:
    """Text that is not blank; numbers are none."""
    if not isinstance(value, str):
        raise Refused(show(value), "text")
    if not value.strip():
        raise Refused("an empty text", "text")
    return value


def separator(value: object) -> str:
    """What stands between two fields: any text without line ends that is not empty, a blank or a tab included."""
    if not isinstance(value, str) or not value or "\n" in value or "\r" in value:
        raise Refused(show(value), "the text between two fields of a line, such as ';'")
    return value


def one_character(value: object) -> str:
    """One character; a digit may stand without quotes."""
    found = written(value)
    if found is None or len(found) != 1 or found.isspace():
        raise Refused(show(value), "one character")
    return found


def flag(value: object) -> bool:
    """true or false; yes, on and their kind are text, with advice."""
    if not isinstance(value, bool):
        meant = _FLAGS.get(value.lower()) if isinstance(value, str) else None
        raise Refused(show(value), "true or false", f"write {meant} without quotes" if meant else "")
    return value


def point(value: object) -> Fraction | str:
    """A place on a number line: an exact number, or a date or timestamp as ISO text."""
    number = exact(value)
    if number is not None:
        return number
    if isinstance(value, str) and instant(value) is not None:
        return value
    raise Refused(show(value), "a number, or an ISO date such as 2020-01-31")


def instant(value: str) -> datetime | None:
    """An ISO date or timestamp without a zone; None where the text is none."""
    try:
        day = date.fromisoformat(value)
        return datetime(day.year, day.month, day.day)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is None else None


def choice(names: tuple[str, ...], told: tuple[str, ...] = ()) -> Any:
    """The validator of a key that takes one of a few names. told: those of them that are worth naming, where it is not all."""
    told = told or names

    def chosen(value: object) -> str:
        if not isinstance(value, str) or value not in names:
            raise Refused(show(value), "one of " + ", ".join(told), did_you_mean(value, told))
        return value

    return PlainValidator(chosen)


def checked(check: Callable[[object], Any]) -> Any:
    """The validator made of one of the functions above."""
    return PlainValidator(check)


Name = Annotated[str, checked(name)]
Value = Annotated[str, checked(value_text)]
Text = Annotated[str, checked(text)]
Flag = Annotated[bool, checked(flag)]
Count = Annotated[int, checked(Whole(1))]
Level = Annotated[int, checked(Whole(0))]
Positive = Annotated[Fraction, checked(Number("a number > 0", low=Fraction(0), open_low=True))]
AtLeastOne = Annotated[Fraction, checked(Number("a number >= 1", low=Fraction(1)))]
Share = Annotated[Fraction, checked(Number("a number in [0, 1]", Fraction(0), Fraction(1), share=True))]
PositiveShare = Annotated[Fraction, checked(Number("a number in (0, 1]", Fraction(0), Fraction(1), open_low=True, share=True))]
Limit = Annotated[Fraction, checked(Number("a number in [0, 1)", Fraction(0), Fraction(1), open_high=True, share=True))]
