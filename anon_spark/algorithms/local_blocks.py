"""Local recoding of frequency sets too large for one process: blocks on Spark, the same kernels in each (Xu 2006; METHODS 3.2).

1. Sample. A hash of a combination's codes, nothing else, decides whether it is drawn: about ``SAMPLE`` distinct combinations come to
   the driver (d whole numbers each), the same ones whatever the partitions, the order or a retry.
2. Trees. A binary tree of NCP cuts is grown on the sample (kernels/local/tree.py) until a leaf is expected to hold no more
   combinations than a block should, and others, from other seeds, for wider blocks. A tree is an array of cuts and travels in
   the closure.
3. Groups. Every cell is sent to the block of its codes, so all cells of a combination lie in one block. One shuffle by block; each
   partition is sorted by block and codes, and a worker takes up one block after another, whatever the batches. A block above
   ``SLACK`` times its size is cut again there by far seeds, and one above ``MOST_LINES`` lines is taken up in runs of whole
   combinations: the working set of a worker is that many lines (some 200 MB at 20 columns) and the cells of one combination.
4. Across borders. Whole groups go to the block of the next tree where their first combination lies, again in one shuffle, and are
   improved there among each other. These blocks are ``ACROSS`` times wider: groups are made in time that grows faster than a block,
   improved in time that hardly does. ``PASSES`` such passes, each with a tree of its own; above ``MANY`` combinations groups are made
   the quick way before and improved once.
5. Models. In the last pass groups that print alike within a block are joined, and those that break a model are merged with
   neighbours of their block, as in one process.
6. The merge stage. Groups of different blocks that print alike are one class. What still breaks a model is known by its block or by
   a histogram check; these classes and their nearest neighbours over all blocks come to the driver as boxes and histograms, within
   ``driver_bytes``, are merged there, and a map from group to class is joined back. Every round leaves at least one class less, and
   looks at twice as many neighbours as the one before; so it ends, in classes that all hold, or in NoneFoundError where nothing is
   left to merge with or the driver's bound is met.

Numbers of groups come from block and place, hashes from codes, sums are of whole numbers: no result depends on partitions, batches,
cores, retries or the order of the input. Nothing random is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark.algorithms.lattice import refuse_infeasible
from anon_spark.algorithms.local_block_worker import Pass, first_pass, later_pass, routed
from anon_spark.algorithms.local_merge import all_summed, summed
from anon_spark.algorithms.local_merge_rounds import Merged, merge_across
from anon_spark.algorithms.local_recoding import MANY, SHARES, SWIFT, WIDEST_BLOCK, block_size
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalSummary
from anon_spark.kernels.arrow import lines_of
from anon_spark.kernels.local.cuts import SHARE, axes_of
from anon_spark.kernels.local.tree import Tree, grow
from anon_spark.metrics.box_sums import losses_of
from anon_spark.models.base import Whole
from anon_spark.plans import blocks as plans
from anon_spark.plans.block_lines import GROUP, HELD, SIZE, code_names, high_names, low_names
from anon_spark.plans.fetch import fetch_arrow, fetch_row, fetch_rows
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.settings import setting

SAMPLE = 100_000
"""Distinct combinations, about, that come to the driver."""
ACROSS, PASSES = 8, 2
"""How many times wider blocks are in which groups are improved than those in which they are made, up to the widest block; how often
they are, each time with other borders. Adult in blocks of 1,000 then loses 4 % more than in one at k = 10, 9 % at k = 100."""
GROUPS_A_BLOCK = 50
"""Groups of k rows that a block should have room for where its size is not given: fewer lose much more."""
LINES_A_TASK, MOST_TASKS = 50_000, 10_000
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
    whole: Whole,
    block_combinations: int | None,
    kept: Materialised,
    driver_bytes: int = DRIVER_BYTES,
) -> BlocksRecoding:
    """Groups that hold every model, at the least loss that this heuristic finds; nothing is suppressed.

    cells: a frequency set of raw texts; its cells that the problem's hierarchies or values do not know are left out. whole: the table
    as one class. block_combinations: most combinations of the blocks in which groups are made; None: by how many there are. kept:
    keeps intermediates, and must be left only when parts and boxes have been used.
    Raises InfeasibleError where it is proven that none exists, NoneFoundError where the merge stage ends in vain.
    """
    refuse_infeasible(problem, whole)
    d, s = len(problem.hierarchies), len(problem.sensitive)
    coded = plans.coded(cells, problem.hierarchies, problem.values)
    lines = plans.lines(coded, d, s)
    count = int(fetch_row(cells.agg(F.count(F.lit(1)).alias("n")))["n"])
    drawn = _drawn(lines, d, count)
    quick = drawn.combinations > MANY
    most = block_combinations or (WIDEST_BLOCK if quick else _block_size(problem, drawn.combinations))
    sizes = [most] + [max(most, min(WIDEST_BLOCK, ACROSS * most))] * (0 if quick else PASSES)
    trees = drawn.trees(problem, sizes)
    tasks = _tasks(spark, count)
    last = kept.keep(_passes(lines, problem, trees, sizes, tasks, quick), "grouped-lines")
    blocks = fetch_row(plans.block_figures(last))
    strategy = QUICK if quick else ONE if len(trees) == 1 else THOROUGH
    steps = [
        f"{count} cells of about {drawn.combinations} combinations sent to {trees[0].blocks} blocks by a sample of {len(drawn.rows)}",
        f"{blocks['blocks']} blocks in the last pass, the largest of {blocks['most']} combinations",
    ]
    merged = merge_across(problem, last, kept, driver_bytes)
    boxes = merged.classes.select(GROUP, *low_names(d), *high_names(d), SIZE)
    parts = plans.parts_of(merged.lines(last), coded, d, s, tasks)
    figures = tuple(int(blocks[name]) for name in ("blocks", "least", "middle", "most"))
    return BlocksRecoding(parts, boxes, _summary(problem, merged, (*steps, *merged.told), strategy, figures))


@dataclass(frozen=True)
class _Drawn:
    """The sample: distinct combinations in the order of their codes, their rows; how many combinations there are in all, about."""

    codes: np.ndarray
    rows: np.ndarray
    combinations: int
    share: float

    def trees(self, problem: Problem, sizes: Sequence[int]) -> list[Tree]:
        """A tree a pass for blocks of so many combinations of the whole table; a single block needs one pass alone."""
        axes, least = axes_of(problem.hierarchies, problem.weights), _ceiling(2 * (problem.k or 1) * self.share)
        trees: list[Tree] = []
        for most, share in zip(sizes, (SHARE, *SHARES), strict=False):
            trees.append(grow(axes, self.codes, self.rows, max(int(most * self.share), 1), least, share))
            if trees[0].blocks == 1:
                break
        return trees


def _ceiling(value: float) -> int:
    return int(-(-value // 1))


def _drawn(lines: DataFrame, columns: int, count: int) -> _Drawn:
    share = min(1.0, SAMPLE / max(count, 1))
    table: pa.Table = fetch_arrow(plans.sampled(lines, columns, share))
    codes, rows = lines_of(table, code_names(columns), np.int32), table[HELD].to_numpy().astype(np.int64)
    order = np.lexsort(codes.T[::-1])
    return _Drawn(np.ascontiguousarray(codes[order]), rows[order], round(len(rows) / share), share)


def _block_size(problem: Problem, combinations: int) -> int:
    wanted = GROUPS_A_BLOCK * (problem.k or 1) * combinations // max(problem.rows, 1)
    return min(max(block_size(combinations), wanted), WIDEST_BLOCK)


def _tasks(spark: SparkSession, lines: int) -> int:
    """Partitions of every shuffle by block: small enough to be retried, at least as many as the session shuffles into."""
    try:
        least = int(setting(spark, "spark.sql.shuffle.partitions", "200"))
    except ValueError:  # "auto" on Databricks
        least = 200
    return min(max(least, -(-lines // LINES_A_TASK)), MOST_TASKS)


def _passes(lines: DataFrame, problem: Problem, trees: Sequence[Tree], sizes: Sequence[int], tasks: int, quick: bool) -> DataFrame:
    """Lines of the last pass."""
    d, s = len(problem.hierarchies), len(problem.sensitive)
    works = [Pass(problem, most, following, quick) for most, following in zip(sizes, [*trees[1:], None], strict=False)]
    frame = plans.routed(lines, partial(routed, work=works[0], tree=trees[0]), d, s)
    for turn, work in enumerate(works):
        worker = partial(later_pass if turn else first_pass, work=work)
        frame = plans.passed(frame, worker, d, s, tasks, first=turn == 0, last=work.next is None)
    return frame


def _summary(
    problem: Problem, merged: Merged, steps: tuple[str, ...], strategy: str, blocks: tuple[int, ...]
) -> LocalSummary:
    texts = merged.classes.mapInArrow(partial(summed, problem=problem), "figures string")
    sums = all_summed(row["figures"] for row in fetch_rows(texts))
    losses, by_column = losses_of(problem, sums)
    return LocalSummary(
        suppressed_rows=0,
        classes=sums.classes,
        smallest=sums.smallest,
        largest=sums.largest,
        losses=losses,
        by_column=by_column,
        steps=steps,
        strategy=strategy,
        blocks=(blocks[0], blocks[1], blocks[2], blocks[3]),
    )
