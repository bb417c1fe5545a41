"""What a worker does with the blocks of its partition: Arrow batches in, Arrow batches out, no Spark.

A line is a cell's part: leaf codes, sensitive numbers, the rows of the whole cell, those of this part, its group. Lines come sorted by
block, and within it so that what must stay together lies together; what comes out depends on the lines of each block alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_spark.algorithms.local_block_repair import repair_within
from anon_spark.algorithms.local_groups import Dealt, deal, join_alike
from anon_spark.algorithms.local_recoding import grouped, improved
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.kernels.arrow import lines_of, runs
from anon_spark.kernels.local.cuts import axes_of, cut_blocks
from anon_spark.kernels.local.improve import Parts
from anon_spark.kernels.local.swift import swift
from anon_spark.kernels.local.tree import Tree, route
from anon_spark.models.registry import build_all
from anon_spark.plans.block_lines import BLOCK, BROKEN, COMBINATIONS, GROUP, HELD, ROWS, code_names, value_names

MOST_LINES = 250_000
"""Lines of a block that a worker looks at together. With 20 columns they and their copies take some 200 MB."""
SLACK = 1.25
"""Blocks above this many times the size that was asked for are cut again."""
ROUTED = 100_000
GROUPS_A_BLOCK = 1 << 32


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


def routed(batches: Iterable[pa.RecordBatch], work: Pass, tree: Tree) -> Iterator[pa.RecordBatch]:
    """Each line with its block."""
    codes, _ = work.columns
    for table in _by(batches, ROUTED):
        block = route(tree, lines_of(table, codes, np.int32))
        yield from table.append_column(BLOCK, pa.array(block, pa.int32())).to_batches()


def first_pass(batches: Iterable[pa.RecordBatch], work: Pass) -> Iterator[pa.RecordBatch]:
    """Cells of whole blocks, sorted by block and codes, to groups of at least k rows."""
    yield from _passed(batches, work, False)


def later_pass(batches: Iterable[pa.RecordBatch], work: Pass) -> Iterator[pa.RecordBatch]:
    """Groups of other blocks, sorted by block and group, improved among each other."""
    yield from _passed(batches, work, True)


def _passed(batches: Iterable[pa.RecordBatch], work: Pass, later: bool) -> Iterator[pa.RecordBatch]:
    codes, values = work.columns
    writer, last, number = _Writer(work), -1, 0
    for table in runs(batches, BLOCK, [GROUP] if later else codes, MOST_LINES):
        block = table[BLOCK][0].as_py()
        number = number if block == last else 0
        cells, place = _cells(table, codes, values)
        group = lines_of(table, [GROUP], np.int64)[:, 0] if later else None
        held = lines_of(table, [HELD], np.int64)[:, 0]
        for inside, parts in _grouped(work, cells, place, group, held):
            dealt = _dealt(inside, parts)
            broken = np.zeros(int(dealt.group.max()) + 1, bool)
            if work.next is None:
                dealt, broken = _checked(work, inside, dealt)
            yield writer.batch(inside, dealt, broken, block * GROUPS_A_BLOCK + number)
            number += len(broken)
        last = block


def _grouped(
    work: Pass, cells: Cells, place: np.ndarray, group: np.ndarray | None, held: np.ndarray
) -> Iterator[tuple[Cells, Parts]]:
    """Blocks of at most about ``most`` combinations, cut again where they have more, each with its groups."""
    if group is None:
        for part in _cut(work, cells.codes, np.bincount(cells.combination, cells.rows).astype(np.int64), work.most):
            inside = _of_combinations(cells, part)
            rows = np.bincount(inside.combination, inside.rows).astype(np.int64)
            yield inside, _new_groups(work, inside.codes, rows)
        return
    name, number = np.unique(group, return_inverse=True)
    order = np.lexsort((cells.combination[place], number))
    of, first = number[order], np.searchsorted(number[order], np.arange(len(name)))
    codes = cells.codes[cells.combination[place[order[first]]]]
    size = np.bincount(number, held).astype(np.int64)
    for part in _cut(work, codes, size, max(1, work.most * len(name) // max(len(cells.codes), 1))):
        chosen = order[np.isin(of, part)]
        inside, spot = _of_lines(cells, place[chosen], held[chosen])
        yield inside, _better_groups(work, inside, spot, number[chosen], held[chosen])


def _cut(work: Pass, codes: np.ndarray, rows: np.ndarray, most: int) -> list[np.ndarray]:
    if len(codes) <= most * SLACK:
        return [np.arange(len(codes))]
    axes = axes_of(work.problem.hierarchies, work.problem.weights)
    return cut_blocks(axes, codes, rows, most, work.problem.k or 1)


def _new_groups(work: Pass, codes: np.ndarray, rows: np.ndarray) -> Parts:
    k = work.problem.k or 1
    every = np.arange(len(codes))
    if rows.sum() < 2 * k:
        return Parts(every, np.zeros_like(every), rows)
    if work.quick:
        return swift(work.problem.hierarchies, work.problem.weights, codes, rows, k)
    return grouped(work.problem, codes, rows, every, k)


def _better_groups(work: Pass, inside: Cells, spot: np.ndarray, number: np.ndarray, held: np.ndarray) -> Parts:
    group = np.unique(number, return_inverse=True)[1].ravel()
    pair, where = np.unique(np.stack([group, inside.combination[spot]], axis=1), axis=0, return_inverse=True)
    parts = Parts(pair[:, 1], pair[:, 0], np.bincount(where.ravel(), held).astype(np.int64))
    return improved(work.problem, inside.codes, parts, work.problem.k or 1)


def _dealt(cells: Cells, parts: Parts) -> Dealt:
    if len(cells.rows) == len(cells.codes):
        return Dealt(parts.cell, parts.cell, parts.group, parts.held)
    return deal(parts, cells.combination, cells.rows)


def _checked(work: Pass, cells: Cells, dealt: Dealt) -> tuple[Dealt, np.ndarray]:
    """Groups that print alike joined, models mended inside the block; which groups still break one."""
    dealt = join_alike(work.problem, cells.codes, dealt)
    held = FrequencySet(cells.codes[cells.combination], cells.sensitive, cells.rows)
    return repair_within(work.problem, build_all(work.problem.models), held, cells.codes, dealt)


def _cells(table: pa.Table, codes: Sequence[str], values: Sequence[str]) -> tuple[Cells, np.ndarray]:
    """The cells of a run of lines, and the cell of each line."""
    lines = lines_of(table, [*codes, *values], np.int32)
    order = np.lexsort(lines.T[::-1])
    new = np.r_[True, (lines[order][1:] != lines[order][:-1]).any(axis=1)]
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(new) - 1
    rows = np.bincount(place, lines_of(table, [HELD], np.int64)[:, 0]).astype(np.int64)
    # Raw values may be alike as codes: then the lines of a cell are parts of it even before it has groups.
    whole = rows if GROUP not in table.column_names else lines_of(table, [ROWS], np.int64)[order[new], 0]
    return _pooled(lines[order[new], : len(codes)], lines[order[new], len(codes) :], rows, whole), place


def _pooled(codes: np.ndarray, sensitive: np.ndarray, rows: np.ndarray, whole: np.ndarray) -> Cells:
    """Cells in order, their combinations told apart."""
    new = np.r_[True, (codes[1:] != codes[:-1]).any(axis=1)]
    return Cells(np.ascontiguousarray(codes[new]), sensitive, np.cumsum(new) - 1, rows, whole)


def _of_combinations(cells: Cells, part: np.ndarray) -> Cells:
    if len(part) == len(cells.codes):
        return cells
    inside = np.flatnonzero(np.isin(cells.combination, part))
    return _pooled(cells.codes[cells.combination[inside]], cells.sensitive[inside], cells.rows[inside], cells.whole[inside])


def _of_lines(cells: Cells, place: np.ndarray, held: np.ndarray) -> tuple[Cells, np.ndarray]:
    """The cells of these lines with the rows that lie in them, and the cell of each line."""
    chosen, spot = np.unique(place, return_inverse=True)
    rows = np.bincount(spot.ravel(), held).astype(np.int64)
    return _pooled(cells.codes[cells.combination[chosen]], cells.sensitive[chosen], rows, cells.whole[chosen]), spot.ravel()


def _by(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.Table]:
    """Batches taken together to about ``most`` rows."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(piece.num_rows for piece in held) >= most:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


