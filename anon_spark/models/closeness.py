"""t-closeness (Li, Li & Venkatasubramanian 2007; METHODS 1.8): the earth mover's distance of a class from the table is at most t.

The distance of a histogram (c_1, .., c_m) of n rows from the table's (T_1, .., T_m) of N rows is kept as a whole number of units of
1 / (n * N * what the ground distance is divided by), so that t is compared exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.models.base import Whole
from anon_spark.models.histogram import WIDEST, ClassHistograms, HistogramModel, Known, scaled

CLOSE = 1e-6
"""Distances of tables too large for int64 are told from t in floating point unless they are so near to it."""


class Closeness(HistogramModel):
    """What the three ground distances share. A class without counted values is at no distance."""

    known: Known
    t: Fraction
    name: ClassVar[str] = "t-closeness"

    @abstractmethod
    def gap(self, found: ClassHistograms, kind: type[Any]) -> np.ndarray:
        """(g,) distance in units of 1 / (n * N * ``steps``), as int64, float64 or Python's whole numbers (``kind``)."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """What the ground distance is divided by."""

    @property
    @abstractmethod
    def bound(self) -> int:
        """Nothing that ``gap`` adds up is larger."""

    def shortfall(self, found: ClassHistograms) -> np.ndarray:
        a, b, rows = self.t.numerator, self.t.denominator, self.known.counted
        if self.bound * (a + b) < WIDEST:
            unit = rows * self.steps
            return np.asarray(np.maximum(self.gap(found, np.int64) * b - a * unit * found.counted, 0), np.int64)
        unit = float(rows) * max(self.steps, 1) * np.maximum(found.counted, 1)
        over = self.gap(found, np.float64) / unit - float(self.t)
        breaks = over > 0
        near = np.flatnonzero(np.abs(over) < CLOSE)
        if len(near):
            some = found.of_classes(near)
            exact = self.gap(some, object) * b > some.counted.astype(object) * (a * rows * self.steps)
            breaks[near] = exact.astype(bool)
        return scaled(over, breaks)

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Never: the whole table is at distance 0 from itself."""
        return None

    def tightest(self, whole: Whole) -> str:
        return "t from 0, which the whole table as one class has"


@dataclass(frozen=True)
class EqualCloseness(Closeness):
    """All values are equally far apart: the sum, over the class's values, of what their share is above the table's."""

    known: Known
    t: Fraction

    @property
    def steps(self) -> int:
        return 1

    @property
    def bound(self) -> int:
        return self.known.rows**2

    def gap(self, found: ClassHistograms, kind: type[Any]) -> np.ndarray:
        total, size = self.known.totals[found.number].astype(kind), found.counted[found.of].astype(kind)
        return found.summed(np.maximum(found.count.astype(kind) * self.known.counted - total * size, 0))


@dataclass(frozen=True)
class OrderedCloseness(Closeness):
    """Numbers and dates by rank: the sum over all ranks of the difference of cumulated shares, over m - 1.

    Between two values of a class its cumulated share stays, and the table's crosses it at most once: where, a binary search tells, and
    how much lies before and after, sums of the table's prefix sums. No array of m values is made for a class.
    """

    known: Known
    t: Fraction

    @cached_property
    def ranks(self) -> np.ndarray:
        if self.known.ranks is None:
            raise ValueError(f"{self.column} has no order")
        return self.known.ranks

    @cached_property
    def prefix(self) -> np.ndarray:
        """(m,) rows of the table up to each rank, its own included."""
        counted = self.known.totals > 0
        held = np.zeros(int(self.ranks[counted].max(initial=-1)) + 1, np.int64)
        np.add.at(held, self.ranks[counted], self.known.totals[counted])
        return np.cumsum(held)

    @cached_property
    def sums(self) -> np.ndarray:
        """(m + 1,) sums of the prefix sums before each rank."""
        return np.r_[0, np.cumsum(self.prefix)]

    @property
    def steps(self) -> int:
        return max(len(self.prefix) - 1, 0)

    @property
    def bound(self) -> int:
        return 2 * self.known.rows**2 * (len(self.prefix) + 1)

    def gap(self, found: ClassHistograms, kind: type[Any]) -> np.ndarray:
        rank = self.ranks[found.number]
        order = np.lexsort((rank, found.of))
        of, rank, count = found.of[order], rank[order], found.count[order]
        first = np.zeros(len(of), bool)
        first[found.starts] = True
        before = np.cumsum(count) - count
        below = np.cumsum(count) - before[np.maximum.accumulate(np.where(first, np.arange(len(of)), 0))]
        last = np.r_[first[1:], np.ones(min(len(of), 1), bool)]
        end = np.where(last, self.steps, np.r_[rank[1:], 0][: len(of)])
        rows, size = self.known.counted, found.counted[of]
        # the table's prefix sums up to this are not above the class's cumulated share
        wide = rows * rows >= WIDEST
        cut = (below.astype(object) * rows // size).astype(np.int64) if wide else below * rows // size
        cross = np.clip(np.searchsorted(self.prefix, cut, side="right"), rank, end)
        sums: np.ndarray = self.sums.astype(kind)
        share = below.astype(kind) * rows
        over = share * ((cross - rank) - (end - cross)).astype(kind)
        under = size.astype(kind) * ((sums[end] - sums[cross]) - (sums[cross] - sums[rank]))
        return found.summed(over + under + np.where(first, size.astype(kind) * sums[rank], 0))


@dataclass(frozen=True)
class HierarchicalCloseness(Closeness):
    """Two values are as far apart as the level where they meet is high: the mean, over the levels below the root, of the distance
    that the classes of values there have under equal ground distance (Li 2007, which sums the same by nodes)."""

    known: Known
    t: Fraction
    tree: Hierarchy

    @cached_property
    def leaves(self) -> np.ndarray:
        """(v,) leaf of each value; 0 of an ignored null, which is never counted."""
        return np.array([self.tree.codes.get(text, 0) for text in self.known.texts], np.int64)

    @property
    def steps(self) -> int:
        return self.tree.levels - 1

    @property
    def bound(self) -> int:
        return self.known.rows**2 * max(self.steps, 1)

    def gap(self, found: ClassHistograms, kind: type[Any]) -> np.ndarray:
        total: np.ndarray = np.zeros(len(found.size), kind)
        for level in range(self.steps):
            nodes = self.tree.nodes[level].astype(np.int64)[self.leaves]
            width = int(nodes.max(initial=0)) + 1
            held = np.zeros(width, np.int64)
            np.add.at(held, nodes, self.known.totals)
            keys, place = np.unique(found.of * width + nodes[found.number], return_inverse=True)
            count = np.zeros(len(keys), np.int64)
            np.add.at(count, place.ravel(), found.count)
            pooled = ClassHistograms(found.size, keys // width, keys % width, count)
            table, size = held[pooled.number].astype(kind), found.counted[pooled.of].astype(kind)
            total = total + pooled.summed(np.maximum(count.astype(kind) * self.known.counted - table * size, 0))
        return total
