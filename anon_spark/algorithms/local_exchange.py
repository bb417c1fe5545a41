"""Groups whose rows change places with near groups': what each step adds to the loss, and whether the models allow it (METHODS 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anon_spark.algorithms.local_groups import Dealt
from anon_spark.algorithms.local_tally import Kinds, Tally
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.kernels.local.bisect import MOST_SEEDS, best_bisection, gather, new_pool
from anon_spark.kernels.local.boxes import Boxes, empty_boxes, union_costs
from anon_spark.kernels.local.exchange import Rests, coming_losses, going_losses, learn_rests, members_of, send, swap_losses
from anon_spark.kernels.local.prepare import prepare
from anon_spark.kernels.local.state import GROUPS, PARTS, State, new_state
from anon_spark.models.base import Model

MOST_PAIRS, FEWEST_BACK = 6_000, 64
"""Pairs of parts that are tried to change places, and the parts of others that are kept for that whatever their number."""
BATCH = 256
"""Steps whose models are looked at together, the best first."""
WORTH = -0.5
"""Units of loss, which are whole numbers, below which a step lowers the loss."""
COUNTED_TOGETHER, FEW_TOGETHER = 4096, 64
"""Groups whose histograms are held at a time; where cells are of many kinds, fewer."""
MOST_KINDS = 4096
"""Kinds of cells that a histogram may have a column for; where there are more, fewer groups are looked at together."""


class Step(NamedTuple):
    """q rows of part ``out`` go to group ``other``, q of part ``back`` come from it; -1 for none. added: units of loss; gain: the share
    of its excess that the group is rid of."""

    out: int
    back: int
    other: int
    q: int
    added: float
    gain: float

    @property
    def rank(self) -> float:
        """What it would cost to go on like this until the group holds."""
        return self.added / self.gain if self.added > 0 and self.gain > 0 else self.added


class Candidates(NamedTuple):
    """Steps side by side, (n,) each.  out, back: places among the parts at hand, -1 for none; other: the group's place in the tally;
    lost, won: kinds' places in the tally, the number of kinds for none."""

    added: np.ndarray
    out: np.ndarray
    back: np.ndarray
    other: np.ndarray
    lost: np.ndarray
    won: np.ndarray


