"""The part of a lattice on Spark that is decided in the driver process: what lies above a node whose frequency set fits there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anon_spark.algorithms.checker import Verdict
from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.algorithms.node_space import NodeSpace, along, counted_below
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels
from anon_spark.models.base import Model

LEAST_SHARE = 32
"""One of so many unknown nodes must be above a set that is fetched: it costs about as much as a wave, which settles more otherwise."""
Fetch = Callable[[Levels], FrequencySet | None]


class DriverPart:
    """Rolls nodes up from the set of a more general node than the whole one, one such set at a time (LeFevre 2005; METHODS 3.1).

    The next set is that of the node with most unknown nodes above it, among those whose sets are thought to fit. Sizes are guessed as
    if columns were independent, a column standing for as many nodes as its entropy has, and corrected by each set that came or did
    not fit: guesses choose sets, they decide nothing.
    most_cells: how many a set may have, 0 for no sets; cells: of the whole set, or a bound; fetch: None where a set has more.
    """

    def __init__(self, problem: Problem, models: Sequence[Model], most_cells: int, cells: int, fetch: Fetch):
        self.sets = 0
        self.checked = 0
        self._problem = problem
        self._models = models
        self._most = most_cells
        self._cells = max(cells, 1)
        self._fetch = fetch
        self._spread = 1.0
        self._bottom: Levels | None = None
        self._checker: LocalChecker | None = None

    def of(self, unknown: np.ndarray, space: NodeSpace, fewest: int) -> np.ndarray:
        """(shape) bool: the unknown nodes that are above the set held; another is fetched where there are none.

        No node where no set that fits has more than ``fewest`` unknown nodes, and a ``LEAST_SHARE`` of all, above it.
        """
        part = self._above(unknown, space)
        while self._most and not part.any() and (place := self._best(unknown, space, fewest)) is not None:
            self._move(place, space)
            part = self._above(unknown, space)
        return part

    def verdicts(self, nodes: Sequence[Levels]) -> dict[Levels, Verdict]:
        """Verdicts on those nodes that are above the set held, without the kept rows: its leaves are not known."""
        if self._bottom is None or self._checker is None:
            return {}
        inside = [node for node in nodes if all(a <= b for a, b in zip(self._bottom, node, strict=True))]
        self.checked += len(inside)
        return dict(zip(inside, self._checker.check(inside), strict=True))

    def _above(self, unknown: np.ndarray, space: NodeSpace) -> np.ndarray:
        part = np.zeros_like(unknown)
        if self._bottom is not None:
            above = tuple(slice(self._bottom[i] - space.low[i], None) for i in space.free)
            part[above] = unknown[above]
        return part

    def _best(self, unknown: np.ndarray, space: NodeSpace, fewest: int) -> int | None:
        covered = np.flip(counted_below(np.flip(unknown)))
        covered[self._guess(space) > self._most] = 0
        best = int(np.argmax(covered))
        if covered.flat[best] <= max(fewest, int(unknown.sum()) // LEAST_SHARE):
            return None
        steps = np.array(space.steps(best))
        steps += np.array([at.min() for at in np.nonzero(unknown[space.above(best)])])
        return int(np.ravel_multi_index(tuple(steps), space.shape))

    def _guess(self, space: NodeSpace) -> np.ndarray:
        """(shape) float64: cells of every node."""
        return self._cells * -np.expm1(-np.exp(self._entropy(space)) * self._spread / self._cells)

    def _entropy(self, space: NodeSpace) -> np.ndarray:
        total = np.full(space.shape, sum(np.log(max(len(known), 1)) for known in self._problem.values), dtype=np.float64)
        for i, (hierarchy, rows) in enumerate(zip(self._problem.hierarchies, self._problem.leaf_rows, strict=True)):
            found = [_entropy_of(hierarchy.nodes[level], rows) for level in range(space.low[i], space.high[i] + 1)]
            total += along(found, space.free.index(i), space.shape) if i in space.free else found[0]
        return total

    def _move(self, place: int, space: NodeSpace) -> None:
        # let go of the old set first: the bound is on what is held
        self._bottom = self._checker = None
        levels = space.levels(place)
        found = self._fetch(levels)
        self.sets += 1
        if found is None:
            self._spread *= 2
            return
        if 0 < len(found.count) < self._cells:
            independent = np.exp(self._entropy(space).flat[place])
            self._spread = float(-np.log1p(-len(found.count) / self._cells) * self._cells / independent)
        self._bottom, self._checker = levels, LocalChecker(self._problem, self._models, found, bottom=levels)


def _entropy_of(nodes: np.ndarray, rows: np.ndarray) -> float:
    held = np.bincount(nodes, weights=rows)
    share = held[held > 0] / held.sum()
    return float(-(share * np.log(share)).sum())
