"""Two neighbouring groups, or one of 2 k rows or more, are cut anew along the best of many orders of their parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import LINE, Boxes, Costs, copy_box, empty_boxes_like, pair_cost, union_costs
from anon_spark.kernels.local.state import CLOCK, GROUPS, State, attach, box_without, detach

MOST_SEEDS = 12
MOST_PARTS = 2048
PADDING = 16
"""Columns of a pool lie this much apart beyond a power of two: else they share the lines of a processor's cache."""
SORTED_IN_PLACE = 64
"""Parts up to which insertion beats a sort by merging."""


class Pool(NamedTuple):
    """Parts of the groups at hand.  part: (n,) int64; points: a box each; key: (n,) float64 to order by; prefix, suffix: (n,)
    float64 cost of the first, of the last 1, 2, .. parts of an order; best: (n,) int64 the parts in the best order so far; live: (d,)
    int64 columns that matter; order: (n,) int64, out: (n,) float64 scratch."""

    part: np.ndarray
    points: Boxes
    key: np.ndarray
    prefix: np.ndarray
    suffix: np.ndarray
    best: np.ndarray
    live: np.ndarray
    order: np.ndarray
    out: np.ndarray


@compiled
def new_pool(points: Boxes) -> Pool:
    """Room for a pool."""
    n = MOST_PARTS
    return Pool(
        np.zeros(n, np.int64), empty_boxes_like(points, n + PADDING), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros(n, np.int64), np.zeros(points.low.shape[0], np.int64), np.zeros(n, np.int64), np.zeros(n),
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
def _sort(pool: Pool, n: Int) -> np.ndarray:
    """The n parts by pool.key, equal ones as they stand."""
    if n > SORTED_IN_PLACE:
        return np.argsort(pool.key[:n], kind="mergesort")
    order = pool.order[:n]
    for x in range(n):
        key, y = pool.key[x], x
        while y > 0 and pool.key[order[y - 1]] > key:
            order[y] = order[y - 1]
            y -= 1
        order[y] = x
    return order


@compiled
def _live(costs: Costs, pool: Pool, n: Int) -> Int:
    """Columns in which the n parts differ or cost go to pool.live; returns how many. The others cost nothing in any cut."""
    found = 0
    for j in range(pool.points.low.shape[0]):
        low, high, rank = pool.points.low[j], pool.points.high[j], pool.points.rank[j]
        for x in range(n):
            apart = (low[x] != low[0] or high[x] != low[0]) if costs.kind[j] == LINE else (rank[x] != rank[0] or high[x] > 0)
            if apart:
                pool.live[found] = j
                found += 1
                break
    return found


@compiled
def _add_line(costs: Costs, pool: Pool, order: np.ndarray, j: Int, out: np.ndarray) -> None:
    """Add what the first 1, 2, .. parts of an order cost in a column of numbers."""
    low, high, cap = pool.points.low[j], pool.points.high[j], costs.cap[j]
    least, most = low[order[0]], high[order[0]]
    for x in range(len(order)):
        least, most = min(least, low[order[x]]), max(most, high[order[x]])
        out[x] += min(most - least, cap)


@compiled
def _add_tree(costs: Costs, pool: Pool, order: np.ndarray, j: Int, out: np.ndarray) -> None:
    """Add what the first 1, 2, .. parts of an order cost in a column with a tree."""
    high, rank = pool.points.high[j], pool.points.rank[j]
    own, first = high[order[0]], rank[order[0]]
    for x in range(len(order)):
        own = max(own, high[order[x]])
        if rank[order[x]] != first:
            own = max(own, pair_cost(costs, j, first, rank[order[x]]))
        out[x] += own


@compiled
def _costs_along(costs: Costs, pool: Pool, live: Int, order: np.ndarray, out: np.ndarray) -> None:
    """Cost of the first 1, 2, .. parts of an order."""
    out[: len(order)] = 0.0
    for i in range(live):
        j = pool.live[i]
        if costs.kind[j] == LINE:
            _add_line(costs, pool, order, j, out)
        else:
            _add_tree(costs, pool, order, j, out)


@compiled
def _cut(costs: Costs, state: State, pool: Pool, n: Int, live: Int, k: Int, least: Real) -> tuple[Real, Int]:
    """Cut the order by pool.key where the two sides, of k rows or more each, lose least; remember it where below ``least``.

    Returns the loss and how many parts stand before the cut (0 where it is not below).
    """
    order = _sort(pool, n)
    _costs_along(costs, pool, live, order, pool.prefix)
    _costs_along(costs, pool, live, order[::-1], pool.suffix)
    total = np.int64(0)
    for x in range(n):
        total += state.held[pool.part[x]]
    at, rows = 0, np.int64(0)
    for x in range(1, n):
        rows += state.held[pool.part[order[x - 1]]]
        if rows < k:
            continue
        if total - rows < k:
            break
        loss = rows * pool.prefix[x - 1] + (total - rows) * pool.suffix[n - x - 1]
        if loss < least:
            least, at = loss, x
    if at:
        for x in range(n):
            pool.best[x] = pool.part[order[x]]
    return least, at


@compiled
def _distances(costs: Costs, pool: Pool, n: Int, live: Int, u: Int, out: np.ndarray) -> None:
    """Cost of part u beside each of the n parts."""
    out[:n] = 0.0
    for i in range(live):
        j = pool.live[i]
        low, high, rank = pool.points.low[j], pool.points.high[j], pool.points.rank[j]
        if costs.kind[j] == LINE:
            least, most, cap = low[u], high[u], costs.cap[j]
            for x in range(n):
                out[x] += min(max(high[x], most) - min(low[x], least), cap)
        else:
            own, mine = high[u], rank[u]
            for x in range(n):
                out[x] += max(max(high[x], own), pair_cost(costs, j, mine, rank[x]))


@compiled
def best_bisection(costs: Costs, state: State, pool: Pool, n: Int, k: Int, least: Real, seeds: Int) -> tuple[Real, Int]:
    """The best cut of the pool's n parts in two over all orders tried: loss and parts before the cut (0: none below ``least``).

    Orders: by each column, and by nearness to each of some ``seeds`` parts, alone and beside the part farthest from it.
    """
    at: Int = 0
    live = _live(costs, pool, n)
    for i in range(live):
        j = pool.live[i]
        for x in range(n):
            pool.key[x] = pool.points.low[j, x] if costs.kind[j] == LINE else np.float64(pool.points.rank[j, x])
        least, found = _cut(costs, state, pool, n, live, k, least)
        at = found if found else at
    step = 1 + (n - 1) // max(seeds, 1)
    for u in range(0, n if seeds else 0, step):
        _distances(costs, pool, n, live, u, pool.key)
        v = np.argmax(pool.key[:n])
        least, found = _cut(costs, state, pool, n, live, k, least)
        at = found if found else at
        _distances(costs, pool, n, live, v, pool.out)
        for x in range(n):
            pool.key[x] -= pool.out[x]
        least, found = _cut(costs, state, pool, n, live, k, least)
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
    costs: Costs, points: Boxes, state: State, pool: Pool, order: np.ndarray, k: Int, neighbours: Int, seeds: Int, since: Int
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
            least, at = best_bisection(costs, state, pool, n, k, was, seeds) if n > 1 else (was, 0)
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
            least, at = best_bisection(costs, state, pool, n, k, was, seeds)
            if at:
                _settle(costs, points, state, pool, n, at, a, b)
                gone += was - least
    return gone
