"""Agglomeration: repeat the merge, with one side below k, that adds the least loss per undersized row."""

from __future__ import annotations

import numpy as np

from anon_spark.kernels.compiled import Int, compiled
from anon_spark.kernels.local.boxes import Boxes, Costs, copy_box, union_costs, widen

DEAREST = np.int64(2**62)


@compiled
def sift_down(key: np.ndarray, item: np.ndarray, n: Int) -> None:
    """The top of a heap of n (key, then item, least first) sinks to where it belongs."""
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
    costs: Costs, groups: Boxes, slot: Int, size: np.ndarray, loss: np.ndarray, lone: np.ndarray, n: Int, k: Int, union: np.ndarray,
    score: np.ndarray,
) -> Int:
    """Slot of the group that ``slot`` best merges with or borrows from, the first of equal ones; score[slot] is the added loss."""
    union_costs(costs, groups, slot, groups, n, union)
    mine = size[slot]
    for t in range(n):
        rows = mine + size[t]
        score[t] = (k if lone[t] and rows >= 2 * k else rows) * np.int64(union[t]) - loss[t]
    score[slot] = DEAREST
    least = DEAREST
    for t in range(n):
        least = min(least, score[t])
    score[slot] = least - loss[slot]
    best = 0
    while score[best] != least or best == slot:
        best += 1
    return best


@compiled
def agglomerate(costs: Costs, points: Boxes, rows: np.ndarray, k: Int, lend: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Groups of at least k rows where the cells hold so many, from cells of ``rows`` (m,) int64 rows at ``points`` (Boxes).

    lend: whether a cell that stands alone gives only the rows that are missing, keeping k itself, rather than all of them.
    Returns parts: cell, group, rows (p,) int64 each; groups are named by one of their cells. A cell may have several parts.
    """
    m = points.low.shape[1]
    groups = Boxes(points.low.copy(), points.high.copy(), points.rank.copy())
    size, loss, lone = rows.copy(), np.zeros(m, np.int64), np.full(m, lend)
    name, slot_of, parent = np.arange(m), np.arange(m), np.arange(m)
    lent_cell, lent_group, lent_rows = np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    # near: the group that each best merges with, -1 where it is not known; seen: which of its versions that was
    version, seen, near = np.zeros(m, np.int64), np.zeros(m, np.int64), np.full(m, -1, np.int64)
    item, key, union, score = np.flatnonzero(rows < k), np.full(m, -1.0), np.zeros(m, np.float32), np.zeros(m, np.int64)
    n, queued, lent = m, len(item), 0
    while queued and n > 1:
        a = item[0]
        t, s = near[a], slot_of[a]
        if s < 0 or size[s] >= k:
            queued -= 1
            key[0], item[0] = key[queued], item[queued]
            sift_down(key, item, queued)
            continue
        if t < 0 or slot_of[t] < 0 or version[t] != seen[a]:
            near[a] = name[_nearest(costs, groups, s, size, loss, lone, n, k, union, score)]
            seen[a] = version[near[a]]
            key[0] = score[s] / size[s]
            sift_down(key, item, queued)
            continue
        other = slot_of[t]
        cost = np.int64(widen(costs, groups, s, groups, other))
        version[a] += 1
        version[t] += 1
        if lone[other] and size[other] >= 2 * k - size[s]:
            given = k - size[s]
            lent_cell[lent], lent_group[lent], lent_rows[lent] = t, a, given
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
        # looked up again before any other is merged
        near[a], key[0] = -1, -1.0
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
