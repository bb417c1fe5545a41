"""Reading the input through Spark, and the release that was written; options under which nothing is lost or changed in silence."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from anon_spark.domain.errors import ConfigurationError, DataError, Fault
from anon_spark.domain.policy import Sink, Source
from anon_spark.io.spark_errors import spark_faults

TEXT_FORMATS = frozenset({"csv", "json"})
"""Formats whose lines can be malformed: unless told otherwise Spark nulls what it can't parse, which would change rows in silence."""
CSV_INPUT = {
    # with pruning Spark looks at the wanted columns alone and takes a line of too few or too many fields
    "columnPruning": "false",
    # by default a quote inside quotes that is not escaped leaves the quotes in the value: "say ""x""" would keep all six
    "unescapedQuoteHandling": "RAISE_ERROR",
}


def read(spark: SparkSession, source: Source, where: str, texts: Collection[str] = ()) -> DataFrame:
    """The input as a lazy DataFrame, its schema resolved.

    texts: columns that are text whatever a CSV or JSON reader infers of them: 01234 inferred as a number has lost its zero.
    Raises ConfigurationError for options that lose rows, for formats and queries that Spark does not know, DataError where the source
    is missing, has no columns or can't be read.
    """
    with spark_faults(where, "input"):
        table = _table(spark, source, where, texts)
        if not table.columns:
            fault = Fault(where, "input", "no column at all", "a table", "is its file empty?")
            raise DataError([fault])
    return table


def _table(spark: SparkSession, source: Source, where: str, texts: Collection[str]) -> DataFrame:
    if source.query is not None:
        # a subquery can only be a query: a statement that changes something is a syntax error there
        return spark.sql(f"SELECT * FROM (\n{source.query.strip().rstrip(';')}\n)")
    if source.table is not None:
        return spark.read.options(**source.options).table(source.table)
    options = _safe_options(source, where)
    reader = spark.read.format(source.format or "parquet").options(**options)
    table = reader.load(source.path) if source.path else reader.load()
    if text_format(source.format) and any(f.name in texts and f.dataType != T.StringType() for f in table.schema.fields):
        kept = [T.StructField(f.name, T.StringType() if f.name in texts else f.dataType) for f in table.schema.fields]
        table = reader.schema(T.StructType(kept)).load(source.path)
    return _with_headers_compared(spark, source, options, table) if source.path else table


def text_format(name: str | None) -> str | None:
    """csv or json for any of the names that Spark knows these formats by (com.databricks.spark.csv, a class's name), else None."""
    folded = (name or "").lower()
    return next((kind for kind in sorted(TEXT_FORMATS) if folded == kind or ("." in folded and kind in folded)), None)


def _safe_options(source: Source, where: str) -> dict[str, str]:
    options = dict(source.options)
    if text_format(source.format) is None:
        return options
    given = {key.lower(): value for key, value in options.items()}
    if given.get("mode", "").upper() in {"DROPMALFORMED", "PERMISSIVE"}:
        fault = Fault(
            where, "input.options.mode", repr(given["mode"]), "FAILFAST",
            "this mode drops or empties malformed lines in silence; clean the file first",
        )  # fmt: skip
        raise ConfigurationError([fault])
    ours = {"mode": "FAILFAST", **(CSV_INPUT if text_format(source.format) == "csv" else {})}
    return {**{key: value for key, value in ours.items() if key.lower() not in given}, **options}


def _with_headers_compared(spark: SparkSession, source: Source, options: Mapping[str, str], table: DataFrame) -> DataFrame:
    """A CSV of several files whose headers must all be the first one's: Spark takes its columns by their place alone unless told so.

    Names that Spark made up (an empty or repeated header) stand in no file: such tables are read as they are.
    """
    given = {key.lower(): value.lower() for key, value in options.items()}
    headed = text_format(source.format) == "csv" and given.get("header") == "true"
    if not headed or "enforceschema" in given or _made_up(table.columns) or len(table.inputFiles()) < 2:
        return table
    return spark.read.format("csv").options(**options, enforceSchema="false").schema(table.schema).load(source.path)


def _made_up(names: Sequence[str]) -> bool:
    """Whether Spark may have named a column itself: ``_c0`` for an empty header, ``a0`` and ``a2`` for two columns ``a``."""
    stems = [name.removesuffix(str(place)).casefold() for place, name in enumerate(names)]
    return any(re.fullmatch(r"_c\d+", name) for name in names) or len(set(stems)) < len(stems)


_MOMENTS = {
    # Spark would cut them to milliseconds, and offsets of before 1900 to minutes
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS][XXXXX]",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]",
}
_CSV = {
    "header": "true",
    # Spark would strip the blanks of values
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
    # and read its own empty text back as null
    "nullValue": "\\N",
}
WRITE: Mapping[str, Mapping[str, str]] = {"csv": {**_CSV, **_MOMENTS}, "json": _MOMENTS}
"""Options by format under which what is written can be read back as it was."""
READ: Mapping[str, Mapping[str, str]] = {
    "csv": {**WRITE["csv"], "multiLine": "true", "mode": "FAILFAST"},
    "json": {**WRITE["json"], "mode": "FAILFAST"},
}


def write_options(sink: Sink) -> dict[str, str]:
    """The options that a release is written with: the configured ones over ours."""
    return _over(WRITE, sink)


def read_options(sink: Sink) -> dict[str, str]:
    """The options that read a release back."""
    return _over(READ, sink)


def _over(defaults: Mapping[str, Mapping[str, str]], sink: Sink) -> dict[str, str]:
    given = {key.lower() for key in sink.options}
    ours = defaults.get(sink.format.lower(), {})
    return {**{key: value for key, value in ours.items() if key.lower() not in given}, **sink.options}


def read_back(spark: SparkSession, sink: Sink, path: str, schema: T.StructType) -> DataFrame:
    """What was written, by the schema that it was written with; nullable, since a file can promise nothing."""
    nullable = T.StructType([T.StructField(field.name, field.dataType, True) for field in schema.fields])
    return spark.read.format(sink.format).options(**read_options(sink)).schema(nullable).load(path)


def read_release(spark: SparkSession, sink: Sink, where: str) -> DataFrame:
    """A release that was published before, by whatever schema its files show. Raises DataError where there is none."""
    with spark_faults(where, "output"):
        release = spark.read.format(sink.format).options(**read_options(sink)).load(sink.path)
        if not release.columns:
            raise DataError([Fault(where, "output", "no column at all", "a release", "was it published?")])
    return release
