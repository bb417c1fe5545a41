"""Confidence bounding (Wang, Fung & Yu 2005; METHODS 1.14): a template <given -> value, h>."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from anon_spark.models.alpha_deassociation import AlphaDeassociation
from anon_spark.models.base import Whole
from anon_spark.models.wording import ceiling, decimal, left_over, share


@dataclass(frozen=True)
class ConfidenceBound(AlphaDeassociation):
    """The value has at most h of the rows of every class of the columns ``given``.

    Of full classes it is alpha-deassociation of one value. Where ``given`` are some of the quasi-identifiers, a lattice job asks it of
    the classes that these alone make (``algorithms.templates``); a local job asks it of every full class, which is more.
    """

    given: tuple[str, ...] = ()
    name: ClassVar[str] = "confidence-bound"

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Lemma 1, as of alpha."""
        value, count = self._commonest(whole)
        left = Fraction(count - may_suppress, whole.rows - may_suppress)
        if left <= self.alpha:
            return None
        return (
            f"h = {decimal(self.alpha)} is below {value}'s share of the table{left_over(may_suppress)}, {share(left, self.alpha)}: no "
            f"anonymization exists; the smallest h that can hold is {ceiling(left)}"
        )

    def tightest(self, whole: Whole) -> str:
        value, count = self._commonest(whole)
        return f"h from {ceiling(Fraction(count, max(whole.rows, 1)))}, the share of {value}"
