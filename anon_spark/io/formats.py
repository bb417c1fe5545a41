"""Formats that a session knows: Spark's own, and those of its packages."""

from __future__ import annotations

import difflib
import re

from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.io.jdbc_options import is_jdbc
from anon_spark.io.spark_errors import SPARK_ERRORS, names_in

_OWN = ("csv", "json", "orc", "parquet", "text")
_COMMON = (*_OWN, "jdbc", "avro", "delta", "iceberg", "hudi")
_UNKNOWN = re.compile(r"Failed to find (the )?data source")


def unknown_format(error: Exception, name: str, where: str, key: str) -> ConfigurationError | None:
    """The fault of a format that Spark does not know, if that is what the error tells."""
    told = {"DATA_SOURCE_NOT_FOUND", "AVRO_DATA_SOURCE_NOT_ENABLED"}
    # Spark 3.5 gives some of it no name
    if told.isdisjoint(names_in(error)) and not _UNKNOWN.search(str(error)):
        return None
    near = [meant for meant in difflib.get_close_matches(name.lower(), _COMMON, 1) if meant != name.lower()]
    package = "add the package of that format to the session: --packages, or spark.jars.packages"
    advice = f"did you mean {near[0]!r}? Else {package}" if near else package
    expected = f"a format that Spark knows, such as {', '.join(_OWN)}"
    return ConfigurationError([Fault(where, f"{key}.format", repr(name), expected, advice)])


def refuse_unknown(spark: SparkSession, name: str, where: str, key: str) -> None:
    """ConfigurationError for a format to write that the session does not know: Spark would tell so only once all is decided."""
    if name.lower() in _OWN or is_jdbc(name):
        return
    try:
        # nothing is read: there is no path; whatever else it lacks is no matter here. Over Connect a plan is looked at for its schema
        _ = spark.read.format(name).schema("value string").load().schema
    except (IllegalArgumentException, *SPARK_ERRORS) as error:
        if fault := unknown_format(error, name, where, key):
            raise fault from None
