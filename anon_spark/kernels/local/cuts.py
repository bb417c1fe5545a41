"""Blocks by top-down cuts in one column each, where the cost of two rows together falls most (METHODS 3.2; LeFevre 2006, 3).

A side is judged by the mean cost of two of its rows in the column that is cut, not by its box: boxes of many rows are as wide as the
table in nearly every column, so they tell nothing of where a cut does good until very late. Blocks cut so lose a quarter less than
those between two far seeds where nearly all combinations are distinct, and need a comparison a cut instead of a cost of all columns.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import LINE, TABLE
from anon_spark.metrics.box_cost import places, prices

SHARE = 0.125
"""Neither side of a cut has less than an eighth of the points, so that few cuts lead to any block."""
COUNTED = 16
"""Codes a point up to which those between the least and the most are counted rather than sorted."""


class Axes(NamedTuple):
    """d columns on the scale of all their leaves.  kind, leaves, levels, offset: (d,) int64; cap: (d,) float64 cost of the root.

    LINE: cost[offset + code] is the place of a leaf, levels 1. Trees: nodes[offset + level * leaves + code] is its node, which costs
    what stands there in ``cost``; levels from the leaves up, without the root. Codes of a node stand together.
    """

    kind: np.ndarray
    leaves: np.ndarray
    levels: np.ndarray
    offset: np.ndarray
    cap: np.ndarray
    cost: np.ndarray
    nodes: np.ndarray


@lru_cache(maxsize=1)
def axes_of(hierarchies: tuple[Hierarchy, ...], weights: tuple[Fraction, ...]) -> Axes:
    """The columns of a table, each weighted. Those of the last table are kept: a worker asks for them once a block."""
    d, total = len(hierarchies), sum(weights, Fraction(0))
    kind, leaves, levels, offset = (np.zeros(d, np.int64) for _ in range(4))
    cap, cost, nodes, filled = np.zeros(d), [np.zeros(0)], [np.zeros(0, np.int32)], 0
    for j, (h, weight) in enumerate(zip(hierarchies, weights, strict=True)):
        cap[j], offset[j], leaves[j] = float(weight / total), filled, len(h.leaves)
        kind[j], levels[j] = (LINE, 1) if h.numeric else (TABLE, h.levels - 1)
        for level in range(int(levels[j])):
            cost.append((places(h) if h.numeric else prices(h, level)) * cap[j])
            nodes.append(h.nodes[level].astype(np.int32))
        filled += int(levels[j]) * len(h.leaves)
    return Axes(kind, leaves, levels, offset, cap, np.concatenate(cost), np.concatenate(nodes))


def cut_blocks(
    axes: Axes, codes: np.ndarray, rows: np.ndarray, most: int, least: int, share: float = SHARE
) -> list[np.ndarray]:
    """Blocks of at most ``most`` of the points codes (m, d) and at least ``least`` of their rows (m,), as ascending numbers.

    share: of the points that either side of a cut has where some cut allows it; other shares draw other borders. Points that no cut
    parts so stay one block, however many they are. Blocks come in the order of their first points.
    """
    lines, done, stack = np.ascontiguousarray(codes, dtype=np.int32), [], [np.arange(len(codes))]
    while stack:
        block = stack.pop()
        column, code = best_cut(axes, lines, rows, block, least, share) if len(block) > most else (-1, 0)
        if column < 0:
            done.append(block)
            continue
        below = lines[block, column] < code
        stack += [block[~below], block[below]]
    return sorted(done, key=lambda block: int(block[0]))


def best_cut(
    axes: Axes, codes: np.ndarray, rows: np.ndarray, block: np.ndarray, least: int, share: float
) -> tuple[int, int]:
    """Column, and the code before which it is cut, for the points ``block`` (n,) of codes (m, d) int32; column -1: no cut may be.

    Both sides keep ``least`` rows, and that share of the points if any such cut lowers the cost; else any share.
    """
    column, code = _best_cut(axes, codes, rows, block, least, max(int(len(block) * share), 1))
    if column < 0 and int(len(block) * share) > 1:
        column, code = _best_cut(axes, codes, rows, block, least, 1)
    return int(column), int(code)


@compiled
def _best_cut(axes: Axes, codes: np.ndarray, rows: np.ndarray, block: np.ndarray, least: Int, points: Int) -> tuple[Int, Int]:
    n = len(block)
    value, weight, count = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    below, above = np.empty(n), np.empty(n + 1)
    column, code, most = np.int64(-1), np.int64(0), 0.0
    for j in range(codes.shape[1]):
        u = _distinct(codes, rows, block, j, value, weight, count)
        if u == 1:
            continue
        _pairs(axes, j, value, weight, u, below, above)
        total, held = np.int64(0), np.int64(0)
        for x in range(u):
            total += weight[x]
        whole, passed = 2 * below[u - 1] / total, np.int64(0)
        for x in range(1, u):
            held += weight[x - 1]
            passed += count[x - 1]
            if held < least or passed < points or n - passed < points:
                continue
            if total - held < least:
                break
            fall = whole - 2 * below[x - 1] / held - 2 * above[x] / (total - held)
            if fall > most:
                column, code, most = np.int64(j), value[x], fall
    return column, code


@compiled
def _distinct(
    codes: np.ndarray, rows: np.ndarray, block: np.ndarray, j: Int, value: np.ndarray, weight: np.ndarray, count: np.ndarray
) -> Int:
    """Distinct codes of the block in column j, ascending, with their rows and points; returns how many there are."""
    n, u, first = len(block), 0, np.int64(codes[block[0], j])
    last = first
    for x in range(n):
        code = np.int64(codes[block[x], j])
        first, last = min(first, code), max(last, code)
    if first == last:
        return 1
    if last - first < COUNTED * n:
        held, points = np.zeros(last - first + 1, np.int64), np.zeros(last - first + 1, np.int64)
        for x in range(n):
            code = codes[block[x], j] - first
            held[code] += rows[block[x]]
            points[code] += 1
        for y in range(len(points)):
            if points[y]:
                value[u], weight[u], count[u] = first + y, held[y], points[y]
                u += 1
        return u
    own = np.empty(n, np.int64)
    for x in range(n):
        own[x] = codes[block[x], j]
    order = np.argsort(own, kind="mergesort")
    for x in order:
        if u == 0 or own[x] != value[u - 1]:
            value[u], weight[u], count[u] = own[x], 0, 0
            u += 1
        weight[u - 1] += rows[block[x]]
        count[u - 1] += 1
    return u


@compiled
def _pairs(axes: Axes, j: Int, value: np.ndarray, weight: np.ndarray, u: Int, below: np.ndarray, above: np.ndarray) -> None:
    """Cost of all pairs of rows of the first 1, 2, .. codes to ``below``, and of those from each code on to ``above``."""
    if axes.kind[j] == LINE:
        _line_pairs(axes.cost[axes.offset[j] : axes.offset[j] + axes.leaves[j]], value, weight, u, below, above)
        return
    levels = axes.levels[j]
    shared = np.zeros(levels)
    total: Real = 0.0
    rows: Real = 0.0
    for x in range(u):
        total += _met(axes, j, value, x, x - 1, shared, rows, weight[x])
        rows += weight[x]
        below[x] = total
    total, rows, above[u] = 0.0, 0.0, 0.0
    shared[:] = 0.0
    for y in range(u):
        x = u - 1 - y
        total += _met(axes, j, value, x, x + 1 if y else -1, shared, rows, weight[x])
        rows += weight[x]
        above[x] = total


@compiled
def _met(axes: Axes, j: Int, value: np.ndarray, x: Int, last: Int, shared: np.ndarray, rows: Real, weight: Real) -> Real:
    """What the rows of code x cost beside all rows before, of which ``shared`` (by level) lie under the node of the last code."""
    cost, inside = 0.0, 0.0
    for level in range(axes.levels[j]):
        at = axes.offset[j] + level * axes.leaves[j]
        if last >= 0 and axes.nodes[at + value[x]] != axes.nodes[at + value[last]]:
            shared[level] = 0.0
        cost += (shared[level] - inside) * axes.cost[at + value[x]]
        inside = shared[level]
        shared[level] += weight
    return (cost + (rows - inside) * axes.cap[j]) * weight


@compiled
def _line_pairs(place: np.ndarray, value: np.ndarray, weight: np.ndarray, u: Int, below: np.ndarray, above: np.ndarray) -> None:
    total, rows, moment = 0.0, 0.0, 0.0
    for x in range(u):
        at = place[value[x]]
        total += weight[x] * (at * rows - moment)
        rows += weight[x]
        moment += weight[x] * at
        below[x] = total
    total, rows, moment, above[u] = 0.0, 0.0, 0.0, 0.0
    for y in range(u):
        x = u - 1 - y
        at = place[value[x]]
        total += weight[x] * (moment - at * rows)
        rows += weight[x]
        moment += weight[x] * at
        above[x] = total
