"""Local recoding where nearly all combinations are distinct: the rows themselves travel through the blocks, in one shuffle, without a join.

Borders, groups, models and the merge stage are those of ``local_blocks``; there is one pass. A worker gives its rows their groups and
what these print. Where a later merge changes that, the few groups that it joined are looked up.

A cell's rows are dealt to groups in the order of two hashes of their other columns, keyed by the seed. No result depends on
partitions, batches, cores, retries or the order of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from anon_spark.algorithms.lattice import refuse_infeasible
from anon_spark.algorithms.local_borders import borders
from anon_spark.algorithms.local_cells import Pass
from anon_spark.algorithms.local_figures import block_figures, summary_of
from anon_spark.algorithms.local_merge_rounds import merge_across
from anon_spark.algorithms.local_recoding import SWIFT
from anon_spark.algorithms.local_row_worker import RowsPass, grouped_rows, routed_rows
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalSummary
from anon_spark.models.base import Whole
from anon_spark.plans import row_blocks as plans
from anon_spark.plans.block_lines import GROUP, SIZE, high_names, low_names
from anon_spark.plans.box_tables import printed_groups
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.publish import Printed

STRATEGY = f"rows sent to blocks by cuts; in each {SWIFT}"


@dataclass(frozen=True)
class RowsRecoding:
    """A local recoding with its rows.  rows: the columns that travelled and what each row's group prints; boxes: __anon_group,
    __anon_lo0.., __anon_hi0.. int leaf codes, __anon_size long of every class. Both are plans that give the same whenever they are run."""

    rows: DataFrame
    boxes: DataFrame
    summary: LocalSummary


def decide_rows(
    spark: SparkSession,
    problem: Problem,
    cells: DataFrame,
    count: int,
    rows: DataFrame,
    whole: Whole,
    printed: Sequence[Printed],
    block_combinations: int | None,
    kept: Materialised,
    driver_bytes: int,
) -> RowsRecoding:
    """Groups that hold every model, at the least loss that this heuristic finds; nothing is suppressed.

    cells: the frequency set of raw texts with ``count`` cells, of which a sample is taken; rows: as ``plans.rows_of`` gives them. Rows
    of cells that the problem does not know are left out: who counts the rows finds them missing. printed: names of what a group
    prints. The other arguments, and what is raised, as of ``decide_blocks``.
    """
    refuse_infeasible(problem, whole)
    d, s = len(problem.hierarchies), len(problem.sensitive)
    found = borders(spark, problem, cells, count, block_combinations, 0)
    work = RowsPass(Pass(problem, found.sizes[0], None, found.quick), tuple(printed), len(rows.columns))
    frame = plans.routed_rows(rows, partial(routed_rows, work=work, tree=found.trees[0]), d, s)
    last = kept.keep(plans.grouped_rows(frame, partial(grouped_rows, work=work), d, s, printed, found.tasks), "grouped-rows")
    blocks, told = block_figures(last)
    merged = merge_across(problem, last, kept, driver_bytes)
    boxes = merged.classes.select(GROUP, *low_names(d), *high_names(d), SIZE)
    if merged.moves is not None:
        last = plans.relabelled(last, merged.moves, printed_groups(boxes, problem.hierarchies, printed))
    summary = summary_of(problem, merged.classes, (found.told, told, *merged.told), STRATEGY, blocks)
    return RowsRecoding(last, boxes, summary)
