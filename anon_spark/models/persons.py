"""Models over persons, of whom a table may hold several rows (METHODS 1.17).

In a lattice all counts are exact. Local jobs count one row of each person: a class has no fewer persons than it has such rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import InternalError
from anon_spark.domain.problem import COUNTED_TEXT, GIVEN
from anon_spark.models.alpha_deassociation import AlphaDeassociation, RefinedAlphaDeassociation
from anon_spark.models.base import Counted, Largest, LargestPersons, Model, Persons, Statistic, Whole
from anon_spark.models.k_anonymity import KAnonymity
from anon_spark.models.wording import ceiling, named

EACH = Counted(GIVEN, (COUNTED_TEXT,))
"""Rows that stand for a person."""
GIVEN_PERSONS = Largest(EACH.column, EACH.values)
"""How many of them a class has."""


@dataclass(frozen=True)
class PersonAnonymity(KAnonymity):
    """Every class has at least k persons, k >= 1."""

    @property
    def reads(self) -> tuple[Statistic, ...]:
        return (Persons(),)

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        return stats[Persons()] >= self.k

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        raise InternalError("persons do not add up when groups are pooled: no group is mended by them")

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Suppression only takes persons away."""
        persons = whole.persons or 0
        return f"{counted(persons, 'person')} < k = {self.k:,}: ask for a smaller k" if persons < self.k else None

    def tightest(self, whole: Whole) -> str:
        return f"k up to {whole.persons or 0:,} persons"


@dataclass(frozen=True)
class GivenPersons(PersonAnonymity):
    """Every class has at least k rows that stand for a person each; whether it has more persons than these is not known."""

    @property
    def reads(self) -> tuple[Statistic, ...]:
        return (GIVEN_PERSONS,)

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        return stats[GIVEN_PERSONS] >= self.k

    @property
    def counted(self) -> Counted:
        return EACH

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        """Persons that are missing."""
        return np.maximum(self.k - counts.sum(axis=-1), 0)


@dataclass(frozen=True)
class PersonShare:
    """At most alpha of a class's persons have a listed sensitive value (None: any one value); refined: at most ceil(alpha * persons).

    Unions do not keep it: a person with the value may be in both classes, another without it too. So it neither prunes nor is it ever
    proven to be out of reach by the whole table alone.
    """

    column: str
    alpha: Fraction
    values: tuple[str | None, ...] | None = None
    refined: bool = False
    given: tuple[str, ...] | None = None
    """Quasi-identifiers whose classes it is asked of; None for all."""
    name: ClassVar[str] = "share of persons"
    union_closed: ClassVar[bool] = False
    survives_any_rows: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[Statistic, ...]:
        return (Persons(), self.largest)

    @property
    def largest(self) -> LargestPersons:
        """The statistic that alpha bounds."""
        return LargestPersons(self.column, self.values)

    @property
    def factor(self) -> int:
        return max(self.alpha.denominator, self.alpha.numerator)

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        """n <= ceil(x) is n - 1 < x for a whole n: no rounding needed."""
        most, persons = stats[self.largest], stats[Persons()]
        if self.refined:
            return (most - 1) * self.alpha.denominator < persons * self.alpha.numerator
        return most * self.alpha.denominator <= persons * self.alpha.numerator

    @property
    def counted(self) -> Counted | None:
        return None

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        raise InternalError("persons do not add up when groups are pooled: no group is mended by them")

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Never proven before the search."""
        return None

    def tightest(self, whole: Whole) -> str:
        told = _commonest(whole, self.column, self.values)
        return f"a share from {told[1]} of the persons for sure; below it nothing is known before the search" if told else "any share"

    @property
    def merged_under(self) -> Model:
        return self


@dataclass(frozen=True)
class GivenShare(AlphaDeassociation):
    """At most alpha times the rows that stand for a person have a listed value: no fewer persons than these, no more with the value than
    rows. Both add up, so that unions keep it, however rows of one combination are dealt to groups; a class that breaks it may still hold
    in persons."""

    @property
    def reads(self) -> tuple[Statistic, ...]:
        return (GIVEN_PERSONS, self.largest)

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        return stats[self.largest] * self.alpha.denominator <= stats[GIVEN_PERSONS] * self.alpha.numerator

    @property
    def counted(self) -> Counted:
        return Counted(self.column, self.values, EACH)

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Never proven: what breaks a bound may hold."""
        return None

    def tightest(self, whole: Whole) -> str:
        told = _commonest(whole, self.column, self.values)
        if told is None:
            return "any share"
        return f"{told[0]} is had by {told[1]} of the persons; which share can be found is not known before the search"


@dataclass(frozen=True)
class RefinedGivenShare(GivenShare):
    """At most ceil(alpha * rows that stand for a person). Unions do not keep it (METHODS 1)."""

    union_closed: ClassVar[bool] = False

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        return (stats[self.largest] - 1) * self.alpha.denominator < stats[GIVEN_PERSONS] * self.alpha.numerator

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        return RefinedAlphaDeassociation(self.column, self.alpha).excess(size, counts, numbers)

    @property
    def merged_under(self) -> Model:
        """The plain share."""
        return GivenShare(self.column, self.alpha, self.values)


def _commonest(whole: Whole, column: str, values: tuple[str | None, ...] | None) -> tuple[str, str] | None:
    """The commonest of the values and the share of all persons that have it, as messages tell them; None where none has any."""
    value, count = whole.commonest(column, values)
    return (named(value), ceiling(Fraction(count, whole.persons))) if count and whole.persons else None
