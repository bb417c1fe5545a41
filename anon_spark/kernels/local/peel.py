"""Peeling: the rows that the least costly full-domain node serves become groups, and so on with the rest (ARX's local recoding)."""

from __future__ import annotations

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import Boxes, Costs, box_cost, copy_box, empty_boxes_like, widen
from anon_spark.kernels.local.walk import Ladders, cheapest_nodes, new_sets, node_costs


@compiled
def _classes(
    ladders: Ladders, node: np.ndarray, rest: np.ndarray, n: Int, key: np.ndarray, number: np.ndarray, table: np.ndarray
) -> Int:
    """Number of each of the first n cells of ``rest`` among the classes of a node; returns how many classes there are."""
    bits = np.uint64(4)
    while (1 << np.int64(bits)) < 2 * n:
        bits += np.uint64(1)
    shift, mask = np.uint64(64) - bits, (1 << np.int64(bits)) - 1
    for x in range(n):
        key[x] = np.uint64(0)
    for j in range(len(node)):
        start = ladders.start[j] + node[j] * ladders.width[j]
        for x in range(n):
            key[x] += ladders.mark[start + ladders.rank[j, rest[x]]]
    for x in range(mask + 1):
        table[x] = -1
    found = 0
    for x in range(n):
        place = np.int64((key[x] * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while table[place] >= 0 and key[table[place]] != key[x]:
            place = (place + 1) & mask
        if table[place] < 0:
            table[place] = x
            number[x] = found
            found += 1
        else:
            number[x] = number[table[place]]
    return found


@compiled
def _lost(
    costs: Costs, points: Boxes, rows: np.ndarray, rest: np.ndarray, number: np.ndarray, size: np.ndarray, k: Int, boxes: Boxes
) -> Real:
    """What the rows of the classes of k rows or more lose a row; size: (classes,) is filled."""
    size[:] = 0
    for x in range(len(rest)):
        size[number[x]] += rows[rest[x]]
    fresh, served, loss = np.ones(len(size), np.bool_), 0, 0.0
    for x in range(len(rest)):
        g = number[x]
        if size[g] >= k:
            if fresh[g]:
                copy_box(points, rest[x], boxes, g)
                fresh[g] = False
            else:
                widen(costs, boxes, g, points, rest[x])
    for g in range(len(size)):
        if size[g] >= k:
            served += size[g]
            loss += size[g] * np.float64(box_cost(costs, boxes, g))
    return loss / max(served, 1)


@compiled
def peel(
    costs: Costs, points: Boxes, rows: np.ndarray, ladders: Ladders, k: Int, share: Real
) -> tuple[np.ndarray, Int]:
    """(m,) int64 group of each cell, -1 for the last that hold fewer than 3 k rows; and how many nodes were peeled.

    Each time, of the nodes that serve ``share`` of the rest or more, the one at which its classes of k rows lose least a row gives
    these classes as groups; the root serves all, so that there is always one.
    """
    m = points.low.shape[1]
    bits = 4
    while (1 << bits) < 2 * m:
        bits += 1
    table, key, number, size = np.zeros(1 << bits, np.int64), np.zeros(m, np.uint64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    name, boxes = np.zeros(m, np.int64), empty_boxes_like(points, m)
    rest, n, group, groups, left, peeled = np.arange(m), m, np.full(m, -1, np.int64), 0, rows.sum(), 0
    own, sets = node_costs(costs, points, ladders), new_sets(len(ladders.levels), m)
    while left >= 3 * k:
        nodes = cheapest_nodes(sets, rows, rest[:n], ladders, own, k, share * left, table)
        best: Int = 0
        least: Real = np.inf
        for v in range(len(nodes) if len(nodes) > 1 else 0):
            classes = _classes(ladders, nodes[v], rest, n, key, number, table)
            lost = _lost(costs, points, rows, rest[:n], number, size[:classes], k, boxes)
            if lost < least:
                best, least = v, lost
        classes = _classes(ladders, nodes[best], rest, n, key, number, table)
        size[:classes], name[:classes], kept = 0, -1, 0
        for x in range(n):
            size[number[x]] += rows[rest[x]]
        for x in range(n):
            c, g = rest[x], number[x]
            if size[g] < k:
                rest[kept] = c
                kept += 1
                continue
            if name[g] < 0:
                name[g] = groups
                groups += 1
            group[c] = name[g]
            left -= rows[c]
        n = kept
        peeled += 1
    return group, peeled
