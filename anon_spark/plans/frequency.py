"""The frequency set of a table as a plan: one scan, one shuffle; raw values are grouped first and made text after (DESIGN)."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from anon_spark.plans.columns import HELPER, RawColumn

ROWS = HELPER + "n"
"""Name of the row count of a cell."""


def cell_names(quasi_identifiers: int, sensitive: int) -> tuple[list[str], list[str]]:
    """Names of the columns of a frequency set: quasi-identifiers, then sensitive columns, in the configured order."""
    return [f"{HELPER}q{i}" for i in range(quasi_identifiers)], [f"{HELPER}s{i}" for i in range(sensitive)]


def frequencies(table: DataFrame, quasi_identifiers: Sequence[RawColumn], sensitive: Sequence[RawColumn]) -> DataFrame:
    """Distinct combinations of the raw values with their rows.

    Returns columns __anon_q0.., __anon_s0.. (canonical text, null for null) and __anon_n (long). Doubles and timestamps may print
    alike where they differ (a repeated hour of a clock change): encoding merges such cells.
    """
    names = sum(cell_names(len(quasi_identifiers), len(sensitive)), [])
    raws = [*quasi_identifiers, *sensitive]
    keys = [raw.column.alias(name) for raw, name in zip(raws, names, strict=True)]
    grouped = table.select(*keys).groupBy(*names).agg(F.count(F.lit(1)).alias(ROWS))
    return grouped.select(*[F.col(name).cast("string").alias(name) for name in names], ROWS)


def fingerprint(texts: Sequence[Column], weight: Column | None = None) -> Column:
    """Order-free aggregate of rows given by their texts: an exact sum of 64-bit hashes, each times ``weight`` rows.

    Two scans of one input agree; inputs that differ agree with a chance of about 2^-64 (Carter & Wegman style sums).
    """
    value = hashed(texts).cast("decimal(20,0)")
    if weight is not None:
        value = value * weight.cast("decimal(18,0)")
    return F.sum(value.cast("decimal(38,0)"))


def hashed(texts: Sequence[Column]) -> Column:
    """long: hash of texts and of which of them are null: xxhash64 skips nulls, so (a, null) and (null, a) would be one."""
    return F.xxhash64(*texts, F.concat(*[F.when(text.isNull(), F.lit("0")).otherwise(F.lit("1")) for text in texts]))


def totals(cells: DataFrame, quasi_identifiers: int, sensitive: int) -> DataFrame:
    """One row: cells, rows, the rows of the largest cell, and the fingerprint of a frequency set; null fingerprint of an empty one."""
    names = sum(cell_names(quasi_identifiers, sensitive), [])
    return cells.agg(
        F.count(F.lit(1)).alias("cells"),
        F.coalesce(F.sum(ROWS), F.lit(0)).alias("rows"),
        F.coalesce(F.max(ROWS), F.lit(0)).alias("largest"),
        fingerprint([F.col(name) for name in names], F.col(ROWS)).alias("fingerprint"),
    )


def not_utf8(cells: DataFrame, columns: int, sensitive: int) -> DataFrame:
    """One row: of each column of a frequency set, the rows whose text is no UTF-8."""
    names = sum(cell_names(columns, sensitive), [])
    return cells.agg(*[F.coalesce(F.sum(F.when(_no_utf8(F.col(name)), F.col(ROWS))), F.lit(0)).alias(name) for name in names])


def _no_utf8(text: Column) -> Column:
    if hasattr(F, "is_valid_utf8"):
        return ~F.is_valid_utf8(text)
    # before 4.0 what is no UTF-8 is replaced as it is decoded
    return F.decode(text.cast("binary"), "UTF-8").cast("binary") != text.cast("binary")


def values_of(cells: DataFrame, columns: int, sensitive: int) -> DataFrame:
    """Every distinct value of every column of a frequency set: (place int, value string, rows long); one shuffle."""
    names = sum(cell_names(columns, sensitive), [])
    pairs = F.array(*[F.struct(F.lit(place).alias("place"), F.col(name).alias("value")) for place, name in enumerate(names)])
    exploded = cells.select(F.explode(pairs).alias("pair"), ROWS)
    return exploded.groupBy("pair.place", "pair.value").agg(F.sum(ROWS).alias("rows"))
