"""The least lossy holding node among candidates, found in the order of their lower bounds and proven (METHODS 3.1, steps 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from heapq import heappop, heappush

import numpy as np

from anon_spark.algorithms.bounds import LossBounds
from anon_spark.algorithms.checker import Verdict
from anon_spark.algorithms.tagging import Tagging
from anon_spark.domain.problem import Problem
from anon_spark.metrics.losses import Kept, LossTable

Key = tuple[Fraction, int, int]
"""What nodes are compared by: loss, height, place. Places follow the level vectors."""


def kept_rows(problem: Problem, verdict: Verdict) -> Kept:
    """(m_i,) published rows of each leaf at a holding node."""
    return problem.leaf_rows if verdict.kept is None else verdict.kept


class Costing:
    """Visits candidates by (lower bound, height, place) and stops at the first that no later one can beat, ties included."""

    def __init__(self, problem: Problem, table: LossTable, tagging: Tagging):
        self.problem = problem
        self.table = table
        self.tagging = tagging
        self.bounds = LossBounds(problem, table, tagging.space)
        self.heights = tagging.space.heights()
        self.best: Key | None = None
        for place, verdict in tagging.verdicts.items():
            self.bounds.learn(place, verdict)

    def least(self, candidates: np.ndarray) -> int | None:
        """The place of the best of the (shape) bool candidates that hold every model, None where none does."""
        queue = _Queue(self.bounds, self.heights, np.flatnonzero(candidates))
        width = self.tagging.checker.width
        while True:
            wave: list[int] = []
            for place in queue.below(self.best):
                wave.append(place)
                if len(wave) == width:
                    break
            if not wave:
                return self.best[2] if self.best else None
            found = dict(zip(wave, self.tagging.check(wave), strict=True))
            holding = {place: verdict for place, verdict in found.items() if holds(self.problem, verdict)}
            self.tagging.checker.will_cost([self.tagging.space.levels(place) for place, v in holding.items() if v.failing])
            for place, verdict in found.items():
                self.bounds.learn(place, verdict)
                if place in holding:
                    key = self.key(place, verdict)
                    self.best = key if self.best is None else min(self.best, key)

    def key(self, place: int, verdict: Verdict) -> Key:
        """A holding node's exact loss, height and place. Without k, c-avg is compared as for k = 1."""
        loss, kept = self.problem.loss, kept_rows(self.problem, verdict)
        found = self.table.loss(loss, self.tagging.space.levels(place), kept, verdict.classes, verdict.squares)
        if found is None:
            found = Fraction(self.problem.rows - verdict.failing, verdict.classes)
        return found, int(self.heights.flat[place]), place


def holds(problem: Problem, verdict: Verdict) -> bool:
    """Whether the failing rows may be suppressed, and something is left to publish."""
    return verdict.failing <= problem.may_suppress and verdict.classes > 0


class _Queue:
    """Places in the order of bounds that may rise meanwhile: sorted once, a place whose bound has risen is put back."""

    def __init__(self, bounds: LossBounds, heights: np.ndarray, places: np.ndarray):
        self.bounds = bounds
        self.numbers = bounds.numbers.ravel()
        self.heights = heights.ravel()
        numbers = self.numbers[places]
        order = np.argsort(self.heights[places], kind="stable")
        order = order[np.argsort(numbers[order], kind="stable")]
        self.sorted = iter(
            zip(numbers[order].tolist(), self.heights[places][order].tolist(), places[order].tolist(), strict=True)
        )
        self.head = next(self.sorted, None)
        self.returned: list[tuple[int, int, int]] = []

    def below(self, best: Key | None) -> Iterator[int]:
        """Places in order, taken from the queue, as long as their bound can beat the best."""
        while (entry := self._first()) is not None:
            number, height, place = entry
            if self.numbers[place] > number:
                self._take()
                heappush(self.returned, (int(self.numbers[place]), height, place))
            elif best is not None and (self.bounds.bound(number), height, place) >= best:
                return
            else:
                self._take()
                yield place

    def _first(self) -> tuple[int, int, int] | None:
        if self.returned and (self.head is None or self.returned[0] < self.head):
            return self.returned[0]
        return self.head

    def _take(self) -> None:
        if self.returned and (self.head is None or self.returned[0] < self.head):
            heappop(self.returned)
        else:
            self.head = next(self.sorted, None)
