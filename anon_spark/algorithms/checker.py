"""How nodes of the full-domain lattice are checked, wherever that happens: the search sees nothing else of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from anon_spark.algorithms.node_space import NodeSpace
from anon_spark.domain.recoding import Levels
from anon_spark.models.base import Model


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a node's classes are like. A kept class holds every model, a failing one does not; no rows have been dropped before.

    failing: rows of the classes that fail some model; failing_pruning: rows of the classes that fail some model of ``pruning``.
    classes, smallest, largest, squares: number, least and greatest size (0 where there is none) and sum of squared sizes of the kept
    classes, exact. kept: (m_i,) int64 rows of each leaf in kept classes, a quasi-identifier each; None where no row fails (they are
    ``Problem.leaf_rows`` then) or more rows fail than may be suppressed.
    """

    failing: int
    failing_pruning: int
    classes: int
    smallest: int
    largest: int
    squares: int
    kept: tuple[np.ndarray, ...] | None = None


class Checker(Protocol):
    """Checks a wave of nodes at a time.

    width: how many nodes a wave is best made of (1 in the driver process). Nodes are full level vectors; those of column subsets have
    every other column at its root, be that above its max_level.
    """

    @property
    def width(self) -> int: ...

    def next_of(self, unknown: np.ndarray, space: NodeSpace) -> tuple[np.ndarray, int]:
        """Which of the (shape) bool unknown nodes of the space are cheapest to check next, some of them, and how many at a time."""
        ...

    def will_cost(self, nodes: Sequence[Levels]) -> None:
        """Told before the kept rows of checked nodes are read, those that some rows fail at: they may be counted together."""
        ...

    def check(self, nodes: Sequence[Levels]) -> list[Verdict]:
        """A verdict a node, in order."""
        ...


def pruning(models: Sequence[Model], may_suppress: int) -> tuple[Model, ...]:
    """The models whose failing at a node proves that every more specific node fails (METHODS 1).

    Without suppression those that unions of classes keep; beside it only those that stay true when any rows are added.
    """
    return tuple(m for m in models if (m.survives_any_rows if may_suppress else m.union_closed))
