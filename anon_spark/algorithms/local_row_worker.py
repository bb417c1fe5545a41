"""What a worker does with rows that travel through blocks themselves: Arrow batches in, Arrow batches out, no Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_spark.algorithms.local_block_worker import GROUPS_A_BLOCK, MOST_LINES, ROUTED
from anon_spark.algorithms.local_cells import (
    Pass,
    batches_by,
    cells_of,
    checked,
    cut_again,
    dealt_cells,
    new_groups,
    of_combinations,
)
from anon_spark.algorithms.local_groups import Dealt, boxes_of
from anon_spark.kernels.arrow import runs
from anon_spark.kernels.local.tree import Tree, route
from anon_spark.plans.block_lines import BLOCK, BROKEN, COMBINATIONS, GROUP, HELD
from anon_spark.plans.box_tables import group_columns
from anon_spark.plans.frequency import cell_names
from anon_spark.plans.publish import Printed
from anon_spark.plans.row_hash import DEALT_BY

MOST_VALUES, FEWEST_ROWS = 5_000_000, 20_000
"""Rows of a block are taken up together as far as they hold so many values, whatever those are, but always so many rows."""


@dataclass(frozen=True)
class RowsPass:
    """The one pass of rows over blocks.  work: as of cells; printed: names of what a group prints of each quasi-identifier; columns: how
    many a row brings."""

    work: Pass
    printed: tuple[Printed, ...]
    columns: int

    @property
    def most(self) -> int:
        """Rows that are taken up together."""
        return max(FEWEST_ROWS, min(MOST_LINES, MOST_VALUES // max(self.columns, 1)))


def routed_rows(batches: Iterable[pa.RecordBatch], work: RowsPass, tree: Tree) -> Iterator[pa.RecordBatch]:
    """Rows with the codes of their texts, and the block where they lie; rows with a text that is not known are left out."""
    problem, (codes, values) = work.work.problem, work.work.columns
    texts = sum(cell_names(len(codes), len(values)), [])
    known = [h.codes for h in problem.hierarchies]
    known += [{text: number for number, text in enumerate(column)} for column in problem.values]
    looks = [_LookUp(numbers) for numbers in known]
    for table in batches_by(batches, ROUTED):
        found = [look.numbers(table[text]) for look, text in zip(looks, texts, strict=True)]
        inside = np.logical_and.reduce([number >= 0 for number in found])
        table = table.drop_columns(texts)
        if not inside.all():
            table, found = table.filter(pa.array(inside)), [number[inside] for number in found]
        for name, number in zip([*codes, *values], found, strict=True):
            table = table.append_column(name, pa.array(number, pa.int32()))
        block = route(tree, np.stack(found[: len(codes)], axis=1))
        yield from table.append_column(BLOCK, pa.array(block, pa.int32())).to_batches()


def grouped_rows(batches: Iterable[pa.RecordBatch], work: RowsPass) -> Iterator[pa.RecordBatch]:
    """Rows of whole blocks, sorted by block and codes, with their groups and what these print."""
    codes, values = work.work.columns
    last, number = -1, 0
    for batch in runs(_with_one(batches), BLOCK, codes, work.most):
        block = batch[BLOCK][0].as_py()
        number = number if block == last else 0
        cells, place = cells_of(batch, codes, values)
        rows = np.bincount(cells.combination, cells.rows).astype(np.int64)
        for part in cut_again(work.work, cells.codes, rows, work.work.most):
            inside, chosen = of_combinations(cells, part)
            parts = new_groups(work.work, inside.codes, np.bincount(inside.combination, inside.rows).astype(np.int64))
            dealt, broken = checked(work.work, inside, dealt_cells(inside, parts))
            line, group = _dealt_rows(batch, place, chosen, dealt)
            yield from _labelled(work, batch, line, group, inside.codes, dealt, broken, block * GROUPS_A_BLOCK + number)
            number += len(broken)
        last = block


def _with_one(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Every row holds one row."""
    for batch in batches:
        ones = pa.array(np.ones(batch.num_rows, np.int64))
        yield pa.RecordBatch.from_arrays([*batch.columns, ones], names=[*batch.schema.names, HELD])


def _dealt_rows(table: pa.Table, place: np.ndarray, chosen: np.ndarray, dealt: Dealt) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the chosen cells, and the group of each: a cell's rows in the order of their hashes to its groups in order.

    place: (n,) cell of each row; chosen: (c,) ascending cells, which ``dealt`` numbers from 0. Rows alike in both hashes are
    interchangeable.
    """
    number = np.full(int(place.max()) + 1, -1)
    number[chosen] = np.arange(len(chosen))
    line = np.flatnonzero(number[place] >= 0)
    first, second = (table[name].to_numpy()[line] for name in DEALT_BY)
    line = line[np.lexsort((second, first, number[place[line]]))]
    order = np.lexsort((dealt.group, dealt.cell))
    return line, np.repeat(dealt.group[order], dealt.held[order])


def _labelled(
    work: RowsPass,
    table: pa.Table,
    line: np.ndarray,
    group: np.ndarray,
    codes: np.ndarray,
    dealt: Dealt,
    broken: np.ndarray,
    first: int,
) -> Iterator[pa.RecordBatch]:
    low, high, _ = boxes_of(codes, dealt)
    printed = group_columns(np.arange(len(broken)), low, high, work.work.problem.hierarchies, work.printed)
    rows = table.drop_columns([BLOCK, *DEALT_BY]).take(pa.array(line))
    size = np.zeros(len(line), np.int32)
    size[0] = len(codes)
    rows = rows.append_column(GROUP, pa.array(group + first, pa.int64()))
    rows = rows.append_column(COMBINATIONS, pa.array(size)).append_column(BROKEN, pa.array(broken[group]))
    labels = printed.drop_columns([GROUP]).take(pa.array(group))
    for name in labels.column_names:
        rows = rows.append_column(name, labels[name])
    yield from rows.combine_chunks().to_batches(max_chunksize=ROUTED)


class _LookUp:
    """Numbers of texts, -1 for one that is not known."""

    def __init__(self, numbers: Mapping[str | None, int]):
        texts = [text for text in numbers if text is not None]
        self.texts = pa.array(texts, pa.string())
        # what is not found is looked up at the end
        self.number = np.array([*(numbers[text] for text in texts), -1], np.int32)
        self.null = numbers.get(None, -1)

    def numbers(self, texts: pa.ChunkedArray) -> np.ndarray:
        column = texts.combine_chunks().cast(pa.string())
        at = pc.fill_null(pc.index_in(column, value_set=self.texts), len(self.texts)).to_numpy(zero_copy_only=False)
        found = self.number[at]
        if column.null_count:
            found[pc.is_null(column).to_numpy(zero_copy_only=False)] = self.null
        return found
