"""The classes of a release: rows that print the same, with what the models ask of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

SIZE = "size"
"""Rows of a class: the column of that name of a table of classes."""
WHICH, VALUE, ROWS = "which", "value", "n"
"""Columns of cells: the number of the sensitive column, its value, rows of the class that have it."""


def label_column(place: int) -> str:
    """Name of a quasi-identifier's column in a table of classes."""
    return f"q{place}"


def published_text(column: Column, data_type: T.DataType) -> Column:
    """A value's text as Spark casts it; a negative zero is zero, and no collation makes two values one."""
    if isinstance(data_type, (T.FloatType, T.DoubleType)):
        column = column + F.lit(0.0).cast(data_type)
    return column.cast("string")


@dataclass(frozen=True)
class Cells:
    """What a model may ask of one sensitive column, as aggregates over the cells of a class (rows of one class and one value).

    which: the number of the column; ignores_null: null counts for no model; session: where small tables are made.
    """

    which: int
    ignores_null: bool
    session: SparkSession

    def largest(self, listed: Sequence[str] | None) -> Column:
        """The most rows of the class that share a value; of the listed ones, or of all."""
        return F.coalesce(F.max(F.when(self._counts(listed), F.col(ROWS))), F.lit(0)).cast("bigint")

    def distinct(self) -> Column:
        """Values in the class."""
        return F.coalesce(F.sum(F.when(self._counts(None), F.lit(1))), F.lit(0)).cast("bigint")

    def rows(self) -> Column:
        """Rows of the class whose value counts."""
        return self.summed(F.col(ROWS)).cast("bigint")

    def rows_beside(self, keys: Sequence[str]) -> Column:
        """Rows whose value counts, of all cells that share these columns: at each cell."""
        mine = F.sum(F.when(self._counts(None), F.col(ROWS)))
        return F.coalesce(mine.over(Window.partitionBy(*keys, WHICH)), F.lit(0)).cast("bigint")

    def summed(self, figure: Column) -> Column:
        """A figure of each cell, summed over the values that count; 0 where there is none."""
        return F.coalesce(F.sum(F.when(self._counts(None), figure)), F.lit(0))

    def most(self, figure: Column) -> Column:
        """A figure of each cell, the largest over the values that count; null where there is none."""
        return F.max(F.when(self._counts(None), figure))

    def logs(self) -> Column:
        """Sum of n ln n over the values that count, n being their rows."""
        rows = F.col(ROWS).cast("double")
        return self.summed(rows * F.log(rows))

    def ordered(self) -> Column:
        """Rows of each value that counts, the most first."""
        return F.sort_array(F.collect_list(F.when(self._counts(None), F.col(ROWS))), asc=False)

    def _counts(self, listed: Sequence[str] | None) -> Column:
        mine, value = F.col(WHICH) == self.which, F.col(VALUE)
        if listed is not None:
            return mine & value.isNotNull() & value.isin(*listed)
        return mine & value.isNotNull() if self.ignores_null else mine


def classes_of(
    labels: Sequence[Column], values: Sequence[Column], release: DataFrame, statistics: dict[str, Column],
    prepare: Sequence[Callable[[DataFrame, Sequence[str]], DataFrame]] = (),
) -> DataFrame:  # fmt: skip
    """A table of classes: columns q0.., size and the statistics (name -> aggregate over Cells).

    null, '' and 'null' are three labels. values: the sensitive columns that some model asks for, by their number. Rows are
    grouped once, by labels and values together. prepare: what statistics need of cells is added to these, given the labels' columns.
    """
    keys = [label_column(place) for place in range(len(labels))]
    texts = [f"v{place}" for place in range(len(values))]
    base = release.select(
        *(column.alias(key) for column, key in zip(labels, keys, strict=True)),
        *(column.alias(text) for column, text in zip(values, texts, strict=True)),
    )
    cells = base.groupBy(*keys, *texts).agg(F.count(F.lit(1)).alias(ROWS))
    if not values:
        return cells.withColumnRenamed(ROWS, SIZE)
    if len(values) == 1:
        cells = cells.withColumnRenamed(texts[0], VALUE).withColumn(WHICH, F.lit(0))
    else:
        pairs = F.array(*(F.struct(F.lit(i).alias(WHICH), F.col(text).alias(VALUE)) for i, text in enumerate(texts)))
        cells = cells.select(*keys, ROWS, F.inline(pairs))
        cells = cells.groupBy(*keys, WHICH, VALUE).agg(F.sum(ROWS).alias(ROWS))
    for add in prepare:
        cells = add(cells, keys)
    size = F.sum(F.when(F.col(WHICH) == 0, F.col(ROWS)))
    return cells.groupBy(*keys).agg(size.alias(SIZE), *(column.alias(name) for name, column in statistics.items()))
