"""Regrouping: the cells of some neighbouring groups are grouped anew in several ways; what loses less than before stays."""

from __future__ import annotations

import numpy as np

from anon_spark.kernels.compiled import compiled
from anon_spark.kernels.local.agglomerate import agglomerate
from anon_spark.kernels.local.boxes import LINE, Boxes, box_cost, copy_box, union_costs, widen
from anon_spark.kernels.local.segments import best_cut
from anon_spark.kernels.local.state import GROUPS, PARTS, attach, box_without, detach


@compiled
def mixed(x):
    """A hash of a number: SplitMix64."""
    x = np.uint64(x) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled
def _pool(state, chosen, n, cell, rows, where):
    """Cells and rows of the first n chosen groups' parts, a cell once; returns how many."""
    found = 0
    for x in range(n):
        p = state.head[chosen[x]]
        while p >= 0:
            c = state.cell[p]
            if where[c] < 0:
                where[c] = found
                cell[found], rows[found] = c, 0
                found += 1
            rows[where[c]] += state.held[p]
            p = state.after[p]
    for x in range(found):
        where[cell[x]] = -1
    return found


@compiled
def _neighbours(state, out, a, n, most, chosen):
    """Group a and the n - 1 groups with which it would lose least a row, whose parts number at most ``most``."""
    g, count = state.used[GROUPS], 1
    chosen[0] = a
    score = np.empty(g)
    for b in range(g):
        score[b] = np.inf
        if b != a and state.size[b] > 0:
            score[b] = np.float64(out[b])
    while count < n:
        best = -1
        for b in range(g):
            if score[b] < np.inf and (best < 0 or score[b] < score[best]):
                best = b
        if best < 0:
            break
        score[best] = np.inf
        chosen[count] = best
        count += 1
    return count


@compiled
def _lexicographic(costs, points, rank, n, seed):
    """An order of n points: by the columns in an order that the seed picks."""
    d = points.low.shape[0]
    column = np.arange(d)
    for j in range(d - 1, 0, -1):
        i = np.int64(mixed(np.uint64(seed * 64 + j)) % np.uint64(j + 1))
        column[i], column[j] = column[j], column[i]
    order = np.arange(n)
    for j in column[::-1]:
        key = np.empty(n)
        for x in range(n):
            key[x] = points.low[j, order[x]] if costs.kind[j] == LINE else np.float64(points.rank[j, order[x]])
        order = order[np.argsort(key, kind="mergesort")]
    return order


@compiled
def _replace(costs, points, state, chosen, n, cell, part_cell, part_group, part_rows):
    """The chosen groups' parts make place for new ones; part_cell counts in ``cell``, groups bear any numbers below len(cell)."""
    free, slots = np.empty(state.used[PARTS] + 1, np.int64), 0
    for x in range(n):
        g = chosen[x]
        while state.head[g] >= 0:
            p = state.head[g]
            detach(state, p)
            free[slots] = p
            slots += 1
        state.size[g], state.cost[g] = 0, 0.0
    number, used = np.full(len(cell), -1, np.int64), 0
    for x in range(len(part_cell)):
        if part_rows[x] == 0:
            continue
        if slots:
            slots -= 1
            p = free[slots]
        else:
            p = state.used[PARTS]
            state.used[PARTS] += 1
        g = number[part_group[x]]
        c = cell[part_cell[x]]
        if g < 0:
            if used < n:
                g = chosen[used]
            else:
                g = state.used[GROUPS]
                state.used[GROUPS] += 1
            used += 1
            number[part_group[x]] = g
        state.cell[p], state.held[p] = c, part_rows[x]
        attach(state, p, g)
        state.size[g] += part_rows[x]
    for x in range(len(cell)):
        if number[x] >= 0:
            g = number[x]
            state.cost[g] = box_without(costs, points, state, g, np.int64(-1), state.boxes, g)


@compiled
def _loss_of(costs, points, part_cell, part_group, part_rows, m):
    d = points.low.shape[0]
    boxes = Boxes(np.zeros((d, m), np.float32), np.zeros((d, m), np.float32), np.zeros((d, m), np.uint32))
    size = np.zeros(m, np.int64)
    for x in range(len(part_cell)):
        if part_rows[x] == 0:
            continue
        g = part_group[x]
        if size[g] == 0:
            copy_box(points, part_cell[x], boxes, g)
        else:
            widen(costs, boxes, g, points, part_cell[x])
        size[g] += part_rows[x]
    loss = 0.0
    for g in range(m):
        if size[g] > 0:
            loss += size[g] * np.float64(box_cost(costs, boxes, g))
    return loss


@compiled
def regroup(costs, points, state, order, k, wide, tries, seed, gains):
    """For each group in ``order``: it and its nearest, ``wide`` in all, anew.  Returns (regroupings kept, loss that went)."""
    d, m = points.low.shape
    row, out = np.zeros(max(1, costs.width.max()), np.float32), np.zeros(state.head.shape[0], np.float32)
    cell, rows, where = np.zeros(m, np.int64), np.zeros(m, np.int64), np.full(m, -1, np.int64)
    chosen = np.zeros(wide, np.int64)
    done, gone = 0, 0.0
    for a in order:
        if state.size[a] == 0 or state.cost[a] == 0.0:
            continue
        union_costs(costs, state.boxes, a, state.boxes, state.used[GROUPS], row, out)
        n = _neighbours(state, out, a, wide, m, chosen)
        parts, was = 0, 0.0
        for x in range(n):
            was += state.size[chosen[x]] * state.cost[chosen[x]]
        found = _pool(state, chosen, n, cell, rows, where)
        if state.used[PARTS] + 2 * found >= state.cell.shape[0] or state.used[GROUPS] + found >= state.head.shape[0]:
            continue
        sub = Boxes(np.zeros((d, found), np.float32), np.zeros((d, found), np.float32), np.zeros((d, found), np.uint32))
        for x in range(found):
            copy_box(points, cell[x], sub, x)
        held = rows[:found].copy()
        best = was
        bc, bg, bh = agglomerate(costs, sub, held, k, True)
        now = _loss_of(costs, sub, bc, bg, bh, found)
        kind = 0
        if now < best - 0.5:
            best = now
        else:
            kind = -1
        for t in range(tries):
            o = _lexicographic(costs, sub, sub.rank, found, seed + a * 7919 + t)
            group, now = best_cut(costs, sub, o, held[o], k)
            if now < best - 0.5:
                best, kind = now, 1
                bc, bg, bh = o, group, held[o]
        if kind >= 0:
            gains[kind] += was - best
            _replace(costs, points, state, chosen, n, cell[:found], bc, bg, bh)
            done, gone = done + 1, gone + was - best
    return done, gone
