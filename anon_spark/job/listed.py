"""Sensitive values that a model lists, in the spelling by which the column's values are compared: 1 of a double column is "1.0"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import ModelSpec, Policy
from anon_spark.domain.problem import Problem
from anon_spark.plans.columns import kind_of
from anon_spark.plans.fetch import fetch_rows
from anon_spark.plans.local import local_table


def with_listed_values(spark: SparkSession, schema: T.StructType, policy: Policy) -> Policy:
    """The policy with every listed value cast by Spark to its column's type and back to text, as the column's own values are.

    Without that a value in another spelling would match no row, and its model would guard nothing. Raises ConfigurationError for a
    listed value that is none of its column's type.
    """
    types = {field.name: field.dataType for field in schema.fields}
    faults: list[Fault] = []
    models = []
    for place, spec in enumerate(policy.privacy):
        found = types.get(spec.column or "")
        name, listed = _names(spec)
        if listed and found is not None and kind_of(found) not in (None, "text"):
            texts = _cast(spark, [str(value) for value in listed], found)
            key = f"privacy.{place}.{name}"
            faults += [
                Fault(policy.where, key, repr(value), f"a value of {spec.column}, which is {found.simpleString()}")
                for value, text in zip(listed, texts, strict=True)
                if text is None
            ]
            spec = _respelled(spec, name, [str(text) for text in texts])
        models.append(spec)
    if faults:
        raise ConfigurationError(faults)
    # a plain policy: the public one validates what it is made of as YAML
    given = {field.name: getattr(policy, field.name) for field in fields(Policy)}
    return Policy(**{**given, "privacy": tuple(models)})


def _names(spec: ModelSpec) -> tuple[str, tuple[str, ...]]:
    """The key under which a model names values of its column, and these values."""
    given = spec.parameters
    if isinstance(listed := given.get("values"), tuple):
        return "values", listed
    if isinstance(levels := given.get("levels"), Mapping):
        return "levels", tuple(levels)
    return ("value", (str(given["value"]),)) if "value" in given else ("", ())


def _respelled(spec: ModelSpec, name: str, texts: list[str]) -> ModelSpec:
    given = spec.parameters[name]
    new: object = tuple(texts)
    if isinstance(given, Mapping):
        new = dict(zip(texts, given.values(), strict=True))
    elif name == "value":
        new = texts[0]
    return replace(spec, parameters={**spec.parameters, name: new})


def _cast(spark: SparkSession, values: list[str], data_type: T.DataType) -> list[str | None]:
    table = local_table(spark, pa.table({"place": pa.array(range(len(values)), pa.int64()), "v": pa.array(values, pa.string())}))
    cast = table.select("place", F.expr(f"CAST(try_cast(trim(v) AS {data_type.simpleString()}) AS STRING)").alias("v"))
    return [row["v"] for row in sorted(fetch_rows(cast), key=lambda row: row["place"])]


def absent_listed(models: tuple[ModelSpec, ...], problem: Problem) -> tuple[str, ...]:
    """A warning a listed value that no row holds: a slip of the pen would leave the value that was meant without its guard."""
    known = dict(zip(problem.sensitive, problem.values, strict=True))
    return tuple(
        f"{spec.model} lists {value!r} of {spec.column}, which no row holds: check its spelling, capitals and blanks."
        for spec in models
        for value in _names(spec)[1]
        if value not in known.get(spec.column or "", ())
    )
