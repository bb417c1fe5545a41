"""Improves groups by sweeps and bisections until a round of both lowers the loss no more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, compiled
from anon_spark.kernels.local.bisect import MOST_SEEDS, bisect_groups, new_pool
from anon_spark.kernels.local.boxes import Boxes, Costs
from anon_spark.kernels.local.release import work_space
from anon_spark.kernels.local.state import CLOCK, GROUPS, PARTS, State, listed, new_state, total_loss
from anon_spark.kernels.local.sweep import dissolve_groups, move_parts, shrink_groups

NEIGHBOURS = 3
"""Nearest groups with which each is cut anew."""
WORTH = 3e-4
"""The share of the loss that a round has to lower for another round."""


class Parts(NamedTuple):
    """Parts of cells in groups.  cell, group, held: (p,) int64; every group number from 0 to the largest occurs."""

    cell: np.ndarray
    group: np.ndarray
    held: np.ndarray


@compiled
def shuffled(n: Int, turn: Int) -> np.ndarray:
    """The numbers below n in an order that depends on nothing but n and ``turn``."""
    key = np.empty(n, np.uint64)
    for x in range(n):
        h = (np.uint64(x) + np.uint64(turn) * np.uint64(0x632BE59BD9B4E019) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        key[x] = h ^ (h >> np.uint64(27))
    return np.argsort(key, kind="mergesort")


def parts_of(state: State) -> Parts:
    """The parts of a state, groups numbered anew."""
    return Parts(*listed(state))


def numbered(parts: Parts) -> Parts:
    """The same parts, groups numbered without gaps, in order."""
    return Parts(parts.cell, np.unique(parts.group, return_inverse=True)[1].ravel(), parts.held)


def pooled(found: list[Parts]) -> Parts:
    """Parts of several blocks, groups numbered through."""
    first = np.cumsum([0, *(int(parts.group.max(initial=-1)) + 1 for parts in found)])
    return Parts(
        np.concatenate([parts.cell for parts in found]),
        np.concatenate([parts.group + start for parts, start in zip(found, first[:-1], strict=True)]),
        np.concatenate([parts.held for parts in found]),
    )


def sweep(costs: Costs, points: Boxes, parts: Parts, k: int, rounds: int) -> tuple[Parts, float]:
    """At most so many rounds of moving, dissolving and shrinking; the parts then and their loss in units."""
    state = new_state(costs, points, *parts)
    _sweep(costs, points, state, k, rounds, 0)
    return parts_of(state), float(total_loss(state))


def improve(costs: Costs, points: Boxes, parts: Parts, k: int, rounds: int = 6) -> tuple[Parts, float]:
    """Sweeps and bisections in turn; the parts then and their loss in units. The loss never rises, no group falls below k rows."""
    state = new_state(costs, points, *parts)
    _sweep(costs, points, state, k, rounds, 0)
    loss, since = float(total_loss(state)), 0
    pool = new_pool(points)
    for turn in range(rounds):
        state.used[CLOCK] += 1
        now = int(state.used[CLOCK])
        bisect_groups(costs, points, state, pool, shuffled(int(state.used[GROUPS]), turn), k, NEIGHBOURS, MOST_SEEDS, since)
        _sweep(costs, points, state, k, rounds, now)
        since, was, loss = now, loss, float(total_loss(state))
        if loss > was * (1 - WORTH):
            break
    _sweep(costs, points, state, k, rounds, 0)
    return parts_of(state), float(total_loss(state))


def _sweep(costs: Costs, points: Boxes, state: State, k: int, rounds: int, since: int) -> None:
    """Rounds over the groups that changed since then, later ones over those that changed in the round before."""
    loss = float(total_loss(state))
    work = work_space(points, state)
    for turn in range(rounds):
        state.used[CLOCK] += 1
        now = int(state.used[CLOCK])
        move_parts(costs, points, state, work, shuffled(int(state.used[PARTS]), turn), k, since)
        dissolve_groups(costs, points, state, work, shuffled(int(state.used[GROUPS]), turn), k, since)
        shrink_groups(costs, points, state, work, shuffled(int(state.used[GROUPS]), turn), k, since)
        since, was, loss = now, loss, float(total_loss(state))
        if loss > was * (1 - WORTH):
            break
