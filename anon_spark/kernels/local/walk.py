"""What every node of a lattice would serve: a walk that rolls sets up from node to node (LeFevre 2005, for peeling)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import Boxes, Costs, box_cost, copy_box, widen


class Ladders(NamedTuple):
    """Marks of the nodes of each column's levels: the node of rank r at level l has mark[start[j] + l * width[j] + r], uint64.

    A class of a node of the lattice is known by the sum of its columns' marks: two that collide are taken for one, which costs
    information and nothing else. levels: (d,) int64; rank: (d, m) int64 rank of each cell.
    """

    mark: np.ndarray
    start: np.ndarray
    width: np.ndarray
    levels: np.ndarray
    rank: np.ndarray


class Sets(NamedTuple):
    """One rolled-up set a depth of the walk.  key: (D, n) uint64, rep, size: (D, n); used: (D,) classes;
    boxes: one Boxes a depth, side by side."""

    key: np.ndarray
    rep: np.ndarray
    size: np.ndarray
    used: np.ndarray


@compiled
def _roll(
    costs: Costs,
    sets: Sets,
    boxes: Boxes,
    source: Int,
    target: Int,
    ladders: Ladders,
    j: Int,
    low: Int,
    high: Int,
    capacity: Int,
    table: np.ndarray,
) -> None:
    """The set at ``target`` becomes the one at ``source`` with column j lifted from level ``low`` to ``high``; they may be the same."""
    n, base_from, base_to = sets.used[source], source * capacity, target * capacity
    at_low, at_high = ladders.start[j] + low * ladders.width[j], ladders.start[j] + high * ladders.width[j]
    bits = np.uint64(4)
    while (1 << np.int64(bits)) < 2 * n:
        bits += np.uint64(1)
    shift, mask = np.uint64(64) - bits, (1 << np.int64(bits)) - 1
    for x in range(mask + 1):
        table[x] = -1
    found = 0
    for x in range(n):
        r = ladders.rank[j, sets.rep[source, x]]
        key = sets.key[source, x] - ladders.mark[at_low + r] + ladders.mark[at_high + r]
        place = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while table[place] >= 0 and sets.key[target, table[place]] != key:
            place = (place + 1) & mask
        y = table[place]
        if y < 0:
            table[place] = found
            sets.key[target, found], sets.rep[target, found] = key, sets.rep[source, x]
            sets.size[target, found] = sets.size[source, x]
            copy_box(boxes, base_from + x, boxes, base_to + found)
            found += 1
        else:
            sets.size[target, y] += sets.size[source, x]
            widen(costs, boxes, base_to + y, boxes, base_from + x)
    sets.used[target] = found


@compiled
def _served(costs: Costs, sets: Sets, boxes: Boxes, depth: Int, k: Int, capacity: Int) -> tuple[Int, Real]:
    """Rows of the classes of at least k rows, and their loss."""
    rows, loss = np.int64(0), 0.0
    for x in range(sets.used[depth]):
        if sets.size[depth, x] >= k:
            rows += sets.size[depth, x]
            loss += sets.size[depth, x] * np.float64(box_cost(costs, boxes, depth * capacity + x))
    return rows, loss


@compiled
def _start(points: Boxes, rows: np.ndarray, sets: Sets, boxes: Boxes, ladders: Ladders) -> None:
    """The set at depth 0: the cells."""
    d, m = points.low.shape
    for c in range(m):
        key = np.uint64(0)
        for j in range(d):
            key += ladders.mark[ladders.start[j] + ladders.rank[j, c]]
        sets.key[0, c], sets.rep[0, c], sets.size[0, c] = key, c, rows[c]
        copy_box(points, c, boxes, c)
    sets.used[0] = m


@compiled
def walk(
    costs: Costs, points: Boxes, rows: np.ndarray, ladders: Ladders, order: np.ndarray, k: Int
) -> tuple[np.ndarray, np.ndarray]:
    """Of every node, the rows in classes of k rows or more, and what these lose a row: (N,) int64, (N,) float64.

    Nodes are numbered by their levels as digits, the last column's fastest. order: (d,) columns, the one lifted last first.
    """
    d, m = points.low.shape
    sets = Sets(
        np.zeros((d + 1, m), np.uint64), np.zeros((d + 1, m), np.int64), np.zeros((d + 1, m), np.int64), np.zeros(d + 1, np.int64)
    )
    wide = (d + 1) * m
    boxes = Boxes(np.zeros((d, wide), np.float32), np.zeros((d, wide), np.float32), np.zeros((d, wide), np.uint32))
    nodes, bits = 1, 4
    for j in range(d):
        nodes *= ladders.levels[j]
    while (1 << bits) < 2 * m:
        bits += 1
    table, level = np.zeros(1 << bits, np.int64), np.zeros(d, np.int64)
    served, price = np.zeros(nodes, np.int64), np.zeros(nodes)
    _start(points, rows, sets, boxes, ladders)
    for depth in range(d):
        _roll(costs, sets, boxes, depth, depth + 1, ladders, order[depth], 0, 0, m, table)
    while True:
        number = 0
        for j in range(d):
            number = number * ladders.levels[j] + level[j]
        served[number], loss = _served(costs, sets, boxes, d, k, m)
        price[number] = loss / max(served[number], 1)
        depth = d - 1
        while depth >= 0 and level[order[depth]] == ladders.levels[order[depth]] - 1:
            depth -= 1
        if depth < 0:
            return served, price
        j = order[depth]
        _roll(costs, sets, boxes, depth + 1, depth + 1, ladders, j, level[j], level[j] + 1, m, table)
        level[j] += 1
        for inner in range(depth + 1, d):
            level[order[inner]] = 0
            _roll(costs, sets, boxes, inner, inner + 1, ladders, order[inner], 0, 0, m, table)
