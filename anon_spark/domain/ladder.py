"""What every kind of hierarchy is built to before its costs are known: leaves in code order, what each prints at each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anon_spark.domain.values import Value


@dataclass(frozen=True, eq=False)
class Rung:
    """One level between leaves and root, over m leaves in code order.

    nodes: (m,) int32 node of each leaf, numbered by first appearance; labels: one a node; spans: (m,) length of each leaf's node
    clipped to the observed range, in the ladder's units, for numbers and dates only.
    """

    nodes: np.ndarray
    labels: tuple[str, ...]
    spans: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Ladder:
    """m leaves in code order. code_of: value -> code; extent: largest minus smallest value under METHODS 2.1, None under 2.2."""

    leaves: tuple[str, ...]
    code_of: dict[Value, int]
    rungs: tuple[Rung, ...]
    extent: int | None = None


def rung_of(labels: Sequence[str]) -> Rung:
    """The level at which each leaf prints its entry of ``labels``."""
    number: dict[str, int] = {}
    nodes = np.fromiter((number.setdefault(label, len(number)) for label in labels), np.int32, len(labels))
    return Rung(nodes, tuple(number))


def runs(*keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Runs of equal keys along leaves sorted by value: (m,) int32 number of each leaf's run, and the first leaf of each run."""
    if not len(keys[0]):
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    changed = np.zeros(len(keys[0]), bool)
    changed[0] = True
    for key in keys:
        changed[1:] |= (key[1:] != key[:-1]).astype(bool)
    return (np.cumsum(changed) - 1).astype(np.int32), np.flatnonzero(changed)
