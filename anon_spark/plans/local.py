"""Small tables of the driver as DataFrames that live in the plan itself: no Spark job serves them, on any kind of session."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from anon_spark.plans.fetch import arrow_enabled


def local_table(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A DataFrame of the same columns. PySpark 4 takes Arrow tables; 3.5 takes them through pandas (no nulls among numbers)."""
    if spark.version >= "4":
        return spark.createDataFrame(table)
    with arrow_enabled(spark):
        return spark.createDataFrame(table.to_pandas())
