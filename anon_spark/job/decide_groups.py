"""The decision of a local recoding: groups, each with the box of its own rows (METHODS 3.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.algorithms.local_summary import summarise
from anon_spark.domain.box_labels import bounds, labels
from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import Policy
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalRecoding, LocalSummary
from anon_spark.job.cautions import rare_bounds
from anon_spark.job.examples import local_examples
from anon_spark.job.gather import Gathered
from anon_spark.job.parts import parts_of
from anon_spark.job.schema import BoundSchema
from anon_spark.job.steps import Steps
from anon_spark.job.write import Plan
from anon_spark.plans.local import local_table
from anon_spark.plans.lookups import BROADCAST_VALUES
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.publish import Printed
from anon_spark.plans.publish_local import GROUP, LocalRecodingTables, label_groups, label_names


def refuse_too_many(gathered: Gathered, policy: Policy) -> None:
    """ConfigurationError for a frequency set that is too large to be decided in this process, which this job needs so far."""
    if gathered.local is None:
        found = f"{policy.settings.driver_megabytes}, and {gathered.combinations:,} distinct combinations to decide"
        advice = f"raise it: job {policy.job} decides in the driver process alone so far"
        raise ConfigurationError(
            [Fault(policy.where, "settings.driver_megabytes", found, f"at least {gathered.megabytes:,}", advice)]
        )


def decide_groups(
    spark: SparkSession, policy: Policy, bound: BoundSchema, gathered: Gathered, kept: Materialised, steps: Steps
) -> Plan:
    """Groups that hold every model, and what the write pass needs of them.

    Raises InfeasibleError where it is proven that there are none, NoneFoundError where none were found, ConfigurationError for a
    table of too many combinations.
    """
    refuse_too_many(gathered, policy)
    problem, frequency, raw = gathered.problem, gathered.local, gathered.raw
    assert frequency is not None and raw is not None
    asked = policy.settings.block_combinations
    with steps.step("groups") as said:
        recoding = decide_local(problem, frequency, None if asked == "auto" else asked)
        summary = summarise(problem, frequency, recoding)
        said += _told(summary)
    parts = parts_of(raw, recoding)
    printed = label_names([name in bound.in_bounds for name in bound.names])
    tables = LocalRecodingTables(
        parts=local_table(spark, parts.table),
        groups=local_table(spark, _groups(problem, recoding, printed)),
        printed=printed,
        nullable=(*(None in h.codes for h in problem.hierarchies), *(None in values for values in problem.values)),
        deals=parts.deals,
        small=len(parts.table) <= BROADCAST_VALUES,
    )
    counted = {raw.name for raw in bound.counted}
    others = [name for name in bound.untouched if name not in counted]
    return Plan(
        summary,
        lambda table: label_groups(table, bound.quasi_identifiers, bound.counted, others, tables, policy.seed or 0),
        examples=local_examples(problem, frequency, recoding),
        warnings=rare_bounds(problem, recoding),
    )


def _told(summary: LocalSummary) -> list[str]:
    count, smallest, median, largest = summary.blocks
    sizes = f"1 block of {largest:,}" if count == 1 else f"{count:,} blocks of {smallest:,} to {largest:,} (median {median:,})"
    return [
        f"Combinations in {sizes}.",
        f"Strategy: {summary.strategy}.",
        *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in summary.steps),
        f"{summary.classes:,} groups of {summary.smallest:,} to {summary.largest:,} rows.",
    ]


def _groups(problem: Problem, recoding: LocalRecoding, printed: Sequence[Printed]) -> pa.Table:
    """Each group's number and what it prints."""
    table = {GROUP: pa.array(np.arange(len(recoding.size)), pa.int64())}
    for j, (name, h) in enumerate(zip(printed, problem.hierarchies, strict=True)):
        low, high = recoding.low[:, j], recoding.high[:, j]
        if isinstance(name, str):
            table[name] = pa.array(labels(h, low, high), pa.string())
        else:
            ends = zip(name, bounds(h, low, high), (pa.string(), pa.string(), pa.bool_()), strict=True)
            table |= {part: pa.array(column, kind) for part, column, kind in ends}
    return pa.table(table)
