"""Grids of intervals over numbers and days (METHODS 2.1)."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import pairwise, starmap

import numpy as np

from anon_spark.domain.errors import Fault
from anon_spark.domain.ladder import Rung, runs
from anon_spark.domain.policy import IntervalHierarchy
from anon_spark.domain.values import DAY, Kind, Value, decimal_places, integers, parse, places_of, print_day, print_scaled, scaled

EPOCH = date(1970, 1, 1).toordinal()
LARGEST, FINEST = 10**19, 10**10
"""The audit reads the ends of intervals as decimals of 20 digits before the point and 10 after it."""


def is_whole(spec: IntervalHierarchy) -> bool:
    """Whether widths and bounds are all whole numbers."""
    numbers = [*spec.widths, *(_number("decimal", bound) for bound in (spec.origin, spec.lower, spec.upper))]
    return all(number is None or number.denominator == 1 for number in numbers)


def is_exact(number: Fraction) -> bool:
    """Whether the audit can read a width or a bound exactly."""
    return -LARGEST < number < LARGEST and (number * FINEST).denominator == 1


def holds_dates(spec: IntervalHierarchy) -> bool:
    """Whether the origin or a bound is written as a date."""
    return any(isinstance(bound, str) and parse("date", bound) is not None for bound in (spec.origin, spec.lower, spec.upper))


def interval_faults(spec: IntervalHierarchy, kind: Kind, where: str, key: str) -> list[Fault]:
    """Everything wrong with the widths and bounds for values of ``kind``."""
    widths = ", ".join(_shown(width) for width in spec.widths)
    faults = []
    if not spec.widths or min(spec.widths) <= 0:
        faults.append(Fault(where, f"{key}.intervals", f"widths [{widths}]", "one or more widths above 0"))
    for level, (finer, coarser) in enumerate(pairwise(spec.widths), start=1):
        if finer > 0 and (coarser / finer).denominator != 1:
            found = f"that level {level + 1} is not a coarsening of level {level} (widths [{widths}])"
            expected = f"each width a multiple of the one before, {_shown(coarser)} is none of {_shown(finer)}"
            faults.append(Fault(where, f"{key}.intervals", found, expected))
    if kind == "decimal" and any(decimal_places(width) is None for width in spec.widths):
        faults.append(Fault(where, f"{key}.intervals", f"widths [{widths}]", "widths with an end to their decimal places"))
    if kind != "decimal" and any(width.denominator != 1 for width in spec.widths):
        unit = "integers" if kind == "integer" else "whole days"
        faults.append(Fault(where, f"{key}.intervals", f"widths [{widths}]", f"{unit}, for a column of kind {kind}"))
    for name in ("origin", "lower", "upper"):
        bound = getattr(spec, name)
        if bound is not None and _number(kind, bound) is None:
            expected = {"integer": "an integer", "decimal": "a decimal number"}.get(kind, "an ISO date such as 1970-01-01")
            faults.append(Fault(where, f"{key}.{name}", _shown(bound), f"{expected}, for a column of kind {kind}"))
    low, high = _number(kind, spec.lower), _number(kind, spec.upper)
    if low is not None and high is not None and low >= high:
        faults.append(Fault(where, f"{key}.lower", f"{_shown(spec.lower)} with upper {_shown(spec.upper)}", "lower below upper"))
    return faults


def interval_rungs(spec: IntervalHierarchy, kind: Kind, values: list[Value]) -> tuple[tuple[Rung, ...], int]:
    """Levels 1 and up without the root, over distinct finite values in ascending order, and the extent of the values.

    Integers and days: closed labels ``[20, 24]``, a single one as itself. Decimals: ``[20.0, 25.0)``. The spec has no faults.
    """
    origin, lower, upper = (_number(kind, bound) for bound in (spec.origin, spec.lower, spec.upper))
    if origin is None:
        origin = Fraction(EPOCH if kind in ("date", "timestamp") else 0)
    given = [number for number in (*spec.widths, origin, lower, upper) if number is not None]
    places = max(places_of(values), *(decimal_places(number) or 0 for number in given)) if kind == "decimal" else 0
    factor = 10**places
    numbers = scaled(values, places)
    extent = numbers[-1] - numbers[0] if numbers else 0
    array = integers(numbers, *(int(number * factor) for number in given))
    ends = tuple(None if end is None else int(end * factor) for end in (lower, upper))
    grid = _Grid(kind, places, int(origin * factor), ends[0], ends[1], array)
    return tuple(grid.rung(int(width * factor)) for width in spec.widths), extent


class _Grid:
    """Sorted values in units of 10**-places (timestamps: days for the grid, microseconds for spans), an origin and open ends."""

    def __init__(self, kind: Kind, places: int, origin: int, lower: int | None, upper: int | None, values: np.ndarray):
        self.kind, self.places, self.origin, self.lower, self.upper, self.values = kind, places, origin, lower, upper, values
        self.points = values // DAY if kind == "timestamp" else values
        beside = np.zeros(len(values), bool)
        self.below = beside if lower is None else (self.points < lower).astype(bool)
        self.above = beside if upper is None else (self.points >= upper).astype(bool)

    def rung(self, width: int) -> Rung:
        step = (self.points - self.origin) // width
        start = self.origin + step * width
        stop = start + width
        if self.lower is not None:
            start = np.maximum(start, self.lower)
        if self.upper is not None:
            stop = np.minimum(stop, self.upper)
        within = ~(self.below | self.above)
        nodes, first = runs(np.where(within, step, 0), self.below, self.above)
        ends = zip(*(array[first].tolist() for array in (self.below, self.above, start, stop)), strict=True)
        return Rung(nodes, tuple(starmap(self._label, ends)), self._spans(start, stop))

    def _spans(self, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        if not len(self.values):
            return self.values
        if self.lower is not None:
            stop = np.where(self.below, self.lower, stop)
        if self.upper is not None:
            start = np.where(self.above, self.upper, start)
        low, high = self._measured(start), self._measured(stop) - (self.kind in ("integer", "date"))
        smallest, largest = self.values[0], self.values[-1]
        low = np.where(self.below, smallest, np.maximum(low, smallest))
        return np.where(self.above, largest, np.minimum(high, largest)) - low

    def _measured(self, points: np.ndarray) -> np.ndarray:
        return points * DAY if self.kind == "timestamp" else points

    def _label(self, below: bool, above: bool, start: int, stop: int) -> str:
        if below and self.lower is not None:
            return f"< {self._print(self.lower)}"
        if above and self.upper is not None:
            return f">= {self._print(self.upper)}"
        if self.kind == "decimal":
            return f"[{self._print(start)}, {self._print(stop)})"
        low, high = self._print(start), self._print(stop - 1)
        return low if low == high else f"[{low}, {high}]"

    def _print(self, number: int) -> str:
        if self.kind == "decimal":
            return print_scaled(number, self.places)
        return str(number) if self.kind == "integer" else print_day(number)


def _number(kind: Kind, bound: Fraction | str | None) -> Fraction | None:
    """A bound as a number of that kind (dates and timestamps: an ordinal), None where it is none."""
    if bound is None:
        return None
    if kind in ("date", "timestamp"):
        day = parse("date", bound) if isinstance(bound, str) else None
        return Fraction(day) if isinstance(day, int) else None
    if isinstance(bound, str):
        found = parse(kind, bound)
        return None if found is None or isinstance(found, str) else Fraction(found)
    fits = bound.denominator == 1 if kind == "integer" else decimal_places(bound) is not None
    return Fraction(bound) if fits else None


def _shown(number: Fraction | str | None) -> str:
    if not isinstance(number, Fraction):
        return str(number)
    places = decimal_places(number)
    if number.denominator == 1 or places is None:
        return str(number)
    return print_scaled(int(number * 10**places), places)
