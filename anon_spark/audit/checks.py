"""Each privacy model read again (METHODS 1): what to ask of a class, when it breaks the model, which figure is tightest."""

from __future__ import annotations

from fractions import Fraction

from pyspark.sql import functions as F

from anon_spark.audit.check import EXACT, Check, NotAuditableError, digits, of_shares, same, teller, whole
from anon_spark.audit.classes import SIZE, Cells
from anon_spark.audit.diversity import entropy, recursive
from anon_spark.domain.counting import counted
from anon_spark.domain.policy import ModelSpec


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
    if spec.model == "l-diversity" and kind == "entropy":
        return entropy(spec, column, cells, name)
    if spec.model == "l-diversity" and kind == "recursive":
        return recursive(spec, column, cells, name)
    raise NotAuditableError("the audit does not know this model")


def _k_anonymity(spec: ModelSpec, name: str) -> Check:
    """|E| >= k (METHODS 1.1)."""
    size, k = F.col(SIZE), whole(spec, "k")
    return Check(spec, None, name, None, size < k, size.asc(), F.min(size), same, lambda row: "")


def _alpha(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """|(E,s)| <= alpha |E| (METHODS 1.2), refined: <= ceil(alpha |E|), that is |(E,s)| - 1 < alpha |E| (METHODS 1.3)."""
    alpha = Fraction(str(spec.parameters["alpha"]))
    listed = spec.parameters.get("values")
    statistic = cells.largest(None if listed is None else [str(value) for value in _each(listed)])
    most, share = F.col(name).cast(EXACT), F.col(SIZE).cast(EXACT) * digits(alpha.numerator)
    unit = digits(alpha.denominator)
    breaks = (most - 1).cast(EXACT) * unit >= share if spec.parameters.get("refined") else most * unit > share
    return of_shares(spec, column, name, statistic, breaks)


def _frequency(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """max |(E,s)| <= |E| / l (METHODS 1.7)."""
    breaks = F.col(name).cast(EXACT) * digits(whole(spec, "l")) > F.col(SIZE).cast(EXACT)
    return of_shares(spec, column, name, cells.largest(None), breaks)


def _distinct(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """At least l distinct values (METHODS 1.4)."""
    found = F.col(name)
    told = teller(lambda row: counted(row[name], "value"))
    return Check(spec, column, name, cells.distinct(), found < whole(spec, "l"), found.asc(), F.min(found), same, told)


def _each(values: object) -> tuple[object, ...]:
    return tuple(values) if isinstance(values, (tuple, list, set, frozenset)) else (values,)
