"""One step of improvement: a group lets some of its parts go to others, others' spare rows fill it up to k again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import LINE, Boxes, Costs, box_cost, copy_box, empty_boxes_like, pair_cost, union_costs, widen
from anon_spark.kernels.local.state import CLOCK, GROUPS, PARTS, State, attach, box_without, detach


class Work(NamedTuple):
    """Work space.  out: one float32 a group or cell; left: the box that stays (one); kept: boxes of the
    groups that took parts, as they were; going, target, was: the parts that go, where to, those groups' costs; goes: (P,) bool marks;
    filler, filled: parts that fill in and their rows."""

    out: np.ndarray
    left: Boxes
    kept: Boxes
    going: np.ndarray
    target: np.ndarray
    was: np.ndarray
    goes: np.ndarray
    filler: np.ndarray
    filled: np.ndarray


@compiled
def work_space(points: Boxes, state: State) -> Work:
    """Work space for this state."""
    p, g = state.cell.shape[0], state.head.shape[0]
    return Work(
        np.zeros(max(points.low.shape[1], g), np.float32),
        empty_boxes_like(points, 1), empty_boxes_like(points, p), np.zeros(p, np.int64), np.zeros(p, np.int64), np.zeros(p),
        np.zeros(p, np.bool_), np.zeros(p, np.int64), np.zeros(p, np.int64),
    )  # fmt: skip


@compiled
def best_group(costs: Costs, points: Boxes, state: State, c: Int, q: Int, own: Int, out: np.ndarray) -> tuple[Int, Real]:
    """Group other than ``own`` that takes q rows of cell c at the least added loss, and that loss; -1 where there is none."""
    n = state.used[GROUPS]
    union_costs(costs, points, c, state.boxes, n, out)
    best, least = np.int64(-1), np.inf
    for g in range(n):
        if g == own or state.size[g] == 0:
            continue
        added = (state.size[g] + q) * np.float64(out[g]) - state.size[g] * state.cost[g]
        if added < least:
            best, least = np.int64(g), added
    return best, least


@compiled
def put(costs: Costs, points: Boxes, state: State, p: Int, q: Int, g: Int) -> None:
    """q rows of part p go to group g, the whole part if q is all it holds. The group it leaves keeps its box and cost."""
    a, c = state.group[p], state.cell[p]
    state.size[a] -= q
    state.size[g] += q
    state.changed[a] = state.changed[g] = state.used[CLOCK]
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
def _box_of_rest(costs: Costs, points: Boxes, state: State, work: Work, a: Int) -> tuple[Real, Int]:
    """Box of the parts of group a that do not go into work.left; its cost and rows."""
    d, rows, p, first = points.low.shape[0], np.int64(0), state.head[a], True
    left = work.left
    while p >= 0:
        if not work.goes[p]:
            c = state.cell[p]
            rows += state.held[p]
            if first:
                copy_box(points, c, left, 0)
                first = False
            else:
                for j in range(d):
                    if costs.kind[j] == LINE:
                        left.low[j, 0] = min(left.low[j, 0], points.low[j, c])
                        left.high[j, 0] = max(left.high[j, 0], points.high[j, c])
                    elif points.rank[j, c] != left.rank[j, 0]:
                        left.high[j, 0] = max(left.high[j, 0], pair_cost(costs, j, left.rank[j, 0], points.rank[j, c]))
        p = state.after[p]
    return np.float64(box_cost(costs, left, 0)) if not first else 0.0, rows


@compiled
def _fill(
    costs: Costs, points: Boxes, state: State, work: Work, a: Int, need: Int, k: Int, price: Real, allowance: Real
) -> tuple[Int, Real]:
    """Choose spare rows for the box work.left of cost ``price``, which will be of k rows; returns (choices, loss added)."""
    count, spent = 0, 0.0
    while need > 0 and spent < allowance and count < 8:
        union_costs(costs, work.left, 0, points, points.low.shape[1], work.out)
        best, least, rows = np.int64(-1), np.inf, np.int64(0)
        for p in range(state.used[PARTS]):
            g = state.group[p]
            if g < 0 or g == a:
                continue
            q = min(state.held[p], state.size[g] - k, need)
            if q <= 0:
                continue
            added = k * (np.float64(work.out[state.cell[p]]) - price) / q - state.cost[g]
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
def release(costs: Costs, points: Boxes, state: State, work: Work, a: Int, n: Int, k: Int) -> Real:
    """Let the first n of work.going, parts of group a, go if that lowers the loss; returns by how much, 0 where they stay.

    They go one by one to where each adds least. What stays is filled up to k rows, or is nothing.
    """
    if state.used[PARTS] + 16 >= state.cell.shape[0]:
        return 0.0
    for x in range(n):
        work.goes[work.going[x]] = True
    price, rows = _box_of_rest(costs, points, state, work, a)
    for x in range(n):
        work.goes[work.going[x]] = False
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
    for x in range(fills):
        p, q = work.filler[x], work.filled[x]
        source, whole = state.group[p], work.filled[x] == state.held[work.filler[x]]
        put(costs, points, state, p, q, a)
        if whole:
            state.cost[source] = box_without(costs, points, state, source, np.int64(-1), state.boxes, source)
    state.changed[a] = state.used[CLOCK]
    if state.head[a] < 0:
        state.cost[a] = 0.0
    else:
        state.cost[a] = box_without(costs, points, state, a, np.int64(-1), state.boxes, a)
