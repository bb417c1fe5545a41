"""What publishing a box of leaf codes costs, exact (METHODS 2.1-2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

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
            at = exact_places(h)
            self.width = [min(at[b] - at[a], Fraction(1)) for a, b in pairs.tolist()]
            self.level[[width == 1 for width in self.width]] = h.levels - 1

    def lost(self, costs: Sequence[LevelCost]) -> Fraction:
        """Sum over rows: a range's width, else the node's entry of ``costs``."""
        if self.h.numeric:
            return sum((n * width for n, width in zip(self.rows.tolist(), self.width, strict=True)), Fraction(0))
        return sum((Fraction(n * cost.numerators[a], cost.denominator) for a, n, cost in self._by(costs)), Fraction(0))

    def left(self) -> Fraction:
        """Sum over rows of the heights between the box's node and the root; of a range without a tree, the rest of its one step."""
        if self.h.numeric and self.h.levels == 2:
            top = self.h.height[-1].numerators
            lines = zip(self.rows.tolist(), self.low.tolist(), self.width, strict=True)
            return sum((n * (top[a] - width) for n, a, width in lines), Fraction(0))
        top = self.h.height[-1].numerators
        return Fraction(sum(n * (top[a] - cost.numerators[a]) for a, n, cost in self._by(self.h.height)))

    def _by(self, costs: Sequence[LevelCost]) -> list[tuple[int, int, LevelCost]]:
        return [(a, n, costs[x]) for a, n, x in zip(self.low.tolist(), self.rows.tolist(), self.level.tolist(), strict=True)]
