"""What a box of leaf codes is published as (DESIGN, published values; METHODS 0)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from anon_spark.domain.aligned import aligned
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import ROOT, Column, IntervalHierarchy


def as_published(hierarchy: Hierarchy, column: Column, bounds: Literal["tight", "intervals"]) -> Hierarchy:
    """The hierarchy as boxes of it are published and cost: as ranges of values, or as the smallest node over them.

    Ranges: numbers and dates without a hierarchy, and inside intervals that may be tight. A flat hierarchy says that the value or
    nothing is to be published, one of dates names its periods, and ``bounds: intervals`` widens every range to the smallest
    interval around it. Nodes are ``aligned``, so that the smallest one is found.
    """
    ranges = column.hierarchy is None or (isinstance(column.hierarchy, IntervalHierarchy) and bounds == "tight")
    return replace(aligned(hierarchy), numeric=hierarchy.numeric and ranges)


def covers_all(hierarchy: Hierarchy, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(g,) bool: ranges of a numeric hierarchy that print the root, because they are the whole table's or hold a leaf beside the line.

    low, high: (g,) leaf codes. A single value is no range.
    """
    line = len(hierarchy.leaves) - hierarchy.beside
    return (low != high) & ((high >= line) | ((low == 0) & (high == line - 1)))


def node_levels(hierarchy: Hierarchy, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(g,) int64 level of the smallest node over both codes of each box; 0 for a single leaf."""
    levels = np.full(len(low), hierarchy.levels - 1, np.int64)
    for level in range(hierarchy.levels - 2, -1, -1):
        nodes = hierarchy.nodes[level]
        levels[nodes[low] == nodes[high]] = level
    return levels


def labels(hierarchy: Hierarchy, low: np.ndarray, high: np.ndarray) -> list[str | None]:
    """The printed label of each box of a hierarchy that is ``as_published``.  low, high: (g,) smallest and largest leaf codes.

    A single leaf prints its value (None: null), a range of numbers or dates ``[low, high]``, all else the label of the smallest
    node over both: masks their common part, dates the smallest period that their hierarchy names.
    """
    pairs, place = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
    texts = _texts(hierarchy, pairs[:, 0], pairs[:, 1])
    return [texts[i] for i in place.ravel().tolist()]


def _texts(h: Hierarchy, low: np.ndarray, high: np.ndarray) -> list[str | None]:
    if not h.numeric:
        levels = node_levels(h, low, high)
        return [h.labels[level][int(h.nodes[level][a])] for level, a in zip(levels.tolist(), low.tolist(), strict=True)]
    whole = covers_all(h, low, high)
    return [
        h.leaves[a] if a == b else ROOT if everything else f"[{h.leaves[a]}, {h.leaves[b]}]"
        for a, b, everything in zip(low.tolist(), high.tolist(), whole.tolist(), strict=True)
    ]
