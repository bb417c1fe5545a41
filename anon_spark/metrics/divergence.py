"""KL divergence between the raw joint distribution and the one that a reader rebuilds from the release (METHODS 2.10)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from anon_spark.metrics.printed_boxes import PrintedBoxes

MOST_LOOKS = 100_000_000
"""Pairs of a combination and a box that are compared for one divergence (about a second, in pieces of some 10 MB)."""
MOST_PROJECTIONS = 50
PIECE = 2_000_000


def divergence(cells: np.ndarray, count: np.ndarray, boxes: PrintedBoxes) -> float | None:
    """sum p ln(p / q) over the table's combinations, in nats, >= 0; None where it would take more than MOST_LOOKS comparisons.

    p: shares of the rows; q: every class spread evenly over the leaves of its box, a suppressed row over the whole domain, as one that
    is fully generalized. cells: (m, d) leaf codes, distinct or not; count: (m,) rows.
    """
    codes, rows, own = _distinct(cells, count, boxes)
    if own is None and len(codes) * len(boxes.size) > MOST_LOOKS:
        return None
    density = boxes.size / (boxes.high - boxes.low + 1.0).prod(axis=1)
    if own is None:
        found = _density(codes, boxes, density)
    else:
        found = np.append(density, 0.0)[own]
    found += boxes.suppressed / boxes.leaves.astype(np.float64).prod()
    return max(float((rows * np.log(rows / found)).sum()) / boxes.rows, 0.0)


def projected_divergence(cells: np.ndarray, count: np.ndarray, boxes: PrintedBoxes) -> float | None:
    """Mean divergence of the tables of two columns each (of the one column there is), the first MOST_PROJECTIONS pairs in the columns'
    order; pairs that are too large are left out, None where all are."""
    d = cells.shape[1]
    pairs: Sequence[tuple[int, ...]] = list(combinations(range(d), 2))[:MOST_PROJECTIONS] if d > 1 else [(0,)]
    found = [divergence(cells[:, list(pair)], count, boxes.onto(pair)) for pair in pairs]
    known = [one for one in found if one is not None]
    return sum(known) / len(known) if known else None


def _distinct(cells: np.ndarray, count: np.ndarray, boxes: PrintedBoxes) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Distinct combinations, their rows, their classes. Cells that differ in sensitive values alone are one combination."""
    codes, first, place = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    rows = np.zeros(len(codes), np.int64)
    np.add.at(rows, place.ravel(), count)
    return codes, rows, None if boxes.own is None else boxes.own[first]


def _density(codes: np.ndarray, boxes: PrintedBoxes, density: np.ndarray) -> np.ndarray:
    """(m,) rows that the release puts on each combination."""
    found = np.zeros(len(codes))
    step = max(1, PIECE // max(len(density), 1))
    low, high = np.ascontiguousarray(boxes.low.T), np.ascontiguousarray(boxes.high.T)
    for start in range(0, len(codes), step):
        piece = codes[start : start + step]
        within = np.ones((len(piece), len(density)), bool)
        for j in range(codes.shape[1]):
            at = piece[:, j, None]
            within &= (low[j] <= at) & (at <= high[j])
        found[start : start + step] = within @ density
    return found
