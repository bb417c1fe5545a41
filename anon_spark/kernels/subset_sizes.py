"""Classes of many sets of columns, counted from the cells of a frequency set: in one process, or made smaller for a shuffle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from anon_spark.kernels.arrow import lines_of
from anon_spark.kernels.rollup import roll_up
from anon_spark.metrics.subsets import FEW, Subset

GATHERED = 100_000
"""Cells that a worker holds at a time: 8 bytes a column each, and as much for the keys of one set."""
NAMES = ("subset", "key", "rows")


def count_subsets(hashes: np.ndarray, count: np.ndarray, subsets: Sequence[Subset]) -> np.ndarray:
    """(s, 3) int64: classes, rows alone in theirs, rows in classes below FEW, of each set.

    hashes: (m, d) int64, equal where values are; count: (m,) int64 rows. Holds 4 bytes a hash, and some 40 bytes a cell at a time.
    """
    codes = np.empty(hashes.T.shape, np.int32)
    for line, hashed in zip(codes, hashes.T, strict=True):
        line[:] = np.unique(hashed, return_inverse=True)[1].ravel()
    none = np.zeros((0, len(count)), np.int32)
    found = np.empty((len(subsets), 3), np.int64)
    for i, subset in enumerate(subsets):
        size = roll_up(codes[list(subset)], none, count, [None] * len(subset)).count
        found[i] = len(size), (size == 1).sum(), size[size < FEW].sum()
    return found


def subset_keys(
    batches: Iterable[pa.RecordBatch], names: Sequence[str], rows: str, subsets: Sequence[Subset], one_in: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    """(subset, key, rows) of the batches' cells, those of one key within GATHERED cells added up.

    The key of a set is the exclusive or of its columns' hashes, salted by column: sets of equal values are told apart but for a chance
    of 2^-64. one_in: a power of two each set; of a set only the keys whose low bits are 0 are kept, the same ones whatever the batches.
    """
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(b.num_rows for b in held) >= GATHERED:
            yield from _keys(pa.Table.from_batches(held), names, rows, subsets, one_in)
            held = []
    if held:
        yield from _keys(pa.Table.from_batches(held), names, rows, subsets, one_in)


def _keys(
    table: pa.Table, names: Sequence[str], rows: str, subsets: Sequence[Subset], one_in: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    hashes = np.ascontiguousarray(lines_of(table, names, np.int64).T)
    count = lines_of(table, [rows], np.int64)[:, 0]
    for number, (subset, part) in enumerate(zip(subsets, one_in, strict=True)):
        key = np.bitwise_xor.reduce(hashes[list(subset)], axis=0)
        kept = (key & (part - 1)) == 0
        key, of_key = (key[kept], count[kept]) if part > 1 else (key, count)
        if not len(key):
            continue
        order = np.argsort(key)
        key, of_key = key[order], of_key[order]
        heads = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
        lines = [np.full(len(heads), number, np.int32), key[heads], np.add.reduceat(of_key, heads)]
        yield pa.RecordBatch.from_arrays([pa.array(line) for line in lines], names=list(NAMES))
