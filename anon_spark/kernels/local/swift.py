"""Groups of very many combinations in little time: small cells agglomerated, then improved twice, in cells with other borders."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.kernels.compiled import Int, compiled
from anon_spark.kernels.local.across import in_blocks
from anon_spark.kernels.local.agglomerate import agglomerate
from anon_spark.kernels.local.bisect import bisect_groups, new_pool
from anon_spark.kernels.local.boxes import Boxes, Costs
from anon_spark.kernels.local.cuts import axes_of, cut_blocks
from anon_spark.kernels.local.improve import Parts, pooled, shuffled
from anon_spark.kernels.local.prepare import WIDEST_TABLE, narrowed, prepare
from anon_spark.kernels.local.release import work_space
from anon_spark.kernels.local.state import CLOCK, GROUPS, PARTS, listed, state_of
from anon_spark.kernels.local.sweep import dissolve_groups, move_parts

CELLS, GROUPS_OF_K = 320, 8
"""Combinations, and groups of k rows, of which cells hold about one or the other, whichever are more."""
TURNS = ((0.4, 2), (0.25, 6))
"""A turn of improvement: the share of groups on either side of a cut, which draws other borders, and how much wider its cells are."""

Lists = tuple[np.ndarray, np.ndarray, np.ndarray]


def swift(
    hierarchies: tuple[Hierarchy, ...], weights: tuple[Fraction, ...], codes: np.ndarray, rows: np.ndarray, k: int
) -> Parts:
    """Groups of at least k rows of the combinations codes (m, d), sorted, with rows (m,), which hold k rows in all."""
    axes, (costs, points) = axes_of(hierarchies, weights), prepare(hierarchies, weights, codes)
    most = max(CELLS, int(GROUPS_OF_K * k * len(codes) / max(int(rows.sum()), 1)))
    parts = pooled([Parts(*first_groups(costs, points, rows, cell, k)) for cell in cut_blocks(axes, codes, rows, most, k)])
    for share, wider in TURNS:
        blocks = in_blocks(axes, codes, parts, int(most * wider), k, share)
        parts = pooled([Parts(*refined(costs, points, *block, k)) for block in blocks])
    return parts


@compiled
def first_groups(costs: Costs, points: Boxes, rows: np.ndarray, cells: np.ndarray, k: Int) -> Lists:
    """Parts of some cells, agglomerated: cell, group, rows, groups numbered in order.

    Every call scales its own leaves, so that what pairs of them cost fits into a small table, whatever the hierarchies.
    """
    own, boxes = narrowed(costs, points, cells, WIDEST_TABLE)
    place, name, held = agglomerate(own, boxes, rows[cells], k, True)
    order = np.argsort(name, kind="mergesort")
    group, g = np.zeros(len(name), np.int64), -1
    for x in range(len(name)):
        if x == 0 or name[order[x]] != name[order[x - 1]]:
            g += 1
        group[x] = g
    return cells[place[order]], group, held[order]


@compiled
def refined(costs: Costs, points: Boxes, cell: np.ndarray, group: np.ndarray, held: np.ndarray, k: Int) -> Lists:
    """Parts that stand group by group, improved: pairs of groups cut anew, then one round of moving parts and dissolving groups."""
    cells = np.unique(cell)
    own, boxes = narrowed(costs, points, cells, WIDEST_TABLE)
    state = state_of(own, boxes, np.searchsorted(cells, cell), group, held)
    bisect_groups(own, boxes, state, new_pool(boxes), shuffled(state.used[GROUPS], 0), k, 1, 2, 0)
    work = work_space(boxes, state)
    state.used[CLOCK] += 1
    move_parts(own, boxes, state, work, shuffled(state.used[PARTS], 0), k, 0)
    dissolve_groups(own, boxes, state, work, shuffled(state.used[GROUPS], 0), k, 0)
    place, number, rows = listed(state)
    return cells[place], number, rows
