"""Reading a printed interval in SQL: its ends, whether they are in order, and whether a value lies between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

Cast = Callable[[str], str]
"""SQL of a text -> SQL of its value, null where the text shows none."""


@dataclass(frozen=True)
class PrintedInterval:
    """SQL of the parts of a label: ``[20, 24]``, ``[20.0, 25.0)``, ``< 20``, ``<= 19``, ``>= 90`` or a value, both its ends.

    label: SQL of its text. The ends are texts, null where the label has none on that side.
    """

    label: str

    @property
    def low(self) -> str:
        x = self.label
        return (
            f"CASE WHEN {self._range} THEN substring({x}, 2, locate(', ', {x}) - 2) WHEN {self.above} THEN substring({x}, 4)"
            f" WHEN {self.below} THEN NULL ELSE {x} END"
        )

    @property
    def high(self) -> str:
        x = self.label
        return (
            f"CASE WHEN {self._range} THEN substring({x}, locate(', ', {x}) + 2, length({x}) - locate(', ', {x}) - 2)"
            f" WHEN startswith({x}, '<= ') THEN substring({x}, 4) WHEN startswith({x}, '< ') THEN substring({x}, 3)"
            f" WHEN {self.above} THEN NULL ELSE {x} END"
        )

    @property
    def below(self) -> str:
        return f"(startswith({self.label}, '< ') OR startswith({self.label}, '<= '))"

    @property
    def above(self) -> str:
        return f"startswith({self.label}, '>= ')"

    @property
    def open_end(self) -> str:
        """Whether the high end itself lies outside."""
        return f"(endswith({self.label}, ')') OR startswith({self.label}, '< '))"

    @property
    def _range(self) -> str:
        return f"(startswith({self.label}, '[') AND (endswith({self.label}, ']') OR endswith({self.label}, ')')))"


@dataclass(frozen=True)
class ReadLabel:
    """Names of columns (SQL): the label, and the two ends that PrintedInterval reads from it, computed once a row.

    valued: whether there are columns, too, of the values of the ends (``with_values``).
    """

    label: str
    low: str
    high: str
    valued: bool = False

    def in_order(self, cast: Cast) -> str:
        """SQL: whether the low end is below the high end, or at it where that belongs to the interval; null where not read."""
        low, high = cast(self.low), cast(self.high)
        return f"CASE WHEN {PrintedInterval(self.label).open_end} THEN {low} < {high} ELSE {low} <= {high} END"

    def over(self, value: str, cast: Cast, read_value: str = "") -> str:
        """SQL: whether a value's text lies under the label; null where either can't be read.  read_value: SQL of the value, if it was read
        before."""
        read = PrintedInterval(self.label)
        v, low, high = read_value or cast(value), self.value(self.low, cast), self.value(self.high, cast)
        below, above, open_end = read.below, read.above, read.open_end
        if self.valued:
            below, above, open_end = (f"{self.label}_{part}" for part in ("below", "above", "open"))
        return (
            f"(({below} OR {v} >= {low})"
            f" AND ({above} OR CASE WHEN {open_end} THEN {v} < {high} ELSE {v} <= {high} END))"
        )

    def value(self, end: str, cast: Cast) -> str:
        """SQL: the value of an end."""
        return f"{end}_{cast.__name__}" if self.valued else cast(end)


# A cast that fails costs as much as a hundred that succeed (an exception is thrown and caught), so each is tried on texts that fit.
_WHOLE, _LONG_WHOLE = "^ *[+-]?[0-9]{1,18} *$", "^ *[+-]?[0-9]{1,38} *$"
_DECIMAL = "^ *[+-]?([0-9]{1,20}([.][0-9]*)?|[.][0-9]+) *$"
NUMBER = "^ *[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})? *$"


def to_whole(text: str) -> str:
    """bigint of up to 18 digits; texts with a point or an exponent show none."""
    return f"CASE WHEN {text} RLIKE '{_WHOLE}' THEN try_cast({text} AS bigint) END"


def to_long_whole(text: str) -> str:
    """A whole number of up to 38 digits; texts with a point or an exponent show none."""
    return f"CASE WHEN {text} RLIKE '{_LONG_WHOLE}' THEN try_cast({text} AS decimal(38, 0)) END"


def to_decimal(text: str) -> str:
    """decimal(38, 18); none for E notation, which may hold more places than that."""
    return f"CASE WHEN {text} RLIKE '{_DECIMAL}' THEN try_cast({text} AS decimal(38, 18)) END"


def to_double(text: str) -> str:
    """A finite double; none for NaN, infinities and Java's suffixes."""
    return f"CASE WHEN {text} RLIKE '{NUMBER}' THEN try_cast({text} AS double) END"


