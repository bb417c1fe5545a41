"""What publishing a box of leaf codes costs, exact (METHODS 2.1-2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.metrics.pair_cost import exact_places


@lru_cache(maxsize=64)
def places(hierarchy: Hierarchy) -> np.ndarray:
    """(m,) float64 place of each leaf of a numeric column in [0, 1]; NaN, infinities and null lie 1 or more beyond all others.

    Kept, read-only: a worker asks for them once a block.
    """
    found = np.array([float(place) for place in exact_places(hierarchy)])
    found.flags.writeable = False
    return found


@lru_cache(maxsize=256)
def prices(hierarchy: Hierarchy, level: int) -> np.ndarray:
    """(m,) float64 NCP of each leaf at a level; kept, read-only."""
    found = np.array(hierarchy.ncp[level].numerators, dtype=np.float64) / hierarchy.ncp[level].denominator
    found.flags.writeable = False
    return found


def box_loss(
    hierarchies: Sequence[Hierarchy], weights: Sequence[Fraction], low: np.ndarray, high: np.ndarray, size: np.ndarray
) -> tuple[Fraction, tuple[Fraction, ...]]:
    """GCP of groups with these boxes, and its unweighted part of each column.  low, high: (g, d) codes; size: (g,) rows."""
    total, rows = sum(weights, Fraction(0)), int(size.sum())
    parts = tuple(_column(h, low[:, j], high[:, j], size) / rows for j, h in enumerate(hierarchies))
    return sum((w * part for w, part in zip(weights, parts, strict=True)), Fraction(0)) / total, parts


def _column(h: Hierarchy, low: np.ndarray, high: np.ndarray, size: np.ndarray) -> Fraction:
    """Sum over rows of one column's NCP."""
    pairs, inverse = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
    rows = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(rows, inverse.ravel(), size)
    wide = pairs[:, 0] != pairs[:, 1]
    pairs, rows = pairs[wide], rows[wide]
    if h.numeric:
        place = exact_places(h)
        return sum((int(n) * min(place[b] - place[a], Fraction(1)) for (a, b), n in zip(pairs, rows, strict=True)), Fraction(0))
    total, left = Fraction(0), np.ones(len(pairs), dtype=bool)
    for level in range(1, h.levels):
        found = left & (h.nodes[level][pairs[:, 0]] == h.nodes[level][pairs[:, 1]])
        cost = h.ncp[level]
        spent = sum(int(n) * cost.numerators[a] for (a, _), n in zip(pairs[found], rows[found], strict=True))
        total += Fraction(spent, cost.denominator)
        left &= ~found
    return total
