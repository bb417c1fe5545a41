"""Information loss of a full-domain recoding, exact (METHODS 2.1-2.7)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from anon_spark.domain.hierarchy import LevelCost
from anon_spark.domain.policy import Loss
from anon_spark.domain.problem import Problem

Kept = Sequence[np.ndarray]
"""(m_i,) int64 published rows of each leaf, a quasi-identifier each."""


class _Column:
    """One cost of one quasi-identifier: (levels, m_i) numerators over one denominator a level, as wide as exactness needs."""

    def __init__(self, costs: tuple[LevelCost, ...], rows: int):
        self.denominators = [cost.denominator for cost in costs]
        top = max((abs(n) for cost in costs for n in cost.numerators), default=0)
        self.dtype = np.int64 if top * max(rows, 1) < 2**62 else object
        self.numerators = [np.array(cost.numerators, dtype=self.dtype) for cost in costs]

    def total(self, level: int, counts: np.ndarray) -> Fraction:
        """Sum over rows of the cost of their leaf at this level."""
        return Fraction(int(self.numerators[level] @ counts.astype(self.dtype)), self.denominators[level])


class LossTable:
    """Every measure at any node of one problem's lattice.

    A suppressed row counts as fully generalized: 1 a quasi-identifier in gcp and glm (a constant column's too), its root's height in
    distortion, n in discernibility. Weights count in gcp and glm alike, normalised to 1; distortion has none (Wong et al. 2009).
    """

    def __init__(self, problem: Problem):
        self.rows = problem.rows
        self.leaf_rows = problem.leaf_rows
        self.k = problem.k
        weight = sum(problem.weights, Fraction(0))
        self.weights = tuple(w / weight for w in problem.weights)
        self._ncp = [_Column(h.ncp, problem.rows) for h in problem.hierarchies]
        self._glm = [_Column(h.glm, problem.rows) for h in problem.hierarchies]
        self._height = [_Column(h.height, problem.rows) for h in problem.hierarchies]
        self._root = [column.total(-1, counts) for column, counts in zip(self._height, self.leaf_rows, strict=True)]
        self._cache: dict[tuple[str, int, int], Fraction] = {}

    def parts(self, loss: Loss, column: int, levels: range) -> list[Fraction]:
        """What one quasi-identifier adds to gcp, glm or distortion at each level where nothing is suppressed."""
        kept = self.leaf_rows[column]
        if loss == "distortion":
            root = sum(self._root, Fraction(0))
            return [self._height[column].total(level, kept) / root if root else Fraction(0) for level in levels]
        costs = self._ncp if loss == "gcp" else self._glm
        return [self.weights[column] * costs[column].total(level, kept) / self.rows for level in levels]

    def loss(self, loss: Loss, levels: Sequence[int], kept: Kept, classes: int, squares: int) -> Fraction | None:
        """One measure; None for c-avg without k.  classes, squares: number and sum of squared sizes of the published classes."""
        if loss == "discernibility":
            return Fraction(squares + self._suppressed(kept) * self.rows)
        if loss == "c-avg":
            return None if self.k is None else Fraction(self.rows - self._suppressed(kept), classes * self.k)
        if loss == "distortion":
            return self._distortion(levels, kept)
        by_column = self._by_column(self._ncp if loss == "gcp" else self._glm, levels, kept)
        return sum((w * part for w, part in zip(self.weights, by_column, strict=True)), Fraction(0))

    def losses(self, levels: Sequence[int], kept: Kept, classes: int, squares: int) -> dict[str, Fraction | None]:
        """Every measure by its configuration name."""
        names: tuple[Loss, ...] = ("gcp", "distortion", "glm", "discernibility", "c-avg")
        return {name: self.loss(name, levels, kept, classes, squares) for name in names}

    def by_column(self, levels: Sequence[int], kept: Kept) -> tuple[Fraction, ...]:
        """The unweighted mean NCP of each quasi-identifier, in [0, 1]."""
        return self._by_column(self._ncp, levels, kept)

    def _suppressed(self, kept: Kept) -> int:
        return self.rows - int(kept[0].sum())

    def _by_column(self, costs: list[_Column], levels: Sequence[int], kept: Kept) -> tuple[Fraction, ...]:
        suppressed = self._suppressed(kept)
        return tuple((costs[i].total(levels[i], kept[i]) + suppressed) / self.rows for i in range(len(costs)))

    def _distortion(self, levels: Sequence[int], kept: Kept) -> Fraction:
        root = sum(self._root, Fraction(0))
        done = Fraction(0)
        for i, column in enumerate(self._height):
            done += column.total(levels[i], kept[i]) + self._root[i] - column.total(-1, kept[i])
        return done / root if root else Fraction(0)
