"""What publishing a box of leaf codes costs, exact (METHODS 2.1-2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy, LevelCost
from anon_spark.domain.kept import kept
from anon_spark.metrics.pair_cost import exact_places


@kept
def places(hierarchy: Hierarchy) -> np.ndarray:
    """(m,) float64 place of each leaf of a numeric column in [0, 1]; NaN, infinities and null lie 1 or more beyond all others.

    Kept, read-only: a worker asks for them once a block.
    """
    found = np.array([float(place) for place in exact_places(hierarchy)])
    found.flags.writeable = False
    return found


@kept
def prices(hierarchy: Hierarchy, level: int) -> np.ndarray:
    """(m,) float64 NCP of each leaf at a level; kept, read-only."""
    found = np.array(hierarchy.ncp[level].numerators, dtype=np.float64) / hierarchy.ncp[level].denominator
    found.flags.writeable = False
    return found


@kept
def whole_places(hierarchy: Hierarchy) -> tuple[tuple[int, ...], int]:
    """Exact places of a numeric column as whole numbers, and the number that is 1: sums of fractions take ten times as long."""
    exact = exact_places(hierarchy)
    one = lcm(*(place.denominator for place in exact))
    return tuple(place.numerator * (one // place.denominator) for place in exact), one


def box_loss(
    hierarchies: Sequence[Hierarchy], weights: Sequence[Fraction], low: np.ndarray, high: np.ndarray, size: np.ndarray
) -> tuple[Fraction, tuple[Fraction, ...]]:
    """GCP of groups with these boxes, and its unweighted part of each column.  low, high: (g, d) codes; size: (g,) rows."""
    total, rows = sum(weights, Fraction(0)), int(size.sum())
    parts = tuple(BoxColumn(h, low[:, j], high[:, j], size).lost(h.ncp) / rows for j, h in enumerate(hierarchies))
    return sum((w * part for w, part in zip(weights, parts, strict=True)), Fraction(0)) / total, parts


class BoxColumn:
    """Distinct boxes of one quasi-identifier with their rows and the lowest level whose nodes hold them."""

    def __init__(self, h: Hierarchy, low: np.ndarray, high: np.ndarray, size: np.ndarray):
        self.h = h
        pairs, place = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
        self.low, self.high = pairs.T
        self.rows = np.zeros(len(pairs), np.int64)
        np.add.at(self.rows, place.ravel(), size)
        self.level = np.full(len(pairs), h.levels - 1)
        for level in reversed(range(h.levels)):
            self.level[h.nodes[level][self.low] == h.nodes[level][self.high]] = level
        if h.numeric:
            at, self.one = whole_places(h)
            self.width = [min(at[b] - at[a], self.one) for a, b in pairs.tolist()]
            self.level[[width == self.one for width in self.width]] = h.levels - 1

    def lost(self, costs: Sequence[LevelCost]) -> Fraction:
        """Sum over rows: a range's width, else the node's entry of ``costs``."""
        if self.h.numeric:
            return Fraction(sum(n * width for n, width in zip(self.rows.tolist(), self.width, strict=True)), self.one)
        return sum((Fraction(self._over(level, costs), costs[level].denominator) for level in self._levels()), Fraction(0))

    def left(self) -> Fraction:
        """Sum over rows of the heights between the box's node and the root; of a range without a tree, the rest of its one step."""
        top = self.h.height[-1].numerators
        over = sum(n * top[a] for n, a in zip(self.rows.tolist(), self.low.tolist(), strict=True))
        if self.h.numeric and self.h.levels == 2:
            return over - Fraction(sum(n * width for n, width in zip(self.rows.tolist(), self.width, strict=True)), self.one)
        return Fraction(over - sum(self._over(level, self.h.height) for level in self._levels()))

    def _levels(self) -> list[int]:
        return np.unique(self.level).tolist()

    def _over(self, level: int, costs: Sequence[LevelCost]) -> int:
        """Sum over rows of the boxes of a level: the numerators of their nodes."""
        inside, numerators = self.level == level, costs[level].numerators
        return sum(n * numerators[a] for n, a in zip(self.rows[inside].tolist(), self.low[inside].tolist(), strict=True))
