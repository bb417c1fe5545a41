"""A tree of cuts grown on a sample of the combinations, and the way of a combination down it (Xu 2006, METHODS 3.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_spark.kernels.compiled import compiled
from anon_spark.kernels.local.cuts import SHARE, Axes, best_cut


class Tree(NamedTuple):
    """n cuts, the root first.  near, far: (n,) int64 where each side goes, a cut, or ~b for block b.

    column, code: (n,) int64; near is a code below ``code`` in ``column``. No cuts: all is block 0.
    """

    near: np.ndarray
    far: np.ndarray
    column: np.ndarray
    code: np.ndarray

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.near) + 1


def grow(axes: Axes, codes: np.ndarray, rows: np.ndarray, most: int, least: int, share: float = SHARE) -> Tree:
    """A tree whose blocks hold at most ``most`` of the distinct points codes (m, d), sorted, and at least ``least`` of their rows (m,).

    share: as ``cut_blocks`` takes it. Points that no cut parts so stay one block, however many they are.
    """
    lines = np.ascontiguousarray(codes, dtype=np.int32)
    cuts: list[tuple[int, int]] = []
    ways: list[list[int]] = []
    blocks = 0
    stack: list[tuple[np.ndarray, int, int]] = [(np.arange(len(lines)), -1, 0)]
    while stack:
        block, above, side = stack.pop()
        column, code = best_cut(axes, lines, rows, block, least, share) if len(block) > most else (-1, 0)
        to = ~blocks if column < 0 else len(ways)
        if above >= 0:
            ways[above][side] = to
        if column < 0:
            blocks += 1
            continue
        cuts.append((column, code))
        ways.append([0, 0])
        near = lines[block, column] < code
        stack += [(block[~near], to, 1), (block[near], to, 0)]
    way, cut = (np.array(pairs, np.int64).reshape(len(pairs), 2) for pairs in (ways, cuts))
    return Tree(*(np.ascontiguousarray(column) for column in (*way.T, *cut.T)))


def route(tree: Tree, codes: np.ndarray) -> np.ndarray:
    """(m,) int64 block of each line of codes (m, d)."""
    if not len(tree.near):
        return np.zeros(len(codes), np.int64)
    return _descend(*tree, np.ascontiguousarray(codes, dtype=np.int32))


@compiled
def _descend(near: np.ndarray, far: np.ndarray, column: np.ndarray, code: np.ndarray, codes: np.ndarray) -> np.ndarray:
    block = np.zeros(len(codes), np.int64)
    for x in range(len(codes)):
        at = np.int64(0)
        while at >= 0:
            at = near[at] if codes[x, column[at]] < code[at] else far[at]
        block[x] = ~at
    return block
