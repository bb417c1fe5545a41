"""Two neighbouring groups, or one of 2 k rows or more, are cut anew along the best of many orders of their parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import FLAT, TABLE, Boxes, Costs, apart, union_costs
from anon_spark.kernels.local.state import CLOCK, GROUPS, State, relink, rest_box

MOST_SEEDS = 12
MOST_PARTS = 1 << 15
"""Parts of the groups that are cut anew, at most."""
MOST_DISTANCES = 24 << 10
"""Parts times seeds: groups of very many parts are tried from fewer seeds, so that a cut takes a time in proportion to its parts."""
PADDING = 16
"""Columns of a pool lie this much apart beyond a power of two: else they share the lines of a processor's cache."""
SORTED_IN_PLACE = 64
"""Parts up to which insertion beats a sort by merging."""


class Pool(NamedTuple):
    """Parts of the groups at hand.  part, held: (n,) int64; at: (d, n) float32 place or rank; key: (n,) float64 to order by; prefix,
    suffix: (n,) float64 cost of the first, of the last 1, 2, .. parts of an order; best: (n,) int64 the parts in the best order so
    far; live: (d,) int64 columns that matter; order: (n,) int64, out: (n,) float64 scratch."""

    part: np.ndarray
    held: np.ndarray
    at: np.ndarray
    key: np.ndarray
    prefix: np.ndarray
    suffix: np.ndarray
    best: np.ndarray
    live: np.ndarray
    order: np.ndarray
    out: np.ndarray


@compiled
def new_pool(points: Boxes) -> Pool:
    """Room for a pool of all parts of these points, about."""
    n, d = min(2 * points.low.shape[1] + 64, MOST_PARTS), points.low.shape[0]
    return Pool(
        np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros((d, n + PADDING), np.float32), np.zeros(n), np.zeros(n), np.zeros(n),
        np.zeros(n, np.int64), np.zeros(d, np.int64), np.zeros(n, np.int64), np.zeros(n),
    )  # fmt: skip


@compiled
def gather(costs: Costs, points: Boxes, state: State, pool: Pool, n: Int, g: Int) -> Int:
    """Group g's parts join the n of the pool; returns how many there are then, -1 for too many."""
    first, p, part, after, cell = n, state.head[g], pool.part, state.after, state.cell
    at, place, rank = pool.at, points.low, points.rank
    while p >= 0:
        if n == len(part):
            return -1
        part[n], pool.held[n] = p, state.held[p]
        n += 1
        p = after[p]
    for j in range(points.low.shape[0]):
        if costs.kind[j] <= FLAT:
            for x in range(first, n):
                at[j, x] = place[j, cell[part[x]]]
        else:
            for x in range(first, n):
                at[j, x] = rank[j, cell[part[x]]]
    return n


@compiled
def _sort(pool: Pool, n: Int) -> None:
    """The n parts by pool.key into pool.order, equal ones as they stand."""
    order, keys = pool.order, pool.key
    if n > SORTED_IN_PLACE:
        order[:n] = np.argsort(keys[:n], kind="mergesort")
        return
    for x in range(n):
        key, y = keys[x], x
        while y > 0 and keys[order[y - 1]] > key:
            order[y] = order[y - 1]
            y -= 1
        order[y] = x


@compiled
def _live(pool: Pool, n: Int) -> Int:
    """Columns in which the n parts differ go to pool.live; returns how many. The others cost nothing in any cut."""
    found, at = 0, pool.at
    for j in range(at.shape[0]):
        for x in range(1, n):
            if at[j, x] != at[j, 0]:
                pool.live[found] = j
                found += 1
                break
    return found


@compiled
def _costs_along(costs: Costs, pool: Pool, live: Int, n: Int, backwards: bool, out: np.ndarray) -> None:
    """Cost of the first 1, 2, .. of n parts in the order, or of the last."""
    data, at, order = costs.data, pool.at, pool.order
    start, step = (n - 1, -1) if backwards else (0, 1)
    for x in range(n):
        out[x] = 0.0
    for i in range(live):
        j, y = pool.live[i], start
        first = at[j, order[start]]
        if costs.kind[j] <= FLAT:
            low, high, cap = first, first, costs.cap[j]
            for x in range(n):
                low, high = min(low, at[j, order[y]]), max(high, at[j, order[y]])
                out[x] += min(high - low, cap)
                y += step
            continue
        offset, width, mine = costs.offset[j], costs.width[j], np.int64(first)
        own: Real = np.float32(0)
        for x in range(n):
            other = np.int64(at[j, order[y]])
            if costs.kind[j] == TABLE:
                own = max(own, data[offset + mine * width + other])
            else:
                own = max(own, apart(data, offset, width, mine, other))
            out[x] += own
            y += step


