"""Boxes in whole cost units and what their unions cost (METHODS 2.1-2.3), for kernels alone: verdicts and reports use exact costs.

A column is a LINE (numbers: places, a box costs its width, at most ``cap``) or a tree: TABLE (costs of all pairs of ranks) or, above
some thousand leaves, CLIMB (the node of the lowest level that both share). Costs grow along every path of a tree, so a box of a tree
is known by any one of its ranks and its own cost: the union of two costs the largest of both and of what their ranks cost together.
Costs are whole numbers below 2**24 in float32, so sums, differences and comparisons are exact, and no result depends on their order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled

LINE, TABLE, CLIMB = 0, 1, 2
UNITS = 1 << 22
"""Units of a box that is the root in every column, about: each column's weight is rounded to whole units."""


class Costs(NamedTuple):
    """d columns.  kind, offset, width, levels: (d,) int64; cap: (d,) float32 cost of the root; data: float32, nodes: int32.

    TABLE: data[offset + a * width + b]. CLIMB: the node of rank a at a level is nodes[offset + level * width + a], its cost is data
    at the same place, levels from the lowest above the leaves; ranks that share none cost ``cap``.
    """

    kind: np.ndarray
    cap: np.ndarray
    offset: np.ndarray
    width: np.ndarray
    levels: np.ndarray
    data: np.ndarray
    nodes: np.ndarray


class Boxes(NamedTuple):
    """Boxes side by side.  LINE: low and high are places; trees: high is the box's own cost, rank one of its ranks.

    low, high: (d, n) float32; rank: (d, n) uint32.
    """

    low: np.ndarray
    high: np.ndarray
    rank: np.ndarray


def empty_boxes(d: int, n: int) -> Boxes:
    """Room for n boxes."""
    return Boxes(np.zeros((d, n), np.float32), np.zeros((d, n), np.float32), np.zeros((d, n), np.uint32))


@compiled
def empty_boxes_like(boxes: Boxes, n: Int) -> Boxes:
    """Room for n boxes of as many columns."""
    d = boxes.low.shape[0]
    return Boxes(np.zeros((d, n), np.float32), np.zeros((d, n), np.float32), np.zeros((d, n), np.uint32))


@compiled
def pair_cost(costs: Costs, j: Int, a: Int, b: Int) -> Real:
    """Cost of two ranks of the tree of column j together."""
    if a == b:
        return np.float32(0)
    width = costs.width[j]
    if costs.kind[j] == TABLE:
        return costs.data[costs.offset[j] + np.int64(a) * width + np.int64(b)]
    for level in range(costs.levels[j]):
        at = costs.offset[j] + level * width
        if costs.nodes[at + np.int64(a)] == costs.nodes[at + np.int64(b)]:
            return costs.data[at + np.int64(a)]
    return costs.cap[j]


@compiled
def copy_box(source: Boxes, s: Int, target: Boxes, t: Int) -> None:
    """Box s of ``source`` becomes box t of ``target``."""
    for j in range(source.low.shape[0]):
        target.low[j, t] = source.low[j, s]
        target.high[j, t] = source.high[j, s]
        target.rank[j, t] = source.rank[j, s]


@compiled
def box_cost(costs: Costs, boxes: Boxes, t: Int) -> Real:
    """Cost of one box over all columns."""
    total = np.float32(0)
    for j in range(boxes.low.shape[0]):
        if costs.kind[j] == LINE:
            total += min(boxes.high[j, t] - boxes.low[j, t], costs.cap[j])
        else:
            total += boxes.high[j, t]
    return total


@compiled
def widen(costs: Costs, boxes: Boxes, t: Int, other: Boxes, s: Int) -> Real:
    """Box t grows to hold box s of ``other``; returns its cost."""
    total = np.float32(0)
    for j in range(boxes.low.shape[0]):
        if costs.kind[j] == LINE:
            low, high = min(boxes.low[j, t], other.low[j, s]), max(boxes.high[j, t], other.high[j, s])
            boxes.low[j, t], boxes.high[j, t] = low, high
            total += min(high - low, costs.cap[j])
        else:
            own = max(boxes.high[j, t], other.high[j, s])
            own = max(own, pair_cost(costs, j, boxes.rank[j, t], other.rank[j, s]))
            boxes.high[j, t] = own
            total += own
    return total


@compiled
def union_cost(costs: Costs, boxes: Boxes, t: Int, other: Boxes, s: Int) -> Real:
    """Cost of the box of two boxes."""
    total = np.float32(0)
    for j in range(boxes.low.shape[0]):
        if costs.kind[j] == LINE:
            width = max(boxes.high[j, t], other.high[j, s]) - min(boxes.low[j, t], other.low[j, s])
            total += min(width, costs.cap[j])
        else:
            own = max(boxes.high[j, t], other.high[j, s])
            total += max(own, pair_cost(costs, j, boxes.rank[j, t], other.rank[j, s]))
    return total


@compiled
def union_costs(costs: Costs, boxes: Boxes, t: Int, others: Boxes, n: Int, out: np.ndarray) -> None:
    """Cost of the box of box t and each of the first n of ``others`` into out (n,) float32."""
    for s in range(n):
        out[s] = np.float32(0)
    for j in range(boxes.low.shape[0]):
        high = others.high[j]
        own = boxes.high[j, t]
        if costs.kind[j] == LINE:
            low, least, cap = others.low[j], boxes.low[j, t], costs.cap[j]
            for s in range(n):
                out[s] += min(max(high[s], own) - min(low[s], least), cap)
            continue
        rank, mine = others.rank[j], boxes.rank[j, t]
        if costs.kind[j] == CLIMB:
            for s in range(n):
                out[s] += max(max(high[s], own), pair_cost(costs, j, mine, rank[s]))
            continue
        start = costs.offset[j] + np.int64(mine) * costs.width[j]
        beside = costs.data[start : start + costs.width[j]]
        for s in range(n):
            out[s] += max(max(high[s], own), beside[rank[s]])
