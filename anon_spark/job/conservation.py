"""Each row's own values, taken before anything is done to it: what comes out of the labelling, and out of the writing, must be they.

A hash of the row's quasi-identifiers and of the columns that pass unchanged travels with it from the scan to the point where the
release is cut out. There it is compared with what the row holds then, row by row, so that values exchanged between rows are seen too;
and what the release should print is summed there, to be met again in what is read back.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.audit.columns import HELPER as AUDIT
from anon_spark.audit.fingerprint import Shown, row_hash, sums_of
from anon_spark.domain.policy import ROOT
from anon_spark.job.schema import BoundSchema
from anon_spark.plans.columns import HELPER, named
from anon_spark.plans.publish import SUPPRESSED, Labelled

OWN = HELPER + "own"
PRINT = HELPER + "print"
OWN_SUMS = ("own_rows", "own_sum_0", "own_sum_1")


def with_own(table: DataFrame, bound: BoundSchema) -> DataFrame:
    """The table's rows, each with the hash of its own values."""
    texts = [raw.text for raw in bound.quasi_identifiers]
    return table.withColumn(OWN, _hash(texts, bound, table.schema))


def own_sums() -> list[Column]:
    """Aggregates that tell the input's rows, whatever their order: how many, and two sums over the hashes of their own values."""
    return sums_of(F.col(OWN), "own_")


def changed(labelled: Labelled, bound: BoundSchema, schema: T.StructType) -> Column:
    """Whether a labelled row holds other values than it came with. schema: the table's."""
    now = _hash([F.col(raw) for raw in labelled.raws], bound, schema)
    return ~F.col(OWN).eqNullSafe(now)


def printed_hash(labelled: Labelled, bound: BoundSchema, star: bool) -> Column:
    """Hash of what the release must hold of a labelled row."""
    types = {field.name: field.dataType for field in labelled.frame.schema.fields}
    labels = dict(zip(bound.names, labelled.labels, strict=True))
    shown: list[Shown] = []
    for name in bound.output:
        label = labels.get(name)
        if label is None:
            shown.append((named(name), types[name]))
        elif isinstance(label, str):
            shown.append((_or_root(F.col(label), F.lit(ROOT), star), types[label]))
        else:
            # null in both bounds, and no null itself, is the root
            roots = (F.lit(None), F.lit(None), F.lit(False))
            shown += [(_or_root(F.col(part), root, star), types[part]) for part, root in zip(label, roots, strict=True)]
    return row_hash(shown)


def to_print(star: bool) -> list[Column]:
    """Aggregates over labelled rows with ``printed_hash`` as ``PRINT``: the fingerprint of what the release must hold."""
    return sums_of(F.col(PRINT), AUDIT, None if star else ~F.col(SUPPRESSED))


def _hash(texts: list[Column], bound: BoundSchema, schema: T.StructType) -> Column:
    types = {field.name: field.dataType for field in schema.fields}
    return row_hash([*((text, T.StringType()) for text in texts), *((named(name), types[name]) for name in bound.untouched)])


def _or_root(label: Column, root: Column, star: bool) -> Column:
    return F.when(F.col(SUPPRESSED), root).otherwise(label) if star else label
