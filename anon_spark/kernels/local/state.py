"""A recoding while it is improved: parts of cells in groups, each group's box, rows and cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import LINE, Boxes, Costs, copy_box, empty_boxes, pair_cost

PARTS, GROUPS, CLOCK = 0, 1, 2


class State(NamedTuple):
    """Parts (capacity P) and groups (capacity G).  cell, group, held: (P,) int64, group -1 where free; after, before: (P,) links
    among a group's parts; head, size: (G,) int64; cost: (G,) float64 units a row; changed: (G,) int64 when the
    group last changed; used: (3,) int64 parts and groups in use, and the clock."""

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
    used: np.ndarray


def new_state(costs: Costs, points: Boxes, cell: np.ndarray, group: np.ndarray, held: np.ndarray) -> State:
    """The state of parts (p,) whose groups bear any numbers; parts of one cell in one group become one, free parts are dropped."""
    order = np.lexsort((cell, group))
    order = order[held[order] > 0]
    cell, name, held = cell[order], group[order], held[order]
    starts = (
        np.flatnonzero(np.r_[True, (cell[1:] != cell[:-1]) | (name[1:] != name[:-1])]) if len(cell) else np.zeros(0, np.int64)
    )
    held = np.add.reduceat(held, starts) if len(starts) else held
    cell, name = cell[starts], name[starts]
    first = np.unique(name, return_index=True)[1]
    number = np.zeros(len(name), np.int64)
    number[first] = 1
    number = np.cumsum(number) - 1
    p, g, d = len(cell), len(first), points.low.shape[0]
    room, wide = 2 * p + 64, g + g // 2 + 64
    state = State(
        np.zeros(room, np.int64), np.full(room, -1, np.int64), np.zeros(room, np.int64), np.full(room, -1, np.int64),
        np.full(room, -1, np.int64), empty_boxes(d, wide), np.full(wide, -1, np.int64), np.zeros(wide, np.int64), np.zeros(wide),
        np.zeros(wide, np.int64), np.zeros(3, np.int64),
    )  # fmt: skip
    state.cell[:p], state.group[:p], state.held[:p] = cell, number, held
    state.used[:] = p, g, 0
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
        state.cost[g] = box_without(costs, points, state, g, np.int64(-1), state.boxes, g)


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
def box_without(costs: Costs, points: Boxes, state: State, g: Int, without: Int, target: Boxes, t: Int) -> Real:
    """Box t of ``target`` becomes that of group g's parts but one (-1: of all); returns its cost, -1 where no part is left."""
    d = points.low.shape[0]
    p = state.head[g]
    if p == without and p >= 0:
        p = state.after[p]
    if p < 0:
        return -1.0
    copy_box(points, state.cell[p], target, t)
    p = state.after[p]
    while p >= 0:
        if p != without:
            c = state.cell[p]
            for j in range(d):
                if costs.kind[j] == LINE:
                    target.low[j, t] = min(target.low[j, t], points.low[j, c])
                    target.high[j, t] = max(target.high[j, t], points.high[j, c])
                elif points.rank[j, c] != target.rank[j, t]:
                    target.high[j, t] = max(target.high[j, t], pair_cost(costs, j, target.rank[j, t], points.rank[j, c]))
        p = state.after[p]
    total = 0.0
    for j in range(d):
        if costs.kind[j] == LINE:
            total += min(target.high[j, t] - target.low[j, t], costs.cap[j])
        else:
            total += target.high[j, t]
    return total


@compiled
def total_loss(state: State) -> Real:
    """Units over all rows."""
    total = 0.0
    for g in range(state.used[GROUPS]):
        total += state.size[g] * state.cost[g]
    return total
