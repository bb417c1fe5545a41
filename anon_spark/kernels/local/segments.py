"""The best cut of an order of cells into consecutive groups, by dynamic programming."""

from __future__ import annotations

import numpy as np

from anon_spark.kernels.compiled import compiled
from anon_spark.kernels.local.boxes import Boxes, box_cost, copy_box, widen


@compiled
def best_cut(costs, points, order, rows, k):
    """(n,) int64 group, from 0, of each of the cells in ``order``: consecutive groups of at least k rows of least total loss.

    rows: (n,) int64 rows of ``order``'s cells, k or more in all. A group ends its growth once it holds 3 k rows.
    """
    n, d = len(order), points.low.shape[0]
    least, came = np.full(n + 1, np.inf), np.full(n + 1, -1, np.int64)
    least[0] = 0.0
    box = Boxes(np.zeros((d, 1), np.float32), np.zeros((d, 1), np.float32), np.zeros((d, 1), np.uint32))
    for end in range(1, n + 1):
        copy_box(points, order[end - 1], box, 0)
        held, start, cost = rows[end - 1], end - 1, 0.0
        cost = np.float64(box_cost(costs, box, 0))
        while True:
            if held >= k:
                loss = least[start] + held * cost
                if loss < least[end]:
                    least[end], came[end] = loss, start
                if held >= 3 * k and least[end] < np.inf:
                    break
            if start == 0:
                break
            start -= 1
            cost = np.float64(widen(costs, box, 0, points, order[start]))
            held += rows[start]
    group, end, number = np.zeros(n, np.int64), n, 0
    while end > 0:
        for x in range(came[end], end):
            group[x] = number
        end, number = came[end], number + 1
    return group, least[n]
