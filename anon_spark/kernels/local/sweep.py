"""Sweeps: parts of cells move between groups, groups shrink and dissolve, while the total loss falls."""

from __future__ import annotations

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import LINE, Boxes, Costs, pair_cost
from anon_spark.kernels.local.release import Work, best_group, put, release
from anon_spark.kernels.local.state import PARTS, State

FARTHEST = 6
"""Places from either end of a group's numbers at which it is tried to be cut."""


@compiled
def move_parts(costs: Costs, points: Boxes, state: State, work: Work, order: np.ndarray, k: Int, since: Int) -> Real:
    """Offer each part in ``order`` to the group where the loss falls most; returns the loss that went.

    Parts of groups that have not changed since then are left where they are.

    A group keeps k rows: spare rows of a part go alone where the others are needed, or spare rows of others fill in.
    """
    gone: Real = 0.0
    for p in order:
        a = state.group[p]
        if a < 0 or state.cost[a] == 0.0 or state.changed[a] < since or state.used[PARTS] + 16 >= state.cell.shape[0]:
            continue
        q = min(state.held[p], state.size[a] - k)
        if 0 < q < state.held[p]:
            g, added = best_group(costs, points, state, state.cell[p], q, a, work.out)
            if g >= 0 and q * state.cost[a] > added:
                gone += q * state.cost[a] - added
                put(costs, points, state, p, q, g)
                continue
        if state.size[a] > state.held[p]:
            work.going[0] = p
            gone += release(costs, points, state, work, a, 1, k)
    return gone


@compiled
def dissolve_groups(costs: Costs, points: Boxes, state: State, work: Work, order: np.ndarray, k: Int, since: Int) -> Real:
    """Empty each group in ``order`` into the others where that lowers the loss; returns the loss that went."""
    gone: Real = 0.0
    for a in order:
        if state.size[a] == 0 or state.cost[a] == 0.0 or state.changed[a] < since:
            continue
        n, p = 0, state.head[a]
        while p >= 0:
            work.going[n] = p
            n += 1
            p = state.after[p]
        gone += release(costs, points, state, work, a, n, k)
    return gone


@compiled
def _outside_rank(costs: Costs, points: Boxes, state: State, work: Work, a: Int, j: Int, rank: Int) -> tuple[Int, Int]:
    """Parts of group a that lie outside of rank's child of the group's node go to work.going; returns how many, and their rows."""
    own, n, rows, p = state.boxes.high[j, a], 0, np.int64(0), state.head[a]
    while p >= 0:
        if pair_cost(costs, j, rank, points.rank[j, state.cell[p]]) >= own:
            work.going[n] = p
            n += 1
            rows += state.held[p]
        p = state.after[p]
    return n, rows


@compiled
def _outside_place(points: Boxes, state: State, work: Work, a: Int, j: Int, place: Real, above: bool) -> tuple[Int, Int]:
    """Parts of group a whose place lies above (below) ``place``, and their rows."""
    n, rows, p = 0, np.int64(0), state.head[a]
    while p >= 0:
        at = points.low[j, state.cell[p]]
        if (at > place) if above else (at < place):
            work.going[n] = p
            n += 1
            rows += state.held[p]
        p = state.after[p]
    return n, rows


@compiled
def _next_place(points: Boxes, state: State, a: Int, j: Int, place: Real, above: bool) -> tuple[Real, bool]:
    """The place of group a's parts next to ``place`` on its way inwards."""
    best, found, p = np.float32(0), False, state.head[a]
    while p >= 0:
        at = points.low[j, state.cell[p]]
        if ((at < place) if above else (at > place)) and (not found or ((at > best) if above else (at < best))):
            best, found = at, True
        p = state.after[p]
    return best, found


@compiled
def _cut_line(costs: Costs, points: Boxes, state: State, work: Work, a: Int, j: Int, k: Int) -> Real:
    """Try to cut off group a's farthest numbers, from above and from below."""
    gone: Real = 0.0
    for above in (True, False):
        if state.size[a] == 0:
            return gone
        place = state.boxes.high[j, a] if above else state.boxes.low[j, a]
        for _ in range(FARTHEST):
            place, found = _next_place(points, state, a, j, place, above)
            if not found:
                break
            n, rows = _outside_place(points, state, work, a, j, place, above)
            if 2 * rows > state.size[a]:
                break
            won = release(costs, points, state, work, a, n, k)
            gone += won
            if won > 0.0:
                break
    return gone


@compiled
def _cut_tree(costs: Costs, points: Boxes, state: State, work: Work, a: Int, j: Int, k: Int) -> Real:
    """Try to keep but the most populous child of group a's node."""
    best, least, p, looked = np.int64(-1), state.size[a], state.head[a], 0
    while p >= 0 and looked < 64:
        rank = np.int64(points.rank[j, state.cell[p]])
        n, rows = _outside_rank(costs, points, state, work, a, j, rank)
        if rows < least:
            best, least = rank, rows
        if 2 * rows <= state.size[a]:
            break
        p = state.after[p]
        looked += 1
    if best < 0 or 4 * least > 3 * state.size[a]:
        return 0.0
    n, rows = _outside_rank(costs, points, state, work, a, j, best)
    return release(costs, points, state, work, a, n, k)


@compiled
def shrink_groups(costs: Costs, points: Boxes, state: State, work: Work, order: np.ndarray, k: Int, since: Int) -> Real:
    """Try to cut each group in ``order`` down in one column after the other; returns the loss that went."""
    gone: Real = 0.0
    for a in order:
        if state.changed[a] < since:
            continue
        for j in range(points.low.shape[0]):
            if state.size[a] == 0 or state.cost[a] == 0.0:
                break
            if costs.kind[j] == LINE:
                if state.boxes.high[j, a] > state.boxes.low[j, a]:
                    gone += _cut_line(costs, points, state, work, a, j, k)
            elif state.boxes.high[j, a] > 0:
                gone += _cut_tree(costs, points, state, work, a, j, k)
    return gone
