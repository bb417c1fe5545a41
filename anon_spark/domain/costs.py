"""What publishing a leaf at each level costs, exact: NCP and GLM (METHODS 2.1, 2.2, 2.5; Xu 2006), heights (2.4; Wong 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np

from anon_spark.domain.hierarchy import LevelCost

Costs = tuple[LevelCost, ...]


def _level(numerators: np.ndarray, denominator: int) -> LevelCost:
    return LevelCost(tuple(numerators.tolist()), denominator)


def heights(paths: Sequence[np.ndarray]) -> Costs:
    """Distinct labels strictly above each leaf, up to its label at each level; levels 0 and up.

    paths: for levels 1 and up, (n,) label numbers that are the same for the same label at every level; a label never comes back
    on a path after another one.
    """
    height = np.zeros(len(paths[0]), np.int64)
    costs = [_level(height, 1)]
    for level, path in enumerate(paths):
        height = height + (1 if level == 0 else path != paths[level - 1])
        costs.append(_level(height, 1))
    return tuple(costs)


def categorical(paths: Sequence[np.ndarray]) -> tuple[Costs, Costs]:
    """NCP and GLM of categories. A label's leaves are all that print it at some level: what it says to its reader."""
    n = len(paths[0])
    under = np.zeros(1 + max((int(path.max()) for path in paths if n), default=0), np.int64)
    for level, path in enumerate(paths):
        arrived = path if level == 0 else path[path != paths[level - 1]]
        under += np.bincount(arrived, minlength=len(under))
    zeros = np.zeros(n, np.int64)
    ncp, glm = [_level(zeros, max(n, 1))], [_level(zeros, max(n - 1, 1))]
    for path in paths:
        leaves = under[path]
        ncp.append(_level(np.where(leaves == 1, 0, leaves), max(n, 1)))
        glm.append(_level(leaves - 1, max(n - 1, 1)))
    return tuple(ncp), tuple(glm)


def numeric(spans: Sequence[np.ndarray], extent: int, m: int, extras: int) -> Costs:
    """NCP, and GLM, of m numbers and ``extras`` leaves that are none (null, NaN, infinities), which cost 1 from level 1 on.

    spans: (m,) lengths for levels 1 to the last but one, between 0 and ``extent``. A column of a single leaf costs 0 at its root.
    """
    known = [span.tolist() for span in spans]
    divisor = gcd(extent, *{length for span in known for length in span}) or 1
    whole = max(extent // divisor, 1)
    beside = (whole if m + extras > 1 else 0,) * extras
    costs = [LevelCost((0,) * (m + extras), whole)]
    costs += [LevelCost((*(length // divisor for length in span), *beside), whole) for span in known]
    root = whole if m + extras > 1 else 0
    return (*costs, LevelCost((root,) * (m + extras), whole))
