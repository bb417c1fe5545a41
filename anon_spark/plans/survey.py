"""A look at a table before it is grouped: about how many combinations it has, and whether one of them has very many rows."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.plans.columns import HELPER, RawColumn
from anon_spark.plans.frequency import ROWS, cell_names, parts_of, row_hash, total_of

DRAWN_BITS, BUCKET_BITS = 6, 16
"""One combination in 2^6 is counted by itself, all others in 2^16 buckets."""
_HASH, _DRAWN, _KEY = (HELPER + name for name in ("hash", "drawn", "bucket"))


def survey(table: DataFrame, columns: Sequence[RawColumn]) -> DataFrame:
    """One row: rows; cells, about how many combinations; largest, which no combination has more rows than; the fingerprint of ``totals``.

    A hash of a combination's texts tells whether it is drawn, and its bucket: nothing depends on partitions or on the order of rows. One
    scan, a shuffle of few lines, no worker.
    """
    hash_ = F.col(_HASH)
    drawn = hash_.bitwiseAND(F.lit((1 << DRAWN_BITS) - 1).cast("long")) == 0
    bucket = F.shiftright(hash_, DRAWN_BITS).bitwiseAND(F.lit((1 << BUCKET_BITS) - 1).cast("long"))
    parts = {f"{_HASH}{i}": F.sum(part) for i, part in enumerate(parts_of(hash_))}
    hashes = table.select(row_hash([raw.text for raw in columns]).alias(_HASH))
    grouped = hashes.groupBy(drawn.alias(_DRAWN), F.when(drawn, hash_).otherwise(bucket).alias(_KEY)).agg(
        F.count(F.lit(1)).alias(ROWS), *[sum_.alias(name) for name, sum_ in parts.items()]
    )
    return grouped.agg(
        F.coalesce(F.sum(ROWS), F.lit(0)).alias("rows"),
        (F.count(F.when(F.col(_DRAWN), 1)) * (1 << DRAWN_BITS)).alias("cells"),
        F.coalesce(F.max(ROWS), F.lit(0)).alias("largest"),
        total_of([F.sum(name) for name in parts]).alias("fingerprint"),
    )


def every_row(table: DataFrame, quasi_identifiers: Sequence[RawColumn], others: Sequence[RawColumn]) -> DataFrame:
    """The rows in the columns of a frequency set, each a cell of one row: for those who do not need them grouped."""
    names = sum(cell_names(len(quasi_identifiers), len(others)), [])
    texts = [raw.text.alias(name) for raw, name in zip([*quasi_identifiers, *others], names, strict=True)]
    return table.select(*texts, F.lit(1).cast("long").alias(ROWS))
