"""What it costs that parts of a group change places with parts of others; a step that does it (METHODS 3.2, repair)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import Boxes, Costs, copy_box, union_cost
from anon_spark.kernels.local.state import CLOCK, PARTS, State, attach, detach, rest_box

MANY_PARTS = 256
"""Parts of a group above which it is not looked what each of them alone widens."""


@compiled
def members_of(state: State, groups: np.ndarray) -> np.ndarray:
    """The parts of these groups, one group after the other."""
    n = 0
    for g in groups:
        p = state.head[g]
        while p >= 0:
            n += 1
            p = state.after[p]
    out, n = np.empty(n, np.int64), 0
    for g in groups:
        p = state.head[g]
        while p >= 0:
            out[n] = p
            n += 1
            p = state.after[p]
    return out


class Rests(NamedTuple):
    """What is left of a part's group without the part.  boxes: a box each of P parts; cost: (P,) float64 its cost, -1 where nothing is
    left; known: (G,) bool groups whose parts are up to date."""

    boxes: Boxes
    cost: np.ndarray
    known: np.ndarray


@compiled
def learn_rests(costs: Costs, points: Boxes, state: State, rests: Rests, groups: np.ndarray) -> None:
    """Bring these groups up to date. Groups of many parts are taken to stay as wide as they are: their loss is overrated."""
    for g in groups:
        if rests.known[g]:
            continue
        rests.known[g] = True
        n, p = 0, state.head[g]
        while p >= 0:
            n += 1
            p = state.after[p]
        p = state.head[g]
        while p >= 0:
            if n > MANY_PARTS or (state.cost[g] == 0.0 and n > 1):
                copy_box(state.boxes, g, rests.boxes, p)
                rests.cost[p] = state.cost[g]
            else:
                state.away[p] = True
                rests.cost[p] = rest_box(costs, points, state, g, rests.boxes, p)
                state.away[p] = False
            p = state.after[p]


@compiled
def swap_losses(
    costs: Costs, points: Boxes, state: State, rests: Rests, a: Int, out: np.ndarray, back: np.ndarray, q: Int, most: Real
) -> np.ndarray:
    """(x, y) units of loss added where q rows of part out[x] of group a and q of part back[y] of another group change places.

    Parts hold q rows or more. Infinite where it is ``most`` or more.
    """
    size, cost = state.size[a], state.cost[a]
    added = np.full((len(out), len(back)), np.inf)
    for y in range(len(back)):
        p = back[y]
        c, h, whole_y = state.cell[p], state.group[p], state.held[p] == q
        left_y = max(rests.cost[p], 0.0) if whole_y else state.cost[h]
        for x in range(len(out)):
            o = out[x]
            whole_x = state.held[o] == q
            left_x = max(rests.cost[o], 0.0) if whole_x else cost
            # no box is cheaper than what is left of it
            least = size * (left_x - cost) + state.size[h] * (left_y - state.cost[h])
            if least >= most:
                continue
            own: Real = 0.0
            if not whole_x:
                own = union_cost(costs, state.boxes, a, points, c)
            elif rests.cost[o] >= 0:
                own = union_cost(costs, rests.boxes, o, points, c)
            least += size * (own - left_x)
            if least >= most:
                continue
            other: Real = 0.0
            if not whole_y:
                other = union_cost(costs, state.boxes, h, points, state.cell[o])
            elif rests.cost[p] >= 0:
                other = union_cost(costs, rests.boxes, p, points, state.cell[o])
            least += state.size[h] * (other - left_y)
            if least < most:
                added[x, y] = least
    return added


@compiled
def coming_losses(costs: Costs, points: Boxes, state: State, rests: Rests, a: Int, back: np.ndarray, q: Int) -> np.ndarray:
    """(y,) units of loss added where q rows of part back[y] come to group a."""
    added = np.empty(len(back))
    for y in range(len(back)):
        p = back[y]
        h = state.group[p]
        cost = max(rests.cost[p], 0.0) if state.held[p] == q else state.cost[h]
        own = np.float64(union_cost(costs, state.boxes, a, points, state.cell[p]))
        left = (state.size[h] - q) * cost
        added[y] = (state.size[a] + q) * own + left - state.size[a] * state.cost[a] - state.size[h] * state.cost[h]
    return added


@compiled
def going_losses(
    costs: Costs, points: Boxes, state: State, rests: Rests, a: Int, out: np.ndarray, to: np.ndarray, q: Int
) -> np.ndarray:
    """(x, h) units of loss added where q rows of part out[x] of group a go to group to[h]."""
    added = np.empty((len(out), len(to)))
    for x in range(len(out)):
        p = out[x]
        cost = max(rests.cost[p], 0.0) if state.held[p] == q else state.cost[a]
        gone = (state.size[a] - q) * cost - state.size[a] * state.cost[a]
        for i in range(len(to)):
            h = to[i]
            own = np.float64(union_cost(costs, state.boxes, h, points, state.cell[p]))
            added[x, i] = gone + (state.size[h] + q) * own - state.size[h] * state.cost[h]
    return added


@compiled
def send(costs: Costs, points: Boxes, state: State, p: Int, q: Int, g: Int) -> None:
    """q rows of part p go to group g, to its part of the same cell if it has one. There must be room for a part more."""
    a, c = state.group[p], state.cell[p]
    state.size[a] -= q
    state.size[g] += q
    state.changed[a] = state.changed[g] = state.used[CLOCK]
    same = state.head[g]
    while same >= 0 and state.cell[same] != c:
        same = state.after[same]
    whole = q == state.held[p]
    if same >= 0:
        state.held[same] += q
        state.held[p] -= q
        if whole:
            detach(state, p)
    elif whole:
        detach(state, p)
        attach(state, p, g)
    else:
        state.held[p] -= q
        new = state.used[PARTS]
        state.used[PARTS] += 1
        state.cell[new], state.held[new] = c, q
        attach(state, new, g)
    for h in (a, g):
        state.cost[h] = max(rest_box(costs, points, state, h, state.boxes, h), 0.0)
