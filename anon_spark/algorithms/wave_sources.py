"""Which kept frequency set each node of a wave is rolled up from, and which sets are worth keeping (LeFevre 2005; METHODS 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from pyspark.sql import DataFrame

from anon_spark.domain.recoding import Levels
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.waves import RolledSet

WORTH = 1_000_000
"""Cells that a new set must save the wave it is made for, beside what making it costs: about a second of one core."""
MOST_KEPT = 6
"""Sets kept beside the base: each is a branch of its own in a wave's plan."""

Roll = Callable[[RolledSet, Levels], DataFrame]


class WaveSources:
    """The base set and a few checked nodes' sets, kept on Spark; a node is rolled up from the smallest that is more specific.

    A checked node's size is known from its check: where it is much smaller than what a wave would read, it is kept from then on.
    worth: as ``WORTH``. Where the session can't keep anything (``kept`` is None or gives plans back), the base is the only source.
    """

    def __init__(self, base: RolledSet, roll: Roll, kept: Materialised | None, worth: int = WORTH):
        self.base = base
        self._roll = roll
        self._kept = kept
        self._worth = worth
        self._sets: list[RolledSet] = []
        self._sizes: dict[Levels, int] = {}

    def learn(self, levels: Levels, cells: int) -> None:
        """Note the size of a checked node's set."""
        self._sizes[levels] = cells

    def assign(self, nodes: Sequence[Levels]) -> list[tuple[RolledSet, list[int]]]:
        """The sets to read, each with the places of its nodes. Contract: nodes are at or above the base's levels."""
        while self._kept is not None and (levels := self._best(nodes)) is not None:
            self._keep(levels, nodes)
        groups: dict[Levels, tuple[RolledSet, list[int]]] = {}
        for place, node in enumerate(nodes):
            source = self.source(node)
            groups.setdefault(source.levels, (source, []))[1].append(place)
        return list(groups.values())

    def source(self, node: Levels) -> RolledSet:
        """The smallest set that the node can be rolled up from."""
        return min((s for s in (self.base, *self._sets) if _below(s.levels, node)), key=lambda s: s.cells)

    def _best(self, nodes: Sequence[Levels]) -> Levels | None:
        """The checked node whose set would save this wave most; None where none is worth its cost."""
        candidates = list(self._sizes)
        if not candidates:
            return None
        sizes = np.array([self._sizes[levels] for levels in candidates], dtype=np.int64)
        reads = np.array([self.source(node).cells for node in nodes], dtype=np.int64)
        known, wave = np.array(candidates), np.array(nodes)
        usable = (known[:, None, :] <= wave[None, :, :]).all(axis=2)
        saved = (usable * np.maximum(reads[None, :] - sizes[:, None], 0)).sum(axis=1)
        best = int(np.argmax(saved))
        cost = self.source(candidates[best]).cells
        return candidates[best] if saved[best] > cost + self._worth else None

    def _keep(self, levels: Levels, nodes: Sequence[Levels]) -> None:
        assert self._kept is not None
        frame = self._roll(self.source(levels), levels)
        kept = self._kept.keep(frame, f"rolled-{'-'.join(map(str, levels))}")
        if kept is frame:
            self._kept = None
            return
        self._sets.append(RolledSet(levels, kept, self._sizes.pop(levels)))
        if len(self._sets) > MOST_KEPT:
            self._drop_least_used(nodes)

    def _drop_least_used(self, nodes: Sequence[Levels]) -> None:
        assert self._kept is not None
        used = [self.source(node).levels for node in nodes]
        least = min(self._sets[:-1], key=lambda s: used.count(s.levels))
        self._sets = [s for s in self._sets if s is not least]
        self._kept.drop(least.frame)
        self._sizes[least.levels] = least.cells


def _below(low: Levels, high: Levels) -> bool:
    return all(a <= b for a, b in zip(low, high, strict=True))
