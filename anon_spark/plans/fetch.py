"""What comes to the driver process: small tables, each with a bound stated by its caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from anon_spark.plans.settings import where_allowed

ARROW = "spark.sql.execution.arrow.pyspark.enabled"


def fetch_row(frame: DataFrame) -> Row:
    """The single row of an aggregation."""
    return frame.collect()[0]


def fetch_rows(frame: DataFrame) -> list[Row]:
    """The rows of a small aggregation."""
    return list(frame.collect())


def count_where(frame: DataFrame, tests: Sequence[Column]) -> list[int]:
    """Of each test the rows for which it is true; one pass."""
    return [*fetch_row(frame.agg(*[F.count(F.when(test, True)).alias(f"c{place}") for place, test in enumerate(tests)]))]


def fetch_arrow(frame: DataFrame) -> pa.Table:
    """A small table of text and whole numbers without nulls among the numbers (pandas would make those floats on PySpark 3.5)."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    with arrow_enabled(frame.sparkSession):
        return pa.Table.from_pandas(frame.toPandas(), preserve_index=False)


@contextmanager
def arrow_enabled(spark: SparkSession) -> Iterator[None]:
    """PySpark 3.5 fetches rows one by one unless told otherwise; the host session's own choice is put back.

    A session that refuses it is one of Connect, which knows nothing but Arrow.
    """
    with where_allowed(spark, ARROW, "true", "false"):
        yield
