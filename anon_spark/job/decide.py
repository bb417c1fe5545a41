"""The lattice job's decision, in the driver process where the frequency set is small, on Spark where it is not: one meaning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from anon_spark.algorithms.lattice import decide, decide_with, failing_classes
from anon_spark.algorithms.node_space import lattice_size
from anon_spark.algorithms.search import node_limit
from anon_spark.algorithms.spark_checker import SparkChecker
from anon_spark.algorithms.star import star_holds
from anon_spark.algorithms.templates import with_templates
from anon_spark.domain.counting import counted
from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.frequency import bytes_held
from anon_spark.domain.policy import Policy
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import FullDomainRecoding
from anon_spark.job.cautions import few_suppressed
from anon_spark.job.examples import examples
from anon_spark.job.gather import Gathered
from anon_spark.job.measures import boxes_of_levels
from anon_spark.job.schema import BoundSchema
from anon_spark.job.steps import Steps
from anon_spark.job.write import DROPPED, Plan
from anon_spark.models.base import Model
from anon_spark.models.registry import models_of
from anon_spark.plans.columns import HELPER
from anon_spark.plans.local import local_table
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.publish import label
from anon_spark.plans.waves import encode

WIDEST_WAVE = 32
"""Nodes a wave at most: wider waves are fewer but check more nodes in all (Adult at k = 10: 142 at 32, 194 at 64)."""
_Found = tuple[FullDomainRecoding, DataFrame | None, bool]
"""The recoding, the node numbers of the classes that it suppresses (None for none), whether they may be printed as stars."""


def refuse_large(problem: Problem, policy: Policy) -> None:
    """ConfigurationError for a lattice above the stated limit."""
    nodes, limit = lattice_size(problem), node_limit(problem, models_of(problem))
    if nodes > limit:
        advice = "raise min_level or lower max_level of some quasi-identifiers, or use fewer"
        raise ConfigurationError([Fault(policy.where, "columns", f"a lattice of {nodes:,} nodes", f"at most {limit:,}", advice)])


def decide_levels(
    spark: SparkSession, policy: Policy, bound: BoundSchema, gathered: Gathered, kept: Materialised, steps: Steps
) -> Plan:
    """The optimum, and what the write pass needs of it. Raises InfeasibleError where there is none, ConfigurationError if too large."""
    problem = gathered.problem
    refuse_large(problem, policy)
    told: list[str] = []
    with steps.step("lattice") as said:
        if gathered.local is not None:
            recoding, failing, star = _here(spark, policy, gathered)
        else:
            (recoding, failing, star), told = _on_spark(policy, gathered, kept)
        trace = recoding.trace
        said.append(f"{counted(trace.nodes, 'node')}: {trace.checked:,} checked, {trace.marked:,} marked, {trace.pruned:,} pruned.")
        said.extend(f"{sentence[0].upper()}{sentence[1:]}." for sentence in (*trace.steps, *told))
        if _wants_star(policy, recoding) and not star:
            said.append(DROPPED)
    boxes = None
    if gathered.local is not None:
        boxes = partial(boxes_of_levels, problem, gathered.local, recoding.levels, recoding.suppressed_rows > 0)
    return Plan(
        recoding,
        lambda table: label(table, bound.quasi_identifiers, problem.hierarchies, recoding.levels, failing),
        star,
        examples(problem, recoding),
        few_suppressed(recoding, problem.k),
        boxes,
    )


def _here(spark: SparkSession, policy: Policy, gathered: Gathered) -> _Found:
    assert gathered.local is not None
    problem = gathered.problem
    recoding = decide(problem, gathered.local)
    if not recoding.suppressed_rows:
        return recoding, None, False
    nodes = failing_classes(problem, gathered.local, recoding.levels)
    columns = {f"{HELPER}g{i}": pa.array(nodes[:, i], pa.int32()) for i in range(len(problem.hierarchies))}
    failing = local_table(spark, pa.table(columns))
    return recoding, failing, _wants_star(policy, recoding) and star_holds(problem, gathered.local, recoding.levels)


def _on_spark(policy: Policy, gathered: Gathered, kept: Materialised) -> tuple[_Found, list[str]]:
    problem = gathered.problem
    most = policy.settings.driver_megabytes * 1_000_000 // bytes_held(1, len(problem.hierarchies), problem.held)
    cells = encode(gathered.cells, problem.hierarchies, problem.held)
    made: list[SparkChecker] = []

    def make(models: Sequence[Model], called: str) -> SparkChecker:
        made.append(SparkChecker(problem, models, cells, WIDEST_WAVE, kept, gathered.combinations, most, called))
        return made[-1]

    recoding = decide_with(problem, with_templates(problem, models_of(problem), make), gathered.whole)
    checker, told = made[0], [one.told() for one in made]
    if not recoding.suppressed_rows:
        return (recoding, None, False), told
    failing = checker.failing(recoding.levels)
    return (recoding, failing, _wants_star(policy, recoding) and checker.star_holds(recoding.levels)), told


def _wants_star(policy: Policy, recoding: FullDomainRecoding) -> bool:
    return policy.suppression.show == "star" and recoding.suppressed_rows > 0
