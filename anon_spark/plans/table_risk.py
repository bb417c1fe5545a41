"""The classes of a raw table as a plan: one scan and one shuffle for all its columns, one more shuffle for sets of them. No value leaves
Spark: only hashes and counts do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from anon_spark.kernels.subset_sizes import NAMES, subset_keys
from anon_spark.metrics.subsets import FEW, Subset
from anon_spark.plans.columns import HELPER, RawColumn
from anon_spark.plans.fetch import fetch_rows
from anon_spark.plans.frequency import ROWS


def hash_names(columns: int) -> list[str]:
    """Names of the hashes of a cell."""
    return [f"{HELPER}h{i}" for i in range(columns)]


def hashed_cells(table: DataFrame, quasi_identifiers: Sequence[RawColumn]) -> DataFrame:
    """Distinct combinations of raw values, null being one, as hashes: __anon_h0.. (long, salted by column), __anon_n (long).

    A column's values are told apart by 64 bits. Rows are hashed before they are grouped: lines of one small width are grouped and
    shuffled in a fraction of the time of texts where nearly all are distinct.
    """
    names = hash_names(len(quasi_identifiers))
    keys = [_hash(raw, i).alias(name) for i, (raw, name) in enumerate(zip(quasi_identifiers, names, strict=True))]
    return table.select(*keys).groupBy(*names).agg(F.count(F.lit(1)).alias(ROWS))


def class_sizes(cells: DataFrame) -> dict[int, int]:
    """How many cells have how many rows: rows -> cells, at most about the root of twice the rows of them."""
    sizes = cells.groupBy(F.col(ROWS).alias("size")).agg(F.count(F.lit(1)).alias("classes"))
    return {int(row["size"]): int(row["classes"]) for row in fetch_rows(sizes)}


def distinct_values(cells: DataFrame, columns: int) -> DataFrame:
    """One row: how many values each column has, by position, approximately (error 5 %)."""
    return cells.agg(*[F.approx_count_distinct(name).alias(name) for name in hash_names(columns)])


def subset_figures(cells: DataFrame, columns: int, subsets: Sequence[Subset], one_in: Sequence[int]) -> DataFrame:
    """A row a set of columns that has a class drawn: (subset int, classes, single, few long): classes, rows alone in theirs, rows in
    classes below FEW.  one_in: of each set only that part of its classes is counted, drawn by a hash of their values."""
    worker = partial(subset_keys, names=hash_names(columns), rows=ROWS, subsets=tuple(subsets), one_in=tuple(one_in))
    subset, key, rows = NAMES
    classes = cells.mapInArrow(worker, f"{subset} int, {key} long, {rows} long").groupBy(subset, key).agg(F.sum(rows).alias(rows))
    return classes.groupBy(subset).agg(
        F.count(F.lit(1)).alias("classes"), _rows_below(2).alias("single"), _rows_below(FEW).alias("few")
    )


def _rows_below(size: int) -> Column:
    rows = F.col(NAMES[2])
    return F.sum(F.when(rows < size, rows).otherwise(F.lit(0)))


def _hash(raw: RawColumn, place: int) -> Column:
    """Null hashes as the place alone. Values that print alike are one value, as they are to the deciders: only moments can (an hour
    that a clock change repeats), so those are hashed as text."""
    return F.xxhash64(F.lit(place), raw.text if raw.kind in ("text", "timestamp") else raw.column)
