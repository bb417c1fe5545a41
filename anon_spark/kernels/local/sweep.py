"""Sweeps: parts of cells move between groups, groups shrink and dissolve, while the total loss falls."""

from __future__ import annotations

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import FLAT, LINE, TABLE, Boxes, Costs, apart
from anon_spark.kernels.local.release import Work, best_group, learn_alone, put, release
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
                put(costs, points, state, work, p, q, g)
                continue
        rows = state.size[a] - state.held[p]
        if rows > 0:
            if not work.known[a]:
                learn_alone(costs, points, state, work, a)
            if state.size[a] * state.cost[a] > max(rows, k) * work.alone[p]:
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
def _outside_child(costs: Costs, points: Boxes, state: State, work: Work, a: Int, j: Int, c: Int) -> tuple[Int, Int]:
    """Parts of group a outside of the child of the group's node in which cell c lies go to work.going; how many, and their rows."""
    n, rows, p, cell, after = 0, np.int64(0), state.head[a], state.cell, state.after
    kind, at, width, data, own = costs.kind[j], costs.offset[j], costs.width[j], costs.data, state.boxes.high[j, a]
    place, rank = points.low, points.rank
    mine = np.int64(rank[j, c])
    while p >= 0:
        other = cell[p]
        if kind == FLAT:
            outside = place[j, other] != place[j, c]
        elif kind == TABLE:
            outside = data[at + mine * width + np.int64(rank[j, other])] >= own
        else:
            outside = apart(data, at, width, mine, np.int64(rank[j, other])) >= own
        if outside:
            work.going[n] = p
            n += 1
            rows += state.held[p]
        p = after[p]
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
        _, rows = _outside_child(costs, points, state, work, a, j, state.cell[p])
        if rows < least:
            best, least = state.cell[p], rows
        if 2 * rows <= state.size[a]:
            break
        p = state.after[p]
        looked += 1
    if best < 0 or 4 * least > 3 * state.size[a]:
        return 0.0
    n, _ = _outside_child(costs, points, state, work, a, j, best)
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
            least = state.boxes.low[j, a] if costs.kind[j] <= FLAT else np.float32(0)
            if state.boxes.high[j, a] == least:
                continue
            if costs.kind[j] == LINE:
                gone += _cut_line(costs, points, state, work, a, j, k)
            else:
                gone += _cut_tree(costs, points, state, work, a, j, k)
    return gone
