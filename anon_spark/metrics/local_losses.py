"""Information loss of a local recoding, exact (METHODS 2.1-2.7)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anon_spark.domain.box_labels import covers_all, node_levels
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalRecoding
from anon_spark.metrics.box_cost import column_loss


def local_losses(problem: Problem, codes: np.ndarray, recoding: LocalRecoding) -> dict[str, Fraction | None]:
    """Every measure of groups that hold every row of the table, by its configuration name; None for c-avg without k.

    codes: (m, d) leaf codes of the cells of the frequency set that was recoded.
    """
    low, high, size = recoding.low, recoding.high, recoding.size
    rows, total = problem.rows, sum(problem.weights, Fraction(0))
    glm = [column_loss(h, h.glm, low[:, j], high[:, j], size) for j, h in enumerate(problem.hierarchies)]
    groups, k = len(size), problem.k
    return {
        "gcp": recoding.loss,
        "distortion": _distortion(problem, codes, recoding),
        "glm": sum((w * part for w, part in zip(problem.weights, glm, strict=True)), Fraction(0)) / total / rows,
        "discernibility": Fraction(sum(n * n for n in size.tolist())),
        "c-avg": None if k is None else Fraction(rows, groups * k),
    }


def _distortion(problem: Problem, codes: np.ndarray, recoding: LocalRecoding) -> Fraction:
    done, root = Fraction(0), Fraction(0)
    for j, (h, rows) in enumerate(zip(problem.hierarchies, problem.leaf_rows, strict=True)):
        low, high = recoding.low[:, j], recoding.high[:, j]
        root += sum(int(n) * height for n, height in zip(rows, h.height[-1].numerators, strict=True))
        if h.numeric and h.levels == 2:
            # a range without a tree counts as much of its one step as it covers
            done += column_loss(h, h.ncp, low, high, recoding.size)
            continue
        level = node_levels(h, low, high)
        if h.numeric:
            level[covers_all(h, low, high)] = h.levels - 1
        done += _climbed(h, codes[recoding.cell, j], level[recoding.group], recoding.held)
    return done / root if root else Fraction(0)


def _climbed(h: Hierarchy, leaf: np.ndarray, level: np.ndarray, held: np.ndarray) -> int:
    """Sum over rows of the heights from their leaf to their level."""
    pairs, place = np.unique(np.stack([level, leaf], axis=1), axis=0, return_inverse=True)
    rows = np.zeros(len(pairs), np.int64)
    np.add.at(rows, place.ravel(), held)
    return sum(n * h.height[at].numerators[code] for (at, code), n in zip(pairs.tolist(), rows.tolist(), strict=True))
