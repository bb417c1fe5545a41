"""How far off counts are that are answered from a release: a seeded workload of range queries (METHODS 2.9; Xiao & Tao 2006)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean, median

import numpy as np

from anon_spark.metrics.printed_boxes import PrintedBoxes

COLUMNS = (1, 2, 3)
SELECTIVITIES = (0.01, 0.1)
QUERIES = 100
"""Queries of each number of columns and selectivity."""
Query = tuple[tuple[int, int, int], ...]
"""(column, first leaf, last leaf) of each column that is asked for."""


@dataclass(frozen=True)
class QueryError:
    """Relative errors |estimate - count| / count of one kind of query."""

    columns: int
    selectivity: float
    mean: float
    median: float


def query_errors(cells: np.ndarray, count: np.ndarray, boxes: PrintedBoxes, seed: int = 0) -> tuple[QueryError, ...]:
    """Of every number of columns that there are and every selectivity.  cells: (m, d) leaf codes; count: (m,) rows.

    Time grows with queries x (cells + boxes): some seconds for a million of them; memory is some 40 bytes a cell and box.
    """
    asked = [j for j in range(cells.shape[1]) if boxes.leaves[j] > 1]
    lines = [np.ascontiguousarray(cells[:, j]) for j in range(cells.shape[1])]
    sides = [(np.ascontiguousarray(boxes.low[:, j]), np.ascontiguousarray(boxes.high[:, j])) for j in range(cells.shape[1])]
    draws, until, found = Random(seed), np.cumsum(count).tolist(), []
    for columns in COLUMNS:
        for selectivity in SELECTIVITIES if columns <= len(asked) else ():
            errors = []
            for query in _workload(draws, cells, until, boxes.leaves.tolist(), asked, columns, selectivity):
                true = _true(lines, count, query)
                errors.append(abs(_answered(sides, boxes, query) - true) / true)
            found.append(QueryError(columns, selectivity, fmean(errors), median(errors)))
    return tuple(found)


def _workload(
    draws: Random,
    cells: np.ndarray,
    until: Sequence[int],
    leaves: Sequence[int],
    asked: Sequence[int],
    columns: int,
    selectivity: float,
) -> Iterator[Query]:
    """Each query holds a random row, so that none counts nothing: random columns, of each the same share of its leaves."""
    for _ in range(QUERIES):
        row = cells[bisect_right(until, int(draws.random() * until[-1]))]
        left = list(asked)
        query = []
        for _ in range(columns):
            column = left.pop(int(draws.random() * len(left)))
            width = max(1, round(leaves[column] * selectivity ** (1 / columns)))
            least, most = max(0, int(row[column]) - width + 1), min(int(row[column]), leaves[column] - width)
            first = least + int(draws.random() * (most - least + 1))
            query.append((column, first, first + width - 1))
        yield tuple(query)


def _true(lines: Sequence[np.ndarray], count: np.ndarray, query: Query) -> int:
    within = np.ones(len(count), bool)
    for column, first, last in query:
        within &= (lines[column] >= first) & (lines[column] <= last)
    return int(count[within].sum())


def _answered(sides: Sequence[tuple[np.ndarray, np.ndarray]], boxes: PrintedBoxes, query: Query) -> float:
    """Each class gives the part of its rows that the query's share of its box says; suppressed rows are answered where they are printed."""
    part, star = boxes.size.astype(np.float64), float(boxes.suppressed if boxes.printed else 0)
    for column, first, last in query:
        low, high = sides[column]
        part *= np.maximum(np.minimum(high, last) - np.maximum(low, first) + 1, 0) / (high - low + 1)
        star *= (last - first + 1) / boxes.leaves[column]
    return float(part.sum()) + star