@compiled
def _cut(costs: Costs, pool: Pool, n: Int, live: Int, k: Int, total: Int, least: Real) -> tuple[Real, Int]:
    """Cut the order by pool.key where the two sides, of k of ``total`` rows or more each, lose least; remember it where below ``least``.

    Returns the loss and how many parts stand before the cut (0 where it is not below).
    """
    order, prefix, suffix, held = pool.order, pool.prefix, pool.suffix, pool.held
    _sort(pool, n)
    _costs_along(costs, pool, live, n, False, prefix)
    _costs_along(costs, pool, live, n, True, suffix)
    at, rows = 0, np.int64(0)
    for x in range(1, n):
        rows += held[order[x - 1]]
        if rows < k:
            continue
        if total - rows < k:
            break
        loss = rows * prefix[x - 1] + (total - rows) * suffix[n - x - 1]
        if loss < least:
            least, at = loss, x
    if at:
        for x in range(n):
            pool.best[x] = pool.part[order[x]]
    return least, at


@compiled
def _distances(costs: Costs, pool: Pool, n: Int, live: Int, u: Int, out: np.ndarray) -> None:
    """Cost of part u beside each of the n parts."""
    data, at = costs.data, pool.at
    for x in range(n):
        out[x] = 0.0
    for i in range(live):
        j = pool.live[i]
        mine, offset, width, cap = at[j, u], costs.offset[j], costs.width[j], costs.cap[j]
        if costs.kind[j] <= FLAT:
            for x in range(n):
                out[x] += min(abs(at[j, x] - mine), cap)
        elif costs.kind[j] == TABLE:
            start = offset + np.int64(mine) * width
            for x in range(n):
                out[x] += data[start + np.int64(at[j, x])]
        else:
            for x in range(n):
                out[x] += apart(data, offset, width, np.int64(mine), np.int64(at[j, x]))


@compiled
def best_bisection(costs: Costs, pool: Pool, n: Int, k: Int, least: Real, seeds: Int) -> tuple[Real, Int]:
    """The best cut of the pool's n parts in two over all orders tried: loss and parts before the cut (0: none below ``least``).

    Orders: by each column, and by nearness to each of some ``seeds`` parts, alone and beside the part farthest from it.
    """
    at: Int = 0
    total = np.int64(0)
    for x in range(n):
        total += pool.held[x]
    live = _live(pool, n) if total >= 2 * k else 0
    for i in range(live):
        j = pool.live[i]
        for x in range(n):
            pool.key[x] = pool.at[j, x]
        least, found = _cut(costs, pool, n, live, k, total, least)
        at = found if found else at
    step = 1 + (n - 1) // max(min(seeds, MOST_DISTANCES // n), 1)
    for u in range(0, n if seeds and live else 0, step):
        _distances(costs, pool, n, live, u, pool.key)
        v = np.argmax(pool.key[:n])
        least, found = _cut(costs, pool, n, live, k, total, least)
        at = found if found else at
        _distances(costs, pool, n, live, v, pool.out)
        for x in range(n):
            pool.key[x] -= pool.out[x]
        least, found = _cut(costs, pool, n, live, k, total, least)
        at = found if found else at
    return least, at


@compiled
def _settle(costs: Costs, points: Boxes, state: State, pool: Pool, n: Int, at: Int, a: Int, b: Int) -> None:
    """The first ``at`` parts of the best order become group a, the others group b."""
    relink(state, pool.best[:at], a)
    relink(state, pool.best[at:n], b)
    for g in (a, b):
        state.cost[g] = rest_box(costs, points, state, g, state.boxes, g)
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
            n = gather(costs, points, state, pool, 0, a)
            was = state.size[a] * state.cost[a]
            least, at = best_bisection(costs, pool, n, k, was, seeds) if n > 1 else (was, 0)
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
            n = gather(costs, points, state, pool, 0, a)
            n = gather(costs, points, state, pool, n, b) if n > 0 else -1
            if n < 2:
                continue
            was = state.size[a] * state.cost[a] + state.size[b] * state.cost[b]
            least, at = best_bisection(costs, pool, n, k, was, seeds)
            if at:
                _settle(costs, points, state, pool, n, at, a, b)
                gone += was - least
    return gone
