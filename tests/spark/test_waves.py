"""Waves of grouped aggregations on Spark give the verdicts, the optimum and the suppression that the driver process gives."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from anon_spark.algorithms import spark_checker
from anon_spark.algorithms.checker import pruning
from anon_spark.algorithms.lattice import decide_with, failing_classes, refuse_infeasible, whole_table
from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.algorithms.node_space import lattice_size
from anon_spark.algorithms.spark_checker import SparkChecker
from anon_spark.algorithms.star import star_holds
from anon_spark.algorithms.templates import of_full_classes, with_templates
from anon_spark.domain.errors import InfeasibleError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.models.base import Model
from anon_spark.models.registry import models_of
from anon_spark.plans import waves
from anon_spark.plans.frequency import ROWS, cell_names
from anon_spark.plans.local import local_table
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.waves import RolledSet, encode, fetched, numbered

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


def checker_of(
    spark: SparkSession, problem: Problem, frequency: FrequencySet, models: Sequence[Model] | None = None, **more: Any
) -> SparkChecker:
    models = of_full_classes(problem, models_of(problem)) if models is None else models
    encoded = encode(cells_of(spark, problem, frequency), problem.hierarchies, len(problem.sensitive))
    return SparkChecker(problem, models, encoded, **more)


def shrink(patch: pytest.MonkeyPatch) -> None:
    """Make tiny tables meet what large ones do: sorted sets, several words a node, waves in several passes."""
    patch.setattr(spark_checker, "SORTED", 3)
    patch.setattr(waves, "FIRST_WORD", 3)
    patch.setattr(waves, "WORD", 4)
    patch.setattr(waves, "MOST_FIELDS", 5)


def problems(first: int, count: int, least: int = 1) -> Iterator[tuple[Problem, FrequencySet]]:
    """Random problems; with ``least``, those whose lattice has as many nodes and whose models all prune."""
    made = (random_problem(random.Random(seed)) for seed in itertools.count(first))
    return itertools.islice((both for both in made if least == 1 or (lattice_size(both[0]) >= least and prunes(both[0]))), count)


def asks(problem: Problem, frequency: FrequencySet) -> bool:
    """Whether the search gets as far as to ask for a node."""
    try:
        refuse_infeasible(problem, whole_table(problem, frequency))
    except InfeasibleError:
        return False
    return True


def prunes(problem: Problem) -> bool:
    models = models_of(problem)
    return pruning(models, problem.may_suppress) == models


TABLES = 10
"""Tables of each kind; ten times as many in the long run. No two kinds share one, and each asks for a node."""


@pytest.mark.parametrize(("kind", "first", "least"), [("plain", 10_000, 1), ("kept", 34_000, 1), ("fetched", 50_000, 48)])
def test_the_optimum_on_spark_equals_exhaustive_search(
    spark: SparkSession, full: bool, monkeypatch: pytest.MonkeyPatch, kind: str, first: int, least: int
) -> None:
    feasible = sets = checked = 0
    if kind != "plain":
        shrink(monkeypatch)
    asking = (both for both in problems(first, 10_000, least) if asks(*both))
    for problem, frequency in itertools.islice(asking, TABLES * 10 if full else TABLES):
        right = exhaustive(problem, frequency)
        feasible += right.best is not None
        size = len(frequency.count)
        more = {"width": 2, "most_cells": 1 + 2 * size // 3} if kind == "fetched" else {"width": 64 if kind == "plain" else 3}
        with Materialised() as kept:
            if kind != "plain":
                more |= {"kept": kept, "combinations": size}
            made: list[SparkChecker] = []

            def make(models: Sequence[Model], called: str) -> SparkChecker:
                made.append(checker_of(spark, problem, frequency, models, called=called, **more))  # noqa: B023
                return made[-1]  # noqa: B023

            try:
                checker = with_templates(problem, models_of(problem), make)
                found = decide_with(problem, checker, whole_table(problem, frequency))
            except InfeasibleError:
                found = None
            agree(problem, frequency, found, right)
            sets, checked = sets + sum(one.part.sets for one in made), checked + sum(one.part.checked for one in made)
    assert feasible > TABLES // 3, "the tables must not be hopeless"
    assert (sets > 0 and checked > sets) == (kind == "fetched")


def test_no_more_cells_come_to_the_driver_than_may(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)
    problem, frequency = next(problems(10_023, 1, 100))
    here = LocalChecker(problem, models_of(problem), frequency)
    encoded = encode(cells_of(spark, problem, frequency), problem.hierarchies, len(problem.sensitive))
    whole = RolledSet(here.bottom, numbered(encoded, problem.values), len(frequency.count))
    levels = tuple(min(1, h.levels - 1) for h in problem.hierarchies)
    cells = here.cells(levels)
    size = len(cells.count)
    assert len(waves.words_of(problem.hierarchies, levels)) > 1 and problem.sensitive and 1 < size < len(frequency.count)
    for most in (size - 1, size, 10 * len(frequency.count)):
        found = fetched(whole, levels, problem.hierarchies, len(problem.sensitive), most)
        assert (found is None) == (most < size)
        if found is not None:
            lines = np.concatenate([found.codes, found.sensitive, found.count[:, None]], axis=1)
            right = np.concatenate([cells.nodes.T, cells.sensitive.T, cells.count[:, None]], axis=1)
            assert sorted(map(tuple, lines.tolist())) == sorted(map(tuple, right.tolist()))


def test_verdicts_suppression_and_stars_agree_with_the_driver(spark: SparkSession) -> None:
    for seed in range(5):
        problem, frequency = random_problem(random.Random(20_000 + seed))
        models = of_full_classes(problem, models_of(problem))
        here, there = LocalChecker(problem, models, frequency), checker_of(spark, problem, frequency, width=3)
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
