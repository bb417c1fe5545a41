"""Numbers that Spark infers of the text of a CSV or JSON: refused where what they print is no longer what stands in the file."""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column, DataFrame, DataFrameReader
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.errors import DataError, Fault
from anon_spark.io.layout import as_text
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import count_where

_ALWAYS, _AT_MOST = 15, 17
"""Significant digits that a double keeps of any number, and that a program prints of a double at most."""


def refuse_changed_numbers(
    reader: DataFrameReader, kind: str, path: str, table: DataFrame, parts: Collection[str], where: str
) -> None:
    """DataError with every column of whose numbers leading zeros, plus signs or digits were lost. One pass more, as text.

    A fraction of up to 17 digits is taken for a double that a program wrote. JSON has no leading zeros unless its owner allowed them.
    parts: columns that stand in no file.
    """
    numbers = {f.name: f.dataType for f in table.schema.fields if f.name not in parts and isinstance(f.dataType, T.NumericType)}
    if not numbers:
        return
    asked: list[tuple[str, str, Column]] = []
    for name, inferred in numbers.items():
        text = named(name)
        if kind == "csv":
            asked.append((name, "leading zeros or a plus sign", text.rlike(r"^(?:\+|-?0[0-9])")))
        if isinstance(inferred, T.DoubleType):
            asked.append((name, "more digits than a double holds", _digits_lost(text)))
    if not asked:
        return
    texts = as_text(reader, path, table, numbers)
    changed = count_where(texts, [test for _, _, test in asked])
    whole = "leave inferSchema out" if kind == "csv" else "set primitivesAsString: true among the input's options"
    advice = f"write type: string for it, or {whole}"
    faults = []
    for lost, (name, what, _) in zip(changed, asked, strict=True):
        if lost:
            found = f"{lost:,} values with {what}, which Spark infers to be numbers and would change"
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
