"""Nodes with every column but one at its root: decided in this process, from the counts of that column's values alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from anon_spark.algorithms.checker import Verdict
from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels
from anon_spark.models.base import Model
from anon_spark.plans.frequency import ROWS
from anon_spark.plans.waves import RolledSet, marginals, sensitive_names

MOST_COUNTS = 2_000_000
"""Counts by value, and sensitive value, of all columns together that may come to this process (some 100 MB)."""


class SingleColumns:
    """Without sensitive columns the problem itself holds the counts; with them one Spark job counts, where they are few enough.

    leaves: the whole set at level 0; fetch: runs a plan.
    """

    def __init__(self, problem: Problem, models: Sequence[Model], leaves: RolledSet, fetch: Callable[[DataFrame], pa.Table]):
        self.problem = problem
        self._models = models
        self._leaves = leaves
        self._fetch = fetch
        self._root = tuple(h.levels - 1 for h in problem.hierarchies)

    def verdicts(self, nodes: Sequence[Levels]) -> dict[Levels, Verdict]:
        """Verdicts on those nodes that can be decided here, without the kept rows: other columns' leaves are not known."""
        found = {}
        for node in nodes:
            free = [i for i, (level, root) in enumerate(zip(node, self._root, strict=True)) if level < root]
            if len(free) <= 1 and self._checkers is not None:
                found[node] = replace(self._checkers[free[0] if free else 0].check([node])[0], kept=None)
        return found

    def floors(self, pruning: Sequence[Model]) -> Levels:
        """The least level of each column at which it holds the pruning models alone: below it no node does. Zeros where none prunes."""
        floors = [0] * len(self._root)
        if self._checkers is None or not pruning:
            return tuple(floors)
        for i, top in enumerate(self._root):
            while floors[i] < top and self._fails(i, floors[i]):
                floors[i] += 1
        return tuple(floors)

    def _fails(self, column: int, level: int) -> bool:
        node = tuple(level if i == column else root for i, root in enumerate(self._root))
        return self.verdicts([node])[node].failing_pruning > self.problem.may_suppress

    @cached_property
    def _checkers(self) -> list[LocalChecker] | None:
        """A checker a column, every other column of its set being one leaf, which is right where those stand at their roots."""
        problem = self.problem
        if problem.tells_persons:
            # the counts of a column by person are no fewer than the persons
            return None
        d, values = len(self._root), prod(map(len, problem.values))
        if sum(min(len(h.leaves) * values, self._leaves.cells) for h in problem.hierarchies) > MOST_COUNTS:
            return None
        counted = self._counted() if problem.sensitive else None
        checkers = []
        for i, rows in enumerate(problem.leaf_rows):
            if counted is None:
                node, held, count = np.arange(len(rows)), np.zeros((len(rows), 0), np.int32), rows
            else:
                node, held, count = (part[counted[0] == i] for part in counted[1:])
            codes = np.zeros((len(node), d), np.int32)
            codes[:, i] = node
            kept = count > 0
            checkers.append(LocalChecker(problem, self._models, FrequencySet(codes[kept], held[kept], count[kept])))
        return checkers

    def _counted(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(c,) column, (c,) node, (c, s) sensitive values, (c,) rows."""
        table = self._fetch(marginals(self._leaves, len(self._root), len(self.problem.sensitive)))
        held = [table[name].to_numpy().astype(np.int32) for name in sensitive_names(len(self.problem.sensitive))]
        place, node = table["place"].to_numpy(), table["node"].to_numpy()
        return place, node, np.stack(held, axis=1), table[ROWS].to_numpy().astype(np.int64)
