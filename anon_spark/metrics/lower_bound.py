"""A GCP that no recoding of the table can be below (METHODS 2.12)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isqrt, lcm, sqrt

import numpy as np

from anon_spark.domain.aligned import aligned
from anon_spark.domain.problem import Problem
from anon_spark.metrics.pair_cost import PairCost

MOST_COMBINATIONS = 20_000
GRID = 2**50
CHUNK_PAIRS = 2_000_000
FIRST_LOOK = 64
"""Cells, at least, among which a first k-1 nearest are sought before others are ruled out."""
SURE = 2.576
"""Standard errors on either side of a mean for 99 of 100 samples."""


@dataclass(frozen=True)
class SampledBound:
    """The bound's estimate from ``rows`` rows of the table, each against all of it; low, high: its interval of confidence of 99 %."""

    estimate: float
    low: float
    high: float
    rows: int


def gcp_lower_bound(problem: Problem, codes: np.ndarray, count: np.ndarray) -> Fraction | None:
    """Mean over rows of the (k-1)-th smallest NCP of the box of the row and one other row, weights as in GCP.

    codes: (m, d) leaf codes, count: (m,) rows; equal combinations are added up first. None where no k is asked, where fewer than k
    rows are, and above 20,000 combinations: there ``sampled_lower_bound`` estimates it. Exact while the costs share a small
    denominator; beyond, each is rounded down to a grid of 2**-50, so that the bound stays one.
    """
    cells, rows = _added_up(codes, count)
    total = int(rows.sum())
    if problem.k is None or total < max(problem.k, 1) or len(cells) > MOST_COMBINATIONS:
        return None
    lone = np.flatnonzero(rows < problem.k)  # the others have k - 1 equals, at no cost
    near, scale = _nearest_costs(problem, cells, rows, lone)
    return Fraction(sum(int(c) * int(n) for c, n in zip(near, rows[lone], strict=True)), scale * total)


