"""Files of a CSV with multiLine whose last quoted field never ends: Spark takes all lines behind its quote for one value."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def open_files(lines: DataFrame, line: Column, quote: str, is_open: Callable[[Column], Column]) -> DataFrame:
    """One row, ``n``: how many files end inside a quoted field.

    lines: the raw lines of the files with Spark's ``_metadata``; line: their text; is_open: whether a text that begins a record
    leaves a quoted field open at its end. A line can be met outside of quotes or inside: it leads to the same state from both, or
    keeps the state, or turns it. So a file's end is told by its last line of the first kind, and how many turn the state after it.
    """
    place = F.struct(F.col("_metadata.file_block_start").alias("block"), F.monotonically_increasing_id().alias("number"))
    # a line without quotes keeps the state
    found = lines.where(line.contains(quote)).select(
        F.col("_metadata.file_path").alias("file"), place.alias("place"), is_open(line).alias("outside"),
        is_open(F.concat(F.lit(quote), line)).alias("inside"),
    )  # fmt: skip
    settled = found.where("outside = inside").groupBy("file").agg(F.max(F.struct("place", "outside")).alias("last"))
    turning = found.where("outside AND NOT inside").join(settled, "file", "left")
    turns = turning.where("last IS NULL OR place > last.place").groupBy("file").agg(F.count(F.lit(1)).alias("turns"))
    ends = settled.join(turns, "file", "full").select(
        ((F.coalesce("last.outside", F.lit(False)).cast("int") + F.coalesce("turns", F.lit(0))) % 2).alias("open")
    )
    return ends.agg(F.coalesce(F.sum("open"), F.lit(0)).alias("n"))
