"""Where a policy's release goes: a directory, a table of the catalogue, a table of a database."""

from __future__ import annotations

from pyspark.sql import SparkSession

from anon_spark.domain.policy import Policy
from anon_spark.io.jdbc_options import is_jdbc
from anon_spark.job.output import Output, open_output
from anon_spark.job.output_database import open_database
from anon_spark.job.output_table import open_table


def open_destination(spark: SparkSession, policy: Policy, release_id: str) -> Output:
    """Refuse an output that can't be written before anything is computed. Raises ConfigurationError."""
    sink = policy.output
    if sink is not None and sink.table is not None:
        return open_table(spark, policy, sink, release_id)
    if sink is not None and is_jdbc(sink.format):
        return open_database(spark, policy, sink, release_id)
    return open_output(spark, policy, release_id)
