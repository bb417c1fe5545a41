"""Reading the input through Spark, and the release that was written; options under which nothing is lost or changed in silence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import types as T

from anon_spark.domain.errors import ConfigurationError, DataError, Fault
from anon_spark.domain.policy import Sink, Source
from anon_spark.io.catalog import refuse_session, stored_source
from anon_spark.io.csv_headers import refuse_headers, with_headers_compared
from anon_spark.io.formats import unknown_format
from anon_spark.io.inferred_numbers import refuse_changed_numbers
from anon_spark.io.input_options import folded, kind_of_format, safe_options
from anon_spark.io.jdbc_numbers import refuse_rounded
from anon_spark.io.jdbc_options import for_spark, is_jdbc
from anon_spark.io.jdbc_release import read_published
from anon_spark.io.json_keys import key_twice, refuse_lost_keys
from anon_spark.io.layout import (
    as_text,
    layout_of,
    refuse_columns_twice,
    refuse_empty_files,
    refuse_passed_over,
    with_partitions_as_text,
)
from anon_spark.io.line_ends import refuse_changed_line_ends
from anon_spark.io.places import SPELLING, absent, local_place
from anon_spark.io.raw_lines import refuse_misread, refuse_replaced
from anon_spark.io.spark_errors import SPARK_ERRORS, names_in, spark_faults
from anon_spark.plans.columns import named
from anon_spark.plans.settings import setting

TEXTS = frozenset({"csv", "json", "text"})
"""Kinds of formats whose raw lines are looked at before they are trusted."""


def read(spark: SparkSession, source: Source, where: str, texts: Collection[str] = ()) -> DataFrame:
    """The input as a lazy DataFrame, its schema resolved, its raw lines looked at where it is text (one pass).

    texts: columns that are text whatever a CSV or JSON reader infers of them: 01234 inferred as a number has lost its zero.
    Raises ConfigurationError for options that lose rows, for formats and queries that Spark does not know, DataError where the source
    is missing, has no columns, can't be read, or would be misread.
    """
    with spark_faults(where, "input", absent=_absent(spark, source.path, where, "input.path")):
        try:
            table = _table(spark, source, where, texts)
            # over Connect a plan is looked at only now
            names = table.columns
        except SPARK_ERRORS as error:
            raise (unknown_format(error, source.format or "parquet", where, "input") or error) from None
        if not names:
            fault = Fault(where, "input", "no column at all", "a table", "is its file empty?")
            raise DataError([fault])
    return table


def _absent(spark: SparkSession, path: str | None, where: str, key: str, advice: str = SPELLING) -> Callable[[], Fault] | None:
    return None if path is None else lambda: absent(local_place(spark, path), path, where, key, advice)


def _table(spark: SparkSession, source: Source, where: str, texts: Collection[str]) -> DataFrame:
    if source.query is not None:
        refuse_session(spark, where)
        # a subquery can only be a query: a statement that changes something is a syntax error there
        return spark.sql(f"SELECT * FROM (\n{source.query.strip().rstrip(';')}\n)")
    if source.table is not None:
        return _stored(spark, source, where)
    kind = _known(source.format, where)
    options = safe_options(kind, source.options, where)
    if is_jdbc(source.format):
        options = for_spark(spark, options, where, "input")
    reader = spark.read.format(source.format or "parquet").options(**options)
    if is_jdbc(source.format):
        table = reader.load()
        refuse_rounded(reader, table, where)
        return table
    if kind is None or source.path is None:
        return reader.load(source.path) if source.path else reader.load()
    if kind in ("json", "text"):
        # before its schema is inferred, which would fail with less to say
        refuse_misread(spark, kind, source.path, options, 0, where)
    table = _inferred(reader, kind, source.path, where)
    layout = layout_of(spark, source.path, options)
    refuse_passed_over(spark, source.path, options, layout, where)
    if kind in ("parquet", "orc"):
        refuse_empty_files(spark, source.path, options, layout, where)
    refuse_columns_twice(spark, kind, source.path, options, layout, where)
    table = with_partitions_as_text(reader, source.path, table, layout, texts, where)
    if kind in ("csv", "json"):
        table = as_text(reader, source.path, table, {f.name for f in table.schema.fields if f.dataType != T.StringType()} & set(texts))
        refuse_changed_numbers(reader, kind, source.path, table, layout.parts, where)
    if kind == "json":
        refuse_lost_keys(spark, source.path, options, _without(table.schema, layout.parts), where)
    _refuse_lenient_dates(spark, kind, table, where)
    if kind == "csv" and table.columns:
        refuse_misread(spark, kind, source.path, options, len(table.columns) - len(layout.parts), where)
        refuse_changed_line_ends(spark, source.path, options, [name for name in table.columns if name not in layout.parts], where)
        table = with_headers_compared(spark, source.path, options, table, layout, where)
    if kind in TEXTS:
        refuse_replaced(table, options, where)
    return table


def _stored(spark: SparkSession, source: Source, where: str) -> DataFrame:
    """A table or view by its name; one that is stored as CSV or JSON files is read as strictly as files are."""
    refuse_session(spark, where)
    stored = stored_source(spark, source)
    if stored is None or stored.path is None:
        return spark.read.options(**source.options).table(str(source.table))
    kind = _known(stored.format, where)
    options = safe_options(kind, stored.options, where)
    # what the table was made with can't be said again
    more = {key: value for key, value in options.items() if key.lower() in folded(source.options) or key not in stored.options}
    table = spark.read.options(**more).table(str(source.table))
    _refuse_lenient_dates(spark, kind, table, where)
    layout = layout_of(spark, stored.path, options) if kind else None
    parts = layout.parts if layout else ()
    if layout and not parts:
        # the partitions of a stored table are those that the catalogue knows
        refuse_passed_over(spark, stored.path, options, layout, where)
    if kind == "csv" and folded(options).get("header", "").lower() == "true" and layout and len(layout.files) > 1:
        refuse_headers(spark, stored.path, options, parts, where)
    if kind in TEXTS:
        refuse_misread(spark, str(kind), stored.path, options, len(table.columns) - len(parts), where)
    if kind == "json":
        refuse_lost_keys(spark, stored.path, options, _without(table.schema, parts), where)
    if kind == "csv":
        refuse_changed_line_ends(spark, stored.path, options, [name for name in table.columns if name not in parts], where)
    if kind in TEXTS:
        refuse_replaced(table, options, where)
    return table


def _inferred(reader: DataFrameReader, kind: str | None, path: str, where: str) -> DataFrame:
    try:
        return reader.load(path)
    except AnalysisException as error:
        if kind == "json" and "COLUMN_ALREADY_EXISTS" in names_in(error):
            raise DataError([key_twice(where, "objects with a key twice, or with two that differ by capitals alone")]) from None
        raise


def _without(schema: T.StructType, parts: Collection[str]) -> T.StructType:
    return T.StructType([field for field in schema.fields if field.name not in parts])


def _known(name: str | None, where: str) -> str | None:
    """The kind of a format. Raises ConfigurationError for XML: what stands outside of whole rows is passed over by its reader."""
    kind = kind_of_format(name)
    if kind == "xml":
        found, advice = "xml, which Spark reads with what it does not understand left out", "save it as Parquet first, and look at it"
        raise ConfigurationError([Fault(where, "input.format", found, "a format that is read whole", advice)])
    return kind


def _refuse_lenient_dates(spark: SparkSession, kind: str | None, table: DataFrame, where: str) -> None:
    """Spark's legacy parser takes 2020-02-31 for the second of March."""
    if kind not in ("csv", "json") or setting(spark, "spark.sql.legacy.timeParserPolicy", "CORRECTED").upper() != "LEGACY":
        return
    moments = [f.name for f in table.schema.fields if isinstance(f.dataType, (T.DateType, T.TimestampType, T.TimestampNTZType))]
    if moments:
        found = f"spark.sql.legacy.timeParserPolicy = LEGACY, and dates inferred in {moments[0]!r}"
        raise ConfigurationError([Fault(where, "input", found, "CORRECTED", "set it, or read without inferSchema")])


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
    ours = defaults.get(kind_of_format(sink.format) or "", {})
    return {**{key: value for key, value in ours.items() if key.lower() not in given}, **sink.options}


