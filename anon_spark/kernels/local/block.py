"""Local k-anonymous recoding of one block: arrays in, arrays out (METHODS 3.2; the finish inside blocks)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from anon_spark.kernels.local.agglomerate import agglomerate
from anon_spark.kernels.local.boxes import Boxes, Costs
from anon_spark.kernels.local.improve import Parts, improve, numbered, sweep
from anon_spark.kernels.local.peel import peel
from anon_spark.kernels.local.walk import Ladders

Strategy = Literal["thorough", "peel"]
SHARES = (0.02,)
"""Shares of the rest that a node has to serve to be peeled, each a start of its own."""
MOST_NODES = 20_000
"""Nodes of a lattice up to which peeling looks for the cheapest."""


def group_block(
    costs: Costs,
    points: Boxes,
    rows: np.ndarray,
    ladders: Ladders,
    k: int,
    shares: tuple[float, ...] = SHARES,
    strategy: Strategy = "thorough",
) -> Parts:
    """Groups of at least k rows of the cells of one block, which hold k rows in all.

    points: a box each of m cells, sorted by code; rows: (m,) int64. Cells may be dealt to several groups.
    strategy: thorough, the best of several starts, improved; peel, the start of peeling, not improved (for many combinations at once,
    whose groups are improved in blocks of their own; ``can_peel`` must hold).
    """
    if rows.sum() < 2 * k:
        return Parts(np.arange(len(rows)), np.zeros(len(rows), np.int64), rows.copy())
    peels = can_peel(ladders)
    if strategy == "peel":
        return peeled(costs, points, rows, ladders, k, shares[0])
    starts = [agglomerated(costs, points, rows, k)]
    if peels:
        starts += [peeled(costs, points, rows, ladders, k, share) for share in shares]
    swept = [sweep(costs, points, start, k, 2) for start in starts]
    best = min(range(len(swept)), key=lambda i: (swept[i][1], i))
    return improve(costs, points, swept[best][0], k)[0]


def can_peel(ladders: Ladders) -> bool:
    """Whether the lattice is small enough for peeling."""
    return int(np.prod(ladders.levels, dtype=np.float64)) <= MOST_NODES


def agglomerated(costs: Costs, points: Boxes, rows: np.ndarray, k: int) -> Parts:
    """Start: agglomeration alone."""
    return numbered(Parts(*agglomerate(costs, points, rows, k, True)))


def peeled(costs: Costs, points: Boxes, rows: np.ndarray, ladders: Ladders, k: int, share: float) -> Parts:
    """Start: peeling, the rest agglomerated, or left to the largest group where it is below k rows."""
    group, _ = peel(costs, points, rows, ladders, k, share)
    cell = np.flatnonzero(group >= 0)
    rest = np.flatnonzero(group < 0)
    parts = Parts(cell, group[cell], rows[cell])
    if not len(rest):
        return parts
    if rows[rest].sum() < 2 * k:
        last = group.max() + (rows[rest].sum() >= k)
        return Parts(np.arange(len(rows)), np.where(group < 0, last, group), rows)
    beside = Boxes(*(np.ascontiguousarray(array[:, rest]) for array in points))
    more = agglomerated(costs, beside, rows[rest], k)
    number = more.group + group.max(initial=-1) + 1
    return Parts(np.append(cell, rest[more.cell]), np.append(parts.group, number), np.append(parts.held, more.held))
