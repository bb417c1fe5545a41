"""From hierarchies and leaf codes to the arrays that the compiled loops read (METHODS 2.1-2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import FLAT, TABLE, UNITS, WIDE, Boxes, Costs, empty_boxes, pair_cost
from anon_spark.kernels.local.walk import Ladders
from anon_spark.metrics.box_cost import places, prices

WIDEST_TABLE = 1024
"""Leaves up to which the costs of all pairs are kept."""


def prepare(hierarchies: Sequence[Hierarchy], weights: Sequence[Fraction], codes: np.ndarray) -> tuple[Costs, Boxes]:
    """Costs of the leaves that occur in codes (m, d), and each line of codes as a box of one point."""
    m, d = codes.shape
    points = empty_boxes(d, m)
    kind, offset, width = (np.zeros(d, np.int64) for _ in range(3))
    cap, data, filled, total = np.zeros(d, np.float32), [np.zeros(0, np.float32)], 0, sum(weights, Fraction(0))
    for j, (h, weight) in enumerate(zip(hierarchies, weights, strict=True)):
        units = round(UNITS * weight / total)
        cap[j] = units
        if h.numeric:
            points.low[j] = points.high[j] = np.round(places(h)[codes[:, j]] * float(units))
            continue
        leaves, rank = ranked(codes[:, j], len(h.leaves))
        beside = _neighbours(h, leaves, units)
        if is_flat(beside):
            kind[j], cap[j] = FLAT, beside.max(initial=0)
            points.low[j] = points.high[j] = rank * spacing(cap[j])
            continue
        kind[j] = TABLE if len(leaves) <= WIDEST_TABLE else WIDE
        offset[j], width[j] = filled, len(leaves)
        points.rank[j] = rank
        data.append(np.zeros(cells_of_tree(len(leaves), kind[j]), np.float32))
        fill_tree(beside, kind[j], data[-1])
        filled += len(data[-1])
    return Costs(kind, cap, offset, width, np.concatenate(data)), points


def ranked(codes: np.ndarray, leaves: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ones of codes (m,) below ``leaves``, ascending, and the rank of each."""
    if leaves > 4 * len(codes):
        found, rank = np.unique(codes, return_inverse=True)
        return found, rank.ravel()
    occurs = np.zeros(leaves, np.bool_)
    occurs[codes] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def _neighbours(h: Hierarchy, leaves: np.ndarray, units: int) -> np.ndarray:
    """(u - 1,) float32 cost of each of u leaves together with the next: of the lowest node over both."""
    beside = np.full(max(len(leaves) - 1, 0), units, np.float32)
    for level in reversed(range(1, h.levels)):
        node = h.nodes[level][leaves]
        inside = np.flatnonzero(node[1:] == node[:-1])
        beside[inside] = np.round(prices(h, level)[leaves[inside]] * float(units))
    return beside


@compiled
def is_flat(beside: np.ndarray) -> bool:
    """Whether all neighbours cost the same together, and with them any two."""
    return bool((beside == beside[:1]).all())


@compiled
def spacing(cap: Real) -> Real:
    """Places of FLAT values lie this far apart: a power of two that is ``cap`` or more, so that many are whole in float32."""
    apart = 1.0
    while apart < cap:
        apart *= 2.0
    return np.float32(apart)


@compiled
def cells_of_tree(u: Int, kind: Int) -> Int:
    """How many costs are kept of u leaves."""
    if kind == TABLE:
        return u * u
    levels = 1
    while (1 << levels) < u - 1:
        levels += 1
    return (levels + 1) * u