def sampled_lower_bound(problem: Problem, codes: np.ndarray, count: np.ndarray, sample: int = 2_000) -> SampledBound | None:
    """The bound's estimate from rows that lie evenly along the sorted combinations: the same for the same table. None as above."""
    cells, rows = _added_up(codes, count)
    total = int(rows.sum())
    if problem.k is None or total < max(problem.k, 1):
        return None
    asked = min(sample, total)
    drawn = np.searchsorted(np.cumsum(rows), (2 * np.arange(asked) + 1) * total // (2 * asked), side="right")
    chosen, times = np.unique(drawn, return_counts=True)
    lone = rows[chosen] < problem.k
    near, scale = _nearest_costs(problem, cells, rows, chosen[lone])
    cost = np.zeros(len(chosen))
    cost[lone] = near / scale
    mean = float(cost @ times) / asked
    error = SURE * sqrt(float((cost - mean) ** 2 @ times) / max(asked - 1, 1) / asked) if asked < total else 0.0
    return SampledBound(mean, max(mean - error, 0.0), mean + error, asked)


def _added_up(codes: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct combinations and their rows."""
    cells, inverse = np.unique(codes, axis=0, return_inverse=True)
    rows = np.zeros(len(cells), dtype=np.int64)
    np.add.at(rows, inverse.ravel(), count)
    return cells, rows


def _nearest_costs(problem: Problem, cells: np.ndarray, rows: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, int]:
    """(a,) int64 cost of the (k-1)-th nearest row of each cell ``asked``, and the scale of the costs.

    Cells are grouped by a few columns that cost much (heads). What two heads cost is a floor of what their cells cost: cells whose head
    costs as much as the k-1 nearest of a first look are not compared.
    """
    needed = (problem.k or 1) - 1
    tables, places, scale = _weighted(problem, cells)
    head, floors, rest = _heads(tables, places)
    tables, places = [tables[j] for j in rest], [places[j] for j in rest]
    by_head = np.argsort(head, kind="stable")
    starts = np.searchsorted(head[by_head], np.arange(len(floors) + 1))
    held = np.add.reduceat(rows[by_head], starts[:-1])
    near = np.full(len(asked), np.iinfo(np.int64).max)
    grouped = np.argsort(head[asked], kind="stable")
    edges = np.flatnonzero(np.r_[True, np.diff(head[asked][grouped]) != 0, True]) if len(asked) else np.zeros(1, np.int64)
    for a, b in pairwise(edges):
        mine = grouped[a:b]
        floor = floors[head[asked[mine[0]]]]
        order = np.argsort(floor, kind="stable")
        enough = (np.cumsum(held[order]) > needed) & (np.cumsum(np.diff(starts)[order]) >= min(FIRST_LOOK, len(rows)))
        first = _members(order[: int(enough.argmax()) + 1], starts, by_head)
        near[mine] = _compared(tables, places, asked[mine], first, floor[head[first]], rows, needed, near[mine])
        within = _members(order[: int(np.searchsorted(floor[order], near[mine].max()))], starts, by_head)
        near[mine] = _compared(tables, places, asked[mine], within, floor[head[within]], rows, needed, near[mine])
    return near, scale


def _members(heads: np.ndarray, starts: np.ndarray, by_head: np.ndarray) -> np.ndarray:
    """Cells of these heads, ascending."""
    parts = [by_head[starts[h] : starts[h + 1]] for h in heads]
    return np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def _heads(tables: list[np.ndarray], places: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """(m,) head of each cell, (h, h) int64 what two heads cost, and the other columns: heads are of as many as leave few of them."""
    m = len(places[0])
    mean = [table[place[:: max(1, m // 500)]][:, place[:: max(1, m // 500)]].mean() for table, place in zip(tables, places, strict=True)]
    head, chosen, most = np.zeros(m, np.int64), [], 6 * isqrt(m) + 1
    for j in np.argsort(-np.array(mean), kind="stable"):
        finer = np.unique(head * len(tables[j]) + places[j], return_inverse=True)[1].ravel()
        if int(finer.max()) < most:
            head = finer
            chosen.append(int(j))
    one = np.unique(head, return_index=True)[1]
    floors = np.zeros((len(one), len(one)), np.int64)
    for j in chosen:
        floors += tables[j][np.ix_(places[j][one], places[j][one])]
    return head, floors, [j for j in range(len(tables)) if j not in chosen]


def _compared(
    tables: list[np.ndarray], places: list[np.ndarray], asked: np.ndarray, others: np.ndarray, floor: np.ndarray,
    rows: np.ndarray, needed: int, known: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """(a,) the ``needed``-th smallest cost of each cell asked beside the rows of the others, or ``known`` where that is less.

    floor: (others,) what the columns without tables here cost.
    """
    step = max(1, CHUNK_PAIRS // max(len(others), 1))
    found = []
    for start in range(0, len(asked), step):
        chunk = asked[start : start + step]
        costs = np.repeat(floor[None, :], len(chunk), axis=0)
        for table, place in zip(tables, places, strict=True):
            costs += np.take(table[place[chunk]], place[others], axis=1)
        found.append(_nearest(costs, others[None, :] == chunk[:, None], rows[others], needed, known[start : start + step]))
    return np.concatenate(found)


def _weighted(problem: Problem, cells: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], int]:
    """Each column's pair costs times its weight as whole numbers over one common scale, and each cell's place in its table."""
    weight = sum(problem.weights, Fraction(0))
    weights = [w / weight for w in problem.weights]
    shares = lcm(*(w.denominator for w in weights))
    found = [np.unique(cells[:, i], return_inverse=True) for i in range(cells.shape[1])]
    costs = [PairCost(aligned(h), leaves) for h, (leaves, _) in zip(problem.hierarchies, found, strict=True)]
    scale = lcm(*(cost.denominator() for cost in costs))
    if scale * shares >= 2**60:
        scale = max(1, GRID // shares)
    tables = [cost.table(scale) * int(w * shares) for cost, w in zip(costs, weights, strict=True)]
    return tables, [place.ravel() for _, place in found], scale * shares


def _nearest(costs: np.ndarray, own: np.ndarray, rows: np.ndarray, needed: int, known: np.ndarray) -> np.ndarray:
    """(chunk,) the ``needed``-th smallest cost of each line, a cell standing for all its rows, the own cell for one less."""
    line, cell = np.nonzero(costs < known[:, None])
    cost = costs[line, cell]
    order = np.lexsort((cost, line))
    line, cost, cell = line[order], cost[order], cell[order]
    held = np.cumsum(rows[cell] - own[line, cell])
    first = np.searchsorted(line, np.arange(len(costs) + 1))
    before = np.append(0, held)[first]
    at = np.searchsorted(held, before[:-1] + needed)
    near, settled = known.copy(), at < first[1:]
    near[settled] = cost[at[settled]]
    return near
