"""A tree of NCP cuts grown on a sample of the combinations: two far seeds each, a leaf code where seeds part nothing (Xu 2006)."""

from __future__ import annotations

import numpy as np

from anon_spark.kernels.local.far_seed import ROUNDS, far_pair
from anon_spark.kernels.local.route import Scale, Tree, points_on

SHARE = 8
"""Neither side of a cut has less than an eighth of the points, so that trees stay flat where seeds are outliers."""


def grow(scale: Scale, codes: np.ndarray, rows: np.ndarray, most: int, least: int, turn: int = 0, turns: int = 1) -> Tree:
    """A tree whose blocks hold at most ``most`` of the distinct points codes (m, d), sorted, and at least ``least`` of their rows (m,).

    turn: which of ``turns`` trees with other borders. Points that no cut parts so stay one block, however many they are.
    """
    cuts: list[tuple[int, float, np.ndarray]] = []
    ways: list[list[int]] = []
    blocks = 0
    stack: list[tuple[np.ndarray, int, int]] = [(np.arange(len(codes)), -1, 0)]
    while stack:
        block, above, side = stack.pop()
        found = _cut(scale, codes[block], rows[block], least, turn, turns) if len(block) > most else None
        to = len(ways) if found else ~blocks
        if above >= 0:
            ways[above][side] = to
        if found is None:
            blocks += 1
            continue
        column, cut, seeds, near = found
        cuts.append((column, cut, seeds))
        ways.append([0, 0])
        stack += [(block[~near], to, 1), (block[near], to, 0)]
    return _tree(ways, cuts, codes.shape[1])


def _tree(ways: list[list[int]], cuts: list[tuple[int, float, np.ndarray]], columns: int) -> Tree:
    way = np.array(ways, np.int64).reshape(len(ways), 2)
    seeds = np.array([pair for _, _, pair in cuts], np.int32).reshape(2 * len(cuts), columns)
    column, value = np.array([x for x, _, _ in cuts], np.int64), np.array([x for _, x, _ in cuts], np.float64)
    return Tree(way[:, 0].copy(), way[:, 1].copy(), column, value, seeds)


def _cut(
    scale: Scale, codes: np.ndarray, rows: np.ndarray, least: int, turn: int, turns: int
) -> tuple[int, float, np.ndarray, np.ndarray] | None:
    """Column (-1: seeds), value, seeds (2, d) and the (n,) near side of a cut; None where none leaves ``least`` rows on both sides."""
    first, rounds = (0, ROUNDS) if turn == 0 else (len(codes) * turn // turns, 1)
    lean, u, v = far_pair(scale.costs, points_on(scale, codes), first, rounds)
    seeds = np.stack([codes[u], codes[v]])
    at = _border(lean.astype(np.float64), rows, least, 0.0)
    if at is not None:
        return -1, at, seeds, lean < at
    # Seeds part nothing where nearly all points cost the same beside both: a column of many unrelated values.
    order = sorted(range(codes.shape[1]), key=lambda j: -len(np.unique(codes[:, j])))
    for j in order:
        at = _border(codes[:, j].astype(np.float64), rows, least, float(np.median(codes[:, j])))
        if at is not None:
            return j, at, seeds, codes[:, j] < at
    return None


def _border(value: np.ndarray, rows: np.ndarray, least: int, wanted: float) -> float | None:
    """A value to cut before, nearest to ``wanted`` in points, that leaves on both sides an eighth of the points and ``least`` rows."""
    order = np.argsort(value, kind="stable")
    line, held = value[order], np.cumsum(rows[order])
    start = np.flatnonzero(np.r_[False, line[1:] != line[:-1]])
    side = max(len(line) // SHARE, 1)
    may = (start >= side) & (start <= len(line) - side) & (held[start - 1] >= least) & (held[-1] - held[start - 1] >= least)
    start = start[may]
    if not len(start):
        return None
    nearest = np.argmin(np.abs(start - np.searchsorted(line, wanted)))
    return float(line[start[nearest]])
