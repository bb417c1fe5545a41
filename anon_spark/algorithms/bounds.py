"""Lower bounds of a node's loss, known before the node is checked: the order in which nodes are costed (METHODS 3.1)."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from anon_spark.algorithms.checker import Verdict
from anon_spark.algorithms.node_space import NodeSpace, along
from anon_spark.domain.problem import Problem
from anon_spark.metrics.losses import LossTable

WIDEST = 2**62


class LossBounds:
    """A whole number a node, in the order of its bound; ``bound`` turns it into the bound. What is learnt of a node only raises it.

    gcp, distortion, glm: the loss without suppression, since a suppressed row costs no less than any published one.
    discernibility: squares add up to no less at a more general node, and a suppressed row costs n, no less than in its class.
    c-avg: the rows that must be published, over the classes of the most favourable more specific node.
    """

    def __init__(self, problem: Problem, table: LossTable, space: NodeSpace):
        self.problem = problem
        self.space = space
        self.unit = Fraction(1)
        self.known = problem.loss in ("gcp", "distortion", "glm")
        self.numbers = self._summed(table) if self.known else self._start()

    def bound(self, number: int) -> Fraction:
        """The bound that a number stands for."""
        if self.problem.loss != "c-avg":
            return number * self.unit
        return Fraction(self.problem.rows - self.problem.may_suppress, -number) / (self.problem.k or 1)

    def learn(self, place: int, verdict: Verdict) -> None:
        """Raise the bounds of a checked node's generalizations; its failing rows make at least one and at most as many classes."""
        if self.known:
            return
        number = (
            verdict.squares + verdict.failing if self.problem.loss == "discernibility" else -(verdict.classes + verdict.failing)
        )
        part = self.numbers[self.space.above(place)]
        np.maximum(part, number, out=part)

    def _start(self) -> np.ndarray:
        rows = self.problem.rows
        wide = rows * rows >= WIDEST
        first = rows if self.problem.loss == "discernibility" else -rows
        return np.full(self.space.shape, first, dtype=object if wide else np.int64)

    def _summed(self, table: LossTable) -> np.ndarray:
        loss, space = self.problem.loss, self.space
        parts = [
            table.parts(loss, i, range(low, high + 1)) for i, (low, high) in enumerate(zip(space.low, space.high, strict=True))
        ]
        scale = lcm(*(part.denominator for column in parts for part in column))
        whole = [[int(part * scale) for part in column] for column in parts]
        self.unit = Fraction(1, scale)
        wide = sum(max(column) for column in whole) >= WIDEST
        numbers = np.zeros(space.shape, dtype=object if wide else np.int64)
        for axis, column in enumerate(space.free):
            numbers = numbers + along(np.array(whole[column], dtype=numbers.dtype), axis, space.shape)
        fixed = sum(column[0] for i, column in enumerate(whole) if i not in space.free)
        return numbers + fixed
