"""The lattice of level vectors between the least and the greatest levels, as one array with an axis a free column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels

MAX_NODES = 2_000_000
"""Most nodes that are searched where every model prunes."""
MAX_NODES_UNPRUNED = 200_000
"""Most nodes that are searched where some model can only be checked node by node."""


def lattice_size(problem: Problem) -> int:
    """Number of full-QI nodes within min and max levels."""
    return prod(high - low + 1 for low, high in zip(problem.min_levels, problem.max_levels, strict=True))


@dataclass(frozen=True)
class NodeSpace:
    """Nodes from ``low`` to ``high`` inclusive. A place is a node's number in C order, which is the order of level vectors.

    Columns that cannot move have no axis: NumPy allows few.
    """

    low: Levels
    high: Levels

    @property
    def free(self) -> tuple[int, ...]:
        """Columns with more than one level to choose from; the first column where there is none."""
        return tuple(i for i in range(len(self.low)) if self.high[i] > self.low[i]) or (0,)

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels to choose from, a free column each."""
        return tuple(self.high[i] - self.low[i] + 1 for i in self.free)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return prod(self.shape)

    def steps(self, place: int) -> tuple[int, ...]:
        """Steps above ``low`` of each free column."""
        return tuple(int(step) for step in np.unravel_index(place, self.shape))

    def levels(self, place: int) -> Levels:
        """The node at a place."""
        levels = list(self.low)
        for i, step in zip(self.free, self.steps(place), strict=True):
            levels[i] += step
        return tuple(levels)

    def place(self, levels: Levels) -> int | None:
        """The place of a node, None outside the space."""
        if any(not low <= level <= high for low, level, high in zip(self.low, levels, self.high, strict=True)):
            return None
        steps = tuple(levels[i] - self.low[i] for i in self.free)
        return int(np.ravel_multi_index(steps, self.shape))

    def above(self, place: int) -> tuple[slice, ...]:
        """The index of a node and all its generalizations."""
        return tuple(slice(step, None) for step in self.steps(place))

    def below(self, place: int) -> tuple[slice, ...]:
        """The index of a node and all that it generalizes."""
        return tuple(slice(None, step + 1) for step in self.steps(place))

    def heights(self) -> np.ndarray:
        """(shape) int64: sum of levels of each node, up to a constant."""
        heights = np.zeros(self.shape, dtype=np.int64)
        for axis, width in enumerate(self.shape):
            heights += along(np.arange(width), axis, self.shape)
        return heights


def along(values: np.ndarray | Sequence[float], axis: int, shape: tuple[int, ...]) -> np.ndarray:
    """The values laid along one axis, so that they broadcast over the lattice."""
    return np.asarray(values).reshape([-1 if a == axis else 1 for a in range(len(shape))])


def counted_below(mask: np.ndarray) -> np.ndarray:
    """(shape) float64: nodes of the mask at or below each node."""
    below = mask.astype(np.float64)
    for axis in range(mask.ndim):
        np.cumsum(below, axis=axis, out=below)
    return below


def closed_above(mask: np.ndarray) -> np.ndarray:
    """The nodes at or above some node of the mask."""
    closed = mask.copy()
    for axis in range(mask.ndim):
        closed = np.logical_or.accumulate(closed, axis=axis)
    return closed


def minimal_of(mask: np.ndarray) -> np.ndarray:
    """The nodes of the mask that have none of it below them."""
    closed = closed_above(mask)
    beaten = np.zeros_like(mask)
    for axis in range(mask.ndim):
        ahead = [slice(None)] * mask.ndim
        behind = list(ahead)
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        beaten[tuple(ahead)] |= closed[tuple(behind)]
    return mask & ~beaten
