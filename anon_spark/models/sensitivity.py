"""Models over levels of sensitivity: (epsilon,k)-sensitivity (Xie 2015; METHODS 1.11), (l,alpha)-diversity (Sun 2011; 1.12) and
(lambda*alpha,k)-anonymity (Gui & Cheng 2013; 1.13). Their parts that are k-anonymity and distinct l-diversity stand beside them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import ClassVar

import numpy as np

from anon_spark.models.base import Whole
from anon_spark.models.histogram import ClassHistograms, HistogramModel, Known, whole, wide
from anon_spark.models.levels import Graded
from anon_spark.models.wording import ceiling, decimal, left_over, named, share


class GradedModel(HistogramModel):
    """Bound to the levels of a column's values."""

    levels: Graded

    @property
    def known(self) -> Known:  # type: ignore[override]
        return self.levels.known


@dataclass(frozen=True)
class EpsilonSensitivity(GradedModel):
    """Of each row, of sensitivity D: the class's rows whose sensitivity is within epsilon of it number at most
    max(1, ceil((1 - D) * size)). k: beside it, of k-anonymity. Unions do not keep it, and no such model is known that implies it."""

    levels: Graded
    epsilon: Fraction
    k: int
    name: ClassVar[str] = "epsilon-k-sensitivity"
    union_closed: ClassVar[bool] = False

    @cached_property
    def window(self) -> tuple[np.ndarray, np.ndarray]:
        """(m + 1,) first and last level within epsilon of each level."""
        line = self.levels.sensitivity
        near = [[j + 1 for j, other in enumerate(line) if abs(one - other) <= self.epsilon] for one in line]
        return np.array([0, *(some[0] for some in near)]), np.array([0, *(some[-1] for some in near)])

    def shortfall(self, found: ClassHistograms) -> np.ndarray:
        """n <= ceil(x) is n - 1 < x for whole n: no rounding needed."""
        width, unit = len(self.levels.sensitivity) + 1, self.levels.unit
        keys, place = np.unique(found.of * width + self.levels.level[found.number], return_inverse=True)
        count = np.zeros(len(keys), np.int64)
        np.add.at(count, place.ravel(), found.count)
        of, level, sums = keys // width, keys % width, np.r_[0, np.cumsum(count)]
        low, high = self.window
        near = sums[np.searchsorted(keys, of * width + high[level], "right")] - sums[np.searchsorted(keys, of * width + low[level])]
        bound = 4 * unit * max(self.levels.rows, 1)
        left = wide(np.asarray(unit - self.levels.scaled[level]), bound)
        over = wide(near - 1, bound) * unit - left * found.size[of] + 1
        pooled = ClassHistograms(found.size, of, level, count)
        return whole(pooled.summed(np.where(near > 1, np.maximum(over, 0), 0)))

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """At most (1 - D) * size + 1 rows a class, and at most rows / k classes: a bound for any way to make classes."""
        for level, near, most in self._limits():
            if near - may_suppress > most:
                return (
                    f"(epsilon, k) = ({decimal(self.epsilon)}, {self.k}): of rows within epsilon of level {level} ({self._some(level)}) "
                    f"classes of {self.k} rows can hold {int(most):,}, and the table has {near:,}{left_over(may_suppress)}: no "
                    f"anonymization exists"
                )
        return None

    def tightest(self, whole: Whole) -> str:
        rows = self.levels.rows
        most = [Fraction(rows) / left for level, near, _ in self._limits() if (left := near - self._share(level) * rows) > 0]
        return f"k up to {int(min(most)):,} at most; what holds is not known before the search" if most else "nothing is known"

    def _limits(self) -> list[tuple[int, int, Fraction]]:
        """Level, rows of the table within epsilon of it, and how many of them any classes can hold."""
        low, high = self.window
        classes, rows = self.levels.rows // self.k, self.levels.rows
        found = []
        for level in range(1, len(self.levels.sensitivity) + 1):
            near = int(self.levels.table[low[level] : high[level] + 1].sum())
            if self.levels.table[level]:
                found.append((level, near, self._share(level) * rows + classes))
        return found

    def _share(self, level: int) -> Fraction:
        return 1 - self.levels.sensitivity[level - 1]

    def _some(self, level: int) -> str:
        texts = [named(self.known.texts[number]) for number in np.flatnonzero(self.levels.level == level)[:3]]
        return ", ".join(texts) + (", ..." if (self.levels.level == level).sum() > 3 else "")


