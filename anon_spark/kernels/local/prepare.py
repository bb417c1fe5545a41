"""From hierarchies and leaf codes to the arrays that the compiled loops read (METHODS 2.1-2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.kept import kept
from anon_spark.kernels.compiled import Real, compiled
from anon_spark.kernels.local.boxes import CLIMB, LINE, TABLE, UNITS, Boxes, Costs, empty_boxes
from anon_spark.kernels.local.walk import Ladders
from anon_spark.metrics.box_cost import places, prices

WIDEST_TABLE = 1024
"""Leaves up to which the costs of all pairs are kept."""


def prepare(hierarchies: Sequence[Hierarchy], weights: Sequence[Fraction], codes: np.ndarray) -> tuple[Costs, Boxes]:
    """Costs of the leaves that occur in codes (m, d), and each line of codes as a box of one point."""
    m, d = codes.shape
    points = empty_boxes(d, m)
    kind, offset, width, levels = (np.zeros(d, np.int64) for _ in range(4))
    cap, data, nodes = np.zeros(d, np.float32), [np.zeros(0, np.float32)], [np.zeros(0, np.int32)]
    filled, total = 0, sum(weights, Fraction(0))
    for j, (h, weight) in enumerate(zip(hierarchies, weights, strict=True)):
        leaves, rank = np.unique(codes[:, j], return_inverse=True)
        cap[j] = round(UNITS * weight / total)
        if h.numeric:
            kind[j] = LINE
            points.low[j] = points.high[j] = np.round(places(h)[leaves] * float(cap[j])).astype(np.float32)[rank]
            continue
        points.rank[j] = rank
        above, priced = _above(h)
        at, cost = above[:, leaves], np.round(priced[:, leaves] * float(cap[j])).astype(np.float32)
        kind[j] = TABLE if len(leaves) <= WIDEST_TABLE else CLIMB
        if kind[j] == TABLE:
            cost = _table(at, cost, cap[j])
            at = np.zeros(cost.shape, np.int32)
        else:
            apart = _joining(at)
            at, cost = at[apart], cost[apart]
        offset[j], width[j], levels[j] = filled, len(leaves), len(at)
        data.append(cost.ravel())
        nodes.append(at.ravel())
        filled += cost.size
    return Costs(kind, cap, offset, width, levels, np.concatenate(data), np.concatenate(nodes)), points


@kept
def _above(h: Hierarchy) -> tuple[np.ndarray, np.ndarray]:
    """(L - 1, m) int32 node and float64 cost of each leaf at every level above the leaves."""
    levels = range(1, h.levels)
    return np.stack([h.nodes[level] for level in levels]).astype(np.int32), np.stack([prices(h, level) for level in levels])


def _joining(at: np.ndarray) -> np.ndarray:
    """(L - 1,) bool: the levels at which some two of at least two leaves have one node; all others would be climbed in vain."""
    return np.array([at.shape[1] == 1 or len(np.unique(node)) < len(node) for node in at])


@compiled
def _table(at: np.ndarray, cost: np.ndarray, cap: Real) -> np.ndarray:
    """(u, u) float32 cost of each pair of u leaves: of the lowest node over both."""
    levels, u = at.shape
    table = np.full((u, u), np.float32(cap))
    for a in range(u):
        table[a, a] = 0.0
        for b in range(a):
            for level in range(levels):
                if at[level, a] == at[level, b]:
                    table[a, b] = table[b, a] = cost[level, a]
                    break
    return table


def ladders(hierarchies: Sequence[Hierarchy], codes: np.ndarray) -> Ladders:
    """Levels of every column for peeling: a hierarchy's own, halves of the observed range for numbers that have none between."""
    m, d = codes.shape
    start, width, levels, ranks, marks, filled = np.zeros(d, np.int64), np.zeros(d, np.int64), np.zeros(d, np.int64), [], [], 0
    for j, h in enumerate(hierarchies):
        leaves, rank = np.unique(codes[:, j], return_inverse=True)
        steps = _steps(h, leaves)
        start[j], width[j], levels[j] = filled, len(leaves), len(steps)
        ranks.append(rank.ravel())
        for number, step in enumerate(steps):
            marks.append(_mixed(step.astype(np.uint64) + np.uint64(((j * 64 + number) << 32) + 1)))
        filled += len(leaves) * len(steps)
    return Ladders(np.concatenate(marks), start, width, levels, np.array(ranks, np.int64).reshape(d, m))


def _steps(h: Hierarchy, leaves: np.ndarray) -> list[np.ndarray]:
    """(u,) node numbers at each level, from the leaves to the root, no two levels the same."""
    found = [np.arange(len(leaves))]
    between = [h.nodes[level][leaves] for level in range(1, h.levels - 1)]
    if h.numeric and not between:
        place = np.minimum(places(h)[leaves], 2.0)
        between = [np.where(place > 1, 1 << 20, np.minimum(place * parts, parts - 1)).astype(np.int64) for parts in (16, 8, 4, 2)]
    for nodes in (*between, np.zeros(len(leaves), np.int64)):
        if len(np.unique(nodes)) < len(np.unique(found[-1])):
            found.append(nodes)
    return found


def _mixed(x: np.ndarray) -> np.ndarray:
    """SplitMix64 of each number."""
    x = x * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
