"""Small tables of the driver as DataFrames that live in the plan itself: no Spark job serves them, on any kind of session."""

from __future__ import annotations

from contextlib import nullcontext

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from anon_spark.plans.fetch import arrow_enabled
from anon_spark.plans.settings import SPARK_ERRORS, setting, where_allowed

_BATCH, _USUAL = "spark.sql.execution.arrow.maxRecordsPerBatch", "10000"
LEAST_SENT = 1_000
"""Rows of a table that no session can find too large: one that is refused is refused for something else."""


def local_table(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A DataFrame of the same columns. PySpark 4 takes Arrow tables; 3.5 takes them through pandas (no nulls among numbers).

    A session that takes no table of this size (serverless ones have a bound) is given its halves.
    """
    try:
        return _sent(spark, table)
    except SPARK_ERRORS:
        if len(table) < LEAST_SENT:
            raise
        half = len(table) // 2
        return local_table(spark, table.slice(0, half)).unionByName(local_table(spark, table.slice(half)))


def _sent(spark: SparkSession, table: pa.Table) -> DataFrame:
    if spark.version >= "4":
        # 0 and below mean batches without a bound, but to PySpark's own way in
        bound = setting(spark, _BATCH, _USUAL)
        with nullcontext() if bound.isdigit() and int(bound) else where_allowed(spark, _BATCH, _USUAL, _USUAL):
            return spark.createDataFrame(table)
    with arrow_enabled(spark):
        return spark.createDataFrame(table.to_pandas())
