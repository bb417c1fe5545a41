"""What groups lose in sums that add up over any parts of them, exact (METHODS 2.1-2.7): for groups too many for one process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.problem import Problem
from anon_spark.metrics.box_cost import BoxColumn


@dataclass(frozen=True)
class BoxSums:
    """Of some groups: how many, rows of the smallest and of the largest, squares of their rows; ncp, glm: sums over rows, a column
    each; left: heights between the published nodes and the roots, so what distortion is less than at the root."""

    classes: int
    smallest: int
    largest: int
    squares: int
    ncp: tuple[Fraction, ...]
    glm: tuple[Fraction, ...]
    left: tuple[Fraction, ...]

    def plus(self, other: BoxSums) -> BoxSums:
        """Of both together."""
        return BoxSums(
            self.classes + other.classes,
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
            self.squares + other.squares,
            *(tuple(a + b for a, b in zip(x, y, strict=True)) for x, y in self._pairs(other)),
        )

    def text(self) -> str:
        """As text, numbers of any size exact."""
        whole = (str(n) for n in (self.classes, self.smallest, self.largest, self.squares))
        return ";".join([*whole, *(" ".join(map(str, column)) for column in (self.ncp, self.glm, self.left))])

    @classmethod
    def of_text(cls, text: str) -> BoxSums:
        """What ``text`` wrote."""
        *whole, ncp, glm, left = text.split(";")
        classes, smallest, largest, squares = map(int, whole)
        fractions = (tuple(map(Fraction, column.split())) for column in (ncp, glm, left))
        return cls(classes, smallest, largest, squares, *fractions)

    def _pairs(self, other: BoxSums) -> list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
        return [(self.ncp, other.ncp), (self.glm, other.glm), (self.left, other.left)]


def box_sums(hierarchies: Sequence[Hierarchy], low: np.ndarray, high: np.ndarray, size: np.ndarray) -> BoxSums:
    """low, high: (g, d) codes; size: (g,) rows; g >= 1."""
    columns = [BoxColumn(h, low[:, j], high[:, j], size) for j, h in enumerate(hierarchies)]
    return BoxSums(
        len(size),
        int(size.min()),
        int(size.max()),
        sum(n * n for n in size.tolist()),
        tuple(column.lost(h.ncp) for h, column in zip(hierarchies, columns, strict=True)),
        tuple(column.lost(h.glm) for h, column in zip(hierarchies, columns, strict=True)),
        tuple(column.left() for column in columns),
    )


def losses_of(problem: Problem, sums: BoxSums, suppressed: int = 0) -> tuple[dict[str, Fraction | None], tuple[Fraction, ...]]:
    """Every measure by its configuration name, and gcp's unweighted part of each column.

    sums: of groups that hold all rows but those suppressed, which lose 1 a column and climb to the root.
    """
    rows, weight = problem.rows, sum(problem.weights, Fraction(0))
    roots = [
        sum(int(n) * height for n, height in zip(leaf_rows, h.height[-1].numerators, strict=True))
        for h, leaf_rows in zip(problem.hierarchies, problem.leaf_rows, strict=True)
    ]
    root = Fraction(sum(roots))
    spent = sum((r - left for r, left in zip(roots, sums.left, strict=True)), Fraction(0))
    losses = {
        "gcp": (_weighted(problem, sums.ncp) / weight + suppressed) / rows,
        "distortion": spent / root if root else Fraction(0),
        "glm": (_weighted(problem, sums.glm) / weight + suppressed) / rows,
        "discernibility": Fraction(sums.squares + suppressed * rows),
        "c-avg": None if problem.k is None else Fraction(rows - suppressed, sums.classes * problem.k),
    }
    return losses, tuple((part + suppressed) / rows for part in sums.ncp)


def _weighted(problem: Problem, parts: Sequence[Fraction]) -> Fraction:
    return sum((w * part for w, part in zip(problem.weights, parts, strict=True)), Fraction(0))
