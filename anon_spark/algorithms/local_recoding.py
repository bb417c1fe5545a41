"""Local recoding of a frequency set in one process: blocks, groups, repair, and what it all loses (Xu 2006; METHODS 3.2)."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np

from anon_spark.algorithms.lattice import refuse_infeasible, whole_table
from anon_spark.algorithms.local_groups import Dealt, deal, join_alike, settle
from anon_spark.algorithms.local_repair import repair
from anon_spark.algorithms.local_suppression import star_holds, suppress
from anon_spark.domain.errors import InternalError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Blocks, LocalRecoding
from anon_spark.kernels.local.block import Strategy, group_block
from anon_spark.kernels.local.far_seed import far_seed_blocks
from anon_spark.kernels.local.improve import Parts, improve, pooled
from anon_spark.kernels.local.prepare import ladders, prepare
from anon_spark.models.registry import build_all

WIDEST_BLOCK, NARROWEST_BLOCK = 16_000, 1_000
WIDEST_REGION = 64_000
"""Combinations that are peeled at once, where blocks are narrower."""
MANY = 1_000_000
"""Combinations at which blocks are of the narrowest size."""
STRATEGY = "wide regions peeled, small tables agglomerated where that loses less; then moves, dissolved groups, lent rows, re-cut pairs"
PASSES = 3
"""Times that groups are improved across the borders of blocks, each with other borders."""


def decide_local(problem: Problem, frequency: FrequencySet, block_combinations: int | None = None) -> LocalRecoding:
    """Groups that hold every model, at the least loss this heuristic finds.

    block_combinations: most combinations a block; None: one block up to 16,000, then shrinking to 1,000 at a million and beyond.
    Raises InfeasibleError where it is proven that none exists, NoneFoundError where repair ends at the whole table in vain.
    The answer depends on the cells and their counts alone.
    """
    refuse_infeasible(problem, whole_table(problem, frequency))
    order = np.lexsort((*frequency.sensitive.T[::-1], *frequency.codes.T[::-1]))
    sorted_set = FrequencySet(frequency.codes[order], frequency.sensitive[order], frequency.count[order])
    codes, combination = np.unique(sorted_set.codes, axis=0, return_inverse=True)
    rows = np.zeros(len(codes), np.int64)
    np.add.at(rows, combination.ravel(), sorted_set.count)
    most = block_combinations or block_size(len(codes))
    parts, blocks, steps = group_cells(problem, codes, rows, most)
    dealt = join_alike(problem, codes, deal(parts, combination.ravel(), sorted_set.count))
    models = build_all(problem.models)
    dealt, told = repair(problem, models, sorted_set, codes, dealt)
    kept, more = suppress(problem, models, sorted_set, codes, dealt)
    star = len(kept.cell) > 0 and star_holds(problem, models, sorted_set, codes, kept)
    dealt = Dealt(order[kept.dealt.cell], kept.dealt.combination, kept.dealt.group, kept.dealt.held)
    found = settle(problem, codes, dealt, (*steps, *told, *more), STRATEGY, blocks)
    return replace(found, lost_cell=order[kept.cell], lost=kept.held, star=star)


def block_size(combinations: int) -> int:
    """Most combinations of a block, by how many there are."""
    if combinations <= WIDEST_BLOCK:
        return WIDEST_BLOCK
    share = min(log(combinations / WIDEST_BLOCK) / log(MANY / WIDEST_BLOCK), 1.0)
    return round(WIDEST_BLOCK * (NARROWEST_BLOCK / WIDEST_BLOCK) ** share)


def group_cells(
    problem: Problem, codes: np.ndarray, rows: np.ndarray, most: int
) -> tuple[Parts, Blocks, tuple[str, ...]]:
    """Groups of at least k rows of sorted distinct combinations codes (m, d) with rows (m,), in blocks of at most ``most``.

    Beyond some thousand combinations wide regions are peeled, and their groups improved in narrow blocks, each time other ones; where
    ``most`` allows, in one block at last. A single narrow block takes the best of several starts.
    """
    k = problem.k or 1
    narrow = min(most, NARROWEST_BLOCK)
    whole = len(codes) <= narrow or int(rows.sum()) < 2 * k  # then a single group is all there can be
    costs, points = prepare(problem.hierarchies, problem.weights, codes)
    blocks = far_seed_blocks(costs, points, rows, len(codes) if whole else max(most, WIDEST_REGION), k)
    strategy: Strategy = "thorough" if whole else "peel"
    parts = pooled([grouped(problem, codes[block], rows[block], block, k, strategy) for block in blocks])
    sizes = sorted(len(block) for block in blocks)
    told = (len(sizes), sizes[0], sizes[len(sizes) // 2], sizes[-1])
    steps = [f"{len(codes)} combinations in {len(blocks)} regions, the largest of {sizes[-1]}: {parts.group.max() + 1} groups"]
    if not whole:
        for turn in range(PASSES):
            parts = _across(problem, codes, parts, narrow, k, turn)
        steps.append(f"improved in blocks of {narrow} at most, {PASSES} times with other borders: {parts.group.max() + 1} groups")
    if not whole and len(codes) <= most:
        parts, _ = improve(costs, points, parts, k, rounds=2)
        steps.append(f"improved in one block: {parts.group.max() + 1} groups")
    _check_rows(parts, rows)
    return parts, told, tuple(steps)


def _check_rows(parts: Parts, rows: np.ndarray) -> None:
    """InternalError where a row was lost or invented, or a group number is left out."""
    held = np.zeros(len(rows), np.int64)
    np.add.at(held, parts.cell, parts.held)
    if not np.array_equal(held, rows) or np.bincount(parts.group).min() == 0:
        raise InternalError(f"groups hold {int(held.sum())} of {int(rows.sum())} rows, or not each its own")


def grouped(
    problem: Problem, codes: np.ndarray, rows: np.ndarray, block: np.ndarray, k: int, strategy: Strategy = "thorough"
) -> Parts:
    """Groups of one block of combinations codes (m, d) with rows (m,), which go by the numbers (m,) of ``block``."""
    costs, points = prepare(problem.hierarchies, problem.weights, codes)
    parts = group_block(costs, points, rows, ladders(problem.hierarchies, codes), k, strategy=strategy)
    return Parts(block[parts.cell], parts.group, parts.held)


def _across(problem: Problem, codes: np.ndarray, parts: Parts, most: int, k: int, turn: int) -> Parts:
    """Whole groups go to other blocks, split from seeds of this turn's own, and are improved there."""
    order = np.lexsort((parts.cell, parts.group))
    cell, group, held = parts.cell[order], parts.group[order], parts.held[order]
    first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    costs, points = prepare(problem.hierarchies, problem.weights, codes[cell[first]])
    size = np.add.reduceat(held, first)
    share = max(1, most * len(first) // len(cell))
    found = []
    seed = len(first) * (turn + 1) // (PASSES + 1)
    for block in far_seed_blocks(costs, points, size, share, k, seed, 1):
        inside = np.isin(group, block)
        cells, place = np.unique(cell[inside], return_inverse=True)
        number = np.unique(group[inside], return_inverse=True)[1]
        better = improved(problem, codes[cells], Parts(place.ravel(), number.ravel(), held[inside]), k)
        found.append(Parts(cells[better.cell], better.group, better.held))
    return pooled(found)


def improved(problem: Problem, codes: np.ndarray, parts: Parts, k: int) -> Parts:
    """Whole groups of combinations codes (m, d) improved among each other."""
    costs, points = prepare(problem.hierarchies, problem.weights, codes)
    return improve(costs, points, parts, k, rounds=2)[0]
