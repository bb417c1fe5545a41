"""The classes of a release: rows that print the same, with what the models ask of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

SIZE = "size"
"""Rows of a class: the column of that name of a table of classes."""
COUNTED = "counted"
"""What models count of a class: its rows, or its persons."""
WHICH, VALUE, ROWS = "which", "value", "n"
"""Columns of cells: the number of the sensitive column, its value, rows of the class that have it, or persons."""
WHOLE = -1
"""The number of the cell that is the whole class, where persons are counted: those of its values do not add up."""


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

    which: the number of the column; ignores_null: null counts for no model; session: where small tables are made; persons: where cells
    count persons, (places of labels, value) -> of the classes of these labels, which may be cut by others, ``most`` persons who have
    the value and ``of`` all.
    """

    which: int
    ignores_null: bool
    session: SparkSession
    persons: Callable[[Sequence[int], str], DataFrame] | None = None

    def of_class(self, keys: Sequence[str]) -> Column:
        """What is counted of the whole class, at each of its cells."""
        if self.persons is not None:
            return F.max(F.when(F.col(WHICH) == WHOLE, F.col(ROWS))).over(Window.partitionBy(*keys))
        return F.sum(ROWS).over(Window.partitionBy(*keys, WHICH))

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
    prepare: Sequence[Callable[[DataFrame, Sequence[str]], DataFrame]] = (), person: Column | None = None,
) -> DataFrame:  # fmt: skip
    """A table of classes: columns q0.., size, counted and the statistics (name -> aggregate over Cells).

    null, '' and 'null' are three labels. values: the sensitive columns that some model asks for, by their number. Rows are
    grouped once, by labels and values together. prepare: what statistics need of cells is added to these, given the labels' columns.
    person: who a row is of, null for nobody else's; None where rows are counted.
    """
    keys = [label_column(place) for place in range(len(labels))]
    texts = [f"v{place}" for place in range(len(values))]
    if person is not None:
        return _of_persons(labels, values, release.withColumn(PERSON, person), statistics, prepare)
    base = release.select(
        *(column.alias(key) for column, key in zip(labels, keys, strict=True)),
        *(column.alias(text) for column, text in zip(values, texts, strict=True)),
    )
    cells = base.groupBy(*keys, *texts).agg(F.count(F.lit(1)).alias(ROWS))
    if not values:
        return cells.withColumnRenamed(ROWS, SIZE).withColumn(COUNTED, F.col(SIZE))
    if len(values) == 1:
        cells = cells.withColumnRenamed(texts[0], VALUE).withColumn(WHICH, F.lit(0))
    else:
        pairs = F.array(*(F.struct(F.lit(i).alias(WHICH), F.col(text).alias(VALUE)) for i, text in enumerate(texts)))
        cells = cells.select(*keys, ROWS, F.inline(pairs))
        cells = cells.groupBy(*keys, WHICH, VALUE).agg(F.sum(ROWS).alias(ROWS))
    for add in prepare:
        cells = add(cells, keys)
    size = F.sum(F.when(F.col(WHICH) == 0, F.col(ROWS)))
    classes = cells.groupBy(*keys).agg(size.alias(SIZE), *(column.alias(name) for name, column in statistics.items()))
    return classes.withColumn(COUNTED, F.col(SIZE))


def persons_of_value(
    labels: Sequence[Column], release: DataFrame, person: Column, texts: Column, given: Sequence[int], value: str
) -> DataFrame:
    """Of the classes of some labels (q0..): ``of``, their persons, and ``most``, those who have a value.  texts: of its column."""
    base = release.select(*(labels[place].alias(label_column(place)) for place in given), person.alias(PERSON), texts.alias(VALUE))
    has, unknown = F.coalesce(F.col(VALUE) == value, F.lit(False)), F.col(PERSON).isNull()
    most = F.countDistinct(F.when(has, F.col(PERSON))) + F.sum((has & unknown).cast("bigint"))
    of = F.countDistinct(PERSON) + F.sum(unknown.cast("bigint"))
    return base.groupBy(*(label_column(place) for place in given)).agg(most.alias("most"), of.alias("of"))


PERSON, _SIZES = "person", "rows"


def _of_persons(
    labels: Sequence[Column], values: Sequence[Column], release: DataFrame, statistics: dict[str, Column],
    prepare: Sequence[Callable[[DataFrame, Sequence[str]], DataFrame]],
) -> DataFrame:  # fmt: skip
    """The same, counted in persons: distinct ones, and every row that is of nobody known."""
    keys = [label_column(place) for place in range(len(labels))]
    whole = F.struct(F.lit(WHOLE).alias(WHICH), F.lit(None).cast("string").alias(VALUE))
    pairs = [whole, *(F.struct(F.lit(i).alias(WHICH), text.alias(VALUE)) for i, text in enumerate(values))]
    base = release.select(*(column.alias(key) for column, key in zip(labels, keys, strict=True)), PERSON, F.inline(F.array(*pairs)))
    persons = F.countDistinct(PERSON) + F.sum(F.col(PERSON).isNull().cast("bigint"))
    cells = base.groupBy(*keys, WHICH, VALUE).agg(persons.alias(ROWS), F.count(F.lit(1)).alias(_SIZES))
    for add in prepare:
        cells = add(cells, keys)
    of_class = F.col(WHICH) == WHOLE
    return cells.groupBy(*keys).agg(
        F.max(F.when(of_class, F.col(_SIZES))).alias(SIZE),
        F.max(F.when(of_class, F.col(ROWS))).alias(COUNTED),
        *(column.alias(name) for name, column in statistics.items()),
    )
