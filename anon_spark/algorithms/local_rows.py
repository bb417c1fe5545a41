"""Local recoding where nearly all combinations are distinct: the rows themselves travel through the blocks, in one shuffle, without a join.

Borders, groups, models and the merge stage are those of ``local_blocks``; there is one pass. A worker gives its rows their groups and
what these print. Where a later merge changes that, the few groups that it joined are looked up.

A cell's rows are dealt to groups in the order of two hashes of their other columns, keyed by the seed. No result depends on
partitions, batches, cores, retries or the order of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession

from anon_spark.algorithms.lattice import refuse_infeasible
from anon_spark.algorithms.local_borders import borders
from anon_spark.algorithms.local_cells import Pass
from anon_spark.algorithms.local_figures import block_figures, summary_of
from anon_spark.algorithms.local_merge_rounds import merge_across
from anon_spark.algorithms.local_recoding import SWIFT
from anon_spark.algorithms.local_row_numbers import RowNumbers
from anon_spark.algorithms.local_row_worker import RowsPass, grouped_rows, routed_rows
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalSummary
from anon_spark.kernels.shared import shared
from anon_spark.models.base import Whole
from anon_spark.plans import row_blocks as plans
from anon_spark.plans.block_lines import GROUP, SIZE, high_names, low_names
from anon_spark.plans.box_tables import printed_groups
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.publish import Printed

STRATEGY = f"rows sent to blocks by cuts; in each {SWIFT}"


@dataclass(frozen=True)
class RowsRecoding:
    """A local recoding with its rows.  lines: groups with what they print and their members (``plans.group_fields``); boxes:
    __anon_group, __anon_lo0.., __anon_hi0.. int leaf codes, __anon_size long of every class. Both are plans that give the same whenever
    they are run."""

    lines: DataFrame
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
    found, numbers = borders(spark, problem, cells, count, block_combinations, 0), RowNumbers.of(problem)
    work = RowsPass(Pass(_bare(problem), found.sizes[0], None, found.quick), numbers, tuple(printed), len(rows.columns))
    route = shared(routed_rows, numbers=numbers, tree=found.trees[0])
    frame = plans.routed_rows(rows, route, d, s, len(numbers.words))
    grouped = plans.grouped_rows(frame, shared(grouped_rows, work=work), d, s, len(numbers.words), printed, found.tasks)
    lines = kept.keep(grouped, "grouped-rows")
    blocks, told = block_figures(lines)
    merged = merge_across(problem, plans.groups_of(lines, d), plans.members_of(lines, d, s), kept, driver_bytes)
    boxes = merged.classes.select(GROUP, *low_names(d), *high_names(d), SIZE)
    if merged.moves is not None:
        lines = plans.relabelled(lines, merged.moves, printed_groups(boxes, problem.hierarchies, printed))
    summary = summary_of(problem, merged.classes, (found.told, told, *merged.told), STRATEGY, blocks)
    return RowsRecoding(lines, boxes, summary)


def _bare(problem: Problem) -> Problem:
    """Without the texts, which rows bring as numbers: every task unpickles its own."""
    return replace(problem, hierarchies=tuple(replace(h, codes={}, glm=(), height=()) for h in problem.hierarchies), leaf_rows=())
