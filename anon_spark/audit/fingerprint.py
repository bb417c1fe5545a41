"""An order-free fingerprint of columns: tables that agree on it hold the same rows, as often, but for a chance near 2^-64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.audit.columns import HELPER, named
from anon_spark.domain.errors import Fault
from anon_spark.domain.policy import Policy

_SEEDS = 2
_PART = 22
Shown = tuple[Column, T.DataType]
"""A column, or any expression, with its type."""
_HASHABLE = frozenset(
    f"{name}Type"
    for name in (
        "Boolean", "Byte", "Short", "Integer", "Long", "Float", "Double", "Decimal", "String", "Char", "Varchar", "Binary",
        "Date", "Timestamp", "TimestampNTZ", "Time", "DayTimeInterval", "YearMonthInterval", "CalendarInterval", "Variant",
        "Null",
    )
)  # fmt: skip


def fingerprint(schema: T.StructType, columns: Sequence[str]) -> list[Column]:
    """Aggregates over the named columns of a frame of this schema: ``__audit_rows`` and the exact sums of two hashes of each row,
    ``__audit_sum_0`` and ``__audit_sum_1`` (decimal(38, 0)); the sums are null of no rows.

    Null, empty and absent are told apart at every depth; two NaN are one value, and so are -0.0 and 0.0; the order of a map's
    entries does not count; text is compared by its bytes, whatever its collation. Columns are hashed in the order given, names
    don't count. Give all published columns to see rows whose values were exchanged between columns that stay the same each.
    """
    types = {field.name: field.dataType for field in schema.fields}
    return fingerprint_of([(named(name), types[name]) for name in columns])


def fingerprint_of(shown: Sequence[Shown], counts: Column | None = None) -> list[Column]:
    """The same over any columns, of rows for which ``counts`` (never null) says so."""
    return sums_of(row_hash(shown), HELPER, counts)


def sums_of(row: Column, called: str, counts: Column | None = None) -> list[Column]:
    """The same over the hash ``row`` that each row has already, its names beginning with ``called``."""
    hashes = [row, *(F.xxhash64(F.lit(seed), row) for seed in range(1, _SEEDS))]
    among = (lambda value: value) if counts is None else (lambda value: F.when(counts, value))
    sums = [_exact_sum(among(hashed)).alias(f"{called}sum_{seed}") for seed, hashed in enumerate(hashes)]
    return [F.count(among(F.lit(1))).alias(f"{called}rows"), *sums]


def _exact_sum(value: Column) -> Column:
    """decimal(38, 0): the sum of longs, exact up to 2^41 rows, null of none. Three parts of each are added as longs, which takes a tenth
    of the time of adding decimals. ``plans.frequency`` adds up so too, by code of its own: the audit borrows none from those it judges."""
    low = F.lit((1 << _PART) - 1).cast("long")
    parts = [F.shiftright(value, 2 * _PART), F.shiftright(value, _PART).bitwiseAND(low), value.bitwiseAND(low)]
    total = F.lit(0).cast("decimal(38, 0)")
    for place, part in enumerate(parts):
        added = F.sum(part).cast("decimal(20, 0)") * F.lit(1 << (2 - place) * _PART).cast("decimal(14, 0)")
        total = (total + added).cast("decimal(38, 0)")
    return total


def row_hash(shown: Sequence[Shown]) -> Column:
    """64 bits of one row's values; never null."""
    parts = [part for column, data_type in shown for part in _flagged(column, data_type)]
    return F.xxhash64(F.lit(len(parts)), *parts)


def unhashable(schema: T.StructType, policy: Policy) -> list[Fault]:
    """The columns published as they are whose types have no fingerprint (user-defined, or unknown to this version)."""
    listed = {column.name: column.role for column in policy.columns}
    faults = []
    for field in schema.fields:
        role = listed.get(field.name, "insensitive" if policy.unlisted == "keep" else "identifier")
        if role in ("sensitive", "insensitive", "label") and (unknown := next(_unknown(field.dataType), None)) is not None:
            advice = "cast it in a query, or leave it out"
            faults.append(Fault(policy.where, field.name, f"type {unknown}", "a type whose values can be compared", advice))
    return faults


def _unknown(data_type: T.DataType) -> Iterator[str]:
    if isinstance(data_type, T.StructType):
        for field in data_type.fields:
            yield from _unknown(field.dataType)
    elif isinstance(data_type, T.ArrayType):
        yield from _unknown(data_type.elementType)
    elif isinstance(data_type, T.MapType):
        yield from _unknown(data_type.keyType)
        yield from _unknown(data_type.valueType)
    elif type(data_type).__name__ not in _HASHABLE:
        yield data_type.simpleString()


def _flagged(column: Column, data_type: T.DataType) -> list[Column]:
    """The value and whether it is null: Spark's hash passes over nulls, so (null, a) would be (a, null)."""
    return [column.isNull(), _comparable(column, data_type)]


def _comparable(column: Column, data_type: T.DataType) -> Column:
    """A form that Spark hashes, one for one; lengths stand before elements, so that [[1], []] is not [[], [1]]."""
    if isinstance(data_type, T.StringType):
        return column.cast("string")
    if isinstance(data_type, T.StructType):
        return _bundle([part for field in data_type.fields for part in _flagged(column.getField(field.name), field.dataType)])
    if isinstance(data_type, T.ArrayType):
        element = data_type.elementType
        return _bundle([F.size(column), F.transform(column, lambda one: _bundle(_flagged(one, element)))])
    if isinstance(data_type, T.MapType):
        return _bundle([F.size(column), F.array_sort(F.transform(F.map_entries(column), lambda one: _entry(one, data_type)))])
    return F.to_json(column) if type(data_type).__name__ == "VariantType" else column


def _entry(entry: Column, data_type: T.MapType) -> Column:
    """A map's entry as its hash, which can be sorted whatever its value's type."""
    return F.xxhash64(
        *_flagged(entry.getField("key"), data_type.keyType), *_flagged(entry.getField("value"), data_type.valueType)
    )


def _bundle(parts: Sequence[Column]) -> Column:
    return F.struct(*(part.alias(f"_{place}") for place, part in enumerate(parts)))
