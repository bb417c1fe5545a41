"""alpha-deassociation (Wong, Li, Fu & Wang 2009, "(alpha, k)-anonymous data publishing", Definitions 4 and 5; METHODS 1.2, 1.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from anon_spark.models.base import Counted, Largest, Model, Size, Statistic, Whole
from anon_spark.models.wording import ceiling, decimal, left_over, named, share


@dataclass(frozen=True)
class AlphaDeassociation:
    """No listed sensitive value (None: no value at all) has more than alpha of a class's rows, alpha in (0, 1]."""

    column: str
    alpha: Fraction
    values: tuple[str | None, ...] | None = None
    name: ClassVar[str] = "alpha-deassociation"
    symbol: ClassVar[str] = "alpha"
    """What the share is called in messages."""
    union_closed: ClassVar[bool] = True
    survives_any_rows: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[Statistic, ...]:
        return (Size(), self.largest)

    @property
    def largest(self) -> Largest:
        """The statistic that alpha bounds."""
        return Largest(self.column, self.values)

    @property
    def factor(self) -> int:
        return self.alpha.denominator

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        return stats[self.largest] * self.alpha.denominator <= stats[Size()] * self.alpha.numerator

    @property
    def counted(self) -> Counted:
        return Counted(self.column, self.values)

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        """Rows above alpha of the class, summed over the values, in units of 1 / denominator."""
        return np.maximum(counts * self.alpha.denominator - size[..., None] * self.alpha.numerator, 0).sum(axis=-1)

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Lemma 1: unions keep the model, so it can hold iff the whole table, less the suppressed rows of the value, holds it."""
        value, count = whole.commonest(self.column, self.values)
        left = Fraction(count - may_suppress, whole.rows - may_suppress)
        if left <= self.alpha:
            return None
        return (
            f"{self.symbol} = {decimal(self.alpha)} is below {named(value)}'s share of the table{left_over(may_suppress)}, "
            f"{share(left, self.alpha)}: no anonymization exists; no smaller {self.symbol} than {ceiling(left)} can hold"
        )

    def tightest(self, whole: Whole) -> str:
        value, count = whole.commonest(self.column, self.values)
        if not count:
            return f"any {self.symbol}"
        return f"{self.symbol} from {ceiling(Fraction(count, whole.rows))}, the share of {named(value)}"

    @property
    def merged_under(self) -> Model:
        return self


@dataclass(frozen=True)
class RefinedAlphaDeassociation(AlphaDeassociation):
    """At most ceil(alpha * size) rows of a listed value. Unions do not keep it, whatever the paper's Lemma 2 says (METHODS 1)."""

    union_closed: ClassVar[bool] = False

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        """n <= ceil(x) is n - 1 < x for a whole n: no rounding needed."""
        return (stats[self.largest] - 1) * self.alpha.denominator < stats[Size()] * self.alpha.numerator

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        """As of plain alpha, above the next whole row: n - 1 < x is n * denominator - denominator + 1 <= x * denominator."""
        above = (counts - 1) * self.alpha.denominator + 1
        return np.maximum(above - size[..., None] * self.alpha.numerator, 0).sum(axis=-1)

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Never proven: a failing root proves nothing of a model that unions do not keep."""
        return None

    def tightest(self, whole: Whole) -> str:
        count = whole.commonest(self.column, self.values)[1]
        return f"alpha from {ceiling(Fraction(count, whole.rows))} for sure; below it nothing is known before the search"

    @property
    def merged_under(self) -> Model:
        """Plain alpha."""
        return AlphaDeassociation(self.column, self.alpha, self.values)
