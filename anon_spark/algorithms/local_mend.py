"""Groups that break a model exchange rows with near groups, at the least added loss, before any is merged (METHODS 3.2, merge stage)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_spark.algorithms.local_exchange import WORTH, Exchange
from anon_spark.algorithms.local_groups import Dealt
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.models.base import Model

NEAR = (48, 384, 3072)
"""Groups that a broken group may exchange rows with, first of all, and where that was in vain."""
NEAR_AFTER = 24
"""The same, once all hold, to lower the loss."""
MOST_STEPS = 400
"""Steps in which a group must hold."""
CUT_WITH = 3
"""Near groups with which a group is cut anew."""
ROUNDS = 3


def exchanged(
    problem: Problem, models: Sequence[Model], cells: FrequencySet, codes: np.ndarray, dealt: Dealt
) -> tuple[Dealt, tuple[str, ...]]:
    """The groups once rows changed places, and what was done, in a sentence. Groups that could not be mended are as they were.

    No step makes any group break any model more than before; each one that mends makes one break them less, so it ends. Models that
    unions do not keep are mended as they are.
    """
    exchange = Exchange(problem, models, cells, codes, dealt)
    broken = left = exchange.broken()
    if not broken or exchange.groups < 2:
        return dealt, ()
    merges = 0
    for count in NEAR:
        for g in left:
            if exchange.state.size[g]:
                merges += _mend(exchange, g, count)
        left = exchange.broken()
        if not left:
            break
    moved = len(exchange.log)
    _improve(exchange)
    return exchange.dealt(), (
        f"{len(broken)} groups broke a model: {moved} exchanges with near groups, {merges} merges, {len(left)} still broken, then "
        f"{len(exchange.log) - moved} exchanges to lose less",
    )


def _mend(exchange: Exchange, g: int, count: int) -> int:
    """Exchange rows until group g holds; as before where it can't; merged with one near where that costs less. Returns the merges."""
    near = exchange.near(g, count)
    if not len(near):
        return 0
    mark, spent, tally = len(exchange.log), 0.0, exchange.tally(np.append(g, near))
    if not tally.now[0].any():
        return 0
    cheapest, other = exchange.merge_of(g, near, tally)
    for _ in range(MOST_STEPS):
        step = exchange.best(g, near, tally, cheapest - spent, True)
        if step is None:
            break
        spent += step.added
        exchange.apply(g, step)
        near = near[exchange.state.size[near] > 0]
        if not exchange.state.size[g] or not len(near):
            break
        tally = exchange.tally(np.append(g, near))
        if not tally.now[0].any():
            return 0
    if not exchange.state.size[g]:
        return 0
    exchange.undo(mark)
    if other < 0:
        return 0
    exchange.merge(g, other)
    return 1


def _improve(exchange: Exchange) -> None:
    """Steps and cuts that lower the loss, from the groups that changed outwards, while no model is broken more."""
    since = 0
    for _ in range(ROUNDS):
        changed = sorted({g for _, one, other, _ in exchange.log[since:] for g in (one, other)})
        since = len(exchange.log)
        for g in changed:
            _step(exchange, g)
        for g in changed:
            _cut(exchange, g)


def _step(exchange: Exchange, g: int) -> None:
    """Steps of group g and its near groups as long as the loss falls."""
    for _ in range(MOST_STEPS):
        near = exchange.near(g, NEAR_AFTER) if exchange.state.size[g] else np.zeros(0, np.int64)
        step = exchange.best(g, near, exchange.tally(np.append(g, near)), WORTH, False) if len(near) else None
        if step is None:
            return
        exchange.apply(g, step)


def _cut(exchange: Exchange, g: int) -> None:
    """Group g, alone or with each of its nearest, cut in two anew where the loss falls."""
    if not exchange.state.size[g]:
        return
    exchange.cut(g, -1)
    for other in exchange.near(g, CUT_WITH).tolist():
        exchange.cut(g, other)
