"""Borders of blocks for frequency sets that stay on Spark: trees of cuts grown on a sample, and in how many tasks blocks are worked.

A hash of a combination's texts, nothing else, decides whether it is drawn: about ``SAMPLE`` distinct combinations come to the driver
(d whole numbers each), the same ones whatever the partitions, the order or a retry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark.algorithms.local_recoding import MANY, SHARES, WIDEST_BLOCK, block_size
from anon_spark.domain.problem import Problem
from anon_spark.kernels.arrow import lines_of
from anon_spark.kernels.local.cuts import SHARE, axes_of
from anon_spark.kernels.local.tree import Tree, grow
from anon_spark.plans import blocks as plans
from anon_spark.plans.block_lines import HELD, code_names
from anon_spark.plans.fetch import fetch_arrow
from anon_spark.plans.settings import setting

SAMPLE = 100_000
"""Distinct combinations, about, that come to the driver."""
ACROSS = 8
"""How many times wider blocks are in which groups are improved than those in which they are made, up to the widest block."""
GROUPS_A_BLOCK = 50
"""Groups of k rows that a block should have room for where its size is not given: fewer lose much more."""
LINES_A_TASK, MOST_TASKS = 50_000, 10_000


@dataclass(frozen=True)
class Borders:
    """trees: one a pass, for blocks of at most so many combinations as ``sizes`` say; tasks: partitions of every shuffle by block;
    quick: whether groups are made the quick way; combinations: how many there are, about; told: how they were found."""

    trees: tuple[Tree, ...]
    sizes: tuple[int, ...]
    tasks: int
    quick: bool
    combinations: int
    told: str


def borders(
    spark: SparkSession, problem: Problem, cells: DataFrame, count: int, block_combinations: int | None, passes: int
) -> Borders:
    """Borders for the combinations of a frequency set of raw texts with ``count`` cells.

    block_combinations: most combinations of the blocks in which groups are made; None: by how many there are. passes: how often
    groups are improved in blocks with other borders, where they are not made the quick way and there are several blocks.
    """
    share = min(1.0, SAMPLE / max(count, 1))
    codes, rows = _drawn(problem, cells, share)
    combinations = round(len(rows) / share)
    quick = combinations > MANY
    most = block_combinations or (WIDEST_BLOCK if quick else _block_size(problem, combinations))
    sizes = [most] + [max(most, min(WIDEST_BLOCK, ACROSS * most))] * (0 if quick else passes)
    trees = _trees(problem, codes, rows, sizes, share)
    told = f"{count} cells of about {combinations} combinations sent to {trees[0].blocks} blocks by a sample of {len(rows)}"
    return Borders(tuple(trees), tuple(sizes[: len(trees)]), tasks(spark, count), quick, combinations, told)


def _drawn(problem: Problem, cells: DataFrame, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Codes (n, d) of the distinct combinations drawn, in their order, and their rows (n,)."""
    d = len(problem.hierarchies)
    coded = plans.coded(plans.sampled(cells, d, share), problem.hierarchies, problem.values)
    lines = plans.lines(coded, d, len(problem.sensitive))
    names = code_names(d)
    table: pa.Table = fetch_arrow(lines.groupBy(*names).agg(F.sum(HELD).alias(HELD)))
    codes, rows = lines_of(table, names, np.int32), table[HELD].to_numpy().astype(np.int64)
    order = np.lexsort(codes.T[::-1])
    return np.ascontiguousarray(codes[order]), rows[order]


def _trees(problem: Problem, codes: np.ndarray, rows: np.ndarray, sizes: Sequence[int], share: float) -> list[Tree]:
    """A tree a pass for blocks of so many combinations of the whole table; a single block needs one pass alone."""
    axes, least = axes_of(problem.hierarchies, problem.weights), _ceiling(2 * (problem.k or 1) * share)
    trees: list[Tree] = []
    for most, side in zip(sizes, (SHARE, *SHARES), strict=False):
        trees.append(grow(axes, codes, rows, max(int(most * share), 1), least, side))
        if trees[0].blocks == 1:
            break
    return trees


def _ceiling(value: float) -> int:
    return int(-(-value // 1))


def _block_size(problem: Problem, combinations: int) -> int:
    wanted = GROUPS_A_BLOCK * (problem.k or 1) * combinations // max(problem.rows, 1)
    return min(max(block_size(combinations), wanted), WIDEST_BLOCK)


def tasks(spark: SparkSession, lines: int) -> int:
    """Small enough to be retried, at least as many as the session shuffles into."""
    try:
        least = int(setting(spark, "spark.sql.shuffle.partitions", "200"))
    except ValueError:  # "auto" on Databricks
        least = 200
    return min(max(least, -(-lines // LINES_A_TASK)), MOST_TASKS)
