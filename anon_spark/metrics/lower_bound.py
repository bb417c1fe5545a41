"""A GCP that no recoding of the table can be below (METHODS 2.12)."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from anon_spark.domain.aligned import aligned
from anon_spark.domain.problem import Problem
from anon_spark.metrics.pair_cost import PairCost

MOST_COMBINATIONS = 20_000
GRID = 2**50
CHUNK_PAIRS = 2_000_000


def gcp_lower_bound(problem: Problem, codes: np.ndarray, count: np.ndarray) -> Fraction | None:
    """Mean over rows of the (k-1)-th smallest NCP of the box of the row and one other row, weights as in GCP.

    codes: (m, d) leaf codes, count: (m,) rows; equal combinations are added up first. None where no k is asked, where fewer than k
    rows are, and above 20,000 combinations, where comparing all pairs takes too long. Exact while the costs share a small
    denominator; beyond, each is rounded down to a grid of 2**-50, so that the bound stays one.
    """
    cells, inverse = np.unique(codes, axis=0, return_inverse=True)
    rows = np.zeros(len(cells), dtype=np.int64)
    np.add.at(rows, inverse.ravel(), count)
    total = int(rows.sum())
    if problem.k is None or total < max(problem.k, 1) or len(cells) > MOST_COMBINATIONS:
        return None
    tables, places, scale = _weighted(problem, cells)
    lone = np.flatnonzero(rows < problem.k)  # the others have k - 1 equals, at no cost
    step = max(1, CHUNK_PAIRS // len(cells))
    cost = 0
    for start in range(0, len(lone), step):
        chunk = lone[start : start + step]
        near = _nearest(_pairs(tables, places, chunk), chunk, rows, problem.k - 1)
        cost += sum(int(c) * int(n) for c, n in zip(near, rows[chunk], strict=True))
    return Fraction(cost, scale * total)


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


def _pairs(tables: list[np.ndarray], places: list[np.ndarray], chunk: np.ndarray) -> np.ndarray:
    """(chunk, m) cost of each of these cells beside every cell."""
    costs = np.zeros((len(chunk), len(places[0])), dtype=np.int64)
    for table, place in zip(tables, places, strict=True):
        costs += np.take(table[place[chunk]], place, axis=1)
    return costs


def _nearest(costs: np.ndarray, own: np.ndarray, rows: np.ndarray, needed: int) -> np.ndarray:
    """(chunk,) the ``needed``-th smallest cost of each line, a cell standing for all its rows, the own cell for one less."""
    width = min(needed + 1, costs.shape[1])
    picked = np.argpartition(costs, width - 1, axis=1)[:, :width]
    order = np.argsort(np.take_along_axis(costs, picked, axis=1), axis=1)
    picked = np.take_along_axis(picked, order, axis=1)
    others = rows[picked] - (picked == own[:, None])
    place = (np.cumsum(others, axis=1) >= needed).argmax(axis=1)
    return np.take_along_axis(costs, picked[np.arange(len(own)), place][:, None], axis=1)[:, 0]