def to_day(text: str) -> str:
    """A date in ISO form, nothing shorter."""
    return f"CASE WHEN {text} RLIKE '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$' THEN try_cast({text} AS date) END"


def to_moment(text: str) -> str:
    """A timestamp without zone, at least a whole ISO date."""
    return f"CASE WHEN {text} RLIKE '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}' THEN try_cast({text} AS timestamp_ntz) END"


_NUMBERS = (to_whole, to_long_whole, to_decimal, to_double)
_DECIMALS = (to_decimal, to_long_whole, to_double)
"""A later one is asked only where those before it read nothing; decimals are seldom whole."""


NUMBERS, DAYS = frozenset(_NUMBERS), frozenset((to_day, to_moment))


def with_values(df: DataFrame, read: ReadLabel, casts: frozenset[Cast]) -> DataFrame:
    """df with columns of what ``over`` asks of a label alone."""
    interval = PrintedInterval(read.label)
    asked = {"below": interval.below, "above": interval.above, "open": interval.open_end}
    found = {f"{read.label}_{name}": F.expr(f"({sql})") for name, sql in asked.items()}
    for cast in (*_NUMBERS, to_day, to_moment):
        if cast in casts:
            found |= {f"{end}_{cast.__name__}": F.expr(cast(end)) for end in (read.low, read.high)}
    return df.withColumns(found)


def read_before(label: str) -> ReadLabel:
    """What ``with_ends``, of the label's own name, and ``with_values`` have read."""
    return ReadLabel(label, f"{label}_low", f"{label}_high", valued=True)


def with_ends(df: DataFrame, label: str, prefix: str) -> tuple[DataFrame, ReadLabel]:
    """(df with the two ends of a label in columns of its own, their names)."""
    read, ends = ReadLabel(label, f"{prefix}_low", f"{prefix}_high"), PrintedInterval(label)
    return df.withColumns({read.low: F.expr(ends.low), read.high: F.expr(ends.high)}), read


def number_under(value: str, label: ReadLabel, kind: str) -> str:
    """Whether a number's text lies under a label's: exact where 38 digits or 18 places show both, else as doubles."""
    casts = _DECIMALS if kind == "decimal" else _NUMBERS
    return f"coalesce({', '.join(label.over(value, cast) for cast in casts)}, false)"


def day_of(value: str) -> str:
    """The day of a date's or timestamp's text."""
    return to_day(f"substring(trim({value}), 1, 10)")


def day_under(value: str, label: ReadLabel, day: str) -> str:
    """Whether a date's or timestamp's text lies under a label's: by days where its ends are days, else by moments.  day: SQL of
    ``day_of`` the value."""
    by_day = label.over(value, to_day, day)
    return f"coalesce({by_day}, {label.over(f'trim({value})', to_moment)}, false)"


def ordered(label: ReadLabel) -> str:
    """Whether a label is a single number, day or moment, or an interval of two that is not empty."""
    return f"coalesce({', '.join(label.in_order(cast) for cast in (*_NUMBERS, to_day, to_moment))}, false)"


def same_number(value: str, label: str) -> str:
    """Whether two texts show one number."""
    return f"coalesce({', '.join(f'{cast(value)} = {cast(label)}' for cast in _NUMBERS)}, false)"
