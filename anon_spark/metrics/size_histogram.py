"""How many classes have how many rows, in a few bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

MOST_BINS = 16


@dataclass(frozen=True)
class SizeBin:
    """Classes of ``least`` to ``most`` rows, how many they are, and their rows together."""

    least: int
    most: int
    classes: int
    rows: int


def size_histogram(classes: Mapping[int, int], bins: int = MOST_BINS) -> tuple[SizeBin, ...]:
    """A bin a size where the sizes lie close, else bins that grow by one factor; empty ones between others stay.

    classes: size -> classes of this size.

    >>> [(b.least, b.most, b.classes, b.rows) for b in size_histogram({2: 5, 3: 1})]
    [(2, 2, 5, 10), (3, 3, 1, 3)]
    """
    if not classes:
        return ()
    sizes = np.array(sorted(classes), np.int64)
    count = np.array([classes[int(size)] for size in sizes], np.int64)
    edges = _edges(int(sizes[0]), int(sizes[-1]), bins)
    place = np.searchsorted(edges, sizes, side="right") - 1
    held, rows = np.zeros(len(edges) - 1, np.int64), np.zeros(len(edges) - 1, np.int64)
    np.add.at(held, place, count)
    np.add.at(rows, place, count * sizes)
    return tuple(
        SizeBin(int(a), int(b) - 1, int(n), int(r)) for a, b, n, r in zip(edges, edges[1:], held, rows, strict=False)
    )


def _edges(least: int, most: int, bins: int) -> Sequence[int]:
    """Where bins begin, and the end of the last."""
    if most - least < bins:
        return list(range(least, most + 2))
    factor = (most + 1) / least
    return sorted({*(round(least * factor ** (i / bins)) for i in range(bins)), most + 1})
