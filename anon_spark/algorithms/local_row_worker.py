"""What a worker does with rows that travel through blocks themselves: Arrow batches in, Arrow batches out, no Spark.

A row comes to its block as numbers of its texts (``RowNumbers``) and the columns that go with it. It leaves as a member of its group: a
line is a group, or a part of a large one, with all that its rows have in common said once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_spark.algorithms.local_block_worker import GROUPS_A_BLOCK, MOST_LINES, ROUTED
from anon_spark.algorithms.local_cells import (
    Cells,
    Pass,
    batches_by,
    cells_in,
    checked,
    cut_again,
    dealt_cells,
    new_groups,
    of_combinations,
)
from anon_spark.algorithms.local_groups import Dealt, boxes_of
from anon_spark.algorithms.local_row_numbers import LookUp, RowNumbers
from anon_spark.kernels.arrow import runs
from anon_spark.kernels.local.tree import Tree, route
from anon_spark.kernels.rollup import mixed_key
from anon_spark.plans.block_lines import (
    BLOCK,
    BROKEN,
    COMBINATIONS,
    GROUP,
    KEY,
    MEMBERS,
    SIZE,
    SIZES,
    box_names,
    word_names,
)
from anon_spark.plans.box_tables import group_columns
from anon_spark.plans.frequency import cell_names
from anon_spark.plans.publish import Printed
from anon_spark.plans.row_hash import DEALT_BY

MOST_VALUES, FEWEST_ROWS = 5_000_000, 20_000
"""Rows of a block are taken up together as far as they hold so many values, whatever those are, but always so many rows."""
MEMBERS_A_LINE = 1_000
"""Rows of a group on one line."""
BLOCK_BITS = 32


@dataclass(frozen=True)
class RowsPass:
    """The one pass of rows over blocks.  work: as of cells; numbers: of the texts; printed: names of what a group prints of each
    quasi-identifier; columns: how many a row brings."""

    work: Pass
    numbers: RowNumbers
    printed: tuple[Printed, ...]
    columns: int

    @property
    def most(self) -> int:
        """Rows that are taken up together."""
        return max(FEWEST_ROWS, min(MOST_LINES, MOST_VALUES // max(self.columns, 1)))


def routed_rows(batches: Iterable[pa.RecordBatch], numbers: RowNumbers, tree: Tree) -> Iterator[pa.RecordBatch]:
    """Rows with words of numbers in place of their texts, and the key of the block where they lie; rows with a text that is not known
    are left out."""
    quasi, every = numbers.quasi, len(numbers.columns)
    texts = sum(cell_names(quasi, every - quasi), [])
    looks = [LookUp(column) for column in numbers.columns]
    for table in batches_by(batches, ROUTED):
        found = [look.numbers(table[text]) for look, text in zip(looks, texts, strict=True)]
        inside = np.logical_and.reduce([number >= 0 for number in found])
        table = table.drop_columns(texts)
        if not inside.all():
            table, found = table.filter(pa.array(inside)), [number[inside] for number in found]
        words = numbers.packed(found)
        for name, word in zip(word_names(len(words)), words, strict=True):
            table = table.append_column(name, pa.array(word, pa.int64()))
        block = route(tree, numbers.codes(found)[:, :quasi])
        yield from table.append_column(KEY, pa.array(block << BLOCK_BITS | numbers.prefix(words[0]), pa.int64())).to_batches()


def grouped_rows(batches: Iterable[pa.RecordBatch], work: RowsPass) -> Iterator[pa.RecordBatch]:
    """Rows of whole blocks, sorted by their keys, as members of their groups with what these print."""
    numbers, last, number = work.numbers, -1, 0
    for table in runs(_with_block(batches), BLOCK, [KEY], work.most):
        block = table[BLOCK][0].as_py()
        number = number if block == last else 0
        found = numbers.unpacked([table[name].to_numpy() for name in word_names(len(numbers.words))])
        cells, place = cells_in(numbers.codes(found), numbers.quasi, None)
        rows = np.bincount(cells.combination, cells.rows).astype(np.int64)
        for part in cut_again(work.work, cells.codes, rows, work.work.most):
            inside, chosen = of_combinations(cells, part)
            parts = new_groups(work.work, inside.codes, np.bincount(inside.combination, inside.rows).astype(np.int64))
            dealt, broken = checked(work.work, inside, dealt_cells(inside, parts))
            line, group = _dealt_rows(table, place, chosen, dealt)
            members = _members(work, table, found, line)
            sizes = _raw_sizes(work, found, line, inside)
            yield _lines(work, members, group, inside.codes, dealt, broken, block * GROUPS_A_BLOCK + number, sizes)
            number += len(broken)
        last = block


def _with_block(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        block = pa.array(batch.column(batch.schema.get_field_index(KEY)).to_numpy() >> BLOCK_BITS)
        yield pa.RecordBatch.from_arrays([*batch.columns, block], names=[*batch.schema.names, BLOCK])


def _dealt_rows(table: pa.Table, place: np.ndarray, chosen: np.ndarray, dealt: Dealt) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the chosen cells, and the group of each, ascending: a cell's rows in the order of their hashes to its groups in order.

    place: (n,) cell of each row; chosen: (c,) ascending cells, which ``dealt`` numbers from 0. Rows alike in both hashes are
    interchangeable.
    """
    number = np.full(int(place.max()) + 1, -1)
    number[chosen] = np.arange(len(chosen))
    line = np.flatnonzero(number[place] >= 0)
    cell = number[place[line]]
    several = np.bincount(dealt.cell, minlength=len(chosen)) > 1
    whole = np.zeros(len(chosen), np.int64)
    whole[dealt.cell] = dealt.group
    group, split = whole[cell], np.flatnonzero(several[cell])
    if len(split):
        first, second = (table[name].to_numpy()[line[split]] for name in DEALT_BY)
        split = split[np.lexsort((second, first, cell[split]))]
        parted = np.flatnonzero(several[dealt.cell])
        parted = parted[np.lexsort((dealt.group[parted], dealt.cell[parted]))]
        group[split] = np.repeat(dealt.group[parted], dealt.held[parted])
    # numbers of 16 bits are sorted in one pass
    order = np.argsort(group.astype(np.uint16) if len(dealt.group) < 1 << 16 else group, kind="stable")
    return line[order], group[order]


