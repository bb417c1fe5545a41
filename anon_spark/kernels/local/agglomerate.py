"""Agglomeration: repeat the merge, with one side below k, that adds the least loss per undersized row."""

from __future__ import annotations

import numpy as np

from anon_spark.kernels.compiled import Int, Real, compiled
from anon_spark.kernels.local.boxes import Boxes, Costs, copy_box, union_costs, widen


@compiled
def sift_up(key: np.ndarray, item: np.ndarray, n: Int) -> None:
    """Place n - 1 of the heap (key, then item, least first) rises to where it belongs."""
    i = n - 1
    while i > 0:
        up = (i - 1) >> 1
        if key[up] < key[i] or (key[up] == key[i] and item[up] <= item[i]):
            break
        key[up], key[i] = key[i], key[up]
        item[up], item[i] = item[i], item[up]
        i = up


@compiled
def sift_down(key: np.ndarray, item: np.ndarray, n: Int) -> None:
    """The top of a heap of n sinks to where it belongs."""
    i = 0
    while True:
        least, left = i, 2 * i + 1
        for c in range(left, min(left + 2, n)):
            if key[c] < key[least] or (key[c] == key[least] and item[c] < item[least]):
                least = c
        if least == i:
            return
        key[least], key[i] = key[i], key[least]
        item[least], item[i] = item[i], item[least]
        i = least


@compiled
def _nearest(
    costs: Costs,
    groups: Boxes,
    slot: Int,
    name: np.ndarray,
    size: np.ndarray,
    loss: np.ndarray,
    lone: np.ndarray,
    n: Int,
    k: Int,
    out: np.ndarray,
) -> tuple[Int, Real]:
    """Name of the group that ``slot`` best merges with or borrows from, and the added loss."""
    union_costs(costs, groups, slot, groups, n, out)
    mine, own = size[slot], loss[slot]
    best, least, enough = np.int64(-1), np.inf, 2 * k - mine
    for t in range(n):
        if t == slot:
            continue
        if lone[t] and size[t] >= enough:
            added = k * np.float64(out[t]) - own
        else:
            added = (mine + size[t]) * np.float64(out[t]) - own - loss[t]
        if added < least or (added == least and name[t] < best):
            best, least = name[t], added
    return best, least


@compiled
def agglomerate(costs: Costs, points: Boxes, rows: np.ndarray, k: Int, lend: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Groups of at least k rows where the cells hold so many, from cells of ``rows`` (m,) int64 rows at ``points`` (Boxes).

    lend: whether a cell that stands alone gives only the rows that are missing, keeping k itself, rather than all of them.
    Returns parts: cell, group, rows (p,) int64 each; groups are named by one of their cells. A cell may have several parts.
    """
    _d, m = points.low.shape
    groups = Boxes(points.low.copy(), points.high.copy(), points.rank.copy())
    size, loss, lone = rows.astype(np.float64), np.zeros(m), np.ones(m, np.bool_)
    name, slot_of, parent = np.arange(m), np.arange(m), np.arange(m)
    lent_cell, lent_group, lent_rows = np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    version, seen, near = np.zeros(m, np.int64), np.zeros(m, np.int64), np.full(m, -1, np.int64)
    key, item = np.zeros(m + 1), np.zeros(m + 1, np.int64)
    out = np.zeros(m, np.float32)
    n, queued, lent = m, 0, 0
    for a in range(m):
        lone[a] = lend
        if size[a] < k:
            near[a], key[queued] = _nearest(costs, groups, a, name, size, loss, lone, n, k, out)
            key[queued] /= size[a]
            item[queued] = a
            queued += 1
            sift_up(key, item, queued)
    while queued and n > 1:
        a = item[0]
        t, s = near[a], slot_of[a]
        if s < 0 or size[s] >= k:
            queued -= 1
            key[0], item[0] = key[queued], item[queued]
            sift_down(key, item, queued)
            continue
        if slot_of[t] < 0 or version[t] != seen[a]:
            near[a], key[0] = _nearest(costs, groups, s, name, size, loss, lone, n, k, out)
            key[0] /= size[s]
            seen[a] = version[near[a]]
            sift_down(key, item, queued)
            continue
        other = slot_of[t]
        cost = widen(costs, groups, s, groups, other)
        version[a] += 1
        version[t] += 1
        if lone[other] and size[other] >= 2 * k - size[s]:
            given = k - size[s]
            lent_cell[lent], lent_group[lent], lent_rows[lent] = t, a, np.int64(given)
            lent += 1
            size[s] += given
            size[other] -= given
        else:
            size[s] += size[other]
            parent[t] = a
            slot_of[t] = -1
            n -= 1
            if other != n:
                copy_box(groups, n, groups, other)
                size[other], loss[other], lone[other], name[other] = size[n], loss[n], lone[n], name[n]
                slot_of[name[n]] = other
        s = slot_of[a]
        lone[s] = False
        loss[s] = size[s] * cost
        if size[s] < k and n > 1:
            near[a], key[0] = _nearest(costs, groups, s, name, size, loss, lone, n, k, out)
            key[0] /= size[s]
            seen[a] = version[near[a]]
            sift_down(key, item, queued)
    cell, group, held = np.zeros(m + lent, np.int64), np.zeros(m + lent, np.int64), np.zeros(m + lent, np.int64)
    for a in range(m):
        cell[a], group[a], held[a] = a, a, rows[a]
    for x in range(lent):
        cell[m + x], group[m + x], held[m + x] = lent_cell[x], lent_group[x], lent_rows[x]
        held[lent_cell[x]] -= lent_rows[x]
    for p in range(m + lent):
        while parent[group[p]] != group[p]:
            group[p] = parent[group[p]]
    return cell, group, held
