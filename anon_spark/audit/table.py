"""The table's distribution of each sensitive column, which some models compare classes with (METHODS 1: of the input's rows)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.audit.check import NotAuditableError
from anon_spark.audit.classes import VALUE, WHICH
from anon_spark.domain.policy import Policy
from anon_spark.plans.local import local_table

MOST_VALUES = 2_000_000
"""Distinct values of a column that are brought to this process."""
UNKNOWN = "its distribution in the input is not known: rows may have been suppressed, and the published ones alone do not tell it"
Distribution = Mapping[str | None, int]


@dataclass(frozen=True, eq=False)
class Known:
    """A sensitive column of the whole table.

    which: its number among the columns of cells; rows: by counted value, as the release prints it; data_type: as it is published.
    """

    spark: SparkSession
    which: int
    rows: Distribution
    data_type: T.DataType = field(default_factory=T.StringType)

    @property
    def total(self) -> int:
        """Rows whose value is counted."""
        return sum(self.rows.values())

    def joined(self, cells: DataFrame, figures: Mapping[str, Mapping[str | None, int]]) -> DataFrame:
        """The cells with a column a figure of their value; null for a value that the table has not, or of another column."""
        texts = list(self.rows)
        columns = {"v": pa.array([text or "" for text in texts], pa.string()), "none": pa.array([text is None for text in texts])}
        columns |= {f"f{i}": pa.array([str(line[text]) for text in texts], pa.string()) for i, line in enumerate(figures.values())}
        table = F.broadcast(local_table(self.spark, pa.table(columns)))
        same = (F.coalesce(F.col(VALUE), F.lit("")) == F.col("v")) & (F.col(VALUE).isNull() == F.col("none"))
        found = cells.join(table, same & (F.col(WHICH) == self.which), "left").drop("v", "none")
        for i, name in enumerate(figures):
            found = found.withColumn(name, F.col(f"f{i}").cast("bigint")).drop(f"f{i}")
        return found

    def ranked(self) -> list[str | None]:
        """The values in their order. Raises NotAuditableError where they have none."""
        if not isinstance(self.data_type, (T.NumericType, T.DateType, T.TimestampType, T.TimestampNTZType)):
            raise NotAuditableError("its column is neither of numbers nor of dates, so its values have no order")
        if None in self.rows or "NaN" in self.rows:
            raise NotAuditableError("null and NaN have no place in an order")
        return sorted(self.rows, key=self._place)

    def _place(self, text: str | None) -> float | Fraction | str | int:
        assert text is not None
        if isinstance(self.data_type, T.NumericType):
            return float(text.replace("Infinity", "inf")) if "Inf" in text else Fraction(text)
        return date.fromisoformat(text).toordinal() if isinstance(self.data_type, T.DateType) else text


def unknown() -> Known:
    """Of a release that may lack rows of its input, alone."""
    raise NotAuditableError(UNKNOWN)


def own_distribution(release: DataFrame, value: Column) -> dict[str | None, int]:
    """Rows by value of a release that lacks no row of its input."""
    found = release.groupBy(value.alias("v")).agg(F.count(F.lit(1)).alias("n")).limit(MOST_VALUES + 1).collect()
    if len(found) > MOST_VALUES:
        raise NotAuditableError(f"it has more than {MOST_VALUES:,} values")
    return {row["v"]: row["n"] for row in found}


def may_lack_rows(policy: Policy) -> bool:
    """Whether rows of the input may be missing in a release of this policy (those dropped by ``nulls: suppress`` belong to neither)."""
    return policy.suppression.limit > 0
