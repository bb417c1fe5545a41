"""The lattice search: (alpha,k) Incognito by predictive tagging, always equal to exhaustive search (LeFevre 2005; Wong 2009; METHODS 3.1).

1. Nodes are tagged for the models that may prune, in waves.
2. The candidates, in the order of a lower bound of their loss, are checked for all models until none left can be better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_spark.algorithms.checker import Checker, Verdict, pruning
from anon_spark.algorithms.costing import Costing, holds
from anon_spark.algorithms.lattice_picture import picture
from anon_spark.algorithms.node_space import MAX_NODES, MAX_NODES_UNPRUNED, closed_above, minimal_of
from anon_spark.algorithms.tagging import FAILS, HOLDS, Tagging
from anon_spark.domain.counting import counted
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LatticeTrace, Levels
from anon_spark.metrics.losses import LossTable
from anon_spark.models.base import Model


@dataclass(frozen=True, eq=False)
class Found:
    """The optimum, None where no node holds, with the verdict on it and how the search went."""

    levels: Levels | None
    verdict: Verdict | None
    trace: LatticeTrace


def node_limit(problem: Problem, models: tuple[Model, ...]) -> int:
    """The most nodes that this problem's lattice may have to be searched: a caller refuses more."""
    return MAX_NODES if pruning(models, problem.may_suppress) == models else MAX_NODES_UNPRUNED


def search(problem: Problem, models: tuple[Model, ...], checker: Checker, table: LossTable) -> Found:
    """The holding node of least loss; ties go to the fewest heights, then to the smallest level vector.

    Contract: at least one row, every model feasible or not. Guarantee: the same levels as exhaustive search over the lattice.
    """
    prunes = pruning(models, problem.may_suppress)
    tagging = Tagging(problem, checker)
    if prunes:
        tagging.tag()
    else:
        tagging.state[...] = HOLDS
    waves = len(tagging.verdicts)
    complete = prunes == models
    costing = Costing(problem, table, tagging)
    candidates = tagging.state == HOLDS
    if complete and not problem.may_suppress and not costing.bounds.known:
        # Squares and mean class size never fall as nodes grow, so a minimal node is best; each has been checked.
        candidates = minimal_of(candidates)
    place = costing.least(candidates)
    trace = _trace(problem, tagging, complete, waves)
    if place is None:
        return Found(None, None, trace)
    return Found(tagging.space.levels(place), tagging.verdict(place), trace)


def _trace(problem: Problem, tagging: Tagging, complete: bool, tagged: int) -> LatticeTrace:
    space = tagging.space
    full = np.zeros(space.shape, dtype=bool)
    failed = tagging.state == FAILS
    checked = np.zeros(space.shape, dtype=bool)
    checked.flat[np.array(list(tagging.verdicts), dtype=np.intp)] = True
    if complete:
        full = tagging.state == HOLDS
    else:
        known = {**{p: v for n, v in tagging.subsets.items() if (p := space.place(n)) is not None}, **tagging.verdicts}
        for place, verdict in known.items():
            (full if holds(problem, verdict) else failed).flat[place] = True
    settled = bool((full | failed | closed_above(full)).all())
    marked = int((full & ~checked).sum())
    minimal = tuple(space.levels(int(place)) for place in np.flatnonzero(minimal_of(full))) if settled else None
    return LatticeTrace(
        nodes=space.size,
        checked=int(checked.sum()),
        marked=marked,
        pruned=space.size - int(checked.sum()) - marked,
        subset_checks=len(tagging.subsets),
        minimal=minimal,
        steps=_steps(tagging, tagged, minimal),
        picture=picture(space, full, checked),
    )


def _steps(tagging: Tagging, tagged: int, minimal: tuple[Levels, ...] | None) -> tuple[str, ...]:
    steps = []
    if tagging.subsets:
        raised = [
            f"{h.column} {floor}"
            for h, floor, low in zip(tagging.problem.hierarchies, tagging.floors, tagging.space.low, strict=True)
            if floor > low
        ]
        told = f"no lower levels than {', '.join(raised)}" if raised else "no level left out"
        steps.append(f"{counted(len(tagging.subsets), 'check')} of single columns: {told}")
    if tagged:
        steps.append(f"{counted(tagged, 'check')} to tell which of {tagging.space.size} nodes hold the models that prune")
    if more := len(tagging.verdicts) - tagged:
        steps.append(f"{counted(more, 'more check')} in the order of a lower bound of the loss")
    known = "not all known: the search stopped at the proof" if minimal is None else str(len(minimal))
    return (*steps, f"minimal nodes: {known}")