class _Writer:
    """Parts as lines for the next pass, each group sent where its first combination lies."""

    def __init__(self, work: Pass):
        self.work = work

    def batch(self, cells: Cells, dealt: Dealt, broken: np.ndarray, first: int) -> pa.RecordBatch:
        names, values = self.work.columns
        codes = cells.codes[dealt.combination]
        columns = {name: pa.array(codes[:, j], pa.int32()) for j, name in enumerate(names)}
        columns |= {name: pa.array(cells.sensitive[dealt.cell, j], pa.int32()) for j, name in enumerate(values)}
        size = np.zeros(len(dealt.cell), np.int32)
        size[0] = len(cells.codes)
        columns |= {
            ROWS: pa.array(cells.whole[dealt.cell], pa.int64()),
            HELD: pa.array(dealt.held, pa.int64()),
            GROUP: pa.array(dealt.group + first, pa.int64()),
            COMBINATIONS: pa.array(size, pa.int32()),
        }
        if self.work.next is None:
            columns[BROKEN] = pa.array(broken[dealt.group], pa.bool_())
        else:
            columns[BLOCK] = pa.array(self._blocks(cells.codes, dealt)[dealt.group], pa.int32())
        return pa.RecordBatch.from_pydict(columns)

    def _blocks(self, codes: np.ndarray, dealt: Dealt) -> np.ndarray:
        assert self.work.next is not None
        least = np.full(int(dealt.group.max()) + 1, len(codes), np.int64)
        np.minimum.at(least, dealt.group, dealt.combination)
        return route(self.work.next, codes[least])
