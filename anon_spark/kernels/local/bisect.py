"""Two neighbouring groups, or one of 2 k rows or more, are cut anew along the best of many orders of their parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import LINE, Boxes, Costs, box_cost, copy_box, empty_boxes_like, union_costs, widen
from anon_spark.kernels.local.state import CLOCK, GROUPS, State, attach, box_without, detach

MOST_SEEDS = 12
MOST_PARTS = 2048


class Pool(NamedTuple):
    """Parts of the groups at hand.  part: (n,) int64; points: a box each; key: (n,) float64 to order by; prefix: (n,) float64 loss of
    the first parts of an order; best: (n,) int64 the parts in the best order so far; scratch: a box and float32 costs."""

    part: np.ndarray
    points: Boxes
    key: np.ndarray
    prefix: np.ndarray
    best: np.ndarray
    box: Boxes
    out: np.ndarray


@compiled
def new_pool(points: Boxes) -> Pool:
    """Room for a pool."""
    n = MOST_PARTS
    return Pool(
        np.zeros(n, np.int64), empty_boxes_like(points, n), np.zeros(n), np.zeros(n), np.zeros(n, np.int64),
        empty_boxes_like(points, 1), np.zeros(n, np.float32),
    )  # fmt: skip


@compiled
def gather(points: Boxes, state: State, pool: Pool, n: Int, g: Int) -> Int:
    """Group g's parts join the n of the pool; returns how many there are then, -1 for too many."""
    p = state.head[g]
    while p >= 0:
        if n == MOST_PARTS:
            return -1
        pool.part[n] = p
        copy_box(points, state.cell[p], pool.points, n)
        n += 1
        p = state.after[p]
    return n


@compiled
def _cut(costs: Costs, state: State, pool: Pool, n: Int, k: Int, least: Real) -> tuple[Real, Int]:
    """Cut the order by pool.key where the two sides, of k rows or more each, lose least; remember it where below ``least``.

    Returns the loss and how many parts stand before the cut (0 where it is not below).
    """
    order = np.argsort(pool.key[:n], kind="mergesort")
    rows = np.int64(0)
    for x in range(n):
        if x == 0:
            copy_box(pool.points, order[0], pool.box, 0)
            cost = np.float64(box_cost(costs, pool.box, 0))
        else:
            cost = np.float64(widen(costs, pool.box, 0, pool.points, order[x]))
        rows += state.held[pool.part[order[x]]]
        pool.prefix[x] = rows * cost if rows >= k else np.inf
        if rows * cost >= least and rows >= k:
            for y in range(x, n):
                pool.prefix[y] = np.inf
            break
    at, rows = 0, np.int64(0)
    for x in range(n - 1, 0, -1):
        if x == n - 1:
            copy_box(pool.points, order[x], pool.box, 0)
            cost = np.float64(box_cost(costs, pool.box, 0))
        else:
            cost = np.float64(widen(costs, pool.box, 0, pool.points, order[x]))
        rows += state.held[pool.part[order[x]]]
        if rows >= k:
            if rows * cost >= least:
                break
            if pool.prefix[x - 1] + rows * cost < least:
                least, at = pool.prefix[x - 1] + rows * cost, x
    if at:
        for x in range(n):
            pool.best[x] = pool.part[order[x]]
    return least, at


@compiled
def best_bisection(costs: Costs, state: State, pool: Pool, n: Int, k: Int, least: Real) -> tuple[Real, Int]:
    """The best cut of the pool's n parts in two over all orders tried: loss and parts before the cut (0: none below ``least``)."""
    at: Int = 0
    for j in range(pool.points.low.shape[0]):
        for x in range(n):
            pool.key[x] = pool.points.low[j, x] if costs.kind[j] == LINE else np.float64(pool.points.rank[j, x])
        least, found = _cut(costs, state, pool, n, k, least)
        at = found if found else at
    step = 1 + (n - 1) // MOST_SEEDS
    for u in range(0, n, step):
        union_costs(costs, pool.points, u, pool.points, n, pool.out)
        v = 0
        for x in range(n):
            pool.key[x] = pool.out[x]
            if pool.out[x] > pool.out[v]:
                v = x
        least, found = _cut(costs, state, pool, n, k, least)
        at = found if found else at
        union_costs(costs, pool.points, v, pool.points, n, pool.out)
        for x in range(n):
            pool.key[x] -= np.float64(pool.out[x])
        least, found = _cut(costs, state, pool, n, k, least)
        at = found if found else at
    return least, at


@compiled
def _settle(costs: Costs, points: Boxes, state: State, pool: Pool, n: Int, at: Int, a: Int, b: Int) -> None:
    """The first ``at`` parts of the best order become group a, the others group b."""
    for x in range(n):
        detach(state, pool.best[x])
    state.size[a], state.size[b] = 0, 0
    for x in range(n):
        g = a if x < at else b
        attach(state, pool.best[x], g)
        state.size[g] += state.held[pool.best[x]]
    for g in (a, b):
        state.cost[g] = box_without(costs, points, state, g, np.int64(-1), state.boxes, g)
        state.changed[g] = state.used[CLOCK]


@compiled
def bisect_groups(
    costs: Costs, points: Boxes, state: State, pool: Pool, order: np.ndarray, k: Int, neighbours: Int, since: Int
) -> Real:
    """Cut each group in ``order`` anew, alone and with each of its nearest ``neighbours``, where the loss falls; returns by how much.

    Groups that have not changed since then are not tried again.
    """
    out, score = np.zeros(state.head.shape[0], np.float32), np.zeros(state.head.shape[0])
    gone: Real = 0.0
    for a in order:
        if state.size[a] == 0 or state.cost[a] == 0.0:
            continue
        if state.changed[a] >= since and state.size[a] >= 2 * k and state.used[GROUPS] < state.head.shape[0]:
            n = gather(points, state, pool, 0, a)
            was = state.size[a] * state.cost[a]
            least, at = best_bisection(costs, state, pool, n, k, was) if n > 1 else (was, 0)
            if at:
                b = state.used[GROUPS]
                state.used[GROUPS] += 1
                _settle(costs, points, state, pool, n, at, a, b)
                gone += was - least
        groups = state.used[GROUPS]
        union_costs(costs, state.boxes, a, state.boxes, groups, out)
        for g in range(groups):
            score[g] = np.inf
            if g != a and state.size[g] > 0:
                score[g] = (state.size[a] + state.size[g]) * np.float64(out[g]) - state.size[g] * state.cost[g]
        for _ in range(neighbours):
            b = np.argmin(score[:groups])
            if score[b] == np.inf:
                break
            score[b] = np.inf
            if max(state.changed[a], state.changed[b]) < since:
                continue
            n = gather(points, state, pool, 0, a)
            n = gather(points, state, pool, n, b) if n > 0 else -1
            if n < 2:
                continue
            was = state.size[a] * state.cost[a] + state.size[b] * state.cost[b]
            least, at = best_bisection(costs, state, pool, n, k, was)
            if at:
                _settle(costs, points, state, pool, n, at, a, b)
                gone += was - least
    return gone
