"""Waves of grouped aggregations on Spark give the verdicts, the optimum and the suppression that the driver process gives."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from anon_spark.algorithms.lattice import decide_with, failing_classes, whole_table
from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.algorithms.spark_checker import SparkChecker
from anon_spark.algorithms.star import star_holds
from anon_spark.domain.errors import InfeasibleError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.models.registry import build_all
from anon_spark.plans.frequency import ROWS, cell_names
from anon_spark.plans.local import local_table
from anon_spark.plans.waves import encode

sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))
from test_lattice_optimum import agree, exhaustive, random_problem

pytestmark = pytest.mark.spark


def cells_of(spark: SparkSession, problem: Problem, frequency: FrequencySet) -> DataFrame:
    """The frequency set as the raw texts that a scan would give."""
    keys, others = cell_names(len(problem.hierarchies), len(problem.sensitive))
    columns = {
        key: pa.array([hierarchy.leaves[code] for code in frequency.codes[:, i]], pa.string())
        for i, (key, hierarchy) in enumerate(zip(keys, problem.hierarchies, strict=True))
    }
    columns |= {
        name: pa.array([known[number] for number in frequency.sensitive[:, j]], pa.string())
        for j, (name, known) in enumerate(zip(others, problem.values, strict=True))
    }
    return local_table(spark, pa.table({**columns, ROWS: pa.array(frequency.count, pa.int64())}))


def checker_of(spark: SparkSession, problem: Problem, frequency: FrequencySet, width: int = 64) -> SparkChecker:
    encoded = encode(cells_of(spark, problem, frequency), problem.hierarchies, len(problem.sensitive))
    return SparkChecker(problem, build_all(problem.models), encoded, width)


def test_the_optimum_on_spark_equals_exhaustive_search(spark: SparkSession, full: bool) -> None:
    feasible = 0
    for seed in range(10_000, 10_300 if full else 10_030):
        problem, frequency = random_problem(random.Random(seed))
        right = exhaustive(problem, frequency)
        feasible += right.best is not None
        checker = checker_of(spark, problem, frequency)
        try:
            found = decide_with(problem, checker, whole_table(problem, frequency))
        except InfeasibleError:
            found = None
        agree(problem, frequency, found, right)
    assert feasible > 10, "the tables must not be hopeless"


def test_verdicts_suppression_and_stars_agree_with_the_driver(spark: SparkSession) -> None:
    for seed in range(5):
        problem, frequency = random_problem(random.Random(20_000 + seed))
        here, there = LocalChecker(problem, build_all(problem.models), frequency), checker_of(spark, problem, frequency, 3)
        nodes = [problem.min_levels, problem.max_levels, tuple(h.levels - 1 for h in problem.hierarchies), problem.min_levels]
        for one, other in zip(here.check(nodes), there.check(nodes), strict=True):
            assert [getattr(one, f) for f in FIELDS] == [getattr(other, f) for f in FIELDS], seed
            assert (one.kept is None) == (other.kept is None)
            assert one.kept is None or all((a == b).all() for a, b in zip(one.kept, other.kept or (), strict=True))
        levels = problem.min_levels
        failing = {tuple(row) for row in failing_classes(problem, frequency, levels).tolist()}
        assert {tuple(row) for row in there.failing(levels).collect()} == failing
        assert there.star_holds(levels) == star_holds(problem, frequency, levels)


FIELDS = ("failing", "failing_pruning", "classes", "smallest", "largest", "squares")
