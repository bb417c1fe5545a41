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
from anon_spark.kernels.local.across import across
from anon_spark.kernels.local.block import Strategy, can_peel, group_block
from anon_spark.kernels.local.cuts import Axes, axes_of, cut_blocks
from anon_spark.kernels.local.improve import Parts, improve, pooled
from anon_spark.kernels.local.prepare import ladders, prepare
from anon_spark.kernels.local.swift import swift
from anon_spark.models.registry import models_of

WIDEST_BLOCK, NARROWEST_BLOCK = 16_000, 1_000
WIDEST_REGION = 64_000
"""Combinations that are peeled at once, where blocks are narrower."""
NARROW = 1_000_000
"""Combinations at which blocks are of the narrowest size."""
MANY = 200_000
"""Combinations above which groups are made the swift way: a tenth of the time, and a loss that is nearly the same."""
STRATEGY = "wide regions peeled, small tables agglomerated where that loses less; then moves, dissolved groups, lent rows, re-cut pairs"
SWIFT = "small cells agglomerated; then re-cut pairs, moves and dissolved groups, twice in cells with other borders"
SHARES = (0.4, 0.25, 0.33)
"""Groups are improved across the borders of blocks, each time with other borders: the share of them on either side of a cut."""


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
    models = models_of(problem)
    dealt, told = repair(problem, models, sorted_set, codes, dealt)
    kept, more = suppress(problem, models, sorted_set, codes, dealt)
    star = len(kept.cell) > 0 and star_holds(problem, models, sorted_set, codes, kept)
    dealt = Dealt(order[kept.dealt.cell], kept.dealt.combination, kept.dealt.group, kept.dealt.held)
    strategy = SWIFT if len(codes) > MANY else STRATEGY
    found = settle(problem, codes, dealt, (*steps, *told, *more), strategy, blocks)
    return replace(found, lost_cell=order[kept.cell], lost=kept.held, star=star)


def block_size(combinations: int) -> int:
    """Most combinations of a block, by how many there are."""
    if combinations <= WIDEST_BLOCK:
        return WIDEST_BLOCK
    share = min(log(combinations / WIDEST_BLOCK) / log(NARROW / WIDEST_BLOCK), 1.0)
    return round(WIDEST_BLOCK * (NARROWEST_BLOCK / WIDEST_BLOCK) ** share)


def group_cells(
    problem: Problem, codes: np.ndarray, rows: np.ndarray, most: int
) -> tuple[Parts, Blocks, tuple[str, ...]]:
    """Groups of at least k rows of sorted distinct combinations codes (m, d) with rows (m,), in blocks of at most ``most``.

    Beyond ``MANY`` combinations in small cells (``swift``). Beyond some thousand wide regions are peeled, and their groups improved in
    narrow blocks, each time other ones; where ``most`` allows, in one block at last. A single narrow block takes the best of several
    starts.
    """
    k = problem.k or 1
    if len(codes) > MANY:
        parts = swift(problem.hierarchies, problem.weights, codes, rows, k)
        _check_rows(parts, rows)
        steps = [f"{len(codes)} combinations: {parts.group.max() + 1} groups"]
        return parts, (1, len(codes), len(codes), len(codes)), tuple(steps)
    narrow = min(most, NARROWEST_BLOCK)
    whole = len(codes) <= narrow or int(rows.sum()) < 2 * k  # then a single group is all there can be
    blocks = cut_blocks(_axes(problem), codes, rows, len(codes) if whole else max(most, WIDEST_REGION), k)
    strategy: Strategy = "thorough" if whole else "peel"
    parts = pooled([grouped(problem, codes[block], rows[block], block, k, strategy) for block in blocks])
    sizes = sorted(len(block) for block in blocks)
    told = (len(sizes), sizes[0], sizes[len(sizes) // 2], sizes[-1])
    steps = [f"{len(codes)} combinations in {len(blocks)} regions, the largest of {sizes[-1]}: {parts.group.max() + 1} groups"]
    if not whole:
        for share in SHARES:
            parts = across(_axes(problem), codes, parts, narrow, k, share, lambda cells, inside: improved(problem, codes[cells], inside, k))
        steps.append(f"improved in blocks of {narrow} at most, {len(SHARES)} times with other borders: {parts.group.max() + 1} groups")
    if not whole and len(codes) <= most:
        parts = improved(problem, codes, parts, k)
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
    steps = ladders(problem.hierarchies, codes)
    if strategy == "peel" and not can_peel(steps):
        # a wide region: agglomeration alone takes time that grows with its square
        parts = swift(problem.hierarchies, problem.weights, codes, rows, k)
    else:
        costs, points = prepare(problem.hierarchies, problem.weights, codes)
        parts = group_block(costs, points, rows, steps, k, strategy=strategy)
    return Parts(block[parts.cell], parts.group, parts.held)


def improved(problem: Problem, codes: np.ndarray, parts: Parts, k: int) -> Parts:
    """Whole groups of combinations codes (m, d) improved among each other."""
    costs, points = prepare(problem.hierarchies, problem.weights, codes)
    return improve(costs, points, parts, k, rounds=2)[0]


def _axes(problem: Problem) -> Axes:
    return axes_of(problem.hierarchies, problem.weights)
