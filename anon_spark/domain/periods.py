"""Calendar periods over dates and timestamps: hour, day, month, quarter, half, year, decade, century."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from anon_spark.domain.errors import Fault
from anon_spark.domain.intervals import EPOCH
from anon_spark.domain.ladder import Rung, runs
from anon_spark.domain.policy import DateHierarchy
from anon_spark.domain.values import DAY, Kind, Value, print_day

HOUR = DAY // 24
_MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}
UNITS = ("hour", "day", *_MONTHS)
"""From the finest to the coarsest; each is made of whole ones of those before it."""


def period_faults(spec: DateHierarchy, kind: Kind, where: str, key: str) -> list[Fault]:
    """Everything wrong with the units for values of ``kind``."""
    allowed = UNITS if kind == "timestamp" else UNITS[2:]
    faults = []
    for unit in spec.units:
        if unit not in allowed:
            advice = "hours and days are for timestamps" if unit in UNITS else ""
            faults.append(Fault(where, f"{key}.date", repr(unit), f"one of {', '.join(allowed)}", advice))
    places = [UNITS.index(unit) for unit in spec.units if unit in UNITS]
    if not spec.units or any(b <= a for a, b in pairwise(places)):
        expected = f"units from fine to coarse: {', '.join(allowed)}"
        faults.append(Fault(where, f"{key}.date", f"[{', '.join(spec.units)}]", expected))
    return faults


def period_rungs(spec: DateHierarchy, kind: Kind, values: list[Value]) -> tuple[tuple[Rung, ...], int]:
    """Levels 1 and up without the root, over distinct ordinals or microseconds in ascending order, and the extent of the values.

    Labels: ``1965-05-01 13`` (hour), ``1965-05-01``, ``1965-05``, ``1965-Q2``, ``1965-H1``, ``1965``, ``1960s``, ``1900-1999``.
    """
    array = np.array(values, dtype=np.int64)
    extent = int(array[-1] - array[0]) if len(array) else 0
    return tuple(_rung(unit, kind, array) for unit in spec.units), extent


def _rung(unit: str, kind: Kind, values: np.ndarray) -> Rung:
    days = values // DAY if kind == "timestamp" else values
    if unit in _MONTHS:
        width = _MONTHS[unit]
        period = _months(days) // width
        start, stop = _first_days(period * width), _first_days((period + 1) * width)
        if kind == "timestamp":
            start, stop = start * DAY, stop * DAY
    else:
        width = HOUR if unit == "hour" else DAY
        period = values // width
        start, stop = period * width, (period + 1) * width
    nodes, first = runs(period)
    labels = tuple(_label(unit, int(period[i])) for i in first)
    if not len(values):
        return Rung(nodes, labels, values)
    # The last day of a period belongs to it; of a period of timestamps the end is exclusive.
    last = stop - 1 if kind == "date" else stop
    return Rung(nodes, labels, np.minimum(last, values[-1]) - np.maximum(start, values[0]))


def _months(days: np.ndarray) -> np.ndarray:
    """Ordinals -> months since January of year 0."""
    return (days - EPOCH).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) + 1970 * 12


def _first_days(months: np.ndarray) -> np.ndarray:
    """Months since January of year 0 -> ordinals of their first days."""
    return (months - 1970 * 12).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + EPOCH


def _label(unit: str, period: int) -> str:
    if unit == "hour":
        return f"{print_day(period // 24)} {period % 24:02d}"
    if unit == "day":
        return print_day(period)
    if unit == "year":
        return f"{period:04d}"
    if unit == "decade":
        return f"{period * 10:04d}s"
    if unit == "century":
        return f"{period * 100:04d}-{period * 100 + 99:04d}"
    year, part = divmod(period, 12 // _MONTHS[unit])
    return f"{year:04d}-" + {"month": f"{part + 1:02d}", "quarter": f"Q{part + 1}", "half": f"H{part + 1}"}[unit]
