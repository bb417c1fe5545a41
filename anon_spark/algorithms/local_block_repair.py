"""Models inside one block: groups that break them are mended there as far as the block's own rows can."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_spark.algorithms.local_groups import Dealt, join_alike
from anon_spark.algorithms.local_mend import exchanged
from anon_spark.algorithms.local_repair import RepairedGroups, repair
from anon_spark.algorithms.local_tally import holding
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.models.base import Model


def repair_within(
    problem: Problem, models: Sequence[Model], cells: FrequencySet, codes: np.ndarray, dealt: Dealt
) -> tuple[Dealt, np.ndarray]:
    """The groups of a block mended, and (g,) bool which still break a model: those are left to the stage across blocks.

    Where the block as one group holds, merging must end in groups that hold. Where it does not, groups exchange rows as far
    as that makes them hold, and one merges with a neighbour only if the two together hold: more merging could swallow the block in
    vain, and rows that help lie in other blocks.
    """
    holds = holding(problem, models, cells.sensitive, dealt)
    if holds.all():
        return dealt, ~holds
    kept = [model.merged_under for model in models]
    one = Dealt(dealt.cell, dealt.combination, np.zeros_like(dealt.group), dealt.held)
    if holding(problem, kept, cells.sensitive, one).all():
        dealt, _ = repair(problem, models, cells, codes, dealt)
    else:
        dealt = join_alike(problem, codes, exchanged(problem, models, cells, codes, dealt)[0])
        groups = RepairedGroups(problem, models, cells, codes, dealt)
        groups.mend_in_pairs(groups.broken(), kept)
        dealt = join_alike(problem, codes, groups.dealt())
    return dealt, ~holding(problem, models, cells.sensitive, dealt)
