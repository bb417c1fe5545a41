"""The input as it was at one moment: a copy that both scans read, where the source itself may change between them."""

from __future__ import annotations

from pyspark.sql import DataFrame

from anon_spark.domain.errors import ConfigurationError
from anon_spark.domain.policy import Policy
from anon_spark.io.spark_errors import spark_faults
from anon_spark.job.output import Output


def is_staged(policy: Policy) -> bool:
    """Whether the input is copied before it is read: where that was asked for, and with ``auto`` where there is a directory for it and the
    source is a database or a query. Files and tables of files are trusted; every input is compared between its scans all the same."""
    source = policy.input
    if source is None or policy.settings.staging is None or source.snapshot == "none":
        return False
    return source.snapshot == "stage" or source.query is not None or (source.path is None and source.table is None)


def staged_input(table: DataFrame, policy: Policy, output: Output, release_id: str) -> DataFrame:
    """A copy of the input under ``settings.staging``, which is removed with the run's other intermediates."""
    path = output.scratch_path(str(policy.settings.staging), f"{release_id}-input")
    with spark_faults(policy.where, "input.snapshot", ConfigurationError):
        table.write.mode("error").parquet(path)
        return table.sparkSession.read.schema(table.schema).parquet(path)
