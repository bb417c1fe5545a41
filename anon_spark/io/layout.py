"""How the files of an input lie in directories: what Spark makes of their names (``zip=01234``), and what it passes over."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from urllib.parse import unquote

import pyarrow as pa
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.counting import some_of
from anon_spark.domain.errors import DataError, Fault
from anon_spark.io.input_options import Options, folded
from anon_spark.plans.fetch import fetch_row
from anon_spark.plans.local import local_table

_LINE = "__anon_line"
_FILES = frozenset({"pathglobfilter", "recursivefilelookup", "modifiedbefore", "modifiedafter", "timezone", "basepath"})
_NULL = "__HIVE_DEFAULT_PARTITION__"
_ESCAPED = re.compile("%([0-9A-Fa-f]{2})")
_INFERENCE = "spark.sql.sources.partitionColumnTypeInference.enabled"


@dataclass(frozen=True)
class Layout:
    """files: all that is read, by their URIs; parts: the columns that come from the names of directories, whatever the format."""

    files: tuple[str, ...]
    parts: tuple[str, ...]


def layout_of(spark: SparkSession, path: str, options: Options) -> Layout:
    """Spark lists the files; nothing is read of them."""
    listed = _listed(spark, path, folded(options))
    return Layout(tuple(listed.inputFiles()), tuple(name for name in listed.columns if name != _LINE))


def _listed(spark: SparkSession, path: str, given: Options) -> DataFrame:
    kept = {key: value for key, value in given.items() if key in _FILES}
    # a partition may have any name but this one
    return spark.read.format("text").options(**kept).schema(T.StructType([T.StructField(_LINE, T.StringType())])).load(path)


def refuse_passed_over(spark: SparkSession, path: str, options: Options, layout: Layout, where: str) -> None:
    """DataError where files lie in subdirectories that Spark doesn't look into, or beside the directories of a partitioned table.

    Hidden names are Spark's own and count for nothing. Whoever writes recursiveFileLookup: false has said what is meant.
    """
    given = folded(options)
    if "recursivefilelookup" in given:
        return
    deep = {**{key: value for key, value in given.items() if key != "basepath"}, "recursivefilelookup": "true"}
    passed = len(set(_listed(spark, path, deep).inputFiles()) - set(layout.files))
    beside = sum(any(_text_of(file, part) is None for part in layout.parts) for file in layout.files)
    key, expected = "input.options.recursiveFileLookup", "all files in the directory itself, or all in directories key=value"
    if passed:
        advice = "set it to true to read them too, to false to leave them out"
        raise DataError([Fault(where, key, f"{passed:,} files in subdirectories that Spark passes over", expected, advice)])
    if beside:
        found, advice = f"{beside:,} files beside directories key=value, which Spark passes over", "move them away, or set it to false"
        raise DataError([Fault(where, key, found, expected, advice)])


def refuse_columns_twice(spark: SparkSession, kind: str, path: str, options: Options, layout: Layout, where: str) -> None:
    """DataError where files hold a column that their directories are named by, too: Spark takes what the directories say for it.

    Names alone are read, which takes a pass over files of JSON.
    """
    if not layout.parts or kind not in ("csv", "json", "parquet", "orc"):
        return
    apart = {"basepath", "recursivefilelookup", "inferschema"}
    given = {key: value for key, value in options.items() if key.lower() not in apart}
    inside = spark.read.format(kind).options(**given, recursiveFileLookup="true").load(path).columns
    twice = sorted({name for name in inside if name.casefold() in {part.casefold() for part in layout.parts}})
    if twice:
        found = f"{some_of(twice)}, both in the files and in the names of their directories (key=value)"
        advice = "set input.options.recursiveFileLookup to true to read the files' own, or rename one of the two"
        raise DataError([Fault(where, "input.path", found, "every column in one place", advice)])


def refuse_empty_files(spark: SparkSession, path: str, options: Options, layout: Layout, where: str) -> None:
    """DataError where a file of Parquet or ORC holds not one byte, as a copy does that was broken off: Spark passes over it, though even
    a table of no rows has a footer. Files are counted, nothing is read: a scan of them leaves out those of no bytes."""
    kept = {key: value for key, value in folded(options).items() if key in _FILES}
    scanned = spark.read.format("binaryFile").options(**kept).load(path)
    empty = len(layout.files) - fetch_row(scanned.agg(F.count(F.lit(1)).alias("n")))["n"]
    if empty:
        found, advice = f"{empty:,} files of no bytes, which Spark passes over", "copy them again, or take them away"
        raise DataError([Fault(where, "input.path", found, "whole files", advice)])


def with_partitions_as_text(
    reader: DataFrameReader, path: str, table: DataFrame, layout: Layout, texts: Collection[str], where: str
) -> DataFrame:
    """The table with the partition columns of ``texts`` as text, every zero kept.

    Raises DataError for another one whose inferred values are not what its directories are called: 01234 and 1234 would be one.
    """
    typed = [field for field in table.schema.fields if field.name in layout.parts and not isinstance(field.dataType, T.StringType)]
    inferred = [field for field in typed if field.name not in texts]
    lossy = [field.name for field in inferred if _loses(table.sparkSession, field.dataType, layout.files, field.name)]
    if lossy:
        found = "directories whose names are not what Spark infers of them (leading zeros, say)"
        advice = f"write type: string for it, or set {_INFERENCE} to false in the session"
        raise DataError([Fault(where, name, found, "values that keep their text", advice) for name in lossy])
    return as_text(reader, path, table, {field.name for field in typed} & set(texts))


def as_text(reader: DataFrameReader, path: str, table: DataFrame, names: Collection[str]) -> DataFrame:
    """The table read again with these columns as text from the start."""
    if not names:
        return table
    kept = [
        T.StructField(field.name, T.StringType() if field.name in names else field.dataType, True, field.metadata)
        for field in table.schema.fields
    ]
    return reader.schema(T.StructType(kept)).load(path)


def _loses(spark: SparkSession, kind: T.DataType, files: Iterable[str], name: str) -> bool:
    """Whether the text of any directory is not that of its value."""
    texts = sorted({text for text in (_text_of(file, name) for file in files) if text not in (None, _NULL)} - {None})
    if not texts:
        return False
    values = local_table(spark, pa.table({"t": pa.array(texts, pa.string())}))
    same = F.expr(f"CAST(try_cast(t AS {kind.simpleString()}) AS string) <=> t")
    return bool(fetch_row(values.agg(F.count(F.when(~same, True)).alias("n")))["n"])


def _text_of(file: str, name: str) -> str | None:
    """What the directories of a file say of a partition column; None where they don't name it."""
    for directory in reversed(unquote(file).split("/")[:-1]):
        key, equals, value = directory.partition("=")
        if equals and _unescaped(key).casefold() == name.casefold():
            return _unescaped(value)
    return None


def _unescaped(text: str) -> str:
    """Hive writes characters that no file name may hold as their numbers."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
