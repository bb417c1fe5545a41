"""Classes of many sets of columns, counted from the cells of a frequency set: in one process, or made smaller for a shuffle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

import numpy as np
import pyarrow as pa

from anon_spark.kernels.rollup import roll_up
from anon_spark.metrics.subsets import FEW, Subset

GATHERED = 100_000
"""Cells that a worker holds at a time: 8 bytes a column each, and as much for the keys of one set."""
DENSE = 2**17
"""Classes that there could be of a set, up to which its classes are counted in a grid."""
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
    hashes = [table[name].to_numpy() for name in names]
    count = table[rows].to_numpy()
    distinct, codes = zip(*[np.unique(line, return_inverse=True) for line in hashes], strict=True)
    for number, (subset, part) in enumerate(zip(subsets, one_in, strict=True)):
        spans = [len(distinct[column]) for column in subset]
        if part == 1 and prod(spans) <= DENSE:
            key, size = _dense(
                [distinct[column] for column in subset], [codes[column].ravel() for column in subset], spans, count
            )
        else:
            key, size = _drawn([hashes[column] for column in subset], count, part)
        if len(key):
            lines = [np.full(len(key), number, np.int32), key, size]
            yield pa.RecordBatch.from_arrays([pa.array(line) for line in lines], names=list(NAMES))


def _dense(
    distinct: Sequence[np.ndarray], codes: Sequence[np.ndarray], spans: Sequence[int], count: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Keys and rows of sets of few classes, by their place in the grid of all that there could be: much faster than sorting."""
    place = codes[0]
    for code, span in zip(codes[1:], spans[1:], strict=True):
        place = place * span + code
    # bincount adds in float64: exact below 2**53
    size = np.bincount(place, weights=count, minlength=prod(spans)).astype(np.int64)
    held = np.flatnonzero(size)
    key, rest = np.zeros(len(held), np.int64), held
    for values, span in zip(reversed(distinct), reversed(spans), strict=True):
        key ^= values[rest % span]
        rest = rest // span
    return key, size[held]


def _drawn(hashes: Sequence[np.ndarray], count: np.ndarray, part: int) -> tuple[np.ndarray, np.ndarray]:
    """Keys and rows of the classes whose key is drawn."""
    key = hashes[0].copy()
    for line in hashes[1:]:
        key ^= line
    if part > 1:
        kept = (key & (part - 1)) == 0
        key, count = key[kept], count[kept]
    order = np.argsort(key)
    key = key[order]
    heads = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else np.zeros(0, np.int64)
    return key[heads], np.add.reduceat(count[order], heads) if len(key) else count
