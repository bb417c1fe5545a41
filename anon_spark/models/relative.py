"""Models of each value's share relative to the table's: delta-disclosure privacy (Brickell & Shmatikov 2008; METHODS 1.9) and
beta-likeness (Cao & Karras 2012; METHODS 1.10)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_spark.models.base import Model, Whole
from anon_spark.models.histogram import SCALE, WIDEST, ClassHistograms, HistogramModel, Known, scaled

CLOSE = 1e-6
"""Shares of tables too large for int64 are compared in floating point unless they are so near to their bound."""


class Relative(HistogramModel):
    """What they share: the whole table as one class holds them."""

    known: Known

    def ratio(self, found: ClassHistograms) -> np.ndarray:
        """(c,) share of each cell's value in its class over its share of the table."""
        share = found.count / found.counted[found.of]
        return np.asarray(share / (self.known.totals[found.number] / max(self.known.counted, 1)))

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Never: the shares of the whole table are the table's."""
        return None


@dataclass(frozen=True)
class DeltaDisclosure(Relative):
    """|log(p_E(s) / p_T(s))| < delta for every value s that occurs in the class.

    delta is rational and the logarithm of a ratio other than 1 is not, so they are never equal: floating point tells them apart but
    for its own rounding, which the audit forgives up to a relative 1e-9.
    """

    known: Known
    delta: Fraction
    name: ClassVar[str] = "delta-disclosure"
    union_closed: ClassVar[bool] = False

    def shortfall(self, found: ClassHistograms) -> np.ndarray:
        over = np.abs(np.log(self.ratio(found))) - float(self.delta)
        return found.summed(scaled(over, over >= 0))

    def tightest(self, whole: Whole) -> str:
        return "delta above 0, which the whole table as one class has"

    @property
    def merged_under(self) -> Model:
        """The same of every value of the table, absent ones too: that implies it, unions keep it, and the whole table holds it."""
        return EveryValueDisclosure(self.known, self.delta)


@dataclass(frozen=True)
class EveryValueDisclosure(DeltaDisclosure):
    """Every value of the table occurs in the class, and its share differs by less than delta."""

    union_closed: ClassVar[bool] = True

    def shortfall(self, found: ClassHistograms) -> np.ndarray:
        absent = int((self.known.totals > 0).sum()) - found.summed(np.ones(len(found.of), np.int64))
        return super().shortfall(found) + absent * SCALE

    @property
    def merged_under(self) -> Model:
        return self


@dataclass(frozen=True)
class BetaLikeness(Relative):
    """(p_E(s) - p_T(s)) / p_T(s) <= beta for every value s, enhanced: <= min(beta, -ln p_T(s)), where the class's share is larger.

    beta is compared exactly; a logarithm is never equal to what it is compared with (``DeltaDisclosure``).
    """

    known: Known
    beta: Fraction
    enhanced: bool = False
    name: ClassVar[str] = "beta-likeness"

    def shortfall(self, found: ClassHistograms) -> np.ndarray:
        share = self.known.totals[found.number] / max(self.known.counted, 1)
        cap = np.full(len(share), float(self.beta))
        if self.enhanced:
            cap = np.minimum(cap, -np.log(share))
        over = self.ratio(found) - 1 - cap
        breaks = np.where(cap < float(self.beta), over > 0, self._above(found, over))
        return found.summed(scaled(over * share * found.counted[found.of], breaks))

    def _above(self, found: ClassHistograms, over: np.ndarray) -> np.ndarray:
        """(c,) bool: c * N / (n * T) - 1 > beta, exactly."""
        a, b, rows = self.beta.numerator, self.beta.denominator, self.known.counted
        lines = (found.count, found.counted[found.of], self.known.totals[found.number])
        if rows * rows * (a + b) < WIDEST:
            count, size, total = lines
            return np.asarray(count * (rows * b) > size * total * (a + b), bool)
        breaks, near = over > 0, np.flatnonzero(np.abs(over) < CLOSE)
        count, size, total = (line[near].astype(object) for line in lines)
        breaks[near] = (count * (rows * b) > size * total * (a + b)).astype(bool)
        return np.asarray(breaks, bool)

    def tightest(self, whole: Whole) -> str:
        return "any beta, which the whole table as one class has"
