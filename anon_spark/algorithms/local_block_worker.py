"""What a worker does with the blocks of its partition: Arrow batches in, Arrow batches out, no Spark.

A line is a cell's part: leaf codes, sensitive numbers, the rows of the whole cell, those of this part, its group. Lines come sorted by
block, and within it so that what must stay together lies together; what comes out depends on the lines of each block alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from anon_spark.algorithms.local_cells import (
    Cells,
    Pass,
    batches_by,
    cells_of,
    checked,
    cut_again,
    dealt_cells,
    new_groups,
    of_combinations,
    of_lines,
)
from anon_spark.algorithms.local_groups import Dealt
from anon_spark.algorithms.local_recoding import improved
from anon_spark.kernels.arrow import lines_of, runs
from anon_spark.kernels.local.improve import Parts
from anon_spark.kernels.local.tree import Tree, route
from anon_spark.plans.block_lines import BLOCK, BROKEN, COMBINATIONS, GROUP, HELD, ROWS

MOST_LINES = 250_000
"""Lines of a block that a worker looks at together. With 20 columns they and their copies take some 200 MB."""
ROUTED = 100_000
GROUPS_A_BLOCK = 1 << 32


def routed(batches: Iterable[pa.RecordBatch], work: Pass, tree: Tree) -> Iterator[pa.RecordBatch]:
    """Each line with its block."""
    codes, _ = work.columns
    for table in batches_by(batches, ROUTED):
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
        cells, place = cells_of(table, codes, values)
        group = lines_of(table, [GROUP], np.int64)[:, 0] if later else None
        held = lines_of(table, [HELD], np.int64)[:, 0]
        for inside, parts in _grouped(work, cells, place, group, held):
            dealt = dealt_cells(inside, parts)
            broken = np.zeros(int(dealt.group.max()) + 1, bool)
            if work.next is None:
                dealt, broken = checked(work, inside, dealt)
            yield writer.batch(inside, dealt, broken, block * GROUPS_A_BLOCK + number)
            number += len(broken)
        last = block


def _grouped(
    work: Pass, cells: Cells, place: np.ndarray, group: np.ndarray | None, held: np.ndarray
) -> Iterator[tuple[Cells, Parts]]:
    """Blocks of at most about ``most`` combinations, cut again where they have more, each with its groups."""
    if group is None:
        for part in cut_again(work, cells.codes, np.bincount(cells.combination, cells.rows).astype(np.int64), work.most):
            inside, _ = of_combinations(cells, part)
            rows = np.bincount(inside.combination, inside.rows).astype(np.int64)
            yield inside, new_groups(work, inside.codes, rows)
        return
    name, number = np.unique(group, return_inverse=True)
    order = np.lexsort((cells.combination[place], number))
    of, first = number[order], np.searchsorted(number[order], np.arange(len(name)))
    codes = cells.codes[cells.combination[place[order[first]]]]
    size = np.bincount(number, held).astype(np.int64)
    for part in cut_again(work, codes, size, max(1, work.most * len(name) // max(len(cells.codes), 1))):
        chosen = order[np.isin(of, part)]
        inside, spot = of_lines(cells, place[chosen], held[chosen])
        yield inside, _better_groups(work, inside, spot, number[chosen], held[chosen])


def _better_groups(work: Pass, inside: Cells, spot: np.ndarray, number: np.ndarray, held: np.ndarray) -> Parts:
    group = np.unique(number, return_inverse=True)[1].ravel()
    pair, where = np.unique(np.stack([group, inside.combination[spot]], axis=1), axis=0, return_inverse=True)
    parts = Parts(pair[:, 1], pair[:, 0], np.bincount(where.ravel(), held).astype(np.int64))
    return improved(work.problem, inside.codes, parts, work.problem.k or 1)


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
