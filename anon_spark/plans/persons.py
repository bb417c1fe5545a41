"""Persons of whom a table holds several rows: known by a keyed hash, and one row of each marked (METHODS 1.17)."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from anon_spark.domain.problem import COUNTED_TEXT, GIVEN
from anon_spark.plans.columns import HELPER, RawColumn, named
from anon_spark.plans.frequency import ROWS
from anon_spark.plans.row_hash import DEALT_BY, dealt_by

PERSON = HELPER + "person"
"""Hex digits of the keyed hash of a person's id; null where there is none."""
DIGITS = 32
"""128 bits: two of a thousand million persons are taken for one with a chance of some 10^-21."""


def with_persons(table: DataFrame, person: RawColumn, key: str) -> DataFrame:
    """The table with ``PERSON`` in place of the column of ids.  key: a secret of the run; without it no id can be tried."""
    hashed = F.substring(F.sha2(F.concat(F.lit(key), person.text).cast("binary"), 256), 1, DIGITS)
    return table.withColumn(PERSON, hashed).drop(named(person.name))


def marked(table: DataFrame, shown: Sequence[str]) -> DataFrame:
    """The table with ``GIVEN``: ``COUNTED_TEXT`` in one row of each person and in each row without one, "0" in all others.

    shown: the quasi-identifiers and the columns that pass unchanged: rows alike in all of these are interchangeable, so that the
    choice depends on no partition and no order of the input.
    """
    first, second = DEALT_BY
    hashed = table.withColumns(dealt_by(shown, table.schema, 0))
    # rows without an id are many persons: their own hash keeps them from meeting in one task
    alone = F.when(F.col(PERSON).isNull(), F.col(first))
    place = F.row_number().over(Window.partitionBy(PERSON, alone).orderBy(first, second))
    counted = F.col(PERSON).isNull() | (place == 1)
    return hashed.withColumn(GIVEN, F.when(counted, F.lit(COUNTED_TEXT)).otherwise(F.lit("0"))).drop(*DEALT_BY)


def persons(cells: DataFrame, person: str, value: str | None = None) -> DataFrame:
    """Distinct persons in all cells of a frequency set, or by value of one column: (value,) persons."""
    columns = [] if value is None else [value]
    apart = cells.groupBy(*columns, person).agg(F.sum(ROWS).alias(ROWS))
    return apart.groupBy(*columns).agg(F.coalesce(F.sum(_each(person)), F.lit(0)).alias("persons"))


def _each(person: str) -> Column:
    return F.when(F.col(person).isNull(), F.col(ROWS)).otherwise(F.lit(1).cast("long"))
