"""The re-identification risk of a raw table, before anything is decided: one scan, counts alone."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from fractions import Fraction

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import ConfigurationError, Fault, InfeasibleError
from anon_spark.domain.frequency import bytes_held
from anon_spark.domain.policy import Column, FlatHierarchy, Policy
from anon_spark.io.catalog import refuse_session, unseen
from anon_spark.io.spark_errors import job_faults
from anon_spark.job.account import versions
from anon_spark.job.arguments import refuse_stream, refuse_unusable
from anon_spark.job.cautions import numbers_as_text
from anon_spark.job.output import refuse_places, report_files
from anon_spark.job.run import case_sensitive, source_of
from anon_spark.job.schema import bind_schema
from anon_spark.kernels.arrow import lines_of
from anon_spark.kernels.subset_sizes import count_subsets
from anon_spark.metrics.population_uniques import population_uniques
from anon_spark.metrics.subsets import SubsetRisk, most_identifying, shares_of_classes, subsets_of, within_bounds
from anon_spark.metrics.table_risk import TableRisk, table_risk
from anon_spark.plans.fetch import fetch_arrow, fetch_row, fetch_rows
from anon_spark.plans.frequency import ROWS
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.table_risk import class_sizes, distinct_values, hash_names, hashed_cells, subset_figures
from anon_spark.report.table_risk import Population, RiskReport

RISK = "risk.json"
COUNT, SETS = "risk", "sets of columns"
"""Names of the two steps."""


def risk_of(
    spark: SparkSession,
    policy: Policy,
    table: DataFrame | None = None,
    *,
    population: int | None = None,
    on_start: Callable[[str], None] = lambda name: None,
) -> RiskReport:
    """The risk of the policy's input, or of ``table``; written to the policy's report directory as risk.json if it names one.

    Reads the roles alone: models, hierarchies, nulls and output have no meaning here, and columns without a role are taken for no
    quasi-identifiers. population: persons that the table is a sample of.
    Raises ConfigurationError (columns; a population smaller than the table), DataError, InfeasibleError (no rows).
    """
    started, clock = datetime.now(timezone.utc), time.perf_counter()
    refuse_unusable(spark, policy.where)
    asked = _roles_of(policy)
    with job_faults(policy.where):
        refuse_places(spark, asked)
        if table is None:
            cautions, table = unseen(spark, policy.input), source_of(spark, policy)
        else:
            cautions = ()
            refuse_stream(table, policy.where)
            refuse_session(spark, policy.where)
        bound = bind_schema(table.schema, asked, case_sensitive(spark))
        d = len(bound.quasi_identifiers)
        with Materialised() as kept:
            on_start(COUNT)
            cells = kept.keep(hashed_cells(table, bound.quasi_identifiers), "risk")
            sizes = class_sizes(cells)
            if not sizes:
                raise InfeasibleError(f"{policy.where}: the input has no rows: there is no risk to tell")
            k = _k_of(policy)
            risk = table_risk(sizes, [] if k is None else [k])
            known = _population(sizes, risk.rows, population)
            on_start(SETS)
            in_driver = bytes_held(risk.classes, d, 0) <= policy.settings.driver_megabytes * 1_000_000
            subsets, left_out = _subsets(cells, d, risk, in_driver)
        listed = {column.name for column in policy.columns}
        report = RiskReport(
            where=policy.where,
            started=started.isoformat(timespec="seconds"),
            seconds=time.perf_counter() - clock,
            columns=len(table.columns),
            quasi_identifiers=bound.names,
            risk=risk,
            k=k,
            population=known,
            subsets=subsets,
            left_out=left_out,
            not_counted=tuple(name for name in table.columns if name not in listed),
            warnings=(*cautions, *numbers_as_text(table.schema, policy)),
            versions=versions(spark),
        )
        with report_files(spark, asked, uuid.uuid4().hex, {RISK: report.to_json()}):
            pass
    return report


def _roles_of(policy: Policy) -> Policy:
    """What is read of a policy: quasi-identifiers by their values as they are, other columns by their names."""
    columns = tuple(
        replace(column, hierarchy=FlatHierarchy())
        if column.role == "quasi-identifier"
        else Column(name=column.name, role="identifier")
        for column in policy.columns
    )
    return Policy(
        input=policy.input, report=policy.report, columns=columns, unlisted="drop", settings=policy.settings, where=policy.where
    )


def _k_of(policy: Policy) -> int | None:
    asked = [int(str(model.parameters["k"])) for model in policy.privacy if model.model == "k-anonymity"]
    return max(asked) if asked else None


def _population(sizes: dict[int, int], rows: int, population: int | None) -> Population | None:
    if population is None:
        return None
    if population < rows:
        advice = "count the persons that the table was drawn from"
        expected = f"at least the input's {counted(rows, 'row')}"
        raise ConfigurationError([Fault("anon-spark risk", "--population", str(population), expected, advice)])
    return Population(population, population_uniques(sizes, population))


def _subsets(cells: DataFrame, d: int, whole: TableRisk, in_driver: bool) -> tuple[tuple[SubsetRisk, ...], tuple[int, ...]]:
    """Sets of columns, the most identifying of each size first, and the sizes left out; the set of all is known already."""
    wanted, left_out = subsets_of(d)
    every = SubsetRisk(tuple(range(d)), whole.classes, whole.unique, whole.below[5])
    parts = [subset for subset in wanted if len(subset) < d]
    one_in: Sequence[int] = [1] * len(parts)
    if in_driver:
        figures = _counted(cells, d, parts)
    else:
        one_in = shares_of_classes(parts, whole.classes, list(fetch_row(distinct_values(cells, d))))
        figures = _counted_on_spark(cells, d, parts, one_in)
    found = [
        SubsetRisk(
            subset,
            int(classes) * part,
            min(Fraction(int(single) * part, whole.rows), Fraction(1)),
            min(Fraction(int(few) * part, whole.rows), Fraction(1)),
            Fraction(1, part),
        )
        for subset, part, (classes, single, few) in zip(parts, one_in, figures, strict=True)
    ]
    return most_identifying([*within_bounds(found, every), every]), left_out


def _counted(cells: DataFrame, d: int, parts: Sequence[tuple[int, ...]]) -> np.ndarray:
    fetched = fetch_arrow(cells)
    return count_subsets(lines_of(fetched, hash_names(d), np.int64), lines_of(fetched, [ROWS], np.int64)[:, 0], parts)


def _counted_on_spark(cells: DataFrame, d: int, parts: Sequence[tuple[int, ...]], one_in: Sequence[int]) -> np.ndarray:
    figures = np.zeros((len(parts), 3), np.int64)
    if parts:
        for row in fetch_rows(subset_figures(cells, d, parts, one_in)):
            figures[row["subset"]] = row["classes"], row["single"], row["few"]
    return figures
