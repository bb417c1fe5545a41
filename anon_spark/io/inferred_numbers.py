"""Numbers and moments that Spark infers of a CSV's or JSON's text: refused where what they print is no longer what stands in the file."""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column, DataFrame, DataFrameReader
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.errors import DataError, Fault
from anon_spark.io.layout import as_text
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import count_where

_MOMENTS = (T.TimestampType, T.TimestampNTZType)
_INFERRED = (T.NumericType, *_MOMENTS)
_ALWAYS, _AT_MOST = 15, 17
"""Significant digits that a double keeps of any number, and that a program prints of a double at most."""


def refuse_changed_numbers(
    reader: DataFrameReader, kind: str, path: str, table: DataFrame, parts: Collection[str], where: str
) -> None:
    """DataError with every column of whose numbers leading zeros, plus signs or digits were lost, or of whose moments parts of a
    second. One pass more, as text.

    A fraction of up to 17 digits is taken for a double that a program wrote. JSON has no leading zeros unless its owner allowed them.
    parts: columns that stand in no file.
    """
    inferred = {f.name: f.dataType for f in table.schema.fields if f.name not in parts and isinstance(f.dataType, _INFERRED)}
    asked: list[tuple[str, str, Column]] = []
    for name, data_type in inferred.items():
        text, is_moment = named(name), isinstance(data_type, _MOMENTS)
        if is_moment:
            asked.append((name, "smaller parts of a second than a moment holds", text.rlike(r"\.[0-9]{6}[0-9]*[1-9]")))
        elif kind == "csv":
            asked.append((name, "leading zeros or a plus sign", text.rlike(r"^(?:\+|-?0[0-9])")))
        if isinstance(data_type, T.DoubleType):
            asked.append((name, "more digits than a double holds", _digits_lost(text)))
    if not asked:
        return
    texts = as_text(reader, path, table, inferred)
    changed = count_where(texts, [test for _, _, test in asked])
    whole = "leave inferSchema out" if kind == "csv" else "set primitivesAsString: true among the input's options"
    advice = f"write type: string for it, or {whole}"
    faults = []
    for lost, (name, what, _) in zip(changed, asked, strict=True):
        if lost:
            kinds = "moments" if isinstance(inferred[name], _MOMENTS) else "numbers"
            found = f"{lost:,} values with {what}, which Spark infers to be {kinds} and would change"
            faults.append(Fault(where, name, found, "values that are read as they are", advice))
    if faults:
        raise DataError(faults)


def _digits_lost(text: Column) -> Column:
    """Whether a number's text has digits that its double has not."""
    double = text.try_cast("double") if hasattr(text, "try_cast") else text.cast("double")
    digits, kept = _significant(text), _significant(double.cast("string"))
    whole = text.rlike(r"^[+-]?[0-9]+$") & (F.length(digits) > _ALWAYS) & (digits != kept)
    beyond = (F.length(digits) > 0) & (double.isin(0.0, float("inf"), float("-inf")))
    return F.coalesce((F.length(digits) > _AT_MOST) | whole | beyond, F.lit(False))


def _significant(text: Column) -> Column:
    """The digits of a number without its exponent, and without the zeros at both ends."""
    mantissa = F.regexp_replace(F.regexp_replace(text, "[eE].*$", ""), "[^0-9]", "")
    return F.regexp_replace(mantissa, "^0+|0+$", "")
