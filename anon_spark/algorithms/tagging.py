"""Which nodes hold the models that may prune: predictive tagging over the lattice (LeFevre 2005, Lemmas 2 and 3; METHODS 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_spark.algorithms.checker import Checker, Verdict
from anon_spark.algorithms.foresight import Foresight
from anon_spark.algorithms.node_space import NodeSpace
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels

UNKNOWN, HOLDS, FAILS = 0, 1, 2
NODES_A_PICK = 20_000
"""A large lattice is weighed anew after several checks only: counting what is unknown costs more than a check there."""


class Tagging:
    """The state of every node for the pruning models, and the verdicts it came from.

    state: (shape) uint8, UNKNOWN, HOLDS or FAILS; verdicts: place -> verdict; subsets: the same for checks of one-column subsets.
    """

    def __init__(self, problem: Problem, checker: Checker):
        self.problem = problem
        self.checker = checker
        self.space = NodeSpace(problem.min_levels, problem.max_levels)
        self.state = np.zeros(self.space.shape, dtype=np.uint8)
        self.verdicts: dict[int, Verdict] = {}
        self.subsets: dict[Levels, Verdict] = {}
        self.floors = list(problem.min_levels)
        self.foresight = Foresight(problem, self.space)

    def tag(self) -> None:
        """Settle every node: one-column subsets first, then the node whose check is likely to settle most, or a wave of such."""
        if len(self.space.low) > 1:
            self._raise_floors()
        while (wave := self._wave()).size:
            places = [int(place) for place in wave]
            for place, verdict in zip(places, self.check(places), strict=True):
                self._settle(place, verdict.failing_pruning <= self.problem.may_suppress)

    def check(self, places: Sequence[int]) -> list[Verdict]:
        """Verdicts of full-QI nodes; a node is never checked twice."""
        new = [place for place in places if self.verdict(place) is None]
        if new:
            self.verdicts.update(zip(new, self.checker.check([self.space.levels(place) for place in new]), strict=True))
        return [verdict for place in places if (verdict := self.verdict(place)) is not None]

    def verdict(self, place: int) -> Verdict | None:
        """What is known of a node from a check of it, or of the subset that it is."""
        return self.verdicts.get(place) or self.subsets.get(self.space.levels(place))

    def _settle(self, place: int, holds: bool) -> None:
        self.foresight.learn(place, holds)
        if holds:
            self.state[self.space.above(place)] = HOLDS
        else:
            self.state[self.space.below(place)] = FAILS

    def _raise_floors(self) -> None:
        """Halve each column's levels until the least is known at which the column alone holds: below it no node does (Lemma 3)."""
        low = list(self.problem.min_levels)
        high = [min(top + 1, h.levels - 1) for top, h in zip(self.problem.max_levels, self.problem.hierarchies, strict=True)]
        while open_columns := [i for i in range(len(low)) if low[i] < high[i]]:
            middle = {i: (low[i] + high[i]) // 2 for i in open_columns}
            nodes = [self._alone(i, level) for i, level in middle.items()]
            verdicts = self.checker.check(nodes)
            self.subsets.update(zip(nodes, verdicts, strict=True))
            for i, node, verdict in zip(open_columns, nodes, verdicts, strict=True):
                if verdict.failing_pruning <= self.problem.may_suppress:
                    high[i] = middle[i]
                    if (place := self.space.place(node)) is not None:
                        self._settle(place, True)
                else:
                    low[i] = middle[i] + 1
        self.floors = low
        for axis, i in enumerate(self.space.free):
            self.state[(slice(None),) * axis + (slice(None, low[i] - self.space.low[i]),)] = FAILS
        if any(low[i] > self.space.high[i] for i in range(len(low))):
            self.state[...] = FAILS

    def _alone(self, column: int, level: int) -> Levels:
        return tuple(level if i == column else h.levels - 1 for i, h in enumerate(self.problem.hierarchies))

    def _wave(self) -> np.ndarray:
        """The next places to check, best first, none of them able to settle another; ties go to the smallest level vector."""
        unknown = self.state == UNKNOWN
        if not unknown.any():
            return np.zeros(0, dtype=np.int64)
        unknown, width = self.checker.next_of(unknown, self.space)
        box = tuple(slice(int(at.min()), int(at.max()) + 1) for at in np.nonzero(unknown))
        open_ = unknown[box].copy()
        score = self.foresight.settled(open_, box)
        places = []
        for _ in range(max(width, self.space.size // NODES_A_PICK)):
            if not open_.any():
                break
            best = np.unravel_index(int(np.argmax(np.where(open_, score, -1))), open_.shape)
            open_[tuple(slice(step, None) for step in best)] = False
            open_[tuple(slice(None, step + 1) for step in best)] = False
            steps = tuple(int(step) + part.start for step, part in zip(best, box, strict=True))
            places.append(int(np.ravel_multi_index(steps, self.space.shape)))
        return np.array(places, dtype=np.int64)
