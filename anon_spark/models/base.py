"""The contract of a privacy model: statistics that add up, a verdict that is plain arithmetic on them.

``holds`` uses only arithmetic and comparison operators, so one definition serves NumPy arrays (in the driver process, in kernels)
and Spark Columns (in grouped aggregations) without importing either. The audit shares none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from anon_spark.models.histogram import HistogramModel


@dataclass(frozen=True)
class Size:
    """Rows of the class."""


@dataclass(frozen=True)
class Largest:
    """The largest number of rows of the class that share one of the listed sensitive values (None = every value); 0 if none occurs."""

    column: str
    values: tuple[str | None, ...] | None = None


@dataclass(frozen=True)
class Distinct:
    """The number of distinct sensitive values in the class."""

    column: str


@dataclass(frozen=True)
class Judged:
    """1 where the class's whole histogram breaks the model, which judges it itself (``models.histogram``), else 0."""

    model: HistogramModel

    @property
    def column(self) -> str:
        """The sensitive column whose histogram is judged."""
        return self.model.column


@dataclass(frozen=True)
class Persons:
    """The number of distinct persons in the class; each row without an id is a person of its own."""


@dataclass(frozen=True)
class LargestPersons:
    """The largest number of persons of the class who have one of the listed sensitive values (None = every value); 0 if none occurs."""

    column: str
    values: tuple[str | None, ...] | None = None


Statistic = Size | Largest | Distinct | Judged | Persons | LargestPersons


@dataclass(frozen=True)
class Counted:
    """Which rows a model counts: those of each listed sensitive value of a column (None = every value, ignored nulls left out).

    among: what it compares them with in place of all rows of the class: those that are counted so.
    """

    column: str
    values: tuple[str | None, ...] | None = None
    among: Counted | None = None


@dataclass(frozen=True)
class Whole:
    """The whole table as one class: rows, and each sensitive column's counts by value text (ignored nulls left out).

    persons: how many there are, where models count them; counts are persons then.
    """

    rows: int
    counts: Mapping[str, Mapping[str | None, int]]
    persons: int | None = None

    def commonest(self, column: str, listed: tuple[str | None, ...] | None = None) -> tuple[str | None, int]:
        """The value of most rows, and these; of some values alone where they are listed. None and 0 where there is no value."""
        counts = self.counts[column]
        some = counts if listed is None else {value: counts.get(value, 0) for value in listed}
        return max(some.items(), key=lambda item: (item[1], str(item[0])), default=(None, 0))


class Model(Protocol):
    """A predicate on one class (METHODS 1).

    union_closed: the union of two classes that hold must hold. survives_any_rows: a class that holds still holds when any rows are
    added (then it may prune beside a suppression limit).
    """

    name: ClassVar[str]
    union_closed: ClassVar[bool]
    survives_any_rows: ClassVar[bool]

    @property
    def reads(self) -> tuple[Statistic, ...]:
        """The statistics that ``holds`` is given."""
        ...

    @property
    def factor(self) -> int:
        """The largest integer that ``holds`` multiplies a statistic by or compares it with: how wide the arithmetic must be."""
        ...

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        """Whether classes hold: (g,) bool for (g,) integer arrays, a boolean Column for Columns."""
        ...

    @property
    def counted(self) -> Counted | None:
        """The histogram that ``excess`` is given; None where it reads sizes alone."""
        ...

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        """How far groups are from holding, in whole numbers: 0 where they hold, else more the more rows stand in the way.

        size: (g,) rows, all or those ``Counted.among``, counts: (g, v) rows of each counted value, integers; numbers: (v,) which value
        each column of counts is, ascending. It may be of any scale, which is the model's own; what matters is that the step of one row
        that leads to holding lowers it, and that it is 0 exactly where ``holds`` is true.
        """
        ...

    @property
    def merged_under(self) -> Model:
        """What groups are merged for where rows that change places could not mend them: a model that implies this one and that unions
        keep; the model itself where it is so kept, or where there is no such model."""
        ...

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """One sentence with the figures where no release of this table can hold (Lemma 1), else None."""
        ...

    def tightest(self, whole: Whole) -> str:
        """The tightest parameter that can hold on this table without suppression, in a few words."""
        ...


def exact(value: object) -> Fraction:
    """A configured number as the decimal it was written as: 0.1 is 1/10."""
    return value if isinstance(value, Fraction) else Fraction(str(value))
