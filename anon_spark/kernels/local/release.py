"""One step of improvement: a group lets some of its parts go to others, others' spare rows fill it up to k again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import FLAT, Boxes, Costs, copy_box, empty_boxes_like, pair_cost, union_costs, widen
from anon_spark.kernels.local.state import CLOCK, GROUPS, PARTS, State, attach, detach, rest_box


class Work(NamedTuple):
    """Work space.  out: one float32 a group or cell; left: the box that stays (one); kept: boxes of the
    groups that took parts, as they were; going, target, was: the parts that go, where to, those groups' costs;
    filler, filled: parts that fill in and their rows; alone: (P,) float64 what the group of a part costs without it, where the group
    is ``known``, (G,) bool."""

    out: np.ndarray
    left: Boxes
    kept: Boxes
    going: np.ndarray
    target: np.ndarray
    was: np.ndarray
    filler: np.ndarray
    filled: np.ndarray
    alone: np.ndarray
    known: np.ndarray


@compiled
def work_space(points: Boxes, state: State) -> Work:
    """Work space for this state."""
    p, g = state.cell.shape[0], state.head.shape[0]
    return Work(
        np.zeros(max(points.low.shape[1], g), np.float32),
        empty_boxes_like(points, 1), empty_boxes_like(points, p), np.zeros(p, np.int64), np.zeros(p, np.int64), np.zeros(p),
        np.zeros(p, np.int64), np.zeros(p, np.int64), np.zeros(p), np.zeros(g, np.bool_),
    )  # fmt: skip


@compiled
def _ends(at: np.ndarray, j: Int, cell: np.ndarray, after: np.ndarray, head: Int) -> tuple[Real, Real, Real, Real]:
    """The least, the next to it, the next to the most and the most in column j of the parts of a list, of two at least."""
    p = after[head]
    one, other = at[j, cell[head]], at[j, cell[p]]
    least, most = min(one, other), max(one, other)
    second, last_but = most, least
    p = after[p]
    while p >= 0:
        x = at[j, cell[p]]
        second, least = min(second, max(x, least)), min(x, least)
        last_but, most = max(last_but, min(x, most)), max(x, most)
        p = after[p]
    return least, second, last_but, most


@compiled
def learn_alone(costs: Costs, points: Boxes, state: State, work: Work, g: Int) -> None:
    """What group g, of two parts at least, costs without each of them."""
    cell, after, alone, head, place, rank = state.cell, state.after, work.alone, state.head[g], points.low, points.rank
    p = head
    while p >= 0:
        alone[p] = 0.0
        p = after[p]
    for j in range(points.low.shape[0]):
        p = head
        if costs.kind[j] <= FLAT:
            cap = costs.cap[j]
            least, second, last_but, most = _ends(place, j, cell, after, head)
            while p >= 0:
                x = place[j, cell[p]]
                alone[p] += min((most if x < most else last_but) - (least if x > least else second), cap)
                p = after[p]
            continue
        ends = _ends(rank, j, cell, after, head)
        first, next_to, before, last = np.int64(ends[0]), np.int64(ends[1]), np.int64(ends[2]), np.int64(ends[3])
        if first == last:
            continue
        whole, no_first, no_last = pair_cost(costs, j, first, last), pair_cost(costs, j, next_to, last), pair_cost(costs, j, first, before)
        while p >= 0:
            r = rank[j, cell[p]]
            alone[p] += no_first if r == first else no_last if r == last else whole
            p = after[p]
    work.known[g] = True


@compiled
def best_group(costs: Costs, points: Boxes, state: State, c: Int, q: Int, own: Int, out: np.ndarray) -> tuple[Int, Real]:
    """Group other than ``own`` that takes q rows of cell c at the least added loss, and that loss; -1 where there is none."""
    n, size, cost = state.used[GROUPS], state.size, state.cost
    union_costs(costs, points, c, state.boxes, n, out)
    best, least = np.int64(-1), np.inf
    for g in range(n):
        added = (size[g] + q) * np.float64(out[g]) - size[g] * cost[g]
        if added < least and g != own and size[g] > 0:
            best, least = np.int64(g), added
    return best, least


@compiled
def put(costs: Costs, points: Boxes, state: State, work: Work, p: Int, q: Int, g: Int) -> None:
    """q rows of part p go to group g, the whole part if q is all it holds. The group it leaves keeps its box and cost."""
    a, c = state.group[p], state.cell[p]
    state.size[a] -= q
    state.size[g] += q
    state.changed[a] = state.changed[g] = state.used[CLOCK]
    work.known[a] = work.known[g] = False
    state.cost[g] = widen(costs, state.boxes, g, points, c)
    if q == state.held[p]:
        detach(state, p)
        attach(state, p, g)
        return
    state.held[p] -= q
    new = state.used[PARTS]
    state.used[PARTS] += 1
    state.cell[new], state.held[new] = c, q
    attach(state, new, g)


@compiled
def _fill(
    costs: Costs, points: Boxes, state: State, work: Work, a: Int, need: Int, k: Int, price: Real, allowance: Real
) -> tuple[Int, Real]:
    """Choose spare rows for the box work.left of cost ``price``, which will be of k rows; returns (choices, loss added)."""
    out, group, size, held, cell, cost = work.out, state.group, state.size, state.held, state.cell, state.cost
    count, spent = 0, 0.0
    while need > 0 and spent < allowance and count < 8:
        union_costs(costs, work.left, 0, points, points.low.shape[1], out)
        best, least, rows = np.int64(-1), np.inf, np.int64(0)
        for p in range(state.used[PARTS]):
            g = group[p]
            if g < 0 or g == a or size[g] <= k:
                continue
            q = min(held[p], size[g] - k, need)
            added = k * (np.float64(out[cell[p]]) - price) / q - cost[g]
            if added < least:
                taken = False
                for x in range(count):
                    taken = taken or work.filler[x] == p
                if not taken:
                    best, least, rows = np.int64(p), added, q
        if best < 0:
            return count, np.inf
        work.filler[count], work.filled[count] = best, rows
        count += 1
        need -= rows
        spent += least * rows
        state.size[state.group[best]] -= rows
        price = np.float64(widen(costs, work.left, 0, points, state.cell[best]))
    return count, spent if need <= 0 else np.inf


@compiled
def _rest(costs: Costs, points: Boxes, state: State, work: Work, a: Int, n: Int) -> Real:
    """The box of the parts of group a that are not among the first n of work.going becomes work.left; its cost."""
    for x in range(n):
        state.away[work.going[x]] = True
    price = rest_box(costs, points, state, a, work.left, 0)
    for x in range(n):
        state.away[work.going[x]] = False
    return price


@compiled
def release(costs: Costs, points: Boxes, state: State, work: Work, a: Int, n: Int, k: Int) -> Real:
    """Let the first n of work.going, parts of group a, go if that lowers the loss; returns by how much, 0 where they stay.

    They go one by one to where each adds least. What stays is filled up to k rows, or is nothing.
    """
    if state.used[PARTS] + 16 >= state.cell.shape[0]:
        return 0.0
    rows = state.size[a]
    for x in range(n):
        rows -= state.held[work.going[x]]
    price: Real = 0.0
    if rows > 0 and n == 1 and work.known[a]:
        price = work.alone[work.going[0]]
    elif rows > 0:
        price = _rest(costs, points, state, work, a, n)
    stay = max(rows, k) if rows > 0 else np.int64(0)
    gain, placed = state.size[a] * state.cost[a] - stay * price, 0
    spent: Real = 0.0
    while placed < n and spent < gain:
        p = work.going[placed]
        g, added = best_group(costs, points, state, state.cell[p], state.held[p], a, work.out)
        if g < 0:
            spent = np.inf
            break
        spent += added
        if spent >= gain:
            break
        work.target[placed], work.was[placed] = g, state.cost[g]
        copy_box(state.boxes, g, work.kept, placed)
        state.size[g] += state.held[p]
        state.cost[g] = widen(costs, state.boxes, g, points, state.cell[p])
        placed += 1
    fills: Int = 0
    if spent < gain and 0 < rows < k:
        if n == 1:
            _rest(costs, points, state, work, a, n)
        fills, more = _fill(costs, points, state, work, a, k - rows, k, price, gain - spent)
        spent += more
        for x in range(fills):
            state.size[state.group[work.filler[x]]] += work.filled[x]
    if spent < gain:
        _apply(costs, points, state, work, a, n, fills)
        return gain - spent
    for x in range(placed - 1, -1, -1):
        g = work.target[x]
        copy_box(work.kept, x, state.boxes, g)
        state.size[g] -= state.held[work.going[x]]
        state.cost[g] = work.was[x]
    return 0.0


@compiled
def _apply(costs: Costs, points: Boxes, state: State, work: Work, a: Int, n: Int, fills: Int) -> None:
    """The parts go where they were placed, and the fillers come."""
    for x in range(n):
        p = work.going[x]
        state.size[a] -= state.held[p]
        detach(state, p)
        attach(state, p, work.target[x])
        state.changed[work.target[x]] = state.used[CLOCK]
        work.known[work.target[x]] = False
    for x in range(fills):
        p, q = work.filler[x], work.filled[x]
        source, whole = state.group[p], work.filled[x] == state.held[work.filler[x]]
        put(costs, points, state, work, p, q, a)
        if whole:
            state.cost[source] = rest_box(costs, points, state, source, state.boxes, source)
    state.changed[a] = state.used[CLOCK]
    work.known[a] = False
    state.cost[a] = max(rest_box(costs, points, state, a, state.boxes, a), 0.0)
