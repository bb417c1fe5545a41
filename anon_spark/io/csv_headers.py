"""The headers of a CSV of several files: Spark takes the columns of all by their places in the first file unless told otherwise."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark.domain.errors import DataError, Fault
from anon_spark.io.input_options import Options, folded
from anon_spark.io.layout import Layout
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import fetch_row

_NOT_OF_HEADERS = frozenset({"header", "inferschema", "enforceschema", "nullvalue", "emptyvalue", "prefersdate"})


def with_headers_compared(
    spark: SparkSession, path: str, options: Options, table: DataFrame, layout: Layout, where: str
) -> DataFrame:
    """A CSV of several files whose headers must all be the first one's; raises DataError, now or when it is read.

    layout: of its files. Spark compares names as it reads, but names that it made up
    (an empty or repeated header) stand in no file: there the first records of all files are compared with each other.
    """
    if folded(options).get("header", "").lower() != "true" or len(layout.files) < 2:
        return table
    if _made_up(table.columns):
        refuse_headers(spark, path, options, layout.parts, where, made_up=True)
        return table
    strict = {**{key: value for key, value in options.items() if key.lower() != "enforceschema"}, "enforceSchema": "false"}
    return spark.read.format("csv").options(**strict).schema(table.schema).load(path)


def _made_up(names: Sequence[str]) -> bool:
    """Whether Spark may have named a column itself: ``_c0`` for an empty header, ``a0`` and ``a2`` for two columns ``a``."""
    stems = [name.removesuffix(str(place)).casefold() for place, name in enumerate(names)]
    return any(re.fullmatch(r"_c\d+", name) for name in names) or len(set(stems)) < len(stems)


def refuse_headers(
    spark: SparkSession, path: str, options: Options, parts: Collection[str], where: str, made_up: bool = False
) -> None:
    """DataError unless all files begin with the same record: one pass over them as if they had no headers, for one number.

    parts: columns that stand in no header, since directories name them; made_up: whether Spark gave names of its own.
    """
    plain = {key: value for key, value in options.items() if key.lower() not in _NOT_OF_HEADERS}
    records = spark.read.format("csv").options(**plain, header="false").load(path)
    # a field that is missing and one that is empty are both no name
    fields = F.array(*[F.coalesce(named(name), F.lit("")) for name in records.columns if name not in parts])
    place = F.struct(F.col("_metadata.file_block_start").alias("block"), F.monotonically_increasing_id().alias("number"))
    lines = records.select(F.col("_metadata.file_path").alias("file"), place.alias("place"), fields.alias("fields"))
    heads = lines.groupBy("file").agg(F.min_by("fields", "place").alias("head"))
    alike = F.transform("head", lambda field: F.lower(field))
    row = fetch_row(heads.agg(F.count_distinct("head").alias("n"), F.count_distinct(alike).alias("alike")))
    if row["n"] > 1:
        found = f"files with {row['n']:,} different first lines"
        found += ", which differ by capitals alone" if row["alike"] == 1 else ", in which names are empty or repeated" * made_up
        raise DataError([Fault(where, "input", found, "one header in all files", "name every column, or read each file by itself")])
