"""Cells of a block and the groups made of them: what workers share, whether cells travel or the rows themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from anon_spark.algorithms.local_block_repair import repair_within
from anon_spark.algorithms.local_groups import Dealt, deal, join_alike
from anon_spark.algorithms.local_recoding import grouped
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.kernels.arrow import lines_of
from anon_spark.kernels.local.cuts import axes_of, cut_blocks
from anon_spark.kernels.local.improve import Parts
from anon_spark.kernels.local.swift import swift
from anon_spark.kernels.local.tree import Tree
from anon_spark.kernels.rollup import mixed_key
from anon_spark.models.registry import models_of
from anon_spark.plans.block_lines import GROUP, HELD, ROWS, code_names, value_names

SLACK = 1.25
"""Blocks above this many times the size that was asked for are cut again."""


@dataclass(frozen=True)
class Pass:
    """One pass over the blocks.  most: combinations of a block; next: the borders of the next pass, None after the last.

    quick: groups are made and improved in small cells inside the block (``swift``), which takes a tenth of the time.
    """

    problem: Problem
    most: int
    next: Tree | None
    quick: bool = False

    @property
    def columns(self) -> tuple[list[str], list[str]]:
        """Names of the code columns and of the columns of sensitive numbers."""
        return code_names(len(self.problem.hierarchies)), value_names(len(self.problem.sensitive))


@dataclass(frozen=True)
class Cells:
    """Cells in the order of their codes and values, and their combinations in order.

    codes: (m, d); combination, rows, whole: (c,) each; sensitive: (c, s). rows: those at hand, whole: those of the whole table.
    """

    codes: np.ndarray
    sensitive: np.ndarray
    combination: np.ndarray
    rows: np.ndarray
    whole: np.ndarray


def cells_of(table: pa.Table, codes: Sequence[str], values: Sequence[str]) -> tuple[Cells, np.ndarray]:
    """The cells of a run of lines, and the cell of each line."""
    lines = lines_of(table, [*codes, *values], np.int32)
    cells, place = cells_in(lines, len(codes), lines_of(table, [HELD], np.int64)[:, 0])
    if GROUP not in table.column_names:
        return cells, place
    # Raw values may be alike as codes: then the lines of a cell are parts of it even before it has groups.
    whole = np.empty(len(cells.rows), np.int64)
    whole[place[::-1]] = lines_of(table, [ROWS], np.int64)[::-1, 0]
    return replace(cells, whole=whole), place


def cells_in(lines: np.ndarray, quasi: int, held: np.ndarray | None) -> tuple[Cells, np.ndarray]:
    """The cells of lines (n, c) of codes, ``quasi`` columns of them, and sensitive numbers, and the cell of each line.

    held: (n,) rows of each; None: one each.
    """
    key, _ = mixed_key(list(lines.T))
    order = np.argsort(key, kind="stable")
    new = np.r_[True, key[order[1:]] != key[order[:-1]]]
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(new) - 1
    rows = np.bincount(place, held).astype(np.int64)
    first = lines[order[new]]
    return _pooled(first[:, :quasi], first[:, quasi:], rows, rows), place


def _pooled(codes: np.ndarray, sensitive: np.ndarray, rows: np.ndarray, whole: np.ndarray) -> Cells:
    """Cells in order, their combinations told apart."""
    new = np.r_[True, (codes[1:] != codes[:-1]).any(axis=1)]
    return Cells(np.ascontiguousarray(codes[new]), sensitive, np.cumsum(new) - 1, rows, whole)


def of_combinations(cells: Cells, part: np.ndarray) -> tuple[Cells, np.ndarray]:
    """The cells of some combinations, and their numbers (c,), ascending."""
    inside = np.flatnonzero(np.isin(cells.combination, part))
    if len(inside) == len(cells.rows):
        return cells, inside
    codes = cells.codes[cells.combination[inside]]
    return _pooled(codes, cells.sensitive[inside], cells.rows[inside], cells.whole[inside]), inside


def of_lines(cells: Cells, place: np.ndarray, held: np.ndarray) -> tuple[Cells, np.ndarray]:
    """The cells of these lines with the rows that lie in them, and the cell of each line."""
    chosen, spot = np.unique(place, return_inverse=True)
    rows = np.bincount(spot.ravel(), held).astype(np.int64)
    return _pooled(cells.codes[cells.combination[chosen]], cells.sensitive[chosen], rows, cells.whole[chosen]), spot.ravel()


def cut_again(work: Pass, codes: np.ndarray, rows: np.ndarray, most: int) -> list[np.ndarray]:
    """A block of combinations codes (m, d) with rows (m,), cut again where it has far more than ``most``."""
    if len(codes) <= most * SLACK:
        return [np.arange(len(codes))]
    axes = axes_of(work.problem.hierarchies, work.problem.weights)
    return cut_blocks(axes, codes, rows, most, work.problem.k or 1)


def new_groups(work: Pass, codes: np.ndarray, rows: np.ndarray) -> Parts:
    """Groups of the combinations codes (m, d) with rows (m,) of a block."""
    k = work.problem.k or 1
    every = np.arange(len(codes))
    if rows.sum() < 2 * k:
        return Parts(every, np.zeros_like(every), rows)
    if work.quick:
        return swift(work.problem.hierarchies, work.problem.weights, codes, rows, k)
    return grouped(work.problem, codes, rows, every, k)


def dealt_cells(cells: Cells, parts: Parts) -> Dealt:
    """The cells of combinations that are parted so."""
    if len(cells.rows) == len(cells.codes):
        return Dealt(parts.cell, parts.cell, parts.group, parts.held)
    return deal(parts, cells.combination, cells.rows)


def checked(work: Pass, cells: Cells, dealt: Dealt) -> tuple[Dealt, np.ndarray]:
    """Groups that print alike joined, models mended inside the block; which groups still break one."""
    dealt = join_alike(work.problem, cells.codes, dealt)
    held = FrequencySet(cells.codes[cells.combination], cells.sensitive, cells.rows)
    return repair_within(work.problem, models_of(work.problem), held, cells.codes, dealt)


def batches_by(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.Table]:
    """Batches taken together to about ``most`` rows."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(piece.num_rows for piece in held) >= most:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