@compiled
def fill_tree(beside: np.ndarray, kind: Int, data: np.ndarray) -> None:
    """Costs of leaves of which neighbours cost ``beside`` (u - 1,) together, laid out as ``Costs`` says."""
    u = len(beside) + 1
    if kind == TABLE:
        for a in range(u):
            # both ways along the row: what is written next lies beside what was written
            row, most = a * u, np.float32(0)
            for b in range(a + 1, u):
                most = max(most, beside[b - 1])
                data[row + b] = most
            most = np.float32(0)
            for b in range(a - 1, -1, -1):
                most = max(most, beside[b])
                data[row + b] = most
        return
    data[: u - 1] = beside
    for level in range(1, len(data) // u):
        half = 1 << (level - 1)
        for a in range(u - (1 << level)):
            data[level * u + a] = max(data[(level - 1) * u + a], data[(level - 1) * u + a + half])


@compiled
def narrowed(costs: Costs, points: Boxes, cells: np.ndarray, widest: Int) -> tuple[Costs, Boxes]:
    """Costs and boxes of some points, in the columns alone in which these differ; trees shrink to the ranks that occur.

    widest: ranks up to which the costs of all pairs are kept.
    """
    m, d, first = len(cells), 0, cells[0]
    column = np.zeros(len(costs.kind), np.int64)
    for j in range(len(costs.kind)):
        for c in cells:
            if points.low[j, c] != points.low[j, first] or points.rank[j, c] != points.rank[j, first]:
                column[d] = j
                d += 1
                break
    low, high, rank = np.zeros((d, m), np.float32), np.zeros((d, m), np.float32), np.zeros((d, m), np.uint32)
    kind, offset, width, cap = np.zeros(d, np.int64), np.zeros(d, np.int64), np.zeros(d, np.int64), np.zeros(d, np.float32)
    data = np.zeros(0, np.float32)
    for i in range(d):
        j = column[i]
        kind[i], cap[i] = costs.kind[j], costs.cap[j]
        if kind[i] <= FLAT:
            for x in range(m):
                low[i, x] = high[i, x] = points.low[j, cells[x]]
            continue
        ranks, place = occurring(points.rank[j], cells)
        beside = np.zeros(len(ranks) - 1, np.float32)
        for x in range(len(beside)):
            beside[x] = pair_cost(costs, j, ranks[x], ranks[x + 1])
        if is_flat(beside):
            kind[i], cap[i] = FLAT, beside[0]
            apart = spacing(cap[i])
            for x in range(m):
                low[i, x] = high[i, x] = place[x] * apart
            continue
        kind[i] = TABLE if len(ranks) <= widest else WIDE
        offset[i], width[i] = len(data), len(ranks)
        tree = np.zeros(cells_of_tree(len(ranks), kind[i]), np.float32)
        fill_tree(beside, kind[i], tree)
        data = np.concatenate((data, tree))
        for x in range(m):
            rank[i, x] = place[x]
    return Costs(kind, cap, offset, width, data), Boxes(low, high, rank)


@compiled
def occurring(rank: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ranks of some points, ascending, and (m,) int64 which of them each point has. Few ranks are counted, not sorted."""
    m, span = len(cells), np.int64(0)
    for x in range(m):
        span = max(span, np.int64(rank[cells[x]]) + 1)
    if span > 8 * m:
        found = np.unique(rank[cells])
        return found, np.searchsorted(found, rank[cells])
    number, place = np.zeros(span, np.int64), np.zeros(m, np.int64)
    for x in range(m):
        number[rank[cells[x]]] = 1
    found, u = np.zeros(span, rank.dtype), 0
    for r in range(span):
        if number[r]:
            found[u] = r
            number[r] = u
            u += 1
    for x in range(m):
        place[x] = number[rank[cells[x]]]
    return found[:u], place


def ladders(hierarchies: Sequence[Hierarchy], codes: np.ndarray) -> Ladders:
    """Levels of every column for peeling: a hierarchy's own, halves of the observed range for numbers that have none between."""
    m, d = codes.shape
    start, width, levels, ranks, marks, filled = np.zeros(d, np.int64), np.zeros(d, np.int64), np.zeros(d, np.int64), [], [], 0
    for j, h in enumerate(hierarchies):
        leaves, rank = ranked(codes[:, j], len(h.leaves))
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