class Exchange:
    """Groups with their boxes while rows change places; the parts are those of cells, so that sensitive values are told apart."""

    def __init__(self, problem: Problem, models: Sequence[Model], cells: FrequencySet, codes: np.ndarray, dealt: Dealt):
        self.models, self.rows = tuple(models), problem.rows
        self.kinds = Kinds(problem, models, cells.sensitive)
        self.costs, points = prepare(problem.hierarchies, problem.weights, codes)
        self.combination = np.zeros(len(cells.count), np.int64)
        self.combination[dealt.cell] = dealt.combination
        self.points = Boxes(*(np.ascontiguousarray(array[:, self.combination]) for array in points))
        self.state = new_state(self.costs, self.points, dealt.cell, dealt.group, dealt.held)
        self.rests = _no_rests(self.state)
        self.k, self.pool = problem.k or 1, new_pool(self.points)
        self.log: list[tuple[int, int, int, int]] = []
        self.union = np.zeros(len(self.state.head), np.float32)

    @property
    def groups(self) -> int:
        """Group numbers in use, those of empty groups included."""
        return int(self.state.used[GROUPS])

    def dealt(self) -> Dealt:
        """The groups, numbered anew, parts sorted by cell, then group."""
        part = np.flatnonzero(self.state.group[: int(self.state.used[PARTS])] >= 0)
        cell, group = self.state.cell[part], np.unique(self.state.group[part], return_inverse=True)[1].ravel()
        order = np.lexsort((group, cell))
        return Dealt(cell[order], self.combination[cell[order]], group[order], self.state.held[part][order])

    def broken(self) -> list[int]:
        """Groups that break a model, in order."""
        alive, found = np.flatnonzero(self.state.size[: self.groups]), []
        together = COUNTED_TOGETHER if self.kinds.count <= MOST_KINDS else FEW_TOGETHER
        for a in range(0, len(alive), together):
            some = alive[a : a + together]
            found += some[self.tally(some).now.any(axis=1)].tolist()
        return found

    def tally(self, groups: np.ndarray) -> Tally:
        """The histograms of these groups."""
        parts, place = members_of(self.state, groups), np.empty(self.groups, np.int64)
        place[groups] = np.arange(len(groups))
        return self._tally(place[self.state.group[parts]], parts)

    def _tally(self, group: np.ndarray, parts: np.ndarray) -> Tally:
        return Tally(self.models, self.kinds, self.rows, group, self.kinds.of[self.state.cell[parts]], self.state.held[parts])

    def near(self, g: int, count: int) -> np.ndarray:
        """Some ``count`` groups, in order: half of them where g's box grows least, half where theirs do."""
        n, size = self.groups, self.state.size[: self.groups]
        union_costs(self.costs, self.state.boxes, g, self.state.boxes, n, self.union)
        cost = self.union[:n].astype(np.float64)
        cost[size == 0] = np.inf
        cost[g] = np.inf
        own = np.argsort(cost, kind="stable")[: count // 2]
        theirs = np.argsort(np.maximum(size, 1) * (cost - self.state.cost[:n]), kind="stable")[: count // 2]
        near = np.union1d(own, theirs)
        near = near[np.isfinite(cost[near])]
        if self.kinds.count <= MOST_KINDS:
            return near
        # histograms side by side have a column a kind: the nearest alone, as far as these are few
        near = near[np.argsort(cost[near], kind="stable")]
        held = np.bincount(self.state.group[members_of(self.state, near)], minlength=n)[near]
        return np.sort(near[: max(int(np.searchsorted(np.cumsum(held), MOST_KINDS)), 1)])

    def merge_of(self, g: int, near: np.ndarray, tally: Tally) -> tuple[float, int]:
        """The least loss added by a merge with one near with which the models hold, and with which; infinite and -1 for none."""
        holds, s = ~tally.excess(tally.counts[:1] + tally.counts[1:]).any(axis=1), self.state
        union_costs(self.costs, s.boxes, g, s.boxes, self.groups, self.union)
        added = (s.size[g] + s.size[near]) * self.union[near].astype(np.float64) - s.size[g] * s.cost[g] - s.size[near] * s.cost[near]
        added[~holds] = np.inf
        best = int(np.argmin(added))
        return (float(added[best]), int(near[best])) if np.isfinite(added[best]) else (np.inf, -1)

    def best(self, g: int, near: np.ndarray, tally: Tally, most: float, mends: bool) -> Step | None:
        """The best step of group g with one near that adds less than ``most`` and after which no group breaks any model more than now;
        one that mends must rid g of some of its excess, at the least loss for all of it. tally: of g, then those near."""
        found: Step | None = None
        out, back = (members_of(self.state, groups) for groups in (np.array([g]), near))
        learn_rests(self.costs, self.points, self.state, self.rests, np.append(g, near))
        held, q = self.state.held, 1
        while q <= held[out].max():
            step = self._best_of(g, near, tally, out[held[out] >= q], back[held[back] >= q], q, most, mends)
            if step is not None and (found is None or step.rank < found.rank):
                found = step
            if mends and found is not None and 2 * found.gain > 1:
                break
            q *= 2
        return found

    def merge(self, g: int, other: int) -> None:
        """All rows of another group come to group g."""
        for part in members_of(self.state, np.array([other])).tolist():
            self._send(part, int(self.state.held[part]), g)

    def apply(self, g: int, step: Step) -> None:
        """Take a step."""
        if step.out >= 0:
            self._send(step.out, step.q, step.other)
        if step.back >= 0:
            self._send(step.back, step.q, g)

    def cut(self, g: int, other: int) -> bool:
        """Cut group g and another (-1 for none) in two anew where the loss falls and all models hold on both sides; whether it was."""
        n, s, was = gather(self.costs, self.points, self.state, self.pool, 0, g), self.state, float(self.state.size[g] * self.state.cost[g])
        if other >= 0 and n > 0:
            n, was = gather(self.costs, self.points, s, self.pool, n, other), was + float(s.size[other] * s.cost[other])
        if n < 2 or (other < 0 and self.groups == len(s.head)):
            return False
        _, at = best_bisection(self.costs, self.pool, n, self.k, was + WORTH, MOST_SEEDS)
        if not at:
            return False
        parts, side = self.pool.best[:n].copy(), (np.arange(n) >= at).astype(np.int64)
        cells = s.cell[parts]
        if self._tally(side, parts).now.any() or len(np.intersect1d(cells[:at], cells[at:])):
            return False
        if other < 0:
            other = self.groups
            s.used[GROUPS] += 1
        kept = int(s.held[parts[side == 0]][s.group[parts[side == 0]] == g].sum())
        goes = np.where(side == (0 if 2 * kept >= int(s.size[g]) else 1), g, other)
        # those that come first: no group is empty in between
        for part, to in sorted(zip(parts.tolist(), goes.tolist(), strict=True), key=lambda pair: pair[1] != g):
            if s.group[part] != to:
                self._send(part, int(self.state.held[part]), to)
                s = self.state
        return True

    def undo(self, mark: int) -> None:
        """Take back all steps since the log was that long."""
        moved = self.log[mark:]
        for cell, home, g, q in reversed(moved):
            parts = members_of(self.state, np.array([g]))
            self._send(int(parts[self.state.cell[parts] == cell][0]), q, home)
        del self.log[mark:]

    def _best_of(
        self, g: int, near: np.ndarray, tally: Tally, out: np.ndarray, back: np.ndarray, q: int, most: float, mends: bool
    ) -> Step | None:
        mine, theirs = (np.searchsorted(tally.kinds, self.kinds.of[self.state.cell[parts]]) for parts in (out, back))
        gain = tally.gains(mine, theirs, q)
        if mends:
            useful = (gain[mine] > 0).any(axis=1), (gain[:, theirs] > 0).any(axis=0)
            out, mine, back, theirs = out[useful[0]], mine[useful[0]], back[useful[1]], theirs[useful[1]]
        if len(out) * len(back) > MOST_PAIRS:
            price = coming_losses(self.costs, self.points, self.state, self.rests, g, back, q)
            kept = np.sort(np.argsort(price, kind="stable")[: max(MOST_PAIRS // len(out), FEWEST_BACK)])
            back, theirs = back[kept], theirs[kept]
        found = self._candidates(g, near, tally, (out, mine), (back, theirs), q, most)
        share = gain[found.lost, found.won]
        chosen = np.flatnonzero(((share > 0) if mends else (share >= 0)) & (found.added < most))
        if not len(chosen):
            return None
        price, share = found.added[chosen], share[chosen]
        rank = np.where(price > 0, price / share, price * share) if mends else price
        chosen = chosen[np.argsort(rank, kind="stable")]
        v = len(tally.kinds) + 1
        alike = (found.other[chosen] * v + found.lost[chosen]) * v + found.won[chosen]
        # the models see no difference between these: the best of them is enough
        chosen = chosen[np.sort(np.unique(alike, return_index=True)[1])]
        for a in range(0, len(chosen), BATCH):
            some = chosen[a : a + BATCH]
            fits = tally.allows(found.other[some], found.won[some], found.lost[some], q)
            if fits.any():
                i = some[int(np.argmax(fits))]
                x, y = (int(parts[at]) if at >= 0 else -1 for parts, at in ((out, found.out[i]), (back, found.back[i])))
                return Step(x, y, int(near[found.other[i] - 1]), q, float(found.added[i]), float(gain[found.lost[i], found.won[i]]))
        return None

    def _candidates(
        self, g: int, near: np.ndarray, tally: Tally, out: tuple[np.ndarray, np.ndarray], back: tuple[np.ndarray, np.ndarray],
        q: int, most: float,
    ) -> Candidates:  # fmt: skip
        """Every part of g and of those near, each with its kind, alone and in pairs."""
        (leaving, mine), (coming, theirs), s = out, back, self.state
        price = coming_losses(self.costs, self.points, s, self.rests, g, coming, q)
        swaps = swap_losses(self.costs, self.points, s, self.rests, g, leaving, coming, q, most)
        going = going_losses(self.costs, self.points, s, self.rests, g, leaving, near, q)
        x, y, h, none = len(leaving), len(coming), len(near), np.full(1, -1)
        place = np.zeros(self.groups, np.int64)
        place[near] = np.arange(1, h + 1)
        home = place[s.group[coming]]
        at_x = np.concatenate([np.repeat(np.arange(x), y), np.repeat(none, y), np.repeat(np.arange(x), h)])
        at_y = np.concatenate([np.tile(np.arange(y), x), np.arange(y), np.repeat(none, x * h)])
        other = np.concatenate([np.tile(home, x), home, np.tile(np.arange(1, h + 1), x)])
        v = len(tally.kinds)
        lost, won = np.append(mine, v)[at_x], np.append(theirs, v)[at_y]
        return Candidates(np.concatenate([swaps.ravel(), price, going.ravel()]), at_x, at_y, other, lost, won)

    def _send(self, p: int, q: int, g: int) -> None:
        if self.state.used[PARTS] >= len(self.state.cell):
            self._grow()
        s = self.state
        self.log.append((int(s.cell[p]), int(s.group[p]), g, q))
        self.rests.known[[int(s.group[p]), g]] = False
        send(self.costs, self.points, s, p, q, g)

    def _grow(self) -> None:
        s, more = self.state, len(self.state.cell)
        none = np.full(more, -1)
        self.state = s._replace(
            cell=np.append(s.cell, none), group=np.append(s.group, none), held=np.append(s.held, np.zeros(more, np.int64)),
            after=np.append(s.after, none), before=np.append(s.before, none),
        )  # fmt: skip
        self.rests = _no_rests(self.state)


def _no_rests(state: State) -> Rests:
    room = len(state.cell)
    return Rests(empty_boxes(state.boxes.low.shape[0], room), np.zeros(room), np.zeros(len(state.head), bool))