@dataclass(frozen=True)
class WeightedRows(GradedModel):
    """The sum over the class's rows of 1 - D is at least alpha; the most sensitive level weighs nothing."""

    levels: Graded
    alpha: Fraction
    name: ClassVar[str] = "l-alpha-diversity"
    survives_any_rows: ClassVar[bool] = True

    def shortfall(self, found: ClassHistograms) -> np.ndarray:
        a, b, unit = self.alpha.numerator, self.alpha.denominator, self.levels.unit
        bound = 2 * unit * b * max(self.levels.rows, 1) + 2 * a * unit
        weight = wide(np.asarray(unit - self.levels.scaled[self.levels.level[found.number]]), bound)
        return whole(np.maximum(a * unit - found.summed(weight * found.count) * b, 0))

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Suppression only takes weight away."""
        weight = self._weight()
        if weight >= self.alpha:
            return None
        return (
            f"alpha = {decimal(self.alpha)} is above what the rows of the whole table weigh, {decimal(weight)}: no anonymization exists; "
            f"no larger alpha than {decimal(weight)} can hold"
        )

    def tightest(self, whole: Whole) -> str:
        return f"alpha up to {decimal(self._weight())}"

    def _weight(self) -> Fraction:
        pairs = zip(self.levels.table[1:].tolist(), self.levels.sensitivity, strict=True)
        return sum((rows * (1 - one) for rows, one in pairs), Fraction(0))


@dataclass(frozen=True)
class LevelShares(GradedModel):
    """No value has more than its level's share, lambda * alpha, of the class's rows.  shares: of levels 1 to m."""

    levels: Graded
    alpha: Fraction
    shares: tuple[Fraction, ...]
    name: ClassVar[str] = "lambda-alpha-k"

    def shortfall(self, found: ClassHistograms) -> np.ndarray:
        unit = lcm(*(one.denominator for one in self.shares))
        caps = [int(one * unit) for one in self.shares]
        bound = 2 * max(unit, *caps) * max(self.levels.rows, 1)
        most = np.array([0, *caps], object if bound >= 2**62 else np.int64)
        over = wide(found.count, bound) * unit - most[self.levels.level[found.number]] * found.size[found.of]
        return whole(found.summed(np.maximum(over, 0)))

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Lemma 1: unions keep it; suppression may take rows of the value alone."""
        value, count, level = self._worst()
        if not count:
            return None
        left, most = Fraction(count - may_suppress, whole.rows - may_suppress), self.shares[level - 1]
        if left <= most:
            return None
        return (
            f"lambda * alpha = {decimal(most)} of level {level} is below {named(value)}'s share of the table{left_over(may_suppress)}, "
            f"{share(left, most)}: no anonymization exists; no smaller alpha than {ceiling(self.alpha * left / most)} can hold"
        )

    def tightest(self, whole: Whole) -> str:
        value, count, level = self._worst()
        least = self.alpha * Fraction(count, max(whole.rows, 1)) / self.shares[level - 1]
        return f"alpha from {ceiling(least)} at these lambdas, the share of {named(value)}"

    def _worst(self) -> tuple[str | None, int, int]:
        """The value whose rows are most for its level, its rows and its level."""
        numbers = [number for number in range(len(self.known.texts)) if self.known.totals[number]]
        if not numbers:
            return None, 0, 1
        key = {n: Fraction(int(self.known.totals[n])) / self.shares[int(self.levels.level[n]) - 1] for n in numbers}
        worst = max(numbers, key=lambda n: key[n])
        return self.known.texts[worst], int(self.known.totals[worst]), int(self.levels.level[worst])
