"""The frequency set of a table as a plan: one scan, one shuffle; raw values are grouped first and made text after (DESIGN)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from anon_spark.plans.columns import HELPER, RawColumn

ROWS = HELPER + "n"
"""Name of the row count of a cell."""
POOLED = 32
"""Batches whose values are pooled together."""


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
    return exact_sum(row_hash(texts), weight)


PART = 22
"""Bits of the parts that ``exact_sum`` adds up apart."""


def exact_sum(value: Column, weight: Column | None = None) -> Column:
    """decimal(38, 0): the sum of longs, each times ``weight`` rows; exact up to 2^41 rows, and null of none.

    Three parts of each are added as longs, which takes a tenth of the time of adding decimals of 38 digits.
    """
    return total_of([F.sum(part if weight is None else part * weight) for part in parts_of(value)])


def parts_of(value: Column) -> list[Column]:
    """A long in three parts, the highest first."""
    low = F.lit((1 << PART) - 1).cast("long")
    return [F.shiftright(value, 2 * PART), F.shiftright(value, PART).bitwiseAND(low), value.bitwiseAND(low)]


def total_of(sums: Sequence[Column]) -> Column:
    """decimal(38, 0): what sums of parts come to."""
    total = F.lit(0).cast("decimal(38, 0)")
    for place, added in enumerate(sums):
        scaled = added.cast("decimal(20, 0)") * F.lit(1 << (2 - place) * PART).cast("decimal(14, 0)")
        total = (total + scaled).cast("decimal(38, 0)")
    return total


def row_hash(texts: Sequence[Column]) -> Column:
    """long: hash of texts and of which of them are null."""
    return F.xxhash64(*texts, *[text.isNull() for text in texts])


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
    found = cells.select(*names, ROWS).mapInArrow(partial(_values, names=names), "place int, value string, rows long")
    return found.groupBy("place", "value").agg(F.sum("rows").alias("rows"))


def _values(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The distinct values of a partition."""
    held: list[list[pa.Table]] = [[] for _ in names]
    for batch in batches:
        table = pa.Table.from_batches([batch])
        for place, name in enumerate(names):
            held[place].append(_pooled(table.select([name, ROWS]).rename_columns(["value", "rows"])))
            if len(held[place]) == POOLED:
                held[place] = [_pooled(pa.concat_tables(held[place]))]
    for place, tables in enumerate(held):
        for found in _pooled(pa.concat_tables(tables)).to_batches() if tables else ():
            of = pa.array(np.full(found.num_rows, place), pa.int32())
            yield pa.RecordBatch.from_arrays([of, *found.columns], names=["place", "value", "rows"])


def _pooled(table: pa.Table) -> pa.Table:
    summed = table.group_by("value").aggregate([("rows", "sum")])
    return pa.table([summed["value"], summed["rows_sum"]], names=["value", "rows"])
