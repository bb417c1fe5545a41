"""Boxes in whole cost units and what their unions cost (METHODS 2.1-2.3), for kernels alone: verdicts and reports use exact costs.

A column is by places - a LINE of numbers, where a box costs its width, at most ``cap``, or FLAT, values any two of which cost ``cap``
together: their places lie that far apart, so that one formula serves both - or by ranks: a tree whose costs of all pairs of ranks are
kept (TABLE) or, above some thousand leaves, what the neighbours cost together (WIDE). Ranks stand in the order of the tree, and costs
grow along its every path, so ranks cost together the most that any two neighbours between them cost; a box of a tree is known by any
one of its ranks and its own cost: the union of two costs the largest of both and of what their ranks cost together.
Costs are whole numbers below 2**24 in float32, so sums, differences and comparisons are exact, and no result depends on their order.

Loops take arrays out of their tuples first and index them in all their dimensions: compiled, every call with a tuple and every row that is
taken out of an array counts references, which takes as long as some hundred costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled

LINE, FLAT, TABLE, WIDE = 0, 1, 2, 3
UNITS = 1 << 22
"""Units of a box that is the root in every column, about: each column's weight is rounded to whole units."""


class Costs(NamedTuple):
    """d columns.  kind, offset, width: (d,) int64; cap: (d,) float32 the most a box costs; data: float32.

    TABLE: ranks a and b cost data[offset + a * width + b]. WIDE: data[offset + level * width + a] is the most that two neighbours among
    the 2**level + 1 ranks from a on cost.
    """

    kind: np.ndarray
    cap: np.ndarray
    offset: np.ndarray
    width: np.ndarray
    data: np.ndarray


class Boxes(NamedTuple):
    """Boxes side by side.  By places: low and high; by ranks: high is the box's own cost, rank one of its ranks.

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
def apart(data: np.ndarray, at: Int, width: Int, a: Int, b: Int) -> Real:
    """Cost of two ranks of a WIDE column that starts ``at``."""
    first, last = min(a, b), max(a, b)
    if first == last:
        return np.float32(0)
    level = 0
    while (2 << level) <= last - first:
        level += 1
    row = at + level * width
    return max(data[row + first], data[row + last - (1 << level)])


@compiled
def pair_cost(costs: Costs, j: Int, a: Int, b: Int) -> Real:
    """Cost of two ranks of the tree of column j together."""
    at, width = costs.offset[j], costs.width[j]
    if costs.kind[j] == TABLE:
        return costs.data[at + np.int64(a) * width + np.int64(b)]
    return apart(costs.data, at, width, np.int64(a), np.int64(b))


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
        if costs.kind[j] <= FLAT:
            total += min(boxes.high[j, t] - boxes.low[j, t], costs.cap[j])
        else:
            total += boxes.high[j, t]
    return total


@compiled
def widen(costs: Costs, boxes: Boxes, t: Int, other: Boxes, s: Int) -> Real:
    """Box t grows to hold box s of ``other``; returns its cost."""
    total = np.float32(0)
    for j in range(boxes.low.shape[0]):
        if costs.kind[j] <= FLAT:
            low, high = min(boxes.low[j, t], other.low[j, s]), max(boxes.high[j, t], other.high[j, s])
            boxes.low[j, t], boxes.high[j, t] = low, high
            total += min(high - low, costs.cap[j])
        else:
            own = max(boxes.high[j, t], other.high[j, s])
            if boxes.rank[j, t] != other.rank[j, s]:
                own = max(own, pair_cost(costs, j, boxes.rank[j, t], other.rank[j, s]))
            boxes.high[j, t] = own
            total += own
    return total


@compiled
def union_cost(costs: Costs, boxes: Boxes, t: Int, other: Boxes, s: Int) -> Real:
    """Cost of the box of two boxes."""
    total = np.float32(0)
    for j in range(boxes.low.shape[0]):
        if costs.kind[j] <= FLAT:
            width = max(boxes.high[j, t], other.high[j, s]) - min(boxes.low[j, t], other.low[j, s])
            total += min(width, costs.cap[j])
        else:
            own = max(boxes.high[j, t], other.high[j, s])
            if boxes.rank[j, t] != other.rank[j, s]:
                own = max(own, pair_cost(costs, j, boxes.rank[j, t], other.rank[j, s]))
            total += own
    return total


@compiled
def union_costs(costs: Costs, boxes: Boxes, t: Int, others: Boxes, n: Int, out: np.ndarray) -> None:
    """Cost of the box of box t and each of the first n of ``others`` into out (n,) float32."""
    low, high, rank, data = others.low, others.high, others.rank, costs.data
    for s in range(n):
        out[s] = np.float32(0)
    for j in range(low.shape[0]):
        own = boxes.high[j, t]
        if costs.kind[j] <= FLAT:
            least, cap = boxes.low[j, t], costs.cap[j]
            for s in range(n):
                out[s] += min(max(high[j, s], own) - min(low[j, s], least), cap)
            continue
        mine, at, width = np.int64(boxes.rank[j, t]), costs.offset[j], costs.width[j]
        if costs.kind[j] == WIDE:
            for s in range(n):
                out[s] += max(max(high[j, s], own), apart(data, at, width, mine, np.int64(rank[j, s])))
            continue
        start = at + mine * width
        for s in range(n):
            out[s] += max(max(high[j, s], own), data[start + rank[j, s]])
