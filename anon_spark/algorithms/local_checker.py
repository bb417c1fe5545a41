"""Checks nodes in this process, each rolled up from the smallest checked set that is more specific (LeFevre 2005; METHODS 3.1)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from anon_spark.algorithms.checker import Verdict, pruning
from anon_spark.algorithms.node_space import NodeSpace
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels
from anon_spark.kernels.rollup import Cells, Histograms, holds_all, mixed_key, roll_up, statistics
from anon_spark.models.base import Model, Size

CACHE_BYTES = 256 * 2**20
WIDEST_SQUARE = 2**62


class LocalChecker:
    """A ``Checker`` over a frequency set held in memory.  cache_bytes: how much rolled-up sets may hold beside the set itself.

    bottom: the levels of the set, whose codes are node numbers then; nodes must be above it, and their verdicts lack the kept rows
    where it is above level 0. None: level 0 everywhere.
    """

    width = 1

    def __init__(
        self, problem: Problem, models: Sequence[Model], frequency: FrequencySet, cache_bytes: int = CACHE_BYTES,
        bottom: Levels | None = None,
    ):  # fmt: skip
        self.problem = problem
        self.models = tuple(models)
        self.prunes = pruning(models, problem.may_suppress)
        self.rest = tuple(m for m in models if m not in self.prunes)
        self.reads = tuple({s: None for m in (*models,) for s in m.reads} | {Size(): None})
        self.histograms = Histograms(problem.sensitive, problem.values, problem.ignores_null)
        self.bottom = bottom or (0,) * len(problem.hierarchies)
        nodes = np.ascontiguousarray(frequency.codes.T.astype(np.int32))
        held = np.ascontiguousarray(frequency.sensitive.T.astype(np.int32))
        self.base = roll_up(nodes, held, frequency.count.astype(np.int64), [None] * len(nodes))
        self.cache: OrderedDict[Levels, Cells] = OrderedDict()
        self.cache_bytes = cache_bytes
        self.cached = 0
        self.lifts: dict[tuple[int, int, int], np.ndarray] = {}

    def next_of(self, unknown: np.ndarray, space: NodeSpace) -> tuple[np.ndarray, int]:
        return unknown, self.width

    def will_cost(self, nodes: Sequence[Levels]) -> None:
        """Nothing to do: verdicts come with them."""

    def check(self, nodes: Sequence[Levels]) -> list[Verdict]:
        return [self._verdict(levels) for levels in nodes]

    def cells(self, levels: Levels) -> Cells:
        """The frequency set at a node."""
        if levels == self.bottom:
            return self.base
        if levels in self.cache:
            self.cache.move_to_end(levels)
            return self.cache[levels]
        source, below = self._source(levels)
        maps = [self._lift(i, a, b) for i, (a, b) in enumerate(zip(source, levels, strict=True))]
        rolled = roll_up(below.nodes, below.sensitive, below.count, maps)
        self._keep(levels, rolled)
        return rolled

    def verdicts_of(self, cells: Cells) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(g,) size, (g,) bool held of the pruning models, (g,) bool held of every model, a class each."""
        found = statistics(cells, self.reads, self.histograms)
        size = found[Size()]
        pruning_holds = holds_all(self.prunes, found, len(size), self.problem.rows)
        return size, pruning_holds, pruning_holds & holds_all(self.rest, found, len(size), self.problem.rows)

    def _verdict(self, levels: Levels) -> Verdict:
        cells = self.cells(levels)
        size, pruning_holds, all_hold = self.verdicts_of(cells)
        kept = size[all_hold]
        failing = int(size.sum()) - int(kept.sum())
        in_part = 0 < failing <= self.problem.may_suppress and not any(self.bottom)
        return Verdict(
            failing=failing,
            failing_pruning=int(size[~pruning_holds].sum()),
            classes=len(kept),
            smallest=int(kept.min(initial=self.problem.rows)) if len(kept) else 0,
            largest=int(kept.max(initial=0)),
            squares=_squares(kept, self.problem.rows),
            kept=self._kept(levels, cells.classes()[:, ~all_hold]) if in_part else None,
        )

    def _kept(self, levels: Levels, failing: np.ndarray) -> tuple[np.ndarray, ...]:
        """Rows of each leaf outside the (d, f) failing classes."""
        maps = [self._lift(i, 0, level) for i, level in enumerate(levels)]
        lines = [line if up is None else up[line] for line, up in zip(self.base.nodes, maps, strict=True)]
        # One key for both: where keys must be compressed, they compare only within one call.
        key, _ = mixed_key([np.concatenate([line, out]) for line, out in zip(lines, failing, strict=True)])
        split = len(self.base.count)
        lost = np.isin(key[:split], key[split:])
        count = self.base.count[lost]
        kept = []
        for rows, line in zip(self.problem.leaf_rows, self.base.nodes, strict=True):
            left = rows.astype(np.int64)
            np.subtract.at(left, line[lost], count)
            kept.append(left)
        return tuple(kept)

    def _source(self, levels: Levels) -> tuple[Levels, Cells]:
        source, cells = self.bottom, self.base
        for held, candidate in self.cache.items():
            if len(candidate.count) < len(cells.count) and all(a <= b for a, b in zip(held, levels, strict=True)):
                source, cells = held, candidate
        return source, cells

    def _lift(self, column: int, low: int, high: int) -> np.ndarray | None:
        if low == high:
            return None
        key = (column, low, high)
        if key not in self.lifts:
            self.lifts[key] = self.problem.hierarchies[column].lift(low, high)
        return self.lifts[key]

    def _keep(self, levels: Levels, cells: Cells) -> None:
        self.cache[levels] = cells
        self.cached += cells.nbytes
        while self.cached > self.cache_bytes and self.cache:
            _, dropped = self.cache.popitem(last=False)
            self.cached -= dropped.nbytes


def _squares(size: np.ndarray, rows: int) -> int:
    wide = size.astype(object) if rows * rows >= WIDEST_SQUARE else size
    return int((wide * wide).sum())
