"""``output.partition_by``: the columns that can be directories of a release, by their types, and by their values as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import ConfigurationError, DataError, Fault
from anon_spark.domain.policy import Policy
from anon_spark.job.schema import BoundSchema
from anon_spark.plans.columns import named
from anon_spark.plans.partitions import NULL, TYPES, is_ambiguous, is_unnameable
from anon_spark.plans.publish import SUPPRESSED, Labelled, bounds_names


def refuse_directories(schema: T.StructType, policy: Policy, bound: BoundSchema) -> None:
    """ConfigurationError with every column of ``partition_by`` that no directory can tell. schema: the input's."""
    names = policy.output.partition_by if policy.output else ()
    faults = [
        Fault(policy.where, f"output.partition_by.{place}", found, expected, advice)
        for place, name in enumerate(names)
        for found, expected, advice in _faults(name, schema, bound)
    ]
    if not faults and names and len(names) >= len(bound.output):
        advice = "leave one out: files need a column to hold"
        faults = [Fault(policy.where, "output.partition_by", "every column of the release", "fewer columns", advice)]
    if faults:
        raise ConfigurationError(faults)


def _faults(name: str, schema: T.StructType, bound: BoundSchema) -> Iterator[tuple[str, str, str]]:
    if name not in bound.output:
        yield f"{name!r}, which is not published", "published columns", "spell it as the input does"
    elif name in bound.in_bounds:
        printed = ", ".join(bounds_names(name))
        yield f"{name!r}, which is published as {printed}", "a column that prints as one", "leave it out, or set numeric: interval"
    elif name.startswith("."):
        yield f"{name!r}, whose directories would be hidden", "a name that begins with no dot", "rename it in a query"
    elif name in bound.untouched:
        kind = next(field.dataType for field in schema.fields if field.name == name)
        if kind != T.StringType() and not isinstance(kind, TYPES):
            expected = "text, whole numbers, dates or booleans"
            yield f"{name!r} of type {kind.simpleString()}", expected, "leave it out, or cast it in a query"


def unfit(labelled: Labelled, policy: Policy, bound: BoundSchema) -> list[Column]:
    """Aggregates over labelled rows: how many that are published print a text that a directory can't say, by column."""
    labels = dict(zip(bound.names, labelled.labels, strict=True))
    types = {field.name: field.dataType for field in labelled.frame.schema.fields}
    asked = []
    for place, name in enumerate(policy.output.partition_by if policy.output else ()):
        label = labels.get(name)
        text = F.col(label) if isinstance(label, str) else named(name)
        if isinstance(label, str) or isinstance(types[name], T.StringType):
            shown = ~F.col(SUPPRESSED)
            asked.append(F.count(F.when(shown & is_ambiguous(text), True)).alias(f"ambiguous_{place}"))
            asked.append(F.count(F.when(shown & is_unnameable(name, text), True)).alias(f"unnameable_{place}"))
    return asked


def refuse_unfit(seen: Mapping[str, object], policy: Policy) -> None:
    """DataError for a column with such texts. seen: what ``unfit`` counted."""
    faults = []
    for place, name in enumerate(policy.output.partition_by if policy.output else ()):
        advice = "leave it out of partition_by, or give these rows another value in a query"
        if rows := int(str(seen.get(f"ambiguous_{place}") or 0)):
            found = f"the empty text, or {NULL}, in {counted(rows, 'row')} of {name!r}"
            expected = "texts that a directory can tell from null"
            faults.append(Fault(policy.where, "output.partition_by", found, expected, advice))
        if rows := int(str(seen.get(f"unnameable_{place}") or 0)):
            found, expected = f"texts of {name!r} in {counted(rows, 'row')}", "texts short enough for a directory's name"
            faults.append(Fault(policy.where, "output.partition_by", found, expected, advice))
    if faults:
        raise DataError(faults)
