"""A dry run: bind everything, count, and say what a run would do and what is risky in what was asked."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from anon_spark.algorithms.lattice import refuse_infeasible
from anon_spark.algorithms.node_space import lattice_size
from anon_spark.domain.errors import InfeasibleError, OccupiedError
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Policy
from anon_spark.domain.problem import Problem
from anon_spark.io.catalog import unseen
from anon_spark.io.spark_errors import job_faults
from anon_spark.job.arguments import refuse_unusable
from anon_spark.job.cautions import lists, numbers_as_text, uneven_masks
from anon_spark.job.decide import refuse_large
from anon_spark.job.destination import open_destination
from anon_spark.job.directories import refuse_directories
from anon_spark.job.gather import gather, null_rows_of, read_trees, without_null_rows
from anon_spark.job.listed import absent_listed, with_listed_values
from anon_spark.job.output import Output
from anon_spark.job.persons import told_apart
from anon_spark.job.run import case_sensitive, source_of
from anon_spark.job.schema import BoundSchema, bind_schema
from anon_spark.job.staged_persons import refuse_persons
from anon_spark.job.steps import Steps
from anon_spark.models.base import Whole
from anon_spark.models.registry import pairs_of
from anon_spark.plans.fetch import fetch_rows
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.profile import profile, warnings_from
from anon_spark.report.plan import Plan


def check(
    spark: SparkSession, policy: Policy, table: DataFrame | None = None, on_start: Callable[[str], None] = lambda name: None
) -> Plan:
    """Bind the policy to its input and describe the run. Raises what a run would raise before its search, all but infeasibility."""
    trees = read_trees(policy)
    refuse_unusable(spark, policy.where)
    with job_faults(policy.where):
        output: Output | None = None
        occupied: tuple[str, ...] = ()
        try:
            output = open_destination(spark, policy, "check")
        except OccupiedError as error:
            # whoever looks at a policy again after its run is told the rest too
            occupied = tuple(f"a run would be refused: {fault}" for fault in error.faults)
        cautions = occupied if table is not None else (*occupied, *unseen(spark, policy.input))
        table = source_of(spark, policy) if table is None else table
        bound = bind_schema(table.schema, policy, case_sensitive(spark))
        refuse_directories(table.schema, policy, bound)
        if output is not None:
            output.refuse_columns(bound.published)
        refuse_persons(policy)
        cautions = (*cautions, *numbers_as_text(table.schema, policy))
        policy = with_listed_values(spark, table.schema, policy)
        null_rows = null_rows_of(table, policy)
        usable = told_apart(without_null_rows(table, policy), bound, secrets.token_hex(16))
        with Materialised() as kept:
            gathered = gather(usable, policy, bound, trees, kept, Steps(on_start))
        problem = gathered.problem
        feasibility = []
        try:
            refuse_infeasible(problem, gathered.whole)
        except InfeasibleError as error:
            feasibility.append(str(error))
        lattice = policy.job == "lattice"
        if lattice:
            refuse_large(problem, policy)
        texts = [raw.name for raw in bound.quasi_identifiers if raw.kind == "text"]
        types = {field.name: field.dataType.simpleString() for field in table.schema.fields}
        return Plan(
            policy=policy,
            types=types,
            levels={h.column: h.levels for h in problem.hierarchies} if lattice else {},
            distinct={h.column: int((rows > 0).sum()) for h, rows in _with_rows(problem)},
            nodes=lattice_size(problem) if lattice else None,
            combinations=None if lattice else gathered.combinations,
            rows=problem.rows + null_rows,
            nulls={h.column: int(rows[h.codes[None]]) if None in h.codes else 0 for h, rows in _with_rows(problem)},
            null_rows=null_rows,
            unlisted=tuple(name for name in types if name not in {c.name for c in policy.columns}),
            feasibility=tuple(feasibility),
            tightest=advice(problem, gathered.whole),
            warnings=(
                *cautions,
                *absent_listed(policy.privacy, problem),
                *lists(problem, texts),
                *uneven_masks(problem, policy),
                *_warnings(usable, policy, bound),
            ),
        )


def _with_rows(problem: Problem) -> list[tuple[Hierarchy, np.ndarray]]:
    """Each hierarchy with the rows of its leaves."""
    return list(zip(problem.hierarchies, problem.leaf_rows, strict=True))


def advice(problem: Problem, whole: Whole) -> tuple[str, ...]:
    """A line a model: the tightest parameter that can hold on this table, by what the table is as one class."""
    told = dict.fromkeys(
        f"{spec.model}{f' ({spec.column})' if spec.column else ''}: {model.tightest(whole)}" for spec, model in pairs_of(problem)
    )
    return tuple(told)


def _warnings(table: DataFrame, policy: Policy, bound: BoundSchema) -> list[str]:
    """Published columns that undo what the quasi-identifiers' levels hide."""
    roles = {column.name: column.role for column in policy.columns}
    found = profile(table, bound.names, bound.untouched, fetch_rows)
    return warnings_from(found, {name: roles.get(name, "insensitive") for name in bound.untouched})
