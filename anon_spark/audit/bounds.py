"""Labels printed as three columns under ``numeric: bounds``, read as the one text that ``numeric: interval`` prints."""

from __future__ import annotations

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.audit.classes import published_text
from anon_spark.audit.forms import is_tight
from anon_spark.domain.policy import ROOT, Column, FlatHierarchy, IntervalHierarchy, Policy

_ORDERED = (T.NumericType, T.DateType, T.TimestampType, T.TimestampNTZType)


def bounds_names(name: str) -> tuple[str, str, str]:
    """Columns of the smallest value, the largest value, and whether the value is null."""
    return f"{name}_min", f"{name}_max", f"{name}_null"


def may_have_bounds(column: Column, policy: Policy) -> bool:
    """Whether a quasi-identifier may be printed as bounds: files, masks and periods have labels that are no range."""
    return policy.numeric == "bounds" and isinstance(column.hierarchy, (IntervalHierarchy, FlatHierarchy, type(None)))


def is_ordered(data_type: T.DataType | None) -> bool:
    """Whether a type holds numbers or dates and nothing else."""
    return isinstance(data_type, _ORDERED)


def bounds_text(
    low: SparkColumn, high: SparkColumn, is_null: SparkColumn, data_type: T.DataType, column: Column, policy: Policy
) -> SparkColumn:
    """``[24, 30]``, ``24`` where both are one value, ``*`` where both are null, null where the flag says so besides.

    A node of decimals on a grid is half-open: ``[20.0, 25.0)``. One bound alone is an open end, ``>= 90`` or ``<= 17``. What fits
    none of these gets a text that is no label: no two prints that differ share one. data_type: of the bounds.
    """
    decimals = isinstance(data_type, (T.FractionalType, T.DecimalType)) or column.type in ("decimal", "double")
    half_open = decimals and not is_tight(column.hierarchy, policy)
    first, last = published_text(low, data_type), published_text(high, data_type)
    end, below = (")", "< ") if half_open else ("]", "<= ")
    both = F.when(first == last, first).otherwise(F.concat(F.lit("["), first, F.lit(", "), last, F.lit(end)))
    one = F.when(low.isNull(), F.concat(F.lit(below), last)).otherwise(F.concat(F.lit(">= "), first))
    neither = low.isNull() & high.isNull()
    text = F.when(neither, F.lit(ROOT)).when(low.isNull() | high.isNull(), one).otherwise(both)
    wrong = F.concat(text, F.when(is_null, F.lit(" and null")).otherwise(F.lit(" or null?")))
    return F.when(neither & is_null, F.lit(None).cast("string")).when(~is_null, text).otherwise(wrong)
