"""What became of the nodes of a lattice, as a page can draw it: each node of a small one, else how many at each height."""

from __future__ import annotations

import numpy as np

from anon_spark.algorithms.node_space import NodeSpace
from anon_spark.domain.recoding import FATES, LatticePicture

MOST_DRAWN = 150
"""Nodes that a reader can still tell apart."""


def picture(space: NodeSpace, full: np.ndarray, checked: np.ndarray) -> LatticePicture:
    """full: (shape) bool, nodes known to hold every model; checked: (shape) bool, nodes that were checked."""
    fate = np.where(checked, np.where(full, 0, 1), np.where(full, 2, 3))
    height, lowest = space.heights(), sum(space.low)
    counts = np.bincount((height * len(FATES) + fate).ravel(), minlength=(int(height.max()) + 1) * len(FATES))
    drawn = space.size <= MOST_DRAWN
    nodes = tuple((space.levels(place), FATES[kind]) for place, kind in enumerate(fate.ravel().tolist())) if drawn else ()
    return LatticePicture(
        nodes=nodes, lowest=lowest, by_height=tuple(tuple(line) for line in counts.reshape(-1, len(FATES)).tolist())
    )
