"""Entropy and recursive l-diversity (Machanavajjhala et al. 2007; METHODS 1.5, 1.6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log
from typing import ClassVar

import numpy as np

from anon_spark.models.base import Whole
from anon_spark.models.histogram import ClassHistograms, HistogramModel, Known, scaled, whole, wide
from anon_spark.models.wording import ceiling, decimal, left_over, named

TOLERANCE = 1e-9
"""Of an entropy, relative: a uniform class of l values holds entropy l, however the logarithms were rounded."""


@dataclass(frozen=True)
class EntropyLDiversity(HistogramModel):
    """The entropy of the counted values of every class is at least log(l), l >= 1. A class without any has none, and does not hold."""

    known: Known
    l: Fraction  # noqa: E741
    name: ClassVar[str] = "l-diversity"

    def shortfall(self, found: ClassHistograms) -> np.ndarray:
        rows = found.counted
        logs = found.count * np.log(found.count)
        entropy = np.log(np.maximum(rows, 1)) - found.summed(logs) / np.maximum(rows, 1)
        short = np.where(rows > 0, log(self.l) - entropy, log(self.l) + 1)
        return scaled(short, (short > TOLERANCE * log(self.l)) & (self.l > 1) | (rows == 0))

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Entropy is concave, so unions keep it. Suppression gains most where it takes the commonest values' rows (``levelled``)."""
        counts = whole.counts[self.column]
        best = effective(levelled(counts.values(), may_suppress)) if counts else 0.0
        if best and best >= float(self.l) * (1 - 1e-6):
            return None
        value, _ = whole.commonest(self.column)
        return (
            f"l = {decimal(self.l)} by entropy is above {best:.4g}, what {self.column} has in the table{left_over(may_suppress)}, where "
            f"{named(value)} is commonest: no anonymization exists; no larger l than {_floor(best)} can hold"
        )

    def tightest(self, whole: Whole) -> str:
        return f"l by entropy up to {_floor(effective([float(n) for n in whole.counts[self.column].values()]))}"


@dataclass(frozen=True)
class RecursiveLDiversity(HistogramModel):
    """r_1 < c * (r_l + ... + r_m), r the counts of a class's values, largest first; c > 0, l >= 1."""

    known: Known
    l: int  # noqa: E741
    c: Fraction
    name: ClassVar[str] = "l-diversity"

    def shortfall(self, found: ClassHistograms) -> np.ndarray:
        order = np.lexsort((-found.count, found.of))
        count, of = found.count[order], found.of[order]
        first = np.zeros(len(found.size), np.int64)
        first[of[found.starts]] = found.starts
        rare = np.arange(len(of)) - first[of] >= self.l - 1
        tail = found.summed(np.where(rare, count, 0))
        a, b = self.c.numerator, self.c.denominator
        bound = 2 * (a + b) * max(self.known.rows, 1)
        return whole(np.maximum(wide(found.most(count), bound) * b - wide(tail, bound) * a + 1, 0))

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Unions keep it; suppression gains most where it takes the commonest values' rows (``levelled``)."""
        counts = whole.counts[self.column]
        left = sorted((Fraction(n) for n in levelled(counts.values(), may_suppress)), reverse=True)
        tail = sum(left[self.l - 1 :], Fraction(0))
        if left and left[0] < self.c * tail:
            return None
        value, _ = whole.commonest(self.column)
        most = left[0] if left else Fraction(0)
        told = (
            f"recursive (c, l) = ({decimal(self.c)}, {self.l}) asks that the commonest value of {self.column}, {named(value)}, has fewer "
            f"than {decimal(self.c)} times the rows of all but the {self.l - 1} commonest{left_over(may_suppress)}, and it has "
            f"{decimal(most)} to {decimal(tail)}: no anonymization exists; "
        )
        return told + (f"c must be above {ceiling(most / tail)} for this l" if tail else f"l is above the {len(left)} distinct values")

    def tightest(self, whole: Whole) -> str:
        left = sorted(whole.counts[self.column].values(), reverse=True)
        tail = sum(left[self.l - 1 :])
        return f"c above {ceiling(Fraction(left[0], tail))} for l = {self.l}" if tail else f"l up to {len(left)}"


def levelled(counts: Iterable[int], rows: int) -> list[Fraction]:
    """The counts once ``rows`` rows, in parts if need be, are taken from whichever is largest.

    No way to take up to so many whole rows leaves a histogram of more entropy, or one whose commonest value has a smaller share of
    the rarer ones: a bound for what suppression can do.
    """
    left = sorted((Fraction(n) for n in counts), reverse=True)
    taken = Fraction(rows)
    for place in range(1, len(left) + 1):
        lower = left[place] if place < len(left) else Fraction(0)
        if (left[0] - lower) * place >= taken:
            cap = left[0] - taken / place
            return [min(n, cap) for n in left]
        taken -= (left[0] - lower) * place
        left[:place] = [lower] * place
    return left


def effective(counts: Iterable[Fraction | float]) -> float:
    """The number of equally common values of the same entropy: exp of it; 0 of nothing."""
    shares = np.array([float(n) for n in counts if n > 0])
    if not len(shares):
        return 0.0
    shares /= shares.sum()
    return exp(float(-(shares * np.log(shares)).sum()))


def _floor(value: float) -> str:
    """Four decimals, rounded down; a whole number that lies within rounding is it."""
    near = round(value)
    return str(near) if abs(value - near) < 1e-9 * max(value, 1) else decimal(Fraction(int(value * 10_000), 10_000))
