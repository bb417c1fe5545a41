"""The frequency set (LeFevre 2005; METHODS 0): distinct combinations of leaf codes and sensitive values, with row counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def bytes_held(cells: int, columns: int, sensitive: int) -> int:
    """Bytes of a frequency set in the driver process: codes, numbers, counts, and as much again while it is sorted."""
    return cells * 2 * (4 * (columns + sensitive) + 8)


@dataclass(frozen=True, eq=False)
class FrequencySet:
    """m cells over d quasi-identifiers and s sensitive columns that some model reads (s may be 0); cells are distinct and sorted.

    codes: (m, d) int32 leaf codes; sensitive: (m, s) int32 numbers into each column's value list; count: (m,) int64 rows, >= 1.
    Where the problem tells persons, sensitive has one column more, the last: the number of the person, 0 for rows without an id.
    """

    codes: np.ndarray
    sensitive: np.ndarray
    count: np.ndarray

    @property
    def rows(self) -> int:
        """Rows of the table that the set stands for."""
        return int(self.count.sum())
