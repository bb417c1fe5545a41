"""Columns by any name, and the canonical text of a value: the one key that groups, look-ups and labels agree on."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.values import Kind

HELPER = "__anon_"
"""Prefix of every helper column; input columns that carry it are refused."""

_KINDS: tuple[tuple[type[T.DataType] | tuple[type[T.DataType], ...], Kind], ...] = (
    (T.StringType, "text"),
    (T.BooleanType, "boolean"),
    ((T.ByteType, T.ShortType, T.IntegerType, T.LongType), "integer"),
    ((T.FloatType, T.DoubleType, T.DecimalType), "decimal"),
    (T.DateType, "date"),
    ((T.TimestampType, T.TimestampNTZType), "timestamp"),
)
DECLARED: dict[str, Kind] = {
    "string": "text", "integer": "integer", "decimal": "decimal", "double": "decimal", "date": "date",
    "timestamp": "timestamp", "boolean": "boolean",
}  # fmt: skip
"""Kind of value by the name that a configuration declares (``type:``)."""


def named(name: str) -> Column:
    """The column of this exact name, whatever dots, blanks or backticks it holds."""
    return F.col("`" + name.replace("`", "``") + "`")


def kind_of(data_type: T.DataType) -> Kind | None:
    """text, integer, decimal, date, timestamp or boolean; None for types that can't be a quasi-identifier."""
    if isinstance(data_type, (T.CharType, T.VarcharType)):
        return "text"
    return next((kind for classes, kind in _KINDS if isinstance(data_type, classes)), None)


@dataclass(frozen=True)
class RawColumn:
    """A column as the decisions see it: ``column`` typed and normalised, for grouping."""

    name: str
    kind: Kind
    column: Column

    @property
    def text(self) -> Column:
        """Canonical text of the value: what Spark prints of it in the session's time zone; null for null."""
        return self.column.cast("string")


def raw_column(name: str, data_type: T.DataType, declared: str | None = None, trim: bool = False) -> RawColumn:
    """Normalise one column: -0.0 is 0.0, collations are binary, blanks go where ``trim`` says; the declared type gives the kind.

    Text is never cast by Spark: the distinct values are parsed once each, in the driver, so that "007" can be counted as refused.
    """
    kind = kind_of(data_type)
    if kind is None:
        raise ValueError(f"type {data_type.simpleString()} cannot be normalised")
    column = named(name)
    if kind == "text":
        # casting drops a collation: 'a' and 'A' are two values, whatever the table's collation says
        column = column.cast("string")
        column = F.trim(column) if trim else column
    elif isinstance(data_type, (T.FloatType, T.DoubleType)):
        # IEEE: -0.0 + 0.0 = 0.0; Spark groups the two together but would show either
        column = column + F.lit(0.0).cast(data_type)
    if declared is not None:
        target = DECLARED[declared]
        if kind == "timestamp" and target == "date":
            column = column.cast("date")
        kind = target
    return RawColumn(name, kind, column)
