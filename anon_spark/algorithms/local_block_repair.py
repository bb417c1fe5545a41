"""Models inside one block: groups that break them are mended there as far as the block's own rows can."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_spark.algorithms.local_groups import Dealt, join_alike
from anon_spark.algorithms.local_repair import RepairedGroups, kept_by_unions, repair
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.kernels.rollup import Histograms, holds_all, roll_up, statistics
from anon_spark.models.base import Model, Size


def holding(problem: Problem, models: Sequence[Model], sensitive: np.ndarray, dealt: Dealt) -> np.ndarray:
    """(g,) bool: which of groups 0 to g - 1 hold every model.  sensitive: (c, s) numbers of each cell."""
    lines = np.ascontiguousarray(sensitive[dealt.cell].T, dtype=np.int32)
    cells = roll_up(dealt.group[None, :].astype(np.int32), lines, dealt.held, [None])
    reads = tuple(dict.fromkeys([Size(), *(s for model in models for s in model.reads)]))
    found = statistics(cells, reads, Histograms(problem.sensitive, problem.values, problem.ignores_null))
    return holds_all(models, found, len(cells.starts), problem.rows)


def repair_within(
    problem: Problem, models: Sequence[Model], cells: FrequencySet, codes: np.ndarray, dealt: Dealt
) -> tuple[Dealt, np.ndarray]:
    """The groups of a block mended, and (g,) bool which still break a model: those are left to the stage across blocks.

    Where the block as one group holds, merging must end in groups that hold. Where it does not, a group merges with a neighbour only
    if the two together hold: more merging could swallow the block in vain, and rows that help lie in other blocks.
    """
    holds = holding(problem, models, cells.sensitive, dealt)
    if holds.all():
        return dealt, ~holds
    kept = [kept_by_unions(model) for model in models]
    one = Dealt(dealt.cell, dealt.combination, np.zeros_like(dealt.group), dealt.held)
    if holding(problem, kept, cells.sensitive, one).all():
        dealt, _ = repair(problem, models, cells, codes, dealt)
    else:
        groups = RepairedGroups(problem, models, cells, codes, dealt)
        groups.mend_in_pairs(np.flatnonzero(~holds).tolist(), kept)
        dealt = join_alike(problem, codes, groups.dealt())
    return dealt, ~holding(problem, models, cells.sensitive, dealt)
