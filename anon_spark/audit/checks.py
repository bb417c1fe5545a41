"""Each privacy model read again (METHODS 1): what to ask of a class, when it breaks the model, which figure is tightest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pyspark.sql import Column, Row
from pyspark.sql import functions as F

from anon_spark.audit.classes import SIZE, Cells
from anon_spark.audit.words import figure
from anon_spark.domain.counting import counted
from anon_spark.domain.policy import ModelSpec

_EXACT = "decimal(38, 0)"
_MOST_DIGITS = 18


class NotAuditableError(ValueError):
    """The audit can't judge a model as it is asked for; the text says why."""


@dataclass(frozen=True)
class Check:
    """One model over a table of classes.

    statistic: aggregate over the cells of a class, named ``name`` there (None: the size serves); breaks: whether a class breaks
    the model; tightness: what to sort by, worst class first; worst: aggregate over classes; read: its value -> the verdict's
    figure; told: what to say of one class beside its size.
    """

    spec: ModelSpec
    column: str | None
    name: str
    statistic: Column | None
    breaks: Column
    tightness: Column
    worst: Column
    read: Callable[[Any], int | Fraction | None]
    told: Callable[[Row], str]

    @property
    def title(self) -> str:
        """``alpha-deassociation (occupation, alpha = 0.5)``."""
        parts = [self.column] if self.column else []
        parts += [f"{key} = {figure(value)}" for key, value in self.spec.parameters.items() if value not in (None, False)]
        return f"{self.spec.model} ({', '.join(parts)})"

    @property
    def parameters(self) -> Mapping[str, object]:
        """As asked, the sensitive column among them."""
        return {"column": self.column, **self.spec.parameters} if self.column else dict(self.spec.parameters)


def check_of(spec: ModelSpec, column: str | None, cells: Cells | None, name: str) -> Check:
    """The check of a model. Raises NotAuditableError for models and parameters that the audit doesn't know."""
    kind = spec.parameters.get("kind") or "distinct"
    if spec.model == "k-anonymity":
        return _k_anonymity(spec, name)
    if cells is None or column is None:
        raise NotAuditableError("the audit does not know this model")
    if spec.model == "alpha-deassociation":
        return _alpha(spec, column, cells, name)
    if spec.model == "l-diversity" and kind == "distinct":
        return _distinct(spec, column, cells, name)
    if spec.model == "l-diversity" and kind == "frequency":
        return _frequency(spec, column, cells, name)
    raise NotAuditableError("the audit does not know this model")


def _k_anonymity(spec: ModelSpec, name: str) -> Check:
    """|E| >= k (METHODS 1.1)."""
    size, k = F.col(SIZE), _whole(spec, "k")
    return Check(spec, None, name, None, size < k, size.asc(), F.min(size), _same, lambda row: "")


def _alpha(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """|(E,s)| <= alpha |E| (METHODS 1.2), refined: <= ceil(alpha |E|), that is |(E,s)| - 1 < alpha |E| (METHODS 1.3)."""
    alpha = Fraction(str(spec.parameters["alpha"]))
    listed = spec.parameters.get("values")
    statistic = cells.largest(None if listed is None else [str(value) for value in _each(listed)])
    most, share = F.col(name).cast(_EXACT), F.col(SIZE).cast(_EXACT) * _digits(alpha.numerator)
    whole = _digits(alpha.denominator)
    breaks = (most - 1).cast(_EXACT) * whole >= share if spec.parameters.get("refined") else most * whole > share
    return _of_shares(spec, column, name, statistic, breaks)


def _frequency(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """max |(E,s)| <= |E| / l (METHODS 1.7)."""
    breaks = F.col(name).cast(_EXACT) * _digits(_whole(spec, "l")) > F.col(SIZE).cast(_EXACT)
    return _of_shares(spec, column, name, cells.largest(None), breaks)


def _distinct(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """At least l distinct values (METHODS 1.4)."""
    found = F.col(name)
    told = _teller(lambda row: counted(row[name], "value"))
    return Check(spec, column, name, cells.distinct(), found < _whole(spec, "l"), found.asc(), F.min(found), _same, told)


def _of_shares(spec: ModelSpec, column: str, name: str, statistic: Column, breaks: Column) -> Check:
    ratio = F.col(name).cast("double") / F.col(SIZE).cast("double")
    worst = F.max_by(F.struct(F.col(name).alias("most"), F.col(SIZE).alias("of")), ratio)
    told = _teller(lambda row: f"{row[name]} with one value")
    return Check(spec, column, name, statistic, breaks, ratio.desc(), worst, _fraction, told)


def _teller(tell: Callable[[Row], str]) -> Callable[[Row], str]:
    return lambda row: f", {tell(row)}"


def _same(value: Any) -> int | None:
    return None if value is None else int(value)


def _fraction(value: Any) -> Fraction | None:
    return None if value is None else Fraction(value["most"], value["of"])


def _whole(spec: ModelSpec, key: str) -> int:
    return int(str(spec.parameters[key]))


def _each(values: object) -> tuple[object, ...]:
    return tuple(values) if isinstance(values, (tuple, list, set, frozenset)) else (values,)


def _digits(number: int) -> Column:
    """An exact literal; with as many digits as leave room to be multiplied by any count of rows."""
    if len(str(number)) > _MOST_DIGITS:
        raise NotAuditableError(f"a parameter of more than {_MOST_DIGITS} digits can't be compared exactly")
    return F.lit(str(number)).cast(f"decimal({_MOST_DIGITS}, 0)")
