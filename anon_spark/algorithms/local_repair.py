"""Groups that break a model exchange rows with near ones; what is left merges until all hold (METHODS 3.2, the merge stage)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from anon_spark.algorithms.local_groups import Dealt, join_alike
from anon_spark.algorithms.local_mend import exchanged
from anon_spark.algorithms.local_tally import holding
from anon_spark.domain.errors import InternalError, NoneFoundError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.kernels.local.bisect import MOST_SEEDS, Pool, best_bisection, gather, new_pool
from anon_spark.kernels.local.boxes import Boxes, box_cost, union_costs, widen
from anon_spark.kernels.local.prepare import prepare
from anon_spark.kernels.local.state import new_state
from anon_spark.models.base import Distinct, Judged, Largest, LargestPersons, Model, Persons, Size, Statistic
from anon_spark.models.histogram import ClassHistograms

EXCHANGES = 4
"""Times that rows are exchanged before what still breaks a model is merged."""
LOOKED_AT = 16
"""Nearest neighbours among which one is sought with which all models hold."""


def repair(
    problem: Problem, models: Sequence[Model], cells: FrequencySet, codes: np.ndarray, dealt: Dealt
) -> tuple[Dealt, tuple[str, ...]]:
    """The groups, rows exchanged where they break a model, those that still do merged, then split again where all still hold; and what
    was done, in sentences.

    Ends because exchanges come a few times at most, and then each merge leaves one group less. Models that unions keep hold at the
    latest when all is one group, as the whole table does. Groups exchange rows under the models themselves, but merge under those
    that imply them and that unions keep (``Model.merged_under``: plain alpha for refined alpha). Raises NoneFoundError where even the
    whole table as one group breaks what merges were to mend.
    """
    told: list[str] = []
    for _ in range(EXCHANGES):
        if holding(problem, models, cells.sensitive, dealt).all():
            return dealt, tuple(told)
        dealt, said = exchanged(problem, models, cells, codes, dealt)
        # Groups that print alike then are one, which may break what unions do not keep: then again.
        dealt, told = join_alike(problem, codes, dealt), [*told, *said]
    while True:
        groups = RepairedGroups(problem, models, cells, codes, dealt)
        broken = np.flatnonzero(~holding(problem, models, cells.sensitive, dealt)).tolist()
        if not broken:
            return dealt, tuple(told)
        groups.mend(broken, [model.merged_under for model in models])
        whole = groups.dealt()
        splits = groups.split()
        dealt = join_alike(problem, codes, groups.dealt())
        if splits and RepairedGroups(problem, models, cells, codes, dealt).broken():
            # A split group may print like another one, and be joined to it: then the merged groups stay whole.
            splits, dealt = 0, join_alike(problem, codes, whole)
        told.append(f"{len(broken)} groups still broke a model: {groups.merges} merges, then {splits} splits")


def none_found(problem: Problem) -> NoneFoundError:
    """All rows are one group, and it breaks a model: which proves nothing where unions do not keep it."""
    asked = ", ".join(dict.fromkeys(spec.model for spec in problem.models))
    return NoneFoundError(
        f"groups that break {asked} were merged until all rows were one, which still breaks it: this job found no grouping that holds, "
        "which proves none; ask for less, or try the lattice, which looks at every node"
    )


class RepairedGroups:
    """Groups with their boxes and histograms while they merge and split."""

    def __init__(self, problem: Problem, models: Sequence[Model], cells: FrequencySet, codes: np.ndarray, parts: Dealt):
        self.problem, self.models, self.cells, self.parts = problem, tuple(models), cells, parts
        self.costs, self.points = prepare(problem.hierarchies, problem.weights, codes)
        order = np.argsort(parts.group, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(parts.group[order]) != 0])
        self.members = np.split(order, starts[1:])
        self.boxes, self.size, self.cost = self._boxed()
        self.alive = np.ones(len(self.members), dtype=bool)
        self.counted: dict[int, dict[str, Counter[int]]] = {}
        self.merges = 0
        self.changed: set[int] = set()

    def broken(self) -> list[int]:
        """Groups that break some model, in order."""
        return [g for g in range(len(self.members)) if not self.hold(self.histogram(g), self.models)]

    def mend(self, broken: Sequence[int], models: Sequence[Model]) -> None:
        """Merge each broken group with its neighbour of least added loss, one with which the models hold first, until they hold."""
        for g in broken:
            while self.alive[g] and not self.hold(self.histogram(g), models):
                self._merge(g, self._partner(g, models))

    def mend_in_pairs(self, broken: Sequence[int], models: Sequence[Model]) -> None:
        """Merge each broken group with the nearest neighbour with which the models hold, if one of the nearest is such."""
        for g in broken:
            if self.alive[g] and not self.hold(self.histogram(g), models):
                other = self._helper(g, self._nearest(g), models)
                if other is not None:
                    self._merge(g, other)

    def split(self) -> int:
        """Cut merged groups again where the loss falls and all models hold on both sides; returns the number of cuts."""
        k, pool, cuts = self.problem.k or 1, new_pool(self.points), 0
        work = sorted(g for g in self.changed if self.alive[g])
        while work:
            g = work.pop()
            sides = self._cut(g, k, pool)
            if sides is None or not all(self.hold(self._count(side), self.models) for side in sides):
                continue
            self.members[g] = sides[0]
            self.members.append(sides[1])
            self.counted.pop(g, None)
            self.alive = np.append(self.alive, True)
            work += [g, len(self.members) - 1]
            cuts += 1
        return cuts

    def dealt(self) -> Dealt:
        """The groups that are left, numbered anew."""
        kept = [self.members[g] for g in np.flatnonzero(self.alive)]
        order = np.concatenate(kept)
        number = np.repeat(np.arange(len(kept)), [len(x) for x in kept])
        return Dealt(self.parts.cell[order], self.parts.combination[order], number, self.parts.held[order])

    def histogram(self, g: int) -> dict[str, Counter[int]]:
        """Rows of group g by sensitive value, a column each; all of its rows under the empty name."""
        if g not in self.counted:
            self.counted[g] = self._count(self.members[g])
        return self.counted[g]

    def hold(self, counts: dict[str, Counter[int]], models: Sequence[Model]) -> bool:
        """Whether a group of these counts holds the models."""
        return all(bool(model.holds({s: self._statistic(s, counts) for s in model.reads})) for model in models)

    def _statistic(self, statistic: Statistic, counts: dict[str, Counter[int]]) -> int:
        if isinstance(statistic, Size):
            return counts[""][0]
        if isinstance(statistic, (Persons, LargestPersons)):
            raise InternalError("persons do not add up when groups are pooled")
        found = counts[statistic.column]
        if isinstance(statistic, Distinct):
            return len(found)
        if isinstance(statistic, Judged):
            number = np.array(sorted(found), np.int64)
            count, size = np.array([found[value] for value in number.tolist()], np.int64), np.array([counts[""][0]])
            return int(statistic.model.shortfall(ClassHistograms(size, np.zeros_like(number), number, count))[0] > 0)
        if isinstance(statistic, Largest) and statistic.values is not None:
            texts = self.problem.values[self.problem.sensitive.index(statistic.column)]
            return max((n for value, n in found.items() if texts[value] in statistic.values), default=0)
        return max(found.values(), default=0)

    def _count(self, members: np.ndarray) -> dict[str, Counter[int]]:
        held, lines = self.parts.held[members], self.cells.sensitive[self.parts.cell[members]]
        counts: dict[str, Counter[int]] = {"": Counter({0: int(held.sum())})}
        for j, column in enumerate(self.problem.sensitive):
            found: Counter[int] = Counter()
            for value, n in zip(lines[:, j].tolist(), held.tolist(), strict=True):
                found[value] += n
            if self.problem.ignores_null[j] and None in self.problem.values[j]:
                found.pop(self.problem.values[j].index(None), None)
            counts[column] = found
        return counts

    def _boxed(self) -> tuple[Boxes, np.ndarray, np.ndarray]:
        """Box, rows and cost of each group."""
        first = np.array([self.parts.combination[m[0]] for m in self.members])
        boxes = Boxes(*(np.ascontiguousarray(array[:, first]) for array in self.points))
        cost = np.zeros(len(self.members))
        for g, members in enumerate(self.members):
            cost[g] = box_cost(self.costs, boxes, g)
            for c in self.parts.combination[members[1:]]:
                cost[g] = widen(self.costs, boxes, g, self.points, c)
        return boxes, np.array([self.parts.held[m].sum() for m in self.members], dtype=np.int64), cost

    def _partner(self, g: int, models: Sequence[Model]) -> int:
        near = self._nearest(g)
        if not len(near):
            raise none_found(self.problem)
        other = self._helper(g, near, models)
        return int(near[0]) if other is None else other

    def _helper(self, g: int, near: np.ndarray, models: Sequence[Model]) -> int | None:
        own = self.histogram(g)
        return next((int(x) for x in near if self.hold(_added(own, self.histogram(int(x))), models)), None)

    def _nearest(self, g: int) -> np.ndarray:
        n = self.boxes.low.shape[1]
        out = np.zeros(n, np.float32)
        union_costs(self.costs, self.boxes, g, self.boxes, n, out)
        added = (self.size[g] + self.size) * out.astype(np.float64) - self.size * self.cost
        added[~self.alive[:n]] = np.inf
        added[g] = np.inf
        near = np.argsort(added, kind="stable")[:LOOKED_AT]
        return near[added[near] < np.inf]

    def _merge(self, g: int, other: int) -> None:
        self.counted[g] = _added(self.histogram(g), self.histogram(other))
        self.counted.pop(other)
        self.members[g] = np.append(self.members[g], self.members[other])
        self.cost[g] = widen(self.costs, self.boxes, g, self.boxes, other)
        self.size[g] += self.size[other]
        self.alive[other] = False
        self.merges += 1
        self.changed.add(g)

    def _cut(self, g: int, k: int, pool: Pool) -> tuple[np.ndarray, np.ndarray] | None:
        """Members on either side of the best bisection, None where none lowers the loss."""
        members = self.members[g]
        line, held = self.parts.combination[members], self.parts.held[members]
        state = new_state(self.costs, self.points, line, np.zeros(len(line), np.int64), held)
        n = gather(self.costs, self.points, state, pool, 0, 0)
        if n < 2:
            return None
        _, at = best_bisection(self.costs, pool, n, k, float(state.size[0] * state.cost[0]), MOST_SEEDS)
        if not at:
            return None
        inside = np.isin(line, state.cell[pool.best[:at]])
        return members[inside], members[~inside]


def _added(one: dict[str, Counter[int]], other: dict[str, Counter[int]]) -> dict[str, Counter[int]]:
    return {column: one[column] + other[column] for column in one}
