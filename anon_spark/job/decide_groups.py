"""The decision of a local recoding, in the driver process or in blocks on Spark: groups, each with the box of its rows (METHODS 3.2)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.algorithms.local_blocks import decide_blocks
from anon_spark.algorithms.local_recoding import MANY, decide_local
from anon_spark.algorithms.local_rows import decide_rows
from anon_spark.algorithms.local_summary import summarise
from anon_spark.audit.containment import label_text, read_labels
from anon_spark.domain.policy import Policy
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalSummary
from anon_spark.job.cautions import few_suppressed, rare_bounds, rare_bounds_here, rare_bounds_there, uncompiled
from anon_spark.job.conservation import OWN, with_own
from anon_spark.job.examples import examples_there, local_examples
from anon_spark.job.gather import Gathered
from anon_spark.job.measures import boxes_of_groups
from anon_spark.job.parts import parts_of
from anon_spark.job.schema import BoundSchema
from anon_spark.job.steps import Steps
from anon_spark.job.write import DROPPED, Plan
from anon_spark.kernels.compiled import IS_COMPILED, waits_for_compiler
from anon_spark.kernels.local.agglomerate import agglomerate
from anon_spark.metrics.printed_boxes import PrintedBoxes
from anon_spark.plans.block_lines import DEALT
from anon_spark.plans.box_tables import group_columns, printed_groups
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import fetch_row
from anon_spark.plans.local import local_table
from anon_spark.plans.lookups import BROADCAST_VALUES
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.publish import Labelled, Printed
from anon_spark.plans.publish_local import LocalRecodingTables, label_groups, label_names, labelled_rows, typed
from anon_spark.plans.row_blocks import carried, raw_sizes, rows_apart, rows_of, travels
from anon_spark.plans.settings import setting
from anon_spark.report.progress import COMPILING, MAY_COMPILE
from anon_spark.report.words import Example

LARGEST_CELL = 10_000
"""Rows of one combination that a worker may have to hold at once, with all their columns."""
FEWEST_MEGABYTES = 16
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Found:
    """A decision, what labels the rows, a few examples, the columns that print rare values (``rare_bounds``), whether suppressed
    rows hold every model as a class of their own, and what the groups print: here, or their boxes on Spark."""

    summary: LocalSummary
    label: Callable[[DataFrame], Labelled]
    examples: tuple[Example, ...]
    rare: Mapping[int, tuple[int, int]]
    star: bool = False
    boxes: Callable[[], PrintedBoxes] | None = None
    groups: DataFrame | None = None
    raw_sizes: DataFrame | None = None


def decide_groups(
    spark: SparkSession, policy: Policy, bound: BoundSchema, gathered: Gathered, kept: Materialised, steps: Steps
) -> Plan:
    """Groups that hold every model, and what the write pass needs of them.

    Raises InfeasibleError where it is proven that there are none, NoneFoundError where none were found.
    """
    problem = gathered.problem
    printed = label_names([name in bound.in_bounds for name in bound.names])
    slow = uncompiled(gathered.combinations)
    for warning in slow:
        # now, not only in the report: it is the wait that this explains
        log.warning("%s", warning)
    with steps.step("groups", _waited_for(spark, gathered)) as said:
        if gathered.local is not None:
            found = _here(spark, policy, bound, gathered, printed)
        elif rows_travel(gathered, bound):
            found = _with_rows(spark, policy, bound, gathered, printed, kept)
        else:
            found = _on_spark(spark, policy, bound, gathered, printed, kept)
        said += _told(found.summary)
        star = policy.suppression.show == "star" and found.summary.suppressed_rows > 0
        if star and not found.star:
            said.append(DROPPED)
    return Plan(
        found.summary,
        found.label,
        star and found.star,
        found.examples,
        (*slow, *few_suppressed(found.summary, problem.k), *rare_bounds(problem, found.rare)),
        found.boxes,
        found.groups,
        found.raw_sizes,
    )


def _waited_for(spark: SparkSession, gathered: Gathered) -> str | None:
    """What a wait for the compiler is told as: known of this machine alone, where Spark's workers may be on others."""
    if gathered.local is None and IS_COMPILED and not setting(spark, "spark.master", "local").startswith("local"):
        return MAY_COMPILE
    return COMPILING if waits_for_compiler(agglomerate) else None


def rows_travel(gathered: Gathered, bound: BoundSchema) -> bool:
    """Whether the rows themselves go through the blocks."""
    return may_travel(gathered.table, bound, gathered.problem.rows, gathered.combinations, gathered.largest)


