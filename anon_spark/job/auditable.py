"""Values in intervals that the audit could not place exactly: refused before anything is decided, not after all the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import Fault
from anon_spark.domain.intervals import LARGEST
from anon_spark.domain.policy import Column, IntervalHierarchy
from anon_spark.domain.values import parse


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


def _is_large(text: str) -> bool:
    found = parse("decimal", text)
    return isinstance(found, (int, Decimal)) and not -LARGEST < found < LARGEST
