"""Local recoding of frequency sets too large for one process: blocks on Spark, the same kernels in each (Xu 2006; METHODS 3.2).

1. Borders (local_borders.py). A tree of cuts is grown on a sample until a leaf is expected to hold no more combinations than a block
   should, and others, whose cuts lie elsewhere, for wider blocks. A tree is an array of cuts and travels in the closure.
2. Groups. Every cell is sent to the block of its codes, so all cells of a combination lie in one block. One shuffle by block; each
   partition is sorted by block and codes, and a worker takes up one block after another, whatever the batches. A block above
   ``SLACK`` times its size is cut again there, and one above ``MOST_LINES`` lines is taken up in runs of whole
   combinations: the working set of a worker is that many lines (some 200 MB at 20 columns) and the cells of one combination.
3. Across borders. Whole groups go to the block of the next tree where their first combination lies, again in one shuffle, and are
   improved there among each other. These blocks are wider: groups are made in time that grows faster than a block, improved in time
   that hardly does. Above ``MANY`` combinations groups are made and improved the quick way, in small cells inside of wide blocks.
4. Models. In the last pass groups that print alike within a block are joined, and those that break a model are merged with
   neighbours of their block, as in one process.
5. The merge stage. Groups of different blocks that print alike are one class. What still breaks a model is known by its block or by
   a histogram check; these classes and their nearest neighbours over all blocks come to the driver as boxes and histograms, within
   ``driver_bytes``, are merged there, and a map from group to class is joined back. Every round leaves at least one class less, and
   looks at twice as many neighbours as the one before; so it ends, in classes that all hold, or in NoneFoundError where nothing is
   left to merge with or the driver's bound is met.

Numbers of groups come from block and place, hashes from codes, sums are of whole numbers: no result depends on partitions, batches,
cores, retries or the order of the input. Nothing random is used.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from anon_spark.algorithms.lattice import refuse_infeasible
from anon_spark.algorithms.local_block_worker import first_pass, later_pass, routed
from anon_spark.algorithms.local_borders import Borders, borders
from anon_spark.algorithms.local_cells import Pass
from anon_spark.algorithms.local_figures import block_figures, summary_of
from anon_spark.algorithms.local_merge_rounds import merge_across
from anon_spark.algorithms.local_recoding import SWIFT
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalSummary
from anon_spark.kernels.shared import shared
from anon_spark.models.base import Whole
from anon_spark.plans import blocks as plans
from anon_spark.plans.block_lines import GROUP, SIZE, high_names, low_names
from anon_spark.plans.materialise import Materialised

PASSES = 2
"""How often groups are improved in blocks with other borders. Adult in blocks of 1,000 then loses 1 % more than in one at k = 10, 2 %
at k = 100."""
DRIVER_BYTES = 64_000_000
THOROUGH = (
    "blocks by cuts; in each agglomeration or peeling, whichever loses less, then moves, dissolved groups, lent rows and re-cut pairs "
    "in blocks with other borders"
)
QUICK = f"blocks by cuts; in each {SWIFT}"
ONE = "one block: agglomeration or peeling, whichever loses less; then moves, dissolved groups, lent rows and re-cut pairs"


@dataclass(frozen=True)
class BlocksRecoding:
    """A local recoding that stays on Spark.

    parts: a line a part of a raw cell: its texts (``cell_names``), __anon_group long, __anon_from, __anon_to long (0-based, half
    open; the ranges of a cell tile 0 to its rows), __anon_dealt boolean. boxes: __anon_group, __anon_lo0.., __anon_hi0.. int leaf
    codes, __anon_size long. Both are plans that give the same rows whenever they are run.
    """

    parts: DataFrame
    boxes: DataFrame
    summary: LocalSummary


def decide_blocks(
    spark: SparkSession,
    problem: Problem,
    cells: DataFrame,
    count: int,
    whole: Whole,
    block_combinations: int | None,
    kept: Materialised,
    driver_bytes: int = DRIVER_BYTES,
) -> BlocksRecoding:
    """Groups that hold every model, at the least loss that this heuristic finds; nothing is suppressed.

    cells: a frequency set of raw texts, ``count`` of them; those that the problem's hierarchies or values do not know are left out.
    whole: the table as one class. block_combinations: most combinations of the blocks in which groups are made; None: by how many
    there are. kept: keeps intermediates, and must be left only when parts and boxes have been used.
    Raises InfeasibleError where it is proven that none exists, NoneFoundError where the merge stage ends in vain.
    """
    refuse_infeasible(problem, whole)
    d, s = len(problem.hierarchies), len(problem.sensitive)
    found = borders(spark, problem, cells, count, block_combinations, PASSES)
    coded = plans.coded(cells, problem.hierarchies, problem.values)
    last = kept.keep(_passes(plans.lines(coded, d, s), problem, found), "grouped-lines")
    blocks, told = block_figures(last)
    merged = merge_across(problem, plans.groups_of(last, d), last, kept, driver_bytes)
    boxes = merged.classes.select(GROUP, *low_names(d), *high_names(d), SIZE)
    parts = plans.parts_of(merged.lines(last), coded, d, s, found.tasks)
    strategy = QUICK if found.quick else ONE if len(found.trees) == 1 else THOROUGH
    return BlocksRecoding(parts, boxes, summary_of(problem, merged.classes, (found.told, told, *merged.told), strategy, blocks))


def _passes(lines: DataFrame, problem: Problem, found: Borders) -> DataFrame:
    """Lines of the last pass."""
    d, s = len(problem.hierarchies), len(problem.sensitive)
    nexts = [*found.trees[1:], None]
    works = [Pass(problem, most, following, found.quick) for most, following in zip(found.sizes, nexts, strict=True)]
    frame = plans.routed(lines, shared(routed, work=works[0], tree=found.trees[0]), d, s)
    for turn, work in enumerate(works):
        worker = shared(later_pass if turn else first_pass, work=work)
        frame = plans.passed(frame, worker, d, s, found.tasks, first=turn == 0, last=work.next is None)
    return frame
