"""What every node of a lattice would serve: a walk that rolls sets up from node to node (LeFevre 2005, for peeling)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import FLAT, Boxes, Costs, pair_cost

FINALISTS = 8
"""Nodes that are compared by the boxes of their classes."""


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
    """One rolled-up set a depth of the walk.  key: (D, n) uint64, rep, size: (D, n) int64; cost: (D, n) float64 of the classes' nodes;
    used: (D,) classes."""

    key: np.ndarray
    rep: np.ndarray
    size: np.ndarray
    cost: np.ndarray
    used: np.ndarray


@compiled
def node_costs(costs: Costs, points: Boxes, ladders: Ladders) -> np.ndarray:
    """Beside each mark, what the box of the node's ranks costs in its column."""
    d, m = points.low.shape
    price, cell = np.zeros(len(ladders.mark)), np.zeros(ladders.width.max(), np.int64)
    for j in range(d):
        for c in range(m):
            cell[ladders.rank[j, c]] = c
        for level in range(1, ladders.levels[j]):
            start = ladders.start[j] + level * ladders.width[j]
            order = np.argsort(ladders.mark[start : start + ladders.width[j]], kind="mergesort")
            first: Int = 0
            while first < len(order):
                last, mark = first, ladders.mark[start + order[first]]
                low = high = points.low[j, cell[order[first]]]
                own: Real = np.float64(0)
                rank = points.rank[j, cell[order[first]]]
                while last < len(order) and ladders.mark[start + order[last]] == mark:
                    c = cell[order[last]]
                    low, high = min(low, points.low[j, c]), max(high, points.high[j, c])
                    if costs.kind[j] > FLAT:
                        own = max(own, pair_cost(costs, j, rank, points.rank[j, c]))
                    last += 1
                if costs.kind[j] <= FLAT:
                    own = min(high - low, costs.cap[j])
                for x in range(first, last):
                    price[start + order[x]] = own
                first = last
    return price


@compiled
def _roll(
    sets: Sets,
    source: Int,
    target: Int,
    ladders: Ladders,
    price: np.ndarray,
    j: Int,
    low: Int,
    high: Int,
    table: np.ndarray,
) -> None:
    """The set at ``target`` becomes the one at ``source`` with column j lifted from level ``low`` to ``high``; they may be the same."""
    n = sets.used[source]
    at_low, at_high = ladders.start[j] + low * ladders.width[j], ladders.start[j] + high * ladders.width[j]
    bits = np.uint64(4)
    while (1 << np.int64(bits)) < 2 * n:
        bits += np.uint64(1)
    shift, mask = np.uint64(64) - bits, (1 << np.int64(bits)) - 1
    table[: mask + 1] = -1
    ranks, keys, sizes = ladders.rank[j], sets.key[target], sets.size[target]
    found = 0
    for x in range(n):
        rep = sets.rep[source, x]
        r = ranks[rep]
        key = sets.key[source, x] - ladders.mark[at_low + r] + ladders.mark[at_high + r]
        place = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while table[place] >= 0 and keys[table[place]] != key:
            place = (place + 1) & mask
        y = table[place]
        if y < 0:
            table[place] = found
            keys[found], sizes[found], sets.rep[target, found] = key, sets.size[source, x], rep
            sets.cost[target, found] = sets.cost[source, x] - price[at_low + r] + price[at_high + r]
            found += 1
        else:
            sizes[y] += sets.size[source, x]
    sets.used[target] = found


@compiled
def _copy(sets: Sets, source: Int, target: Int) -> None:
    """The set at ``target`` becomes the one at ``source``."""
    n = sets.used[source]
    sets.key[target, :n], sets.rep[target, :n] = sets.key[source, :n], sets.rep[source, :n]
    sets.size[target, :n], sets.cost[target, :n] = sets.size[source, :n], sets.cost[source, :n]
    sets.used[target] = n


