"""Rows that a local recoding leaves out, within the policy's limit, only where all rows together lose less by it (METHODS 3.2).

A suppressed row loses 1 a quasi-identifier, as much as one that prints the root everywhere. So leaving out a row never pays by itself;
it pays where the row drags others into a wide group: rows that were lent to it go home, or the rest of its group is a narrower one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from anon_spark.algorithms.local_groups import Dealt, boxes_of, join_alike
from anon_spark.algorithms.local_repair import RepairedGroups
from anon_spark.domain.box_labels import labels
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.policy import ROOT
from anon_spark.domain.problem import Problem
from anon_spark.kernels.local.boxes import UNITS, box_cost, union_cost, widen
from anon_spark.metrics.box_cost import box_loss
from anon_spark.models.base import Model


class Suppressed(NamedTuple):
    """dealt: the rows that stay; cell, held: (q,) int64 cells of the frequency set, ascending, and how many rows each of them loses."""

    dealt: Dealt
    cell: np.ndarray
    held: np.ndarray


class _Try(NamedTuple):
    """Members of a group to leave out, how many rows they are, the units of loss that this saves, and where the others go: nowhere,
    or each to its home."""

    group: int
    out: tuple[int, ...]
    rows: int
    saved: float
    homes: dict[int, int]


def suppress(
    problem: Problem, models: Sequence[Model], cells: FrequencySet, codes: np.ndarray, dealt: Dealt
) -> tuple[Suppressed, tuple[str, ...]]:
    """At most the policy's share of rows left out of groups that all hold the models, which they go on to do.

    Ends because every step leaves out a row more. Where the exact loss is no smaller in the end, nothing is left out.
    """
    none = Suppressed(dealt, np.zeros(0, np.int64), np.zeros(0, np.int64))
    if not problem.may_suppress:
        return none, ()
    groups = _Groups(problem, models, cells, codes, dealt)
    groups.leave_out(problem.may_suppress)
    if not groups.lost:
        return none, ()
    kept = join_alike(problem, codes, groups.dealt())
    if RepairedGroups(problem, models, cells, codes, kept).broken() or _loss(problem, codes, kept) >= _loss(problem, codes, dealt):
        return none, ()
    held = np.zeros(len(cells.count), np.int64)
    for part in groups.lost:
        held[groups.parts.cell[part]] += groups.parts.held[part]
    lost = np.flatnonzero(held)
    told = f"{int(held.sum())} rows were left out, whose groups lost more by them than they cost"
    return Suppressed(kept, lost, held[lost]), (told,)


def star_holds(problem: Problem, models: Sequence[Model], cells: FrequencySet, codes: np.ndarray, found: Suppressed) -> bool:
    """Whether the rows left out, with a group that prints the root everywhere, are together a class that holds every model."""
    low, high, _ = boxes_of(codes, found.dealt)
    printed = [labels(h, low[:, j], high[:, j]) for j, h in enumerate(problem.hierarchies)]
    roots = np.array([set(line) == {ROOT} for line in zip(*printed, strict=True)])
    beside = roots[found.dealt.group]
    combination = np.unique(cells.codes, axis=0, return_inverse=True)[1].ravel()
    cell, held = np.append(found.cell, found.dealt.cell[beside]), np.append(found.held, found.dealt.held[beside])
    star = Dealt(cell, combination[cell], np.zeros(len(cell), np.int64), held)
    return not RepairedGroups(problem, models, cells, codes, star).broken()


def _loss(problem: Problem, codes: np.ndarray, dealt: Dealt) -> Fraction:
    """Exact NCP of the table, all rows that are in none of these groups being suppressed."""
    low, high, size = boxes_of(codes, dealt)
    rows = int(size.sum())
    return box_loss(problem.hierarchies, problem.weights, low, high, size)[0] * rows + (problem.rows - rows)


class _Groups(RepairedGroups):
    """Groups that rows are left out of."""

    def __init__(self, problem: Problem, models: Sequence[Model], cells: FrequencySet, codes: np.ndarray, dealt: Dealt):
        super().__init__(problem, models, cells, codes, dealt)
        self.lost: list[int] = []
        self.group = np.empty(len(dealt.cell), np.int64)
        for g, members in enumerate(self.members):
            self.group[members] = g
        self.turn = np.zeros(len(self.members), np.int64)
        order = np.argsort(dealt.combination, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(dealt.combination[order]) != 0])
        self.alike = dict(zip(dealt.combination[order][starts].tolist(), np.split(order, starts[1:]), strict=True))

    def leave_out(self, most: int) -> None:
        """What saves most a row first, until nothing saves anything or ``most`` rows are left out."""
        queue: list[tuple[float, int, tuple[int, ...], int, _Try]] = []
        for g in range(len(self.members)):
            self._push(queue, g)
        while queue:
            _, g, _, turn, found = heappop(queue)
            if turn != self.turn[g] or found.rows > most:
                continue
            most -= found.rows
            for changed in self._apply(found):
                self._push(queue, changed)

    def _push(self, queue: list[tuple[float, int, tuple[int, ...], int, _Try]], g: int) -> None:
        """Look at a group, anew where it was looked at before."""
        self.turn[g] += 1
        for found in self._tries(g):
            heappush(queue, (-found.saved / found.rows, g, found.out, int(self.turn[g]), found))

    def _apply(self, found: _Try) -> list[int]:
        """Leave them out; the others stay together or go home. Returns the groups to look at again."""
        g, gone = found.group, [*found.out, *found.homes]
        self.lost += found.out
        self.group[list(found.out)] = -1
        for part, home in found.homes.items():
            self.members[home] = np.append(self.members[home], part)
            self.group[part] = home
        self.members[g] = self.members[g][~np.isin(self.members[g], gone)]
        self.alive[g] = bool(len(self.members[g]))
        changed = {g, *found.homes.values()}
        for h in changed:
            self.counted.pop(h, None)
            self.size[h] = int(self.parts.held[self.members[h]].sum())
            self.cost[h] = self._cost(np.unique(self.parts.combination[self.members[h]]))
        # a group may send rows home to any that holds rows of the same combination
        seen = [*gone, *(part for h in changed for part in self.members[h].tolist())]
        alike = {int(self.group[x]) for part in seen for x in self.alike[int(self.parts.combination[part])]}
        return sorted((changed | alike) - {-1})

    def _tries(self, g: int) -> Iterator[_Try]:
        """Each combination alone, and all that have no other home, left out of a group that loses more than a row would."""
        whole = float(self.size[g] * self.cost[g])
        if not self.alive[g] or whole <= UNITS:
            return
        members = self.members[g]
        lines, place = np.unique(self.parts.combination[members], return_inverse=True)
        if len(lines) < 2:
            return
        rows = np.bincount(place.ravel(), self.parts.held[members]).astype(np.int64)
        homes = [self._home(int(line), g) for line in lines]
        at_home = np.array([home is not None for home in homes])
        costs = np.array([0.0 if home is None else float(self.cost[home]) for home in homes])
        for x, staying in enumerate(self._without(lines)):
            yield from self._try(g, place.ravel(), np.arange(len(lines)) == x, rows, staying, homes, at_home, costs)
        if 1 < (~at_home).sum() < len(lines):
            staying = self._cost(lines[at_home])
            yield from self._try(g, place.ravel(), ~at_home, rows, staying, homes, at_home, costs)

    def _try(
        self, g: int, place: np.ndarray, out: np.ndarray, rows: np.ndarray, staying: float, homes: Sequence[int | None],
        at_home: np.ndarray, costs: np.ndarray,
    ) -> Iterator[_Try]:  # fmt: skip
        """The combinations of a group marked ``out`` left out, the others staying at that cost or going home."""
        members, left = self.members[g], int(rows[out].sum())
        spare = float(self.size[g] * self.cost[g]) - left * UNITS
        gone = tuple(members[out[place]].tolist())
        stay = spare - float(rows[~out].sum()) * staying
        if stay > 0 and self.hold(self._count(members[~out[place]]), self.models):
            yield _Try(g, gone, left, stay, {})
        home = spare - float((rows * costs)[~out].sum())
        if home > 0 and at_home[~out].all():
            to = {part: int(homes[at]) for part, at in zip(members.tolist(), place.tolist(), strict=True) if not out[at]}
            if self._take(to):
                yield _Try(g, gone, left, home, to)

    def _home(self, combination: int, g: int) -> int | None:
        """The cheapest group but g that holds rows of the same combination, so that its box does not grow."""
        others = {int(self.group[x]) for x in self.alike[combination]} - {g, -1}
        return min(others, key=lambda other: (float(self.cost[other]), other), default=None)

    def _take(self, homes: dict[int, int]) -> bool:
        """Whether all homes still hold the models with the parts that come to them."""
        coming: dict[int, list[int]] = {}
        for part, home in homes.items():
            coming.setdefault(home, []).append(part)
        return all(self.hold(self._count(np.append(self.members[h], parts)), self.models) for h, parts in coming.items())

    def _without(self, lines: np.ndarray) -> list[float]:
        """Units a row of the box of all these combinations but one, for each of them."""
        before, after = (type(self.points)(*(np.ascontiguousarray(array[:, lines]) for array in self.points)) for _ in range(2))
        last = len(lines) - 1
        for x in range(1, last + 1):
            widen(self.costs, before, x, before, x - 1)
            widen(self.costs, after, last - x, after, last - x + 1)
        inner = [float(union_cost(self.costs, before, x - 1, after, x + 1)) for x in range(1, last)]
        return [float(box_cost(self.costs, after, 1)), *inner, float(box_cost(self.costs, before, last - 1))]

    def _cost(self, lines: np.ndarray) -> float:
        """Units a row of the box of these combinations; 0 of none."""
        if not len(lines):
            return 0.0
        box = type(self.points)(*(np.ascontiguousarray(array[:, lines[:1]]) for array in self.points))
        cost = float(box_cost(self.costs, box, 0))
        for line in lines[1:]:
            cost = float(widen(self.costs, box, 0, self.points, line))
        return cost
