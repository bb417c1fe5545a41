"""Blocks by top-down NCP splits: two far seeds, each cell to the nearer one (Xu 2006; METHODS 3.2)."""

from __future__ import annotations

import numpy as np

from anon_spark.kernels.compiled import Int, compiled
from anon_spark.kernels.local.boxes import Boxes, Costs, union_costs

ROUNDS = 3


def far_seed_blocks(
    costs: Costs, points: Boxes, rows: np.ndarray, most: int, k: int, first: int = 0, rounds: int = ROUNDS
) -> list[np.ndarray]:
    """Blocks of at most ``most`` cells and at least k rows, as ascending cell numbers, in the order of their first cells.

    first: the point from which seeds are sought; rounds: how often the farthest point takes the place of a seed, 1 or more. Other
    numbers draw other borders. A part that no cut leaves with k rows on either side stays whole, however many cells it has.
    """
    done: list[np.ndarray] = []
    stack = [np.arange(points.low.shape[1])]
    while stack:
        block = stack.pop()
        if len(block) <= most:
            done.append(block)
            continue
        near, far = _split(costs, points, rows, block, k, first, rounds)
        if not len(near) or not len(far):
            done.append(block)
        else:
            stack += [near, far]
    return sorted(done, key=lambda block: int(block[0]))


def _split(
    costs: Costs, points: Boxes, rows: np.ndarray, block: np.ndarray, k: int, first: int, rounds: int
) -> tuple[np.ndarray, np.ndarray]:
    beside = Boxes(*(np.ascontiguousarray(array[:, block]) for array in points))
    lean, _, _ = far_pair(costs, beside, first % len(block), rounds)
    order = np.lexsort((block, lean))
    held = np.cumsum(rows[block][order])
    cut = int(np.searchsorted(lean[order], 0.0, side="left"))
    # A share of an eighth on either side keeps the number of splits small where the seeds are outliers.
    least = len(block) // 8
    lowest = max(int(np.searchsorted(held, k, side="left")) + 1, least)
    highest = min(int(np.searchsorted(held, held[-1] - k, side="right")), len(block) - least)
    if lowest > highest:
        return block, block[:0]
    cut = min(max(cut, lowest), highest)
    return np.sort(block[order[:cut]]), np.sort(block[order[cut:]])


@compiled
def far_pair(costs: Costs, points: Boxes, first: Int, rounds: Int) -> tuple[np.ndarray, Int, Int]:
    """(n,) float32: what each point costs beside one seed less what it costs beside the other: below 0 nearer to the first; the seeds.

    The first seed is sought from point ``first``; the farthest point takes its place ``rounds`` - 1 times.
    """
    n = points.low.shape[1]
    out, other = np.zeros(n, np.float32), np.zeros(n, np.float32)
    u, v = np.int64(first), np.int64(first)
    for _ in range(rounds):
        u = v
        union_costs(costs, points, u, points, n, out)
        v = np.argmax(out)
    union_costs(costs, points, v, points, n, other)
    for x in range(n):
        out[x] -= other[x]
    return out, u, v
