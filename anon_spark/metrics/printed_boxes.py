"""What a release prints, as boxes of leaf codes: what a reader knows of a row is that it lies in its class's box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from anon_spark.domain.box_labels import covers_all, node_levels
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import ROOT


@dataclass(frozen=True, eq=False)
class PrintedBoxes:
    """low, high: (g, d) leaf codes, inclusive, of every leaf under what is printed; size: (g,) rows; leaves: (d,) leaves of each domain.

    suppressed: rows of no class; printed: whether they stand in the release as a class that prints the root everywhere. own: (m,) the
    class of each cell of the frequency set, -1 where it is suppressed; None where a cell may go to several, or boxes overlap. lost: the
    cells that rows of are suppressed, and how many; None where that is not known.
    """

    low: np.ndarray
    high: np.ndarray
    size: np.ndarray
    leaves: np.ndarray
    suppressed: int = 0
    printed: bool = False
    own: np.ndarray | None = None
    lost: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def rows(self) -> int:
        """Rows of the table, suppressed ones included."""
        return int(self.size.sum()) + self.suppressed

    def onto(self, columns: Sequence[int]) -> PrintedBoxes:
        """The boxes in some columns alone, equal ones pooled."""
        kept = list(columns)
        sides = np.concatenate([self.low[:, kept], self.high[:, kept]], axis=1)
        distinct, place = np.unique(sides, axis=0, return_inverse=True)
        size = np.zeros(len(distinct), np.int64)
        np.add.at(size, place.ravel(), self.size)
        low, high = distinct[:, : len(kept)], distinct[:, len(kept) :]
        return replace(self, low=low, high=high, size=size, leaves=self.leaves[kept], own=None, lost=None)


def node_boxes(hierarchies: Sequence[Hierarchy], levels: Sequence[int], nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(g, d) first and last leaf of each node.  nodes: (g, d) node numbers at the levels; what prints the root holds every leaf."""
    sides = [
        _spans(h, np.full(len(nodes), level), nodes[:, j]) for j, (h, level) in enumerate(zip(hierarchies, levels, strict=True))
    ]
    return _stacked(sides, len(nodes))


def group_boxes(hierarchies: Sequence[Hierarchy], low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(g, d) first and last leaf under what groups print.  hierarchies: ``as_published``; low, high: (g, d) codes of their rows."""
    sides = [_printed(h, low[:, j], high[:, j]) for j, h in enumerate(hierarchies)]
    return _stacked(sides, len(low))


def _stacked(sides: Sequence[tuple[np.ndarray, np.ndarray]], boxes: int) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.empty((boxes, len(sides)), np.int64), np.empty((boxes, len(sides)), np.int64)
    for j, (first, last) in enumerate(sides):
        low[:, j], high[:, j] = first, last
    return low, high


def _printed(h: Hierarchy, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if h.numeric:
        whole = covers_all(h, low, high)
        return np.where(whole, 0, low), np.where(whole, len(h.leaves) - 1, high)
    levels = node_levels(h, low, high)
    nodes = np.array([h.nodes[level][a] for level, a in zip(levels.tolist(), low.tolist(), strict=True)], np.int64)
    return _spans(h, levels, nodes)


def _spans(h: Hierarchy, levels: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(g,) first and last leaf of nodes, each at its level."""
    low, high = np.empty(len(nodes), np.int64), np.empty(len(nodes), np.int64)
    for level in np.unique(levels).tolist():
        here = levels == level
        of_leaf = h.nodes[level]
        first, last = np.unique(of_leaf, return_index=True)[1], len(of_leaf) - 1 - np.unique(of_leaf[::-1], return_index=True)[1]
        if level:
            # leaves that a ragged tree has brought to the root lie anywhere, and a reader of the root knows nothing
            root = np.array([label == ROOT for label in h.labels[level]])
            first, last = np.where(root, 0, first), np.where(root, len(of_leaf) - 1, last)
        low[here], high[here] = first[nodes[here]], last[nodes[here]]
    return low, high
