"""Peeling: the rows that the least costly full-domain node serves become groups, and so on with the rest (ARX's local recoding)."""

from __future__ import annotations

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import Boxes, Costs, box_cost, copy_box, empty_boxes_like, widen
from anon_spark.kernels.local.walk import Ladders, walk


@compiled
def _classes(
    ladders: Ladders, node: Int, rest: np.ndarray, n: Int, key: np.ndarray, number: np.ndarray, table: np.ndarray
) -> Int:
    """Number of each of the first n cells of ``rest`` among the classes of a node; returns how many classes there are."""
    d, rem = len(ladders.levels), node
    bits = np.uint64(4)
    while (1 << np.int64(bits)) < 2 * n:
        bits += np.uint64(1)
    shift, mask = np.uint64(64) - bits, (1 << np.int64(bits)) - 1
    for x in range(n):
        key[x] = np.uint64(0)
    for j in range(d - 1, -1, -1):
        start = ladders.start[j] + (rem % ladders.levels[j]) * ladders.width[j]
        rem //= ladders.levels[j]
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
def _evaluate(
    costs: Costs,
    points: Boxes,
    rows: np.ndarray,
    rest: np.ndarray,
    n: Int,
    number: np.ndarray,
    classes: Int,
    k: Int,
    size: np.ndarray,
    boxes: Boxes,
    fresh: np.ndarray,
) -> tuple[Int, Real]:
    """Rows of the classes of k rows or more, and what they lose a row."""
    for g in range(classes):
        size[g] = 0
        fresh[g] = True
    for x in range(n):
        size[number[x]] += rows[rest[x]]
    for x in range(n):
        g = number[x]
        if size[g] >= k:
            if fresh[g]:
                copy_box(points, rest[x], boxes, g)
                fresh[g] = False
            else:
                widen(costs, boxes, g, points, rest[x])
    served, loss = np.int64(0), 0.0
    for g in range(classes):
        if size[g] >= k:
            served += size[g]
            loss += size[g] * np.float64(box_cost(costs, boxes, g))
    return served, loss / served if served > 0 else 0.0


@compiled
def peel(
    costs: Costs, points: Boxes, rows: np.ndarray, ladders: Ladders, order: np.ndarray, k: Int, share: Real
) -> tuple[np.ndarray, Int]:
    """(m,) int64 group of each cell, -1 for the rest: where no node serves ``share`` of it, or it holds fewer than 3 k rows.

    A node is looked at again only when what it was last known to lose is the least of all: a greedy choice, nearly that of looking
    at all nodes each time. The rows that a node serves only fall, so one that served too few is not looked at.
    """
    m = points.low.shape[1]
    served, price = walk(costs, points, rows, ladders, order, k)
    bits = 4
    while (1 << bits) < 2 * m:
        bits += 1
    table, key, number, size = np.zeros(1 << bits, np.int64), np.zeros(m, np.uint64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    fresh, boxes = np.zeros(m, np.bool_), empty_boxes_like(points, m)
    rest, n, group, groups, left = np.arange(m), m, np.full(m, -1, np.int64), 0, rows.sum()
    looked = 0
    while left >= 3 * k:
        best, last = -1, -1
        while True:
            best = -1
            for v in range(len(price)):
                if served[v] > 0 and served[v] >= share * left and (best < 0 or price[v] < price[best]):
                    best = v
            if best < 0 or best == last:
                break
            classes = _classes(ladders, best, rest, n, key, number, table)
            served[best], price[best] = _evaluate(costs, points, rows, rest, n, number, classes, k, size, boxes, fresh)
            last = best
            looked += 1
        if best < 0:
            break
        name, kept = np.full(classes, -1, np.int64), 0
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
        served[best] = 0
    return group, looked
