"""Boxes on the scale of all leaves: for workers that see a part of the table.

Blocks scale their own leaves (``prepare``); here a rank is the leaf code itself, so that boxes of any two batches can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.kernels.compiled import compiled
from anon_spark.kernels.local.boxes import FLAT, Boxes, Costs, widen
from anon_spark.kernels.local.prepare import prepare


class Scale(NamedTuple):
    """Costs with leaf codes as ranks; place: (m_j,) float32 place of each leaf in units, a column each, of length 0 where ranks
    are kept."""

    costs: Costs
    place: tuple[np.ndarray, ...]


def scale_of(hierarchies: Sequence[Hierarchy], weights: Sequence[Fraction]) -> Scale:
    """The scale of all leaves."""
    sizes = [len(h.leaves) for h in hierarchies]
    every = np.stack([np.minimum(np.arange(max(sizes)), n - 1) for n in sizes], axis=1)
    costs, points = prepare(hierarchies, weights, every)
    return Scale(costs, tuple(points.low[j, : n if costs.kind[j] <= FLAT else 0] for j, n in enumerate(sizes)))


def points_on(scale: Scale, codes: np.ndarray) -> Boxes:
    """Each line of codes (m, d) as a box of one point."""
    m, d = codes.shape
    low, rank = np.zeros((d, m), np.float32), np.zeros((d, m), np.uint32)
    for j, place in enumerate(scale.place):
        if len(place):
            low[j] = place[codes[:, j]]
        else:
            rank[j] = codes[:, j]
    return Boxes(low, low.copy(), rank)


def boxes_on(scale: Scale, low: np.ndarray, high: np.ndarray) -> tuple[Boxes, np.ndarray]:
    """Boxes from their smallest to their largest codes, (n, d) each, and their (n,) float64 costs in units."""
    boxes = points_on(scale, low)
    return boxes, _widened(scale.costs, boxes, points_on(scale, high))


@compiled
def _widened(costs: Costs, boxes: Boxes, others: Boxes) -> np.ndarray:
    n = boxes.low.shape[1]
    cost = np.zeros(n)
    for x in range(n):
        cost[x] = widen(costs, boxes, x, others, x)
    return cost
