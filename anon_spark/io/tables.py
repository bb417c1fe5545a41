"""Reading the input through Spark, and telling the user's mistakes from the platform's failures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from anon_spark.domain.errors import AnonError, ConfigurationError, DataError, Fault, FaultsError, PlatformError
from anon_spark.domain.policy import Sink, Source

TEXT_FORMATS = frozenset({"csv", "json"})
"""Formats whose lines can be malformed: unless told otherwise Spark nulls what it can't parse, which would change rows in silence."""


def read(spark: SparkSession, source: Source, where: str) -> DataFrame:
    """The input as a lazy DataFrame.

    Raises ConfigurationError for options that lose rows, DataError where the source is missing or can't be read.
    """
    with spark_faults(where, "input"):
        if source.query is not None:
            return spark.sql(source.query)
        if source.table is not None:
            return spark.table(source.table)
        reader = spark.read.format(source.format or "parquet").options(**_safe_options(source, where))
        return reader.load(source.path) if source.path else reader.load()


def _safe_options(source: Source, where: str) -> dict[str, str]:
    options = dict(source.options)
    if (source.format or "").lower() not in TEXT_FORMATS:
        return options
    given = {key.lower(): value for key, value in options.items()}
    if given.get("mode", "").upper() in {"DROPMALFORMED", "PERMISSIVE"}:
        fault = Fault(
            where, "input.options.mode", repr(given["mode"]), "FAILFAST",
            "this mode drops or empties malformed lines in silence; clean the file first",
        )  # fmt: skip
        raise ConfigurationError([fault])
    options.setdefault("mode", "FAILFAST")
    if (source.format or "").lower() == "csv" and "columnpruning" not in given:
        # with pruning Spark looks at the wanted columns alone and takes a line of too few or too many fields
        options["columnPruning"] = "false"
    return options


CSV_WRITE = {"header": "true", "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false", "nullValue": "\\N"}
"""Spark's CSV writer strips blanks of values unless told not to, and reads its own empty text back as null unless null is marked."""
CSV_READ = {**CSV_WRITE, "multiLine": "true", "mode": "FAILFAST"}


def options_of(sink: Sink, defaults: Mapping[str, str]) -> dict[str, str]:
    """The configured options over our defaults for CSV; the configured ones alone elsewhere."""
    given = {key.lower() for key in sink.options}
    ours = {key: value for key, value in defaults.items() if key.lower() not in given} if sink.format.lower() == "csv" else {}
    return {**ours, **sink.options}


def read_back(spark: SparkSession, sink: Sink, path: str, schema: T.StructType) -> DataFrame:
    """What was written, by the schema that it was written with; nullable, since a file can promise nothing."""
    nullable = T.StructType([T.StructField(field.name, field.dataType, True) for field in schema.fields])
    return spark.read.format(sink.format).options(**options_of(sink, CSV_READ)).schema(nullable).load(path)


try:  # the thin client of Spark Connect comes without py4j
    from py4j.protocol import Py4JError
except ImportError:

    class Py4JError(Exception):  # type: ignore[no-redef]
        """Never raised where there is no JVM."""


SPARK_ERRORS = (PySparkException, Py4JError)
"""What PySpark raises: 3.5 passes a failed job on as py4j's own error."""


@contextmanager
def spark_faults(where: str, key: str, kind: type[FaultsError] = DataError) -> Iterator[None]:
    """Spark's exceptions as ours, by their error class: their texts may hold values of the data.

    kind: what a plan that Spark refuses is: DataError for a source, ConfigurationError for a sink.
    """
    try:
        yield
    except AnalysisException as error:
        advice = "check path, table, options and rights"
        raise kind([Fault(where, key, error_class(error), "what Spark can read or write", advice)]) from None
    except SPARK_ERRORS as error:
        raise as_ours(error, where, key) from None


UNREADABLE = ("MALFORMED", "FAILED_READ_FILE", "CANNOT_READ_FILE", "CAST_INVALID_INPUT", "PARSE", "CORRUPT", "UNPARSEABLE")


def as_ours(error: Exception, where: str, key: str) -> AnonError:
    """The exception of a running job as bad data (it can't be read) or as a failure of the platform."""
    found = error_class(error)
    if any(mark in found for mark in UNREADABLE):
        return DataError(
            [
                Fault(
                    where,
                    key,
                    f"lines or files that can't be read ({found})",
                    "well-formed data",
                    "mend or leave out those files",
                )
            ]
        )
    return PlatformError(f"{where}: {key}: Spark failed ({found}); its own log says more; running the job again may help")


def error_class(error: Exception) -> str:
    """The deepest error class that Spark names, such as PATH_NOT_FOUND: it holds no value of the data."""
    # the class of a cause is given in the text alone, in square brackets; nothing else of the text is used
    inner = re.findall(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]", str(error))
    if inner:
        return str(inner[-1])
    found = getattr(error, "getCondition", getattr(error, "getErrorClass", lambda: None))()
    return str(found or type(error).__name__)
