"""A dry run: bind everything, count, and say what a run would do and what is risky in what was asked."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from anon_spark.algorithms.lattice import refuse_infeasible
from anon_spark.algorithms.node_space import lattice_size
from anon_spark.domain.errors import AnonError, InfeasibleError, OccupiedError
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Policy
from anon_spark.domain.problem import Problem
from anon_spark.io.catalog import unseen
from anon_spark.io.spark_errors import job_faults
from anon_spark.job.arguments import refuse_unusable
from anon_spark.job.cautions import (
    asks_nothing,
    changes_nothing,
    flat_to_root,
    lists,
    numbers_as_text,
    uneven_masks,
    unprotected,
)
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
from anon_spark.plans.columns import DECLARED, kind_of
from anon_spark.plans.fetch import fetch_rows
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.profile import profile, warnings_from
from anon_spark.report.plan import Plan


def check(
    spark: SparkSession, policy: Policy, table: DataFrame | None = None, on_start: Callable[[str], None] = lambda name: None
) -> Plan:
    """Bind the policy to its input and describe the run. Raises what a run would raise before its search; what leaves a plan to be
    shown all the same (an output that is taken, models that nothing can hold) is told with it, as ``Plan.refusals``."""
    trees = read_trees(policy)
    refuse_unusable(spark, policy.where)
    with job_faults(policy.where):
        output: Output | None = None
        refusals: list[AnonError] = []
        try:
            output = open_destination(spark, policy, "check")
        except OccupiedError as error:
            # whoever looks at a policy again after its run is told the rest too
            refusals.append(error)
        cautions = () if table is not None else unseen(spark, policy.input)
        table = source_of(spark, policy) if table is None else table
        bound = bind_schema(table.schema, policy, case_sensitive(spark))
        refuse_directories(table.schema, policy, bound)
        if output is not None:
            output.refuse_input(table)
            output.refuse_columns(bound.published)
        refuse_persons(policy)
        cautions = (*cautions, *numbers_as_text(table.schema, policy))
        policy = with_listed_values(spark, table.schema, policy)
        null_rows = null_rows_of(table, policy)
        usable = told_apart(without_null_rows(table, policy), bound, secrets.token_hex(16))
        with Materialised() as kept:
            gathered = gather(usable, policy, bound, trees, kept, Steps(on_start))
        problem = gathered.problem
        try:
            refuse_infeasible(problem, gathered.whole)
        except InfeasibleError as error:
            refusals.append(InfeasibleError(f"{policy.where}: {error}"))
        lattice = policy.job == "lattice"
        if lattice:
            refuse_large(problem, policy)
        texts = [raw.name for raw in bound.quasi_identifiers if raw.kind == "text"]
        return Plan(
            policy=policy,
            types=types_of(table.schema, policy),
            levels={h.column: h.levels for h in problem.hierarchies} if lattice else {},
            distinct={h.column: int((rows > 0).sum()) for h, rows in _with_rows(problem)},
            nodes=lattice_size(problem) if lattice else None,
            combinations=None if lattice else gathered.combinations,
            rows=problem.rows + null_rows,
            nulls={h.column: int(rows[h.codes[None]]) if None in h.codes else 0 for h, rows in _with_rows(problem)},
            null_rows=null_rows,
            unlisted=tuple(name for name in table.columns if name not in {c.name for c in policy.columns}),
            refusals=tuple(refusals),
            tightest=advice(problem, gathered.whole),
            warnings=(
                *asks_nothing(policy),
                *changes_nothing(policy),
                *unprotected(policy),
                *cautions,
                *absent_listed(policy.privacy, problem),
                *lists(problem, texts),
                *uneven_masks(problem, policy),
                *flat_to_root(problem, policy),
                *_warnings(usable, policy, bound),
            ),
        )


def types_of(schema: T.StructType, policy: Policy) -> dict[str, str]:
    """The type of each column as it is taken: the declared one, where that is another than the input's."""
    declared = {column.name: column.type for column in policy.columns if column.type is not None}
    types = {}
    for field in schema.fields:
        own, asked = field.dataType.simpleString(), declared.get(field.name)
        types[field.name] = own if asked is None or DECLARED[asked] == kind_of(field.dataType) else f"{asked} from {own}"
    return types


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
