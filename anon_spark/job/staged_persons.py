"""Where rows are staged beside the hashes of their persons: for the audit alone, and gone before anything is published."""

from __future__ import annotations

import posixpath

from pyspark.sql import DataFrame

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import Policy
from anon_spark.io.jdbc_options import is_jdbc
from anon_spark.job.output import Output


def refuse_persons(policy: Policy) -> None:
    """ConfigurationError where persons are to be counted, and what must not be published has no place: a table has no room beside it."""
    sink = policy.output
    if not policy.of_role("person") or policy.settings.staging is not None or sink is None:
        return
    if sink.table is not None or is_jdbc(sink.format):
        advice = "rows are staged there with hashes of persons, which the audit counts, until they are published without them"
        expected = "a directory, where a column has role person and the output is a table"
        raise ConfigurationError([Fault(policy.where, "settings.staging", "nothing", expected, advice)])


def place_of_persons(output: Output, policy: Policy, release_id: str) -> str:
    """Where rows are staged with their persons: a place of the run's own, never in what is published, and among its intermediates."""
    if policy.settings.staging is not None:
        return output.scratch_path(policy.settings.staging, f"{release_id}-persons")
    output.scratch.append(posixpath.join(output.staging, "persons"))
    return output.scratch[-1]


def beside_persons(release: DataFrame, place: str) -> DataFrame:
    """Rows with their persons, written and read back, whatever the output's format. Columns go by their place: Parquet lacks some names."""
    bare = release.toDF(*(f"c{i}" for i in range(len(release.columns))))
    bare.write.mode("error").parquet(place)
    return release.sparkSession.read.schema(bare.schema).parquet(place).toDF(*release.columns)