def may_travel(table: DataFrame, bound: BoundSchema, rows: int, combinations: int, largest: int) -> bool:
    """Whether a frequency set saves nothing: most rows are their own combination, and no combination is too large for a worker, nor
    any column that goes with a row of a type that workers do not give back."""
    many = combinations > max(MANY, rows // 2)
    return many and largest <= LARGEST_CELL and travels(table.select(*[named(name) for name in bound.travelling]))


def _here(
    spark: SparkSession, policy: Policy, bound: BoundSchema, gathered: Gathered, printed: Sequence[Printed]
) -> _Found:
    problem, frequency, raw = gathered.problem, gathered.local, gathered.raw
    assert frequency is not None and raw is not None
    recoding = decide_local(problem, frequency, _block_combinations(policy))
    parts = parts_of(raw, recoding)
    groups = group_columns(np.arange(len(recoding.size)), recoding.low, recoding.high, problem.hierarchies, printed)
    tables = LocalRecodingTables(
        local_table(spark, parts.table), local_table(spark, groups), tuple(printed), _nullable(problem), parts.deals,
        few_parts=len(parts.table) <= BROADCAST_VALUES, few_groups=len(groups) <= BROADCAST_VALUES,
        suppresses=len(recoding.lost) > 0,
    )  # fmt: skip
    rare, examples = rare_bounds_here(problem, recoding), local_examples(problem, frequency, recoding)
    boxes = partial(boxes_of_groups, problem, recoding)
    return _Found(summarise(problem, recoding), _by_cell(policy, bound, tables), examples, rare, recoding.star, boxes)


def _on_spark(
    spark: SparkSession, policy: Policy, bound: BoundSchema, gathered: Gathered, printed: Sequence[Printed], kept: Materialised
) -> _Found:
    problem = gathered.problem
    found = decide_blocks(
        spark, problem, gathered.cells, gathered.combinations, gathered.whole, _block_combinations(policy), kept, _driver_bytes(policy)
    )
    parts, boxes = kept.keep(found.parts, "parts"), kept.keep(found.boxes, "boxes")
    deals = fetch_row(parts.agg(F.coalesce(F.max(DEALT), F.lit(False)).alias("deals")))["deals"]
    tables = LocalRecodingTables(
        parts, printed_groups(boxes, problem.hierarchies, printed), tuple(printed), _nullable(problem), bool(deals),
        few_parts=gathered.combinations <= BROADCAST_VALUES, few_groups=found.summary.classes <= BROADCAST_VALUES,
        suppresses=found.summary.suppressed_rows > 0,
    )  # fmt: skip
    rare, examples = rare_bounds_there(problem, boxes), examples_there(problem, boxes)
    return _Found(found.summary, _by_cell(policy, bound, tables), examples, rare, groups=boxes)


def _with_rows(
    spark: SparkSession, policy: Policy, bound: BoundSchema, gathered: Gathered, printed: Sequence[Printed], kept: Materialised
) -> _Found:
    """The rows go through the blocks here, so this scan is the second, and what labels them does not look at the table again."""
    problem = gathered.problem
    table = with_own(gathered.table, bound)
    columns = carried(bound.quasi_identifiers, bound.counted, [*bound.travelling, OWN])
    rows = rows_of(table, bound.quasi_identifiers, bound.counted, columns, _others(bound), policy.seed or 0)
    found = decide_rows(
        spark, problem, gathered.cells, gathered.combinations, rows, gathered.whole, printed,
        _block_combinations(policy), kept, _driver_bytes(policy),
    )  # fmt: skip
    boxes = kept.keep(found.boxes, "boxes")
    labelled, texts = _apart(policy, bound, problem, found.lines, table.schema, columns, printed)
    return _Found(
        found.summary,
        lambda _: labelled_rows(labelled, bound.quasi_identifiers, texts),
        examples_there(problem, boxes),
        rare_bounds_there(problem, boxes),
        groups=boxes,
        raw_sizes=raw_sizes(found.lines),
    )


def _apart(
    policy: Policy, bound: BoundSchema, problem: Problem, lines: DataFrame, schema: T.StructType, columns: Sequence[str],
    printed: Sequence[Printed],
) -> tuple[DataFrame, tuple[Printed, ...]]:  # fmt: skip
    """The rows of the groups, and the names of what these print. What a group prints is turned into values, and read for the containment
    check, once for all its rows."""
    inside = lines.columns
    kinds = {raw.name: raw.kind for raw in bound.quasi_identifiers}
    labels = dict(zip(bound.names, printed, strict=True))
    read = read_labels(typed(lines, printed, bound.quasi_identifiers, schema), policy, labels, kinds)
    # a label is its own text: it goes with its rows once
    bounds = [part for name in printed if not isinstance(name, str) for part in name]
    shown = [*bounds, *[name for name in read.columns if name not in inside]]
    labelled = rows_apart(read, shown, len(problem.hierarchies), len(problem.sensitive), columns)
    texts = tuple(label_text(place) if isinstance(name, str) else name for place, name in enumerate(printed))
    return labelled, texts


def _by_cell(policy: Policy, bound: BoundSchema, tables: LocalRecodingTables) -> Callable[[DataFrame], Labelled]:
    return lambda table: label_groups(
        table, bound.quasi_identifiers, bound.counted, _others(bound), tables, policy.seed or 0
    )


def _others(bound: BoundSchema) -> list[str]:
    """Columns that rows of one cell may differ in, and that are published."""
    counted = {raw.name for raw in bound.counted}
    return [name for name in bound.untouched if name not in counted]


def _driver_bytes(policy: Policy) -> int:
    """What the merge stage may take of the driver: some thousand classes at least."""
    return max(policy.settings.driver_megabytes, FEWEST_MEGABYTES) * 1_000_000


def _block_combinations(policy: Policy) -> int | None:
    asked = policy.settings.block_combinations
    return None if asked == "auto" else asked


def _nullable(problem: Problem) -> tuple[bool, ...]:
    """Whether a column of the cells holds a null: the quasi-identifiers', then the sensitive ones'."""
    return (*(None in h.codes for h in problem.hierarchies), *(None in values for values in problem.values))


def _told(summary: LocalSummary) -> list[str]:
    count, smallest, median, largest = summary.blocks
    sizes = f"1 block of {largest:,}" if count == 1 else f"{count:,} blocks of {smallest:,} to {largest:,} (median {median:,})"
    return [
        f"Combinations in {sizes}.",
        f"Strategy: {summary.strategy}.",
        *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in summary.steps),
        f"{summary.classes:,} groups of {summary.smallest:,} to {summary.largest:,} rows.",
    ]
