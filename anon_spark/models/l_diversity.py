"""l-diversity: distinct (Machanavajjhala et al. 2007; METHODS 1.4) and by frequency (Xiao & Tao 2006; METHODS 1.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from anon_spark.models.base import Counted, Distinct, Largest, Model, Size, Statistic, Whole
from anon_spark.models.wording import decimal, left_over, named, share


@dataclass(frozen=True)
class DistinctLDiversity:
    """Every class has at least l distinct sensitive values, l >= 1."""

    column: str
    l: int
    name: ClassVar[str] = "l-diversity"
    union_closed: ClassVar[bool] = True
    survives_any_rows: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[Statistic, ...]:
        return (Distinct(self.column),)

    @property
    def factor(self) -> int:
        return self.l

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        return stats[Distinct(self.column)] >= self.l

    @property
    def counted(self) -> Counted:
        return Counted(self.column)

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        """Values that are missing."""
        return np.maximum(self.l - (counts > 0).sum(axis=-1), 0)

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Suppression adds no value."""
        found = len(whole.counts[self.column])
        if found >= self.l:
            return None
        return (
            f"l = {self.l} is above the {found} distinct values of {self.column} in the table: no anonymization exists; "
            f"no larger l than {found} can hold"
        )

    def tightest(self, whole: Whole) -> str:
        return f"l up to {len(whole.counts[self.column]):,}"

    @property
    def merged_under(self) -> Model:
        return self


@dataclass(frozen=True)
class FrequencyLDiversity:
    """No sensitive value has more than 1 / l of a class's rows, l >= 1."""

    column: str
    l: Fraction | int
    name: ClassVar[str] = "l-diversity"
    union_closed: ClassVar[bool] = True
    survives_any_rows: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[Statistic, ...]:
        return (Size(), Largest(self.column))

    @property
    def factor(self) -> int:
        return self.l.numerator

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        return stats[Largest(self.column)] * self.l.numerator <= stats[Size()] * self.l.denominator

    @property
    def counted(self) -> Counted:
        return Counted(self.column)

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        """l times the rows of each value, as far as they are more than all rows, summed over the values, in units of 1 / denominator."""
        return np.maximum(counts * self.l.numerator - size[..., None] * self.l.denominator, 0).sum(axis=-1)

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Eligible iff the commonest value has at most n / l of the rows that stay (Xiao & Tao 2006)."""
        value, count = whole.commonest(self.column)
        left = Fraction(count - may_suppress, whole.rows - may_suppress)
        if left * self.l <= 1:
            return None
        asked = decimal(Fraction(self.l))
        return (
            f"l = {asked} asks that no value of {self.column} has more than 1 / {asked} of the rows, but {named(value)}'s share of "
            f"the table{left_over(may_suppress)} is {share(left, 1 / Fraction(self.l))}: no anonymization exists; the largest whole l that "
            f"can hold is {int(1 / left)}"
        )

    def tightest(self, whole: Whole) -> str:
        value, count = whole.commonest(self.column)
        return f"l up to {whole.rows // count:,}, for {named(value)}" if count else "any l"

    @property
    def merged_under(self) -> Model:
        return self
