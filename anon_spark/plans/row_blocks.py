"""Rows on their way through blocks, where nearly all combinations are distinct: one shuffle, no join, their labels beside them at last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.plans.block_lines import BLOCK, BROKEN, COMBINATIONS, GROUP, HELD, code_names, value_names
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


def rows_of(
    table: DataFrame,
    quasi_identifiers: Sequence[RawColumn],
    counted: Sequence[RawColumn],
    columns: Sequence[str],
    others: Sequence[str],
    seed: int,
) -> DataFrame:
    """The rows: the ``columns`` that travel, the texts of their cells (``cell_names``), and two hashes of ``others``, keyed by the seed."""
    texts = zip([*quasi_identifiers, *counted], sum(cell_names(len(quasi_identifiers), len(counted)), []), strict=True)
    return table.select(
        *[named(name) for name in columns],
        *[raw.text.alias(name) for raw, name in texts],
        *[value.alias(name) for name, value in dealt_by(others, table.schema, seed).items()],
    )


def routed_rows(rows: DataFrame, worker: Worker, columns: int, sensitive: int) -> DataFrame:
    """Rows of ``rows_of`` with codes, sensitive numbers and blocks instead of texts; those of unknown cells are left out."""
    texts = set(sum(cell_names(columns, sensitive), []))
    kept = [field for field in rows.schema.fields if field.name not in texts]
    return rows.mapInArrow(worker, T.StructType([*_nullable(kept), *_integers(columns, sensitive), T.StructField(BLOCK, T.IntegerType())]))


def grouped_rows(
    rows: DataFrame, worker: Worker, columns: int, sensitive: int, printed: Sequence[Printed], partitions: int
) -> DataFrame:
    """One shuffle by block; rows with their groups and what these print, as the columns that ``printed`` names."""
    placed = rows.repartition(partitions, BLOCK).sortWithinPartitions(BLOCK, *code_names(columns))
    kept = [field for field in rows.schema.fields if field.name not in {BLOCK, *DEALT_BY}]
    more = [T.StructField(HELD, T.LongType()), T.StructField(GROUP, T.LongType()), T.StructField(COMBINATIONS, T.IntegerType())]
    return placed.mapInArrow(
        worker, T.StructType([*kept, *more, T.StructField(BROKEN, T.BooleanType()), *printed_fields(printed)])
    )


def printed_fields(printed: Sequence[Printed]) -> list[T.StructField]:
    """Columns of what a group prints: labels, or the ends of bounds as texts and whether the value is null."""
    fields = []
    for name in printed:
        parts = (name,) if isinstance(name, str) else name
        kinds = (T.StringType(), T.StringType(), T.BooleanType())
        fields += [T.StructField(part, kind) for part, kind in zip(parts, kinds, strict=False)]
    return fields


def relabelled(rows: DataFrame, moves: DataFrame, groups: DataFrame) -> DataFrame:
    """Rows of groups that became part of another class with what that prints.

    moves: __anon_group, __anon_class; groups: __anon_group of each class and what it prints, in the rows' own columns.
    """
    names = [name for name in groups.columns if name != GROUP]
    ours = [f"{name}_class" for name in names]
    moved = groups.join(moves.select(F.col(CLASS).alias(GROUP)).distinct(), GROUP, "left_semi")
    moved = reduce(lambda frame, pair: frame.withColumnRenamed(*pair), zip(names, ours, strict=True), moved)
    found = renamed(rows, moves).join(moved.withColumn(f"{GROUP}_key", F.col(GROUP)), GROUP, "left")
    is_moved = F.col(f"{GROUP}_key").isNotNull()
    changed = {name: F.when(is_moved, F.col(own)).otherwise(F.col(name)) for name, own in zip(names, ours, strict=True)}
    return found.withColumns(changed).drop(*ours, f"{GROUP}_key")


def _nullable(fields: Sequence[T.StructField]) -> list[T.StructField]:
    """The fields without their metadata; workers promise nothing about nulls."""
    return [T.StructField(field.name, field.dataType, True) for field in fields]


def _integers(columns: int, sensitive: int) -> list[T.StructField]:
    return [T.StructField(name, T.IntegerType()) for name in (*code_names(columns), *value_names(sensitive))]
