"""Groups improved across the borders of the blocks in which they were made: whole groups go to blocks with other borders."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from anon_spark.kernels.local.cuts import Axes, cut_blocks
from anon_spark.kernels.local.improve import Parts, pooled


def across(
    axes: Axes, codes: np.ndarray, parts: Parts, most: int, k: int, share: float, better: Callable[[np.ndarray, Parts], Parts]
) -> Parts:
    """Groups of the combinations codes (m, d), improved in blocks of about ``most`` of them.

    share: of the groups on either side of a cut, which draws the borders. better: given the combinations (n,) of a block, ascending,
    and its groups over their places 0 to n - 1, returns other groups over these.
    """
    found = []
    for block in in_blocks(axes, codes, parts, most, k, share):
        cells, place = np.unique(block.cell, return_inverse=True)
        improved = better(cells, Parts(place.ravel(), block.group, block.held))
        found.append(Parts(cells[improved.cell], improved.group, improved.held))
    return pooled(found)


def in_blocks(axes: Axes, codes: np.ndarray, parts: Parts, most: int, k: int, share: float) -> Iterator[Parts]:
    """The groups of every such block, one after the other, numbered anew."""
    order = np.lexsort((parts.cell, parts.group))
    cell, held = parts.cell[order], parts.held[order]
    first = np.searchsorted(parts.group[order], np.arange(int(parts.group.max()) + 1))
    many = np.diff(np.r_[first, len(cell)])
    size = np.add.reduceat(held, first)
    # a group lies where its middle combination does
    middle = codes[cell[first + many // 2]]
    for block in cut_blocks(axes, middle, size, max(1, most * len(first) // len(cell)), k, share):
        count = many[block]
        lines = np.repeat(first[block] - (np.cumsum(count) - count), count) + np.arange(count.sum())
        yield Parts(cell[lines], np.repeat(np.arange(len(block)), count), held[lines])
