"""Rows on their way through blocks, where nearly all combinations are distinct: one shuffle, no join, their labels beside them at last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.plans.block_lines import (
    BROKEN,
    COMBINATIONS,
    GROUP,
    HELD,
    KEY,
    MEMBERS,
    SIZE,
    SIZES,
    box_names,
    high_names,
    low_names,
    value_names,
    word_names,
)
from anon_spark.plans.blocks import CLASS, Worker, renamed
from anon_spark.plans.columns import RawColumn, named
from anon_spark.plans.frequency import cell_names
from anon_spark.plans.publish import Printed
from anon_spark.plans.row_hash import DEALT_BY, dealt_by

_TYPES = (
    T.BooleanType, T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType, T.DecimalType, T.DateType,
    T.TimestampType, T.TimestampNTZType, T.BinaryType,
)  # fmt: skip


def travels(table: DataFrame) -> bool:
    """Whether every column has a type that workers take and give back as it is."""
    return all(_travels(field.dataType) for field in table.schema.fields)


def _travels(data_type: T.DataType) -> bool:
    if isinstance(data_type, T.ArrayType):
        return _travels(data_type.elementType)
    if isinstance(data_type, T.MapType):
        return _travels(data_type.keyType) and _travels(data_type.valueType)
    if isinstance(data_type, T.StructType):
        return all(_travels(field.dataType) for field in data_type.fields)
    if isinstance(data_type, T.StringType):
        # a collation, or a fixed length, would come back as another type
        return data_type == T.StringType()
    return isinstance(data_type, _TYPES)


def carried(
    quasi_identifiers: Sequence[RawColumn], counted: Sequence[RawColumn], columns: Sequence[str]
) -> tuple[str, ...]:
    """The ``columns`` that go with a row as they are: its quasi-identifiers go as texts alone."""
    as_texts = {raw.name for raw in quasi_identifiers} - {raw.name for raw in counted}
    return tuple(name for name in columns if name not in as_texts)


def rows_of(
    table: DataFrame,
    quasi_identifiers: Sequence[RawColumn],
    counted: Sequence[RawColumn],
    columns: Sequence[str],
    others: Sequence[str],
    seed: int,
) -> DataFrame:
    """The rows: the ``columns`` as they are, the texts of their cells (``cell_names``), and two hashes of ``others``, keyed by the seed."""
    texts = zip([*quasi_identifiers, *counted], sum(cell_names(len(quasi_identifiers), len(counted)), []), strict=True)
    return table.select(
        *[named(name) for name in columns],
        *[raw.text.alias(name) for raw, name in texts],
        *[value.alias(name) for name, value in dealt_by(others, table.schema, seed).items()],
    )


def routed_rows(rows: DataFrame, worker: Worker, columns: int, sensitive: int, words: int) -> DataFrame:
    """Rows of ``rows_of`` with words of numbers and the key of their block instead of texts; those of unknown cells are left out."""
    texts = set(sum(cell_names(columns, sensitive), []))
    kept = [T.StructField(field.name, field.dataType) for field in rows.schema.fields if field.name not in texts]
    numbers = [T.StructField(name, T.LongType()) for name in (*word_names(words), KEY)]
    return rows.mapInArrow(worker, T.StructType([*kept, *numbers]))


def grouped_rows(
    rows: DataFrame, worker: Worker, columns: int, sensitive: int, words: int, printed: Sequence[Printed], partitions: int
) -> DataFrame:
    """One shuffle by block; rows as members of their groups, a line a group or a part of one: ``group_fields``.

    One whole number is sorted by its bytes, several would be compared.
    """
    placed = rows.repartition(partitions, F.shiftright(KEY, 32)).sortWithinPartitions(KEY)
    carried = [field for field in rows.schema.fields if field.name not in {KEY, *DEALT_BY, *word_names(words)}]
    return placed.mapInArrow(worker, T.StructType(group_fields(carried, columns, sensitive, printed)))


def group_fields(
    carried: Sequence[T.StructField], columns: int, sensitive: int, printed: Sequence[Printed]
) -> list[T.StructField]:
    """Columns of the lines of groups: number, box, size, whether it breaks a model, the block's figures on one line of it, what is printed,
    and the members: texts of quasi-identifiers, sensitive numbers, columns that are carried, in this order."""
    pair = T.StructType([T.StructField("size", T.LongType()), T.StructField("classes", T.LongType())])
    own = [T.StringType()] * columns + [T.IntegerType()] * sensitive + [field.dataType for field in carried]
    member = T.StructType([T.StructField(f"_{i}", kind) for i, kind in enumerate(own)])
    return [
        T.StructField(GROUP, T.LongType()),
        *[T.StructField(name, T.IntegerType()) for name in box_names(columns)],
        T.StructField(SIZE, T.LongType()),
        T.StructField(BROKEN, T.BooleanType()),
        T.StructField(COMBINATIONS, T.IntegerType()),
        T.StructField(SIZES, T.ArrayType(pair)),
        *printed_fields(printed),
        T.StructField(MEMBERS, T.ArrayType(member)),
    ]


def groups_of(lines: DataFrame, columns: int) -> DataFrame:
    """The groups of ``grouped_rows``, as ``blocks.groups_of`` has them."""
    names = zip(box_names(columns), [*low_names(columns), *high_names(columns)], strict=True)
    return lines.where(F.col(SIZE) > 0).select(GROUP, *[F.col(ours).alias(name) for ours, name in names], SIZE, BROKEN)


def members_of(lines: DataFrame, columns: int, sensitive: int) -> DataFrame:
    """The members as ``histograms`` counts them: __anon_group, __anon_v0.., __anon_held."""
    rows = lines.select(GROUP, F.explode(MEMBERS).alias(MEMBERS))
    values = [F.col(MEMBERS)[f"_{columns + j}"].alias(name) for j, name in enumerate(value_names(sensitive))]
    return rows.select(GROUP, *values, F.lit(1).cast("long").alias(HELD))


def raw_sizes(lines: DataFrame) -> DataFrame:
    """How many raw combinations have how many rows: (size long, classes long)."""
    pairs = lines.where(F.col(COMBINATIONS) > 0).select(F.inline(SIZES))
    return pairs.groupBy("size").agg(F.sum("classes").alias("classes"))


def rows_apart(lines: DataFrame, shown: Sequence[str], columns: int, sensitive: int, carried: Sequence[str]) -> DataFrame:
    """A row a member: the texts of its quasi-identifiers (``cell_names``), the carried columns, and those that its line has for all."""
    apart = lines.select(*shown, F.inline(MEMBERS))
    names = [*cell_names(columns, 0)[0], *[None] * sensitive, *carried]
    return apart.select(*shown, *[F.col(f"_{i}").alias(name) for i, name in enumerate(names) if name is not None])


def printed_fields(printed: Sequence[Printed]) -> list[T.StructField]:
    """Columns of what a group prints: labels, or the ends of bounds as texts and whether the value is null."""
    fields = []
    for name in printed:
        parts = (name,) if isinstance(name, str) else name
        kinds = (T.StringType(), T.StringType(), T.BooleanType())
        fields += [T.StructField(part, kind) for part, kind in zip(parts, kinds, strict=False)]
    return fields


def relabelled(lines: DataFrame, moves: DataFrame, groups: DataFrame) -> DataFrame:
    """Lines of groups that became part of another class with what that prints.

    moves: __anon_group, __anon_class; groups: __anon_group of each class and what it prints, in the lines' own columns.
    """
    names = [name for name in groups.columns if name != GROUP]
    ours = [f"{name}_class" for name in names]
    moved = groups.join(moves.select(F.col(CLASS).alias(GROUP)).distinct(), GROUP, "left_semi")
    moved = reduce(lambda frame, pair: frame.withColumnRenamed(*pair), zip(names, ours, strict=True), moved)
    found = renamed(lines, moves).join(moved.withColumn(f"{GROUP}_key", F.col(GROUP)), GROUP, "left")
    is_moved = F.col(f"{GROUP}_key").isNotNull()
    changed = {name: F.when(is_moved, F.col(own)).otherwise(F.col(name)) for name, own in zip(names, ours, strict=True)}
    return found.withColumns(changed).drop(*ours, f"{GROUP}_key")