def _members(work: RowsPass, table: pa.Table, found: list[np.ndarray], line: np.ndarray) -> pa.StructArray:
    """What is a row's own: the texts of its quasi-identifiers, its sensitive numbers, the columns that went with it."""
    numbers, quasi = work.numbers, work.numbers.quasi
    texts = [
        column.texts.take(pa.array(number[line]))
        for column, number in zip(numbers.columns[:quasi], found[:quasi], strict=True)
    ]  # fmt: skip
    values = [pa.array(number[line], pa.int32()) for number in found[quasi:]]
    apart = {KEY, BLOCK, *DEALT_BY, *word_names(len(numbers.words))}
    rest = table.select([name for name in table.column_names if name not in apart]).take(pa.array(line)).combine_chunks()
    carried = [rest.column(i).chunk(0) if rest.column(i).num_chunks else pa.array([], rest.column(i).type) for i in range(rest.num_columns)]
    arrays = [*texts, *values, *carried]
    return pa.StructArray.from_arrays(arrays, fields=[pa.field(f"_{i}", array.type) for i, array in enumerate(arrays)])


def _raw_sizes(work: RowsPass, found: list[np.ndarray], line: np.ndarray, inside: Cells) -> pa.Array:
    """How many raw combinations have how many rows, as texts tell them apart; all on the first line."""
    quasi = work.numbers.quasi
    if all(column.own for column in work.numbers.columns[:quasi]):
        rows = np.bincount(inside.combination, inside.rows).astype(np.int64)
    else:
        key, _ = mixed_key([number[line] for number in found[:quasi]])
        rows = np.unique(key, return_counts=True)[1]
    size, count = np.unique(rows, return_counts=True)
    pairs = [pa.array(size, pa.int64()), pa.array(count, pa.int64())]
    return pa.StructArray.from_arrays(pairs, fields=[pa.field("size", pa.int64()), pa.field("classes", pa.int64())])


def _lines(
    work: RowsPass,
    members: pa.StructArray,
    group: np.ndarray,
    codes: np.ndarray,
    dealt: Dealt,
    broken: np.ndarray,
    first: int,
    sizes: pa.StructArray,
) -> pa.RecordBatch:
    """Groups as lines of at most ``MEMBERS_A_LINE`` members.  group: (n,) ascending, of each member. A group's size is on its first line
    alone; so are, on the first line of all, the block's combinations and raw sizes."""
    d = codes.shape[1]
    low, high, size = boxes_of(codes, dealt)
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    many = -(-size // MEMBERS_A_LINE)
    of = np.repeat(np.arange(len(size)), many)
    part = np.arange(len(of)) - np.repeat(np.cumsum(many) - many, many)
    offsets = np.append(starts[of] + part * MEMBERS_A_LINE, len(group))
    leads = part == 0
    printed = group_columns(np.arange(len(broken)), low, high, work.work.problem.hierarchies, work.printed).drop_columns([GROUP])
    held = np.zeros(len(of), np.int32)
    held[0] = len(codes)
    columns: dict[str, pa.Array] = {GROUP: pa.array(of + first, pa.int64())}
    for name, end in zip(box_names(d), [*low.T, *high.T], strict=True):
        columns[name] = pa.array(end[of], pa.int32())
    columns |= {
        SIZE: pa.array(np.where(leads, size[of], 0), pa.int64()),
        BROKEN: pa.array(broken[of]),
        COMBINATIONS: pa.array(held),
        SIZES: pa.ListArray.from_arrays(pa.array(np.r_[0, np.full(len(of), len(sizes))], pa.int32()), sizes),
    }
    columns |= {name: printed[name].combine_chunks().take(pa.array(of)) for name in printed.column_names}
    columns[MEMBERS] = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), members)
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
