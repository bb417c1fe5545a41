"""The one bridge between Arrow batches and arrays: a partition's batches, of any size or none, in runs that belong together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa


def runs(batches: Iterable[pa.RecordBatch], block: str, unit: Sequence[str], most: int) -> Iterator[pa.Table]:
    """The rows of each block together; of a block of more than ``most`` rows, runs of whole units.

    Rows lie sorted by ``block``, then ``unit`` (integer columns without nulls). A run has more than ``most`` rows only where it is a
    single unit. Runs depend on the rows alone, never on the batches.
    """
    waiting = _Waiting(unit)
    for piece, begins in _pieces(batches, block):
        if begins:
            yield from waiting.taken(most, True)
        waiting.add(piece)
        yield from waiting.taken(most, False)
    yield from waiting.taken(most, True)


def class_runs(batches: Iterable[pa.RecordBatch], keys: Sequence[str], most: int) -> Iterator[pa.Table]:
    """Rows that are sorted by ``keys`` (integers without nulls), some ``most`` at a time, never a part of a class: what may go on in the
    next batch waits for it."""
    held: list[pa.RecordBatch] = []
    rows, enough = 0, most
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows < enough:
            continue
        table = pa.Table.from_batches(held)
        lines = lines_of(table, keys, np.int64)
        last = int(np.flatnonzero((lines != lines[-1]).any(axis=1))[-1]) + 1 if (lines != lines[-1]).any() else 0
        if last:
            yield table.slice(0, last)
        held, rows = table.slice(last).to_batches(), table.num_rows - last
        # a class of more rows than that is put together once each time it has doubled
        enough = max(most, 2 * rows)
    if rows:
        yield pa.Table.from_batches(held)


def lines_of(table: pa.Table | pa.RecordBatch, names: Sequence[str], kind: type[np.generic]) -> np.ndarray:
    """(n, c) array of integer columns without nulls."""
    lines = np.empty((table.num_rows, len(names)), kind)
    for j, name in enumerate(names):
        lines[:, j] = table.column(name).to_numpy(zero_copy_only=False) if isinstance(table, pa.RecordBatch) else table[name].to_numpy()
    return lines


def _pieces(batches: Iterable[pa.RecordBatch], block: str) -> Iterator[tuple[pa.RecordBatch, bool]]:
    """Parts of batches that lie in one block each, and whether they are its first."""
    last: int | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        of = lines_of(batch, [block], np.int64)[:, 0]
        starts = [0, *(np.flatnonzero(of[1:] != of[:-1]) + 1).tolist()]
        for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
            yield batch.slice(start, end - start), last is None or of[start] != last
            last = int(of[start])


class _Waiting:
    """Rows of one block that have come and are not yet taken."""

    def __init__(self, unit: Sequence[str]):
        self.unit = unit
        self.pieces: list[pa.RecordBatch] = []
        self.starts: list[int] = []
        self.rows = 0
        self.last: np.ndarray | None = None

    def add(self, piece: pa.RecordBatch) -> None:
        lines = lines_of(piece, self.unit, np.int64)
        new = np.r_[self.last is None or bool((lines[0] != self.last).any()), (lines[1:] != lines[:-1]).any(axis=1)]
        self.starts += (np.flatnonzero(new) + self.rows).tolist()
        self.pieces.append(piece)
        self.rows += piece.num_rows
        self.last = lines[-1]

    def taken(self, most: int, all_came: bool) -> Iterator[pa.Table]:
        while self.rows > most or (all_came and self.rows):
            cut = self._cut(most, all_came)
            if not cut:
                return
            table = pa.Table.from_batches(self.pieces)
            self.pieces, self.rows = table.slice(cut).to_batches(), self.rows - cut
            self.starts = [start - cut for start in self.starts if start >= cut]
            yield table.slice(0, cut)
        if all_came:
            self.last = None

    def _cut(self, most: int, all_came: bool) -> int:
        """Where the next run ends: the last unit's end within ``most`` rows, else the first one's; 0 where that is not known yet."""
        if self.rows <= most:
            return self.rows
        ends = self.starts[1:]
        within = [end for end in ends if end <= most]
        beyond = next((end for end in ends if end > most), self.rows if all_came else 0)
        return within[-1] if within else beyond
