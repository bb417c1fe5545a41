"""What a box of leaf codes is published as (DESIGN, published values; METHODS 0)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from anon_spark.domain.aligned import aligned
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import ROOT, Column, IntervalHierarchy
from anon_spark.domain.values import parse, print_day


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


def bounds(
    hierarchy: Hierarchy, low: np.ndarray, high: np.ndarray
) -> tuple[list[str | None], list[str | None], list[bool]]:
    """The label of each box of numbers or dates as texts of its smallest and largest value, and whether it is null itself.

    Both ends are None for the root and for null; one is for the open end of a hierarchy of intervals. A node of decimals
    ``[20.0, 25.0)`` ends before its largest value, any other at it.
    """
    printed = labels(hierarchy, low, high)
    single = (low == high).tolist()
    ends = [(text, text) if alone else _ends(text or ROOT) for text, alone in zip(printed, single, strict=True)]
    return [first for first, _ in ends], [last for _, last in ends], [text is None for text in printed]


def _ends(label: str) -> tuple[str | None, str | None]:
    """The ends of a label that is no value of the table; a node of one whole number or day is printed as that."""
    if label == ROOT:
        return None, None
    if label.startswith("["):
        first, _, last = label[1:-1].partition(", ")
        return first, last
    if label.startswith("< "):
        return None, _before(label[2:])
    if label.startswith(">= "):
        return label[3:], None
    return label, label


def _before(end: str) -> str:
    """The last value before an end that is left out: of decimals there is none, and the end itself stands for it."""
    if (number := parse("integer", end)) is not None:
        return str(int(number) - 1)
    day = parse("date", end)
    return end if day is None else print_day(int(day) - 1)
