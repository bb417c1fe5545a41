"""Models that need a class's whole histogram: they judge many sparse histograms at once, in NumPy, wherever these were counted.

The driver process calls them on rolled-up cells, Spark's workers on cells sorted by class (``plans.judge``), exchange steps on the
groups at hand: one meaning in three places. No array has a line a class and a column a value: a column may have 100,000 values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from anon_spark.models.base import Counted, Judged, Model, Statistic, Whole

WIDEST = 2**62
"""Whole numbers below it are int64; where a model's products may reach it, it counts in Python's."""
SCALE, MOST = 2**20, 2.0**24
"""Units of a shortfall that is a real number, and the largest that is told: sums over some 100,000 values are int64."""


@dataclass(frozen=True, eq=False)
class Known:
    """A sensitive column of the table that a model is bound to (METHODS: T is the table's distribution before suppression).

    texts: of each value by number, None for null; totals: (v,) int64 rows of each value, 0 of an ignored null; ranks: (v,) place of
    each counted value in their order, for numbers and dates; None where they have none. rows: of the table.
    """

    column: str
    texts: tuple[str | None, ...]
    totals: np.ndarray
    rows: int
    ranks: np.ndarray | None = None

    @cached_property
    def counted(self) -> int:
        """Rows of the table whose value is counted."""
        return int(self.totals.sum())


@dataclass(frozen=True, eq=False)
class ClassHistograms:
    """Rows of g classes by sensitive value, ignored nulls left out.

    size: (g,) int64 rows, those of ignored nulls too; of: (c,) class of each cell, ascending; number: (c,) its value, ascending
    within a class; count: (c,) int64 rows, >= 1. A class may have no cell.
    """

    size: np.ndarray
    of: np.ndarray
    number: np.ndarray
    count: np.ndarray

    @cached_property
    def starts(self) -> np.ndarray:
        """First cell of each class that has any."""
        return np.flatnonzero(np.r_[True, self.of[1:] != self.of[:-1]]) if len(self.of) else np.zeros(0, np.int64)

    @cached_property
    def counted(self) -> np.ndarray:
        """(g,) int64 rows whose value is counted."""
        return self.summed(self.count)

    def summed(self, line: np.ndarray) -> np.ndarray:
        """(g,) sum of a (c,) line over the cells of each class."""
        return self._each(np.add, line)

    def most(self, line: np.ndarray) -> np.ndarray:
        """(g,) the largest of a (c,) line of numbers >= 0 over the cells of each class; 0 where it has none."""
        return self._each(np.maximum, line)

    def of_classes(self, chosen: np.ndarray) -> ClassHistograms:
        """Some classes alone.  chosen: (h,) their numbers, ascending."""
        place = np.full(len(self.size), -1)
        place[chosen] = np.arange(len(chosen))
        kept = place[self.of] >= 0
        return ClassHistograms(self.size[chosen], place[self.of[kept]], self.number[kept], self.count[kept])

    def _each(self, function: np.ufunc, line: np.ndarray) -> np.ndarray:
        found = np.zeros(len(self.size), line.dtype)
        if len(self.starts):
            found[self.of[self.starts]] = function.reduceat(line, self.starts)
        return found


class HistogramModel(ABC):
    """A model that says of histograms how far they are from holding."""

    name: ClassVar[str]
    union_closed: ClassVar[bool] = True
    survives_any_rows: ClassVar[bool] = False
    known: Known

    @property
    def column(self) -> str:
        """The sensitive column that it reads."""
        return self.known.column

    @abstractmethod
    def shortfall(self, found: ClassHistograms) -> np.ndarray:
        """(g,) whole numbers: 0 exactly where a class holds, else the more the further it is from holding (``Model.excess``)."""

    @abstractmethod
    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """See ``Model``."""

    @abstractmethod
    def tightest(self, whole: Whole) -> str:
        """See ``Model``."""

    @property
    def reads(self) -> tuple[Statistic, ...]:
        return (Judged(self),)

    @property
    def factor(self) -> int:
        """Products are the model's own care."""
        return 1

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        return stats[Judged(self)] == 0

    @property
    def counted(self) -> Counted:
        return Counted(self.column)

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        """The shortfall of histograms side by side."""
        of, place = np.nonzero(counts)
        found = ClassHistograms(size.astype(np.int64), of, numbers[place], counts[of, place].astype(np.int64))
        return self.shortfall(found)

    @property
    def merged_under(self) -> Model:
        return self


def wide(line: np.ndarray, bound: int) -> np.ndarray:
    """The line as Python's whole numbers where products of it may reach ``bound``, else as it is."""
    return line.astype(object) if bound >= WIDEST else line


def whole(line: np.ndarray) -> np.ndarray:
    """Shortfalls as int64; those beyond are the largest."""
    if line.dtype != object:
        return line
    return np.array([min(int(value), WIDEST) for value in line], np.int64)


def scaled(short: np.ndarray, breaks: np.ndarray) -> np.ndarray:
    """Real shortfalls as whole numbers, at least 1 where a class breaks the model and 0 where it does not."""
    return np.where(breaks, np.maximum(np.ceil(np.clip(short, 0, MOST) * SCALE), 1), 0).astype(np.int64)
