"""Checks nodes on Spark, a whole wave in one grouped aggregation; for frequency sets that the driver process can't hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame

from anon_spark.algorithms.checker import Verdict, pruning
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels
from anon_spark.models.base import Model
from anon_spark.plans.fetch import fetch_arrow
from anon_spark.plans.waves import (
    CANDIDATE,
    Judge,
    classes,
    failing_nodes,
    generalise,
    printed_as_root,
    rolled,
    suppressed_leaves,
    verdicts,
)

WIDTH = 16


class SparkChecker:
    """A ``Checker`` over ``cells``, the encoded frequency set (``plans.waves.encode``), kept by the caller.

    width: nodes a wave; every wave is one Spark job over the set rolled up to what its nodes have in common, and beside a
    suppression limit a second one, for the nodes that hold. To the driver come a row a node, and a row a leaf and node.
    """

    def __init__(self, problem: Problem, models: Sequence[Model], cells: DataFrame, width: int = WIDTH):
        self.problem = problem
        self.width = width
        self.jobs = 0
        self._cells = cells
        self._d = len(problem.hierarchies)
        prunes = pruning(models, problem.may_suppress)
        self._judge = Judge(tuple(models), prunes, problem.sensitive, problem.ignores_null)

    def check(self, nodes: Sequence[Levels]) -> list[Verdict]:
        found: list[Verdict] = []
        for start in range(0, len(nodes), self.width):
            found += self._wave(list(nodes[start : start + self.width]))
        return found

    def failing(self, levels: Levels) -> DataFrame:
        """Node numbers __anon_g0.. of the classes that fail at a node: lazy, distinct."""
        return failing_nodes(classes(generalise(self._cells, [levels]), self._d, self._judge), self._d, self._judge)

    def star_holds(self, levels: Levels) -> bool:
        """Whether the suppressed rows, with the rows that print the root everywhere, are together a class that holds every model."""
        generalised = generalise(self._cells, [levels])
        star = printed_as_root(generalised, self.failing(levels), self.problem.hierarchies, levels)
        self.jobs += 1
        row = fetch_arrow(verdicts(classes(star, 0, self._judge), self._judge)).to_pylist()
        return not row or int(row[0]["failing"]) == 0

    def _wave(self, nodes: list[Levels]) -> list[Verdict]:
        meet = tuple(min(levels) for levels in zip(*nodes, strict=True))
        base = rolled(self._cells, meet, len(self.problem.sensitive)) if any(meet) else self._cells
        judged = classes(generalise(base, nodes), self._d, self._judge)
        self.jobs += 1
        rows = {row[CANDIDATE]: row for row in fetch_arrow(verdicts(judged, self._judge)).to_pylist()}
        in_part = [i for i in rows if 0 < rows[i]["failing"] <= self.problem.may_suppress]
        kept = self._kept([nodes[i] for i in in_part]) if in_part else []
        by_node = dict(zip(in_part, kept, strict=True))
        return [
            Verdict(
                failing=int(rows[i]["failing"]),
                failing_pruning=int(rows[i]["failing_pruning"]),
                classes=int(rows[i]["classes"]),
                smallest=int(rows[i]["smallest"]),
                largest=int(rows[i]["largest"]),
                squares=int(rows[i]["squares"]),
                kept=by_node.get(i),
            )
            for i in range(len(nodes))
        ]

    def _kept(self, nodes: list[Levels]) -> list[tuple[np.ndarray, ...]]:
        """Rows of each leaf outside the failing classes of each node."""
        generalised = generalise(self._cells, nodes)
        lost = suppressed_leaves(generalised, classes(generalised, self._d, self._judge), self._d, self._judge)
        self.jobs += 1
        kept = [[rows.astype(np.int64) for rows in self.problem.leaf_rows] for _ in nodes]
        table = fetch_arrow(lost)
        for node, place, leaf, rows in zip(*(table.column(i).to_pylist() for i in range(4)), strict=True):
            kept[node][place][leaf] -= rows
        return [tuple(columns) for columns in kept]
