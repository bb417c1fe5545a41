"""Whether printed intervals end on a configured grid (METHODS 2.1; widths, origin, open ends)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from functools import partial, reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from anon_spark.audit.printed import NUMBER, PrintedInterval, ReadLabel, to_day
from anon_spark.audit.words import figure
from anon_spark.domain.policy import IntervalHierarchy

_TYPE = "decimal(30, 10)"
_EPOCH = date(1970, 1, 1)
_UNITS = ("number", "day")


def with_grid(
    classes: DataFrame, text: ReadLabel, spec: IntervalHierarchy, widths: Sequence[Fraction]
) -> tuple[DataFrame, Column]:
    """(classes with more columns, whether a label is an interval of one of the widths).

    Whole or cut at lower or upper, or an open end; a single value counts as the closed range of itself. Numbers in units of 1,
    dates in days since 1970.
    """
    read = PrintedInterval(text.label)
    step = F.expr(f"CASE WHEN {read.open_end} THEN 0 ELSE 1 END")
    found: Column = F.lit(False)
    for unit in filter(partial(_speaks, spec), _UNITS):
        low, high = f"{text.low}_{unit}", f"{text.high}_{unit}"
        classes = classes.withColumns({low: F.expr(_read(text.low, unit)), high: F.expr(_read(text.high, unit))})
        cell = _Cell(F.col(low), F.col(high), step, spec, unit)
        fits = cell.inside & reduce(or_, map(cell.fits, widths), F.lit(False))
        below = F.lit(False) if cell.lower is None else F.expr(read.below) & (cell.stop == cell.lower)
        above = F.lit(False) if cell.upper is None else F.expr(read.above) & (cell.low == cell.upper)
        found = reduce(or_, (F.coalesce(test, F.lit(False)) for test in (fits, below, above)), found)
    return classes, found


class _Cell:
    """A closed (step 1) or half-open (step 0) interval as columns."""

    def __init__(self, low: Column, high: Column, step: Column, spec: IntervalHierarchy, unit: str):
        self.low, self.high, self.stop, self.unit = low, high, high + step, unit
        self.ordered = (low <= high) & ((low < high) | (step == 1))
        self.origin, self.lower, self.upper = (_bound(bound, unit) for bound in (spec.origin, spec.lower, spec.upper))

    @property
    def inside(self) -> Column:
        """In order, and between lower and upper."""
        held = self.ordered
        held = held if self.lower is None else held & (self.low >= self.lower)
        return held if self.upper is None else held & (self.stop <= self.upper)

    def fits(self, width: Fraction) -> Column:
        """Begins on the grid or at lower; ends one width further or, before that, at upper."""
        wide = _literal(figure(width))
        begin = self.low - F.pmod(self.low - (_literal("0") if self.origin is None else self.origin), wide)
        begins, ends = self.low == begin, self.stop == begin + wide
        for first in self._cuts(self.lower, date.min, 0):
            begins = begins | (self.low == first)
        for last in self._cuts(self.upper, date.max, 1):
            ends = ends | ((self.stop == last) & (self.stop <= begin + wide))
        return begins & ends

    def _cuts(self, bound: Column | None, edge: date, step: int) -> list[Column]:
        # Days are written in years 1 to 9999, so the first and last intervals of the calendar are cut there.
        calendar = [_literal(str((edge - _EPOCH).days + step))] if self.unit == "day" else []
        return calendar if bound is None else [bound, *calendar]


def _read(text: str, unit: str) -> str:
    if unit == "day":
        return f"CAST(unix_date({to_day(text)}) AS {_TYPE})"
    return f"CASE WHEN {text} RLIKE '{NUMBER}' THEN try_cast({text} AS {_TYPE}) END"


def _bound(bound: Fraction | str | None, unit: str) -> Column | None:
    if bound is None:
        return None
    if unit == "day":
        return _literal(str((date.fromisoformat(str(bound)) - _EPOCH).days))
    return _literal(bound if isinstance(bound, str) else figure(bound))


def _speaks(spec: IntervalHierarchy, unit: str) -> bool:
    """Whether every bound that is given is of this unit."""
    given = [bound for bound in (spec.origin, spec.lower, spec.upper) if bound is not None]
    return all((isinstance(bound, str) and _is_day(bound)) == (unit == "day") for bound in given)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _literal(number: str) -> Column:
    return F.lit(number).cast(_TYPE)
