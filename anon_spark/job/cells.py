"""A frequency set in the driver process: Arrow text columns to leaf codes and value numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.hierarchy import Hierarchy

Values = dict[str | None, int]
"""Distinct texts of a column (None is null) with their rows."""


def values_in(table: pa.Table, names: Sequence[str], rows: str) -> list[Values]:
    """Distinct values of each column of a frequency set, with their rows."""
    return [
        dict(zip(grouped[name].to_pylist(), grouped[f"{rows}_sum"].to_pylist(), strict=True))
        for name in names
        for grouped in [table.select([name, rows]).group_by(name).aggregate([(rows, "sum")])]
    ]


def ordered(values: Values) -> tuple[str | None, ...]:
    """Value texts by their number: sorted, null last."""
    return tuple(sorted(values, key=lambda text: (text is None, text or "")))


def encode(
    table: pa.Table, keys: Sequence[str], hierarchies: Sequence[Hierarchy], others: Sequence[str],
    values: Sequence[tuple[str | None, ...]], rows: str, person: str | None = None,
) -> tuple[FrequencySet, np.ndarray]:  # fmt: skip
    """Codes for texts; cells that became equal (raw texts of one leaf) are pooled; the result is sorted.

    person: the column that tells persons, whose numbers are the set's last column. Returns the set, and the (lines of table,) int64 cell
    that each line went to.
    """
    numbers = [{text: number for number, text in enumerate(known)} for known in values]
    columns = [_numbers(table[key], hierarchy.codes) for key, hierarchy in zip(keys, hierarchies, strict=True)]
    columns += [_numbers(table[name], known) for name, known in zip(others, numbers, strict=True)]
    columns += [_persons(table[person])] if person is not None else []
    count = table[rows].to_numpy().astype(np.int64)
    matrix = np.stack(columns, axis=1) if len(count) else np.zeros((0, len(columns)), np.int32)
    order = np.lexsort(matrix.T[::-1])
    matrix, count = matrix[order], count[order]
    starts = np.flatnonzero(np.r_[True, (matrix[1:] != matrix[:-1]).any(axis=1)]) if len(count) else np.zeros(0, np.int64)
    pooled = np.add.reduceat(count, starts) if len(count) else count
    distinct = matrix[starts]
    cell = np.empty(len(count), np.int64)
    cell[order] = np.searchsorted(starts, np.arange(len(count)), side="right") - 1
    return FrequencySet(distinct[:, : len(keys)], distinct[:, len(keys) :], pooled), cell


def _persons(column: pa.ChunkedArray) -> np.ndarray:
    """(m,) int32 number of each person from 1 on, 0 for null."""
    known = {text: number for number, text in enumerate(sorted(text for text in pc.unique(column).to_pylist() if text is not None), 1)}
    return _numbers(column, {None: 0, **known})


def _numbers(column: pa.ChunkedArray, codes: Mapping[str | None, int]) -> np.ndarray:
    """(m,) int32 number of each text of a column."""
    encoded = pc.dictionary_encode(column, null_encoding="encode")
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    if len(encoded) == 0:
        return np.zeros(0, np.int32)
    table = np.array([codes[text] for text in encoded.dictionary.to_pylist()], np.int32)
    return table[encoded.indices.to_numpy(zero_copy_only=False)]
