"""Numbers in intervals that the audit could not place exactly: refused before anything is decided, not after all the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import Fault
from anon_spark.domain.policy import Column, IntervalHierarchy
from anon_spark.domain.values import parse

LARGEST, FINEST = 10**19, 10**10
"""The audit reads the ends of intervals as decimals of 20 digits before the point and 10 after it."""


def too_fine_or_large(columns: Sequence[Column], where: str) -> list[Fault]:
    """Faults of widths and bounds."""
    faults = []
    for column in columns:
        spec = column.hierarchy
        if isinstance(spec, IntervalHierarchy):
            given: list[tuple[str, Fraction | str | None]] = [("intervals", width) for width in spec.widths]
            given += [(name, getattr(spec, name)) for name in ("origin", "lower", "upper")]
            expected = "numbers below 10^19, with at most 10 decimal places"
            faults += [
                Fault(where, f"column {column.name}: hierarchy.{key}", _shown(number), expected)
                for key, number in given
                if _is_beyond(number)
            ]
    return faults


def too_large(columns: Sequence[Column], values: Sequence[Mapping[str | None, int]], where: str) -> list[Fault]:
    """Faults of values in intervals.  values: of each column, each distinct text with its rows."""
    faults = []
    for column, known in zip(columns, values, strict=True):
        if isinstance(column.hierarchy, IntervalHierarchy):
            beyond = [rows for text, rows in known.items() if text is not None and _is_large(text)]
            if beyond:
                found = f"{counted(len(beyond), 'distinct value')} of 10^19 or more in {counted(sum(beyond), 'row')}"
                advice = "shorten them in a query, or leave the hierarchy out in a local job"
                faults.append(Fault(where, f"column {column.name}", found, "numbers below 10^19 where intervals are printed", advice))
    return faults


def _is_beyond(number: Fraction | str | None) -> bool:
    if isinstance(number, str):
        found = parse("decimal", number)
        number = Fraction(found) if isinstance(found, (int, Decimal)) else None
    return number is not None and (not -LARGEST < number < LARGEST or (number * FINEST).denominator != 1)


def _is_large(text: str) -> bool:
    found = parse("decimal", text)
    return isinstance(found, (int, Decimal)) and not -LARGEST < found < LARGEST


def _shown(number: Fraction | str | None) -> str:
    return str(number) if not isinstance(number, Fraction) or number.denominator == 1 else f"{float(number):.12g}"
