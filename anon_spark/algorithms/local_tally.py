"""Histograms of some groups side by side, and what every model says of them after rows change places (METHODS 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_spark.algorithms.local_groups import Dealt
from anon_spark.domain.problem import Problem
from anon_spark.kernels.rollup import WIDEST_KEY, Histograms, holds_all, roll_up, statistics
from anon_spark.models.base import Counted, Model, Size

MOST_COUNTS = 4_000_000
"""Counts of histograms side by side that are held at a time, some 100 MB with what is made of them."""


def holding(problem: Problem, models: Sequence[Model], sensitive: np.ndarray, dealt: Dealt) -> np.ndarray:
    """(g,) bool: which of groups 0 to g - 1 hold every model.  sensitive: (c, s) numbers of each cell."""
    lines = np.ascontiguousarray(sensitive[dealt.cell].T, dtype=np.int32)
    cells = roll_up(dealt.group[None, :].astype(np.int32), lines, dealt.held, [None])
    reads = tuple(dict.fromkeys([Size(), *(s for model in models for s in model.reads)]))
    found = statistics(cells, reads, Histograms(problem.sensitive, problem.values, problem.ignores_null))
    return holds_all(models, found, len(cells.starts), problem.rows)


class Kinds:
    """Cells told apart by what the models see of them.

    of: (c,) int64 kind of each cell; count: how many kinds there are. numbers: for each histogram that some model reads (kinds,) the
    value that a kind counts as, -1 for none.
    """

    def __init__(self, problem: Problem, models: Sequence[Model], sensitive: np.ndarray):
        histograms = Histograms(problem.sensitive, problem.values, problem.ignores_null)
        counted = [m.counted for m in models if m.counted is not None]
        self.counted = tuple(dict.fromkeys([*counted, *(one.among for one in counted if one.among is not None)]))
        lines = [np.zeros(len(sensitive), np.int64)]
        for one in self.counted:
            j = problem.sensitive.index(one.column)
            lines.append(np.where(histograms.counted(j, one.values)[sensitive[:, j]], sensitive[:, j], -1))
        kinds, of = np.unique(np.stack(lines, axis=1), axis=0, return_inverse=True)
        self.of, self.count = of.ravel(), len(kinds)
        self.numbers: dict[Counted, np.ndarray] = {one: kinds[:, 1 + i] for i, one in enumerate(self.counted)}


class Tally:
    """Some groups' rows by the kinds that occur among them.

    kinds: (v,) int64 of ``Kinds``, ascending; size: (g,) and counts: (g, v) int64 rows.
    """

    def __init__(self, models: Sequence[Model], kinds: Kinds, rows: int, group: np.ndarray, kind: np.ndarray, held: np.ndarray):
        """group, kind, held: (p,) parts; groups 0, 1, .. all occur. rows: of the whole table."""
        self.models = models
        self.kinds, place = np.unique(kind, return_inverse=True)
        self.counts = np.zeros((int(group.max()) + 1, len(self.kinds)), np.int64)
        np.add.at(self.counts, (group, place.ravel()), held)
        self.size = self.counts.sum(axis=1)
        self.rows = max(rows, 1)
        self.numbers = {one: np.unique(of[of >= 0]) for one, numbers in kinds.numbers.items() for of in [numbers[self.kinds]]}
        self.pooled = {one: _pooling(numbers[self.kinds]) for one, numbers in kinds.numbers.items()}
        self.now = self.excess(self.counts)

    def excess(self, counts: np.ndarray) -> np.ndarray:
        """(g, models) excess of groups of such counts (g, v); none where a group has no rows."""
        size = counts.sum(axis=1)
        seen = {one: counts @ pool for one, pool in self.pooled.items()}
        found = []
        for m in self.models:
            among = m.counted.among if m.counted else None
            of = size if among is None else seen[among].sum(axis=1)
            found.append(m.excess(*self._given(m, of, seen[m.counted] if m.counted else counts), self._numbers(m)))
        every = np.stack(found, axis=1) if found else np.zeros((len(counts), 0), np.int64)
        every[size == 0] = 0
        return every

    def after(self, group: np.ndarray, lost: np.ndarray, won: np.ndarray, q: int) -> np.ndarray:
        """(n, models) excess of groups (n,) that lose q rows of one kind and win q of another.

        lost, won: (n,) places among ``kinds``; their number for none.
        """
        step = max(MOST_COUNTS // max(len(self.kinds), 1), 1)
        if len(group) > step:
            parts = [slice(a, a + step) for a in range(0, len(group), step)]
            return np.concatenate([self.after(group[part], lost[part], won[part], q) for part in parts])
        counts = self.counts[group]
        for kind, by in ((lost, -q), (won, q)):
            some = np.flatnonzero(kind < len(self.kinds))
            counts[some, kind[some]] += by
        return self.excess(counts)

    def gains(self, lost: np.ndarray, won: np.ndarray, q: int) -> np.ndarray:
        """(v + 1, v + 1) share of its excess that group 0 is rid of by losing q rows of one of these kinds and winning q of another, the
        last for none; negative where it would break some model more."""
        v, now = len(self.kinds), self.now[0]
        gain = np.full((v + 1, v + 1), -1.0)
        a, b = (x.ravel() for x in np.meshgrid(np.append(np.unique(lost), v), np.append(np.unique(won), v), indexing="ij"))
        after = self.after(np.zeros(len(a), np.int64), a, b, q)
        share = ((now - after) / np.where(now > 0, now, 1)).astype(np.float64).sum(axis=1) / max(int((now > 0).sum()), 1)
        gain[a, b] = np.where((after <= now).all(axis=1), share, -1.0)
        gain[v, v] = -1.0
        return gain

    def allows(self, group: np.ndarray, lost: np.ndarray, won: np.ndarray, q: int) -> np.ndarray:
        """(n,) bool: whether groups (n,) break no model more than now once they lost and won these."""
        return np.asarray((self.after(group, lost, won, q) <= self.now[group]).all(axis=1), dtype=bool)

    def _given(self, model: Model, size: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # A product that int64 cannot hold would wrap in silence: then Python's whole numbers.
        wide = model.factor * self.rows >= WIDEST_KEY // 8
        return (size.astype(object), counts.astype(object)) if wide else (size, counts)

    def _numbers(self, model: Model) -> np.ndarray:
        return self.numbers[model.counted] if model.counted else np.zeros(0, np.int64)


def _pooling(numbers: np.ndarray) -> np.ndarray:
    """(v, w) 0 or 1: which kinds count as which value."""
    values, place = np.unique(numbers[numbers >= 0], return_inverse=True)
    pool = np.zeros((len(numbers), len(values)), np.int64)
    pool[np.flatnonzero(numbers >= 0), place.ravel()] = 1
    return pool
