"""A recoding while it is improved: parts of cells in groups, each group's box, rows and cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import FLAT, Boxes, Costs, empty_boxes_like, pair_cost

PARTS, GROUPS, CLOCK = 0, 1, 2


class State(NamedTuple):
    """Parts (capacity P) and groups (capacity G).  cell, group, held: (P,) int64, group -1 where free; after, before: (P,) links
    among a group's parts; head, size: (G,) int64; cost: (G,) float64 units a row; changed: (G,) int64 when the
    group last changed; away: (P,) bool parts that are thought away; used: (3,) int64 parts and groups in use, and the clock."""

    cell: np.ndarray
    group: np.ndarray
    held: np.ndarray
    after: np.ndarray
    before: np.ndarray
    boxes: Boxes
    head: np.ndarray
    size: np.ndarray
    cost: np.ndarray
    changed: np.ndarray
    away: np.ndarray
    used: np.ndarray


def new_state(costs: Costs, points: Boxes, cell: np.ndarray, group: np.ndarray, held: np.ndarray) -> State:
    """The state of parts (p,) whose groups bear any numbers; parts of one cell in one group become one, free parts are dropped."""
    order = np.lexsort((cell, group))
    return state_of(costs, points, cell[order], group[order], held[order])


@compiled
def state_of(costs: Costs, points: Boxes, cell: np.ndarray, group: np.ndarray, held: np.ndarray) -> State:
    """As ``new_state``, of parts that stand group by group."""
    p, g = 0, 0
    for x in range(len(cell)):
        p += held[x] > 0
        g += x == 0 or group[x] != group[x - 1]
    room, wide = 2 * p + 64, g + g // 2 + 64
    state = State(
        np.zeros(room, np.int64), np.full(room, -1, np.int64), np.zeros(room, np.int64), np.full(room, -1, np.int64),
        np.full(room, -1, np.int64),
        empty_boxes_like(points, wide), np.full(wide, -1, np.int64), np.zeros(wide, np.int64), np.zeros(wide), np.zeros(wide, np.int64),
        np.zeros(room, np.bool_), np.zeros(3, np.int64),
    )  # fmt: skip
    last, p, g = np.full(points.low.shape[1], -1, np.int64), 0, -1
    name, first = np.int64(-1), 0
    for x in range(len(cell)):
        if held[x] == 0:
            continue
        if g < 0 or group[x] != name:
            name, first = group[x], p
            g += 1
        c = cell[x]
        if last[c] >= first:
            state.held[last[c]] += held[x]
            continue
        state.cell[p], state.group[p], state.held[p], last[c] = c, g, held[x], p
        p += 1
    state.used[:2] = p, g + 1
    _fill(costs, points, state)
    return state


@compiled
def _fill(costs: Costs, points: Boxes, state: State) -> None:
    for p in range(state.used[PARTS] - 1, -1, -1):
        g = state.group[p]
        state.group[p] = -1
        attach(state, p, g)
        state.size[g] += state.held[p]
    for g in range(state.used[GROUPS]):
        state.cost[g] = rest_box(costs, points, state, g, state.boxes, g)


@compiled
def attach(state: State, p: Int, g: Int) -> None:
    """Part p becomes the first of group g's list."""
    state.group[p], state.before[p], state.after[p] = g, -1, state.head[g]
    if state.head[g] >= 0:
        state.before[state.head[g]] = p
    state.head[g] = p


@compiled
def detach(state: State, p: Int) -> None:
    """Part p leaves its group's list."""
    b, a = state.before[p], state.after[p]
    if b >= 0:
        state.after[b] = a
    else:
        state.head[state.group[p]] = a
    if a >= 0:
        state.before[a] = b
    state.group[p] = -1


@compiled
def relink(state: State, parts: np.ndarray, g: Int) -> None:
    """Group g's list becomes these parts, of at least one, whichever lists they were on."""
    group, after, before, held = state.group, state.after, state.before, state.held
    rows, last = np.int64(0), np.int64(-1)
    for p in parts:
        group[p], before[p] = g, last
        if last >= 0:
            after[last] = p
        rows += held[p]
        last = p
    after[last] = -1
    state.head[g], state.size[g] = parts[0], rows


@compiled
def rest_box(costs: Costs, points: Boxes, state: State, g: Int, target: Boxes, t: Int) -> Real:
    """Box t of ``target`` becomes that of group g's parts that are not away; returns its cost, -1 where none is left."""
    head, cell, after, away = state.head[g], state.cell, state.after, state.away
    while head >= 0 and away[head]:
        head = after[head]
    if head < 0:
        return -1.0
    place, rank = points.low, points.rank
    total: Real = 0.0
    for j in range(points.low.shape[0]):
        p = after[head]
        if costs.kind[j] <= FLAT:
            low = high = place[j, cell[head]]
            while p >= 0:
                if not away[p]:
                    low, high = min(low, place[j, cell[p]]), max(high, place[j, cell[p]])
                p = after[p]
            target.low[j, t], target.high[j, t] = low, high
            total += min(high - low, costs.cap[j])
            continue
        least = most = rank[j, cell[head]]
        while p >= 0:
            if not away[p]:
                least, most = min(least, rank[j, cell[p]]), max(most, rank[j, cell[p]])
            p = after[p]
        own = pair_cost(costs, j, least, most) if least < most else np.float32(0)
        target.rank[j, t], target.high[j, t] = least, own
        total += own
    return total


@compiled
def total_loss(state: State) -> Real:
    """Units over all rows."""
    total = 0.0
    for g in range(state.used[GROUPS]):
        total += state.size[g] * state.cost[g]
    return total


@compiled
def listed(state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cell, group and rows of the parts, group by group; groups numbered without gaps, in order."""
    group, head, after, n = state.group, state.head, state.after, 0
    for p in range(state.used[PARTS]):
        n += group[p] >= 0
    cell, number, held, x, g = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64), 0, 0
    for name in range(state.used[GROUPS]):
        p = head[name]
        if p < 0:
            continue
        while p >= 0:
            cell[x], number[x], held[x] = state.cell[p], g, state.held[p]
            x += 1
            p = after[p]
        g += 1
    return cell, number, held
