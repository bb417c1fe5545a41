"""Options of a CSV or JSON output that Spark refuses: asked of Spark itself before anything is decided, since it tells as it writes."""

from __future__ import annotations

from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import Sink
from anon_spark.io.input_options import kind_of_format
from anon_spark.io.spark_errors import SPARK_ERRORS
from anon_spark.plans.fetch import fetch_row

_ROW = (
    "named_struct('s', 'x', 'd', date'2020-01-02', 't', timestamp'2020-01-02 03:04:05', 'n', timestamp_ntz'2020-01-02 03:04:05')"
)
_WRITERS = {"csv": F.to_csv, "json": F.to_json}


def refuse_refused(spark: SparkSession, sink: Sink, where: str) -> None:
    """ConfigurationError with every option whose value Spark does not take. A row that is no table's is written: there is no job."""
    kind = kind_of_format(sink.format) or ""
    if kind not in _WRITERS or not sink.options or _takes(spark, kind, dict(sink.options)):
        return
    faults = [
        Fault(where, f"output.options.{name}", repr(value), "a value that Spark takes", "correct it, or leave it out")
        for name, value in sink.options.items()
        if not _takes(spark, kind, {name: value})
    ]
    # a session that fails takes nothing at all, and that is no fault of the options
    if faults and _takes(spark, kind, {}):
        raise ConfigurationError(faults)


def _takes(spark: SparkSession, kind: str, options: dict[str, str]) -> bool:
    try:
        # Connect has no empty map of texts
        fetch_row(spark.sql("SELECT 1").select(_WRITERS[kind](F.expr(_ROW), options or None)))
    except (IllegalArgumentException, *SPARK_ERRORS):
        return False
    return True
