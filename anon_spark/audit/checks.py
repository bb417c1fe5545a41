"""Each privacy model read again (METHODS 1): what to ask of a class, when it breaks the model, which figure is tightest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from anon_spark.audit.check import EXACT, Check, NotAuditableError, digits, fraction, of_shares, same, teller, whole
from anon_spark.audit.classes import COUNTED, ROWS, VALUE, WHICH, Cells
from anon_spark.audit.distances import beta, closeness, delta
from anon_spark.audit.diversity import entropy, recursive
from anon_spark.audit.levels import epsilon_k, l_alpha, lambda_alpha_k
from anon_spark.audit.table import Known, unknown
from anon_spark.domain.counting import counted
from anon_spark.domain.policy import ModelSpec


def check_of(
    spec: ModelSpec, column: str | None, cells: Cells | None, name: str, known: Callable[[], Known] = unknown, where: str = "",
    given: Sequence[int] | None = None,
) -> Check:  # fmt: skip
    """The check of a model.  known: the table's distribution of the column, asked for only where the model compares classes with it;
    where: the configuration, for messages; given: the places of the labels whose classes a confidence bound is asked of, None for all.

    Raises NotAuditableError for models and parameters that the audit doesn't know, and where a distribution is not known.
    """
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
    if spec.model == "t-closeness":
        return closeness(spec, column, cells, known(), name, where)
    if spec.model == "delta-disclosure":
        return delta(spec, column, cells, known(), name)
    if spec.model == "beta-likeness":
        return beta(spec, column, cells, known(), name)
    if spec.model == "confidence-bound":
        return _confidence(spec, column, cells, name, given)
    if spec.model in LEVELLED:
        return LEVELLED[spec.model](spec, column, cells, known, name)
    raise NotAuditableError("the audit does not know this model")


LEVELLED = {"epsilon-k-sensitivity": epsilon_k, "l-alpha-diversity": l_alpha, "lambda-alpha-k": lambda_alpha_k}


def _k_anonymity(spec: ModelSpec, name: str) -> Check:
    """|E| >= k (METHODS 1.1)."""
    size, k = F.col(COUNTED), whole(spec, "k")
    return Check(spec, None, name, None, size < k, size.asc(), F.min(size), same, lambda row: "")


def _alpha(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """|(E,s)| <= alpha |E| (METHODS 1.2), refined: <= ceil(alpha |E|), that is |(E,s)| - 1 < alpha |E| (METHODS 1.3)."""
    alpha = Fraction(str(spec.parameters["alpha"]))
    listed = spec.parameters.get("values")
    statistic = cells.largest(None if listed is None else [str(value) for value in _each(listed)])
    most, share = F.col(name).cast(EXACT), F.col(COUNTED).cast(EXACT) * digits(alpha.numerator)
    unit = digits(alpha.denominator)
    breaks = (most - 1).cast(EXACT) * unit >= share if spec.parameters.get("refined") else most * unit > share
    return of_shares(spec, column, name, statistic, breaks)


def _frequency(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """max |(E,s)| <= |E| / l (METHODS 1.7)."""
    l = Fraction(str(spec.parameters["l"]))  # noqa: E741
    breaks = F.col(name).cast(EXACT) * digits(l.numerator) > F.col(COUNTED).cast(EXACT) * digits(l.denominator)
    return of_shares(spec, column, name, cells.largest(None), breaks)


def _confidence(spec: ModelSpec, column: str, cells: Cells, name: str, given: Sequence[int] | None) -> Check:
    """p(s | given) <= h in every class of the given labels (METHODS 1.14); a full class breaks it with the class it belongs to."""
    h, value = Fraction(str(spec.parameters["h"])), str(spec.parameters["value"])

    def prepare(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
        if cells.persons is not None:
            places = range(len(keys)) if given is None else given
            return _beside(frame, keys, places, cells.persons(places, value), name)
        same = Window.partitionBy(WHICH, *(key for place, key in enumerate(keys) if given is None or place in given))
        mine = F.sum(F.when(F.coalesce(F.col(VALUE) == value, F.lit(False)), F.col(ROWS)).otherwise(0)).over(same)
        return frame.withColumns({f"{name}_most": mine, f"{name}_of": F.sum(ROWS).over(same)})

    of_mine = F.col(WHICH) == cells.which
    parts = [F.max(F.when(of_mine, F.col(f"{name}_{part}"))).alias(part) for part in ("most", "of")]
    most, rows = F.col(f"{name}.most"), F.col(f"{name}.of")
    breaks = F.coalesce(most.cast(EXACT) * digits(h.denominator) > rows.cast(EXACT) * digits(h.numerator), F.lit(True))
    ratio = most.cast("double") / rows.cast("double")
    told = teller(lambda row: f"{row[name]['most']} of {row[name]['of']} rows with the value")
    return Check(spec, column, name, F.struct(*parts), breaks, ratio.desc(), F.max_by(F.col(name), ratio), fraction, told, prepare)


def _beside(frame: DataFrame, keys: Sequence[str], places: Sequence[int], counts: DataFrame, name: str) -> DataFrame:
    """The cells with the figures of the classes of some labels that they are in."""
    ours = [f"{name}_{keys[place]}" for place in places]
    found = counts.toDF(*ours, f"{name}_most", f"{name}_of")
    same = [F.col(keys[place]).eqNullSafe(F.col(own)) for place, own in zip(places, ours, strict=True)]
    return frame.join(found, reduce(lambda all_, one: all_ & one, same), "left").drop(*ours)


def _distinct(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """At least l distinct values (METHODS 1.4)."""
    found = F.col(name)
    told = teller(lambda row: counted(row[name], "value"))
    return Check(spec, column, name, cells.distinct(), found < whole(spec, "l"), found.asc(), F.min(found), same, told)


def _each(values: object) -> tuple[object, ...]:
    return tuple(values) if isinstance(values, (tuple, list, set, frozenset)) else (values,)
