"""A generalization hierarchy bound to the leaves of one quasi-identifier: codes, nodes, labels and exact costs (METHODS 0 and 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LevelCost:
    """Cost of publishing each leaf at one level: numerators[leaf] / denominator, exact. numerators: tuple of Python ints, one a leaf."""

    numerators: tuple[int, ...]
    denominator: int


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The tree of one quasi-identifier over m leaves in code order, L levels, level 0 the leaves and level L - 1 the root.

    Leaf codes follow the tree depth-first (numbers and dates: by value), NaN, infinities and null last, each a child of the root.

    leaves: (m,) text of each leaf as it is published at level 0; None is the null leaf.
    codes: raw text of a value (as Spark casts it to a string; None for null) -> leaf code. Several raw texts may share a leaf
        ("007" and "7" of a number, blanks around a trimmed text).
    nodes: L read-only (m,) int32 arrays, leaf code -> node number at that level, numbered from 0 by first appearance in code order.
        At a ragged level the leaves that have already reached the root share one node, which need not be contiguous.
    labels: L tuples, the printed label of each node; None only for the null leaf at level 0.
    ncp, glm, height: L costs a leaf: METHODS 2.1/2.2, 2.5 and the steps of 2.4 (denominator 1).
    numeric: whether losses follow METHODS 2.1 (numbers and dates) rather than 2.2; a box of leaves is then a range of values, else
        the smallest node over them.
    beside: how many leaves, the last ones, have no place in the tree (values outside, infinities, NaN, null).
    """

    column: str
    leaves: tuple[str | None, ...]
    codes: Mapping[str | None, int]
    nodes: tuple[np.ndarray, ...]
    labels: tuple[tuple[str | None, ...], ...]
    ncp: tuple[LevelCost, ...]
    glm: tuple[LevelCost, ...]
    height: tuple[LevelCost, ...]
    numeric: bool
    beside: int = 0

    @property
    def levels(self) -> int:
        """Number of levels, the leaves' and the root's included (at least 2)."""
        return len(self.nodes)

    def lift(self, low: int, high: int) -> np.ndarray:
        """(nodes at ``low``,) int32: node number at level ``low`` -> node number at level ``high`` >= ``low``."""
        first = np.unique(self.nodes[low], return_index=True)[1]
        return self.nodes[high][first]