@compiled
def _served(sets: Sets, depth: Int, k: Int) -> tuple[Int, Real]:
    """Rows of the classes of at least k rows, and their loss."""
    rows, loss = np.int64(0), 0.0
    for x in range(sets.used[depth]):
        if sets.size[depth, x] >= k:
            rows += sets.size[depth, x]
            loss += sets.size[depth, x] * sets.cost[depth, x]
    return rows, loss


@compiled
def _start(rows: np.ndarray, rest: np.ndarray, sets: Sets, ladders: Ladders) -> None:
    """The set at every depth: the cells of ``rest``."""
    d = len(ladders.rank)
    for x in range(len(rest)):
        key = np.uint64(0)
        for j in range(d):
            key += ladders.mark[ladders.start[j] + ladders.rank[j, rest[x]]]
        sets.key[0, x], sets.rep[0, x], sets.size[0, x], sets.cost[0, x] = key, rest[x], rows[rest[x]], 0.0
    sets.used[0] = len(rest)
    for depth in range(d):
        _copy(sets, depth, depth + 1)


@compiled
def new_sets(d: Int, m: Int) -> Sets:
    """Room for the sets of a walk over m cells of d columns."""
    n = d + 1
    return Sets(
        np.zeros((n, m), np.uint64), np.zeros((n, m), np.int64), np.zeros((n, m), np.int64), np.zeros((n, m)), np.zeros(n, np.int64)
    )


@compiled
def mean_costs(rows: np.ndarray, rest: np.ndarray, ladders: Ladders, price: np.ndarray) -> np.ndarray:
    """(d, L) what each level of each column costs a row of ``rest``."""
    d = len(ladders.rank)
    mean, total = np.zeros((d, ladders.levels.max())), 0
    for x in range(len(rest)):
        c = rest[x]
        total += rows[c]
        for j in range(d):
            for level in range(1, ladders.levels[j]):
                mean[j, level] += rows[c] * price[ladders.start[j] + level * ladders.width[j] + ladders.rank[j, c]]
    return mean / max(total, 1)


@compiled
def cheapest_nodes(
    sets: Sets, rows: np.ndarray, rest: np.ndarray, ladders: Ladders, price: np.ndarray, k: Int, least: Real, table: np.ndarray
) -> np.ndarray:
    """(t, d) levels of the nodes, dearest last, that serve ``least`` rows of ``rest`` or more in classes of k rows and lose them least.

    What is lost is that of the nodes, of which the boxes of the classes may be a part. Nodes that cost the mean row more than the last
    of the best found so far costs the rows it serves are passed over. price: as ``node_costs`` makes it; sets, table: scratch.
    """
    order = np.argsort(ladders.levels, kind="mergesort")
    d, mean = len(order), mean_costs(rows, rest, ladders, price)
    level, best, lowest, found = np.zeros(d, np.int64), np.zeros((FINALISTS, d), np.int64), np.full(FINALISTS, np.inf), 0
    _start(rows, rest, sets, ladders)
    while True:
        served, loss = _served(sets, d, k)
        if served >= least and loss < lowest[-1] * served:
            found, x = min(found + 1, FINALISTS), min(found, FINALISTS - 1)
            while x > 0 and loss < lowest[x - 1] * served:
                lowest[x], best[x] = lowest[x - 1], best[x - 1]
                x -= 1
            lowest[x], best[x] = loss / served, level
        depth, floor = d - 1, 0.0
        for j in range(d):
            floor += mean[j, level[j]]
        while depth >= 0:
            j = order[depth]
            floor -= mean[j, level[j]]
            if level[j] + 1 < ladders.levels[j] and floor + mean[j, level[j] + 1] < lowest[-1]:
                break
            depth -= 1
        if depth < 0:
            return best[:found]
        _roll(sets, depth + 1, depth + 1, ladders, price, j, level[j], level[j] + 1, table)
        level[j] += 1
        for inner in range(depth + 1, d):
            level[order[inner]] = 0
            _copy(sets, inner, inner + 1)