def read_back(spark: SparkSession, sink: Sink, path: str, schema: T.StructType) -> DataFrame:
    """What was written, by the schema that it was written with; nullable, since a file can promise nothing."""
    nullable = T.StructType([T.StructField(field.name, field.dataType, True) for field in schema.fields])
    back = spark.read.format(sink.format).options(**read_options(sink)).schema(nullable).load(path)
    # columns that are directories come last, whatever the schema says
    return back.select(*map(named, schema.names)) if sink.partition_by else back


def _published_files(spark: SparkSession, sink: Sink) -> DataFrame:
    reader, path = spark.read.format(sink.format).options(**read_options(sink)), str(sink.path)
    release = reader.load(path)
    if kind_of_format(sink.format) or "avro" in sink.format.lower():
        release = as_text(reader, path, release, set(layout_of(spark, path, read_options(sink)).parts))
    return release


def _refuse_headless(sink: Sink, where: str) -> None:
    """ConfigurationError for a release of CSV without headers: it was audited before it was published, and does not say now which
    column is which."""
    if kind_of_format(sink.format) == "csv" and folded(write_options(sink))["header"].lower() != "true":
        expected = "true: files without a header do not tell their columns"
        advice = "its run audited it before it was published; let files that are to be audited again have headers"
        raise ConfigurationError([Fault(where, "output.options.header", "false", expected, advice)])


def read_release(spark: SparkSession, sink: Sink, where: str) -> DataFrame:
    """A release that was published before, by whatever schema its files show; columns that are directories are the texts of their
    names, in which 10 and 010 are two. Raises DataError where there is none."""
    with spark_faults(where, "output", absent=_absent(spark, sink.path, where, "output.path", f"run the job first, or {SPELLING}")):
        if is_jdbc(sink.format):
            release = read_published(spark, sink, where)
        elif sink.table is not None:
            release = spark.read.table(sink.table)
        else:
            _refuse_headless(sink, where)
            release = _published_files(spark, sink)
        if not release.columns:
            raise DataError([Fault(where, "output", "no column at all", "a release", "was it published?")])
    return release
