"""Whether suppressed rows may be printed as a class of their own (DESIGN: it must hold every model itself)."""

from __future__ import annotations

import numpy as np

from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.policy import ROOT
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels
from anon_spark.kernels.rollup import roll_up
from anon_spark.models.registry import models_of


def star_holds(problem: Problem, frequency: FrequencySet, levels: Levels) -> bool:
    """Whether the rows of failing classes, with a class that prints the root everywhere, are together a class that holds every model.

    Classes that print alike are one class, so a kept class of nothing but roots (ragged leaves, nulls) is pooled with them.
    """
    checker = LocalChecker(problem, models_of(problem), frequency)
    cells = checker.cells(levels)
    star = ~checker.verdicts_of(cells)[2]
    classes = cells.classes()
    roots = [np.array([label == ROOT for label in h.labels[level]]) for h, level in zip(problem.hierarchies, levels, strict=True)]
    star |= np.logical_and.reduce([root[line] for root, line in zip(roots, classes, strict=True)])
    of_class = np.zeros(len(cells.count), np.int64)
    of_class[cells.starts[1:]] = 1
    chosen = star[np.cumsum(of_class)]
    if not chosen.any():
        return True
    one = roll_up(np.zeros((1, int(chosen.sum())), np.int32), cells.sensitive[:, chosen], cells.count[chosen], [None])
    return bool(checker.verdicts_of(one)[2][0])
