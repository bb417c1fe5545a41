"""A local recoding put on the rows: each row finds its cell, a cell of several groups deals its rows, a group prints its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.plans.block_lines import DEALT, FROM, GROUP, TO
from anon_spark.plans.columns import HELPER, RawColumn
from anon_spark.plans.frequency import cell_names
from anon_spark.plans.publish import SUPPRESSED, Labelled, Printed
from anon_spark.plans.row_hash import DEALT_BY, dealt_by

NOWHERE = -1
"""The group of rows that are suppressed."""
_RANK = HELPER + "rank"


def label_names(in_bounds: Sequence[bool]) -> tuple[Printed, ...]:
    """Names of what a group prints of each quasi-identifier: a label, or bounds where so asked."""
    bounds = ("lo", "hi", "null")
    return tuple(
        (f"{HELPER}{bounds[0]}{i}", f"{HELPER}{bounds[1]}{i}", f"{HELPER}{bounds[2]}{i}") if asked else f"{HELPER}l{i}"
        for i, asked in enumerate(in_bounds)
    )


@dataclass(frozen=True)
class LocalRecodingTables:
    """A local recoding as two tables.

    parts: a line a part of a cell: its raw texts (``cell_names`` of the frequency set), __anon_group long, __anon_from and
    __anon_to long (the rows numbered from <= rank < to of the cell go to this group, or are suppressed where it is ``NOWHERE``; the
    ranges of a cell tile 0 to its rows),
    __anon_dealt boolean (whether the cell has several parts). groups: __anon_group and what it prints, as ``printed`` names it
    (``label_names``): labels and bounds as texts, whether it is null as a boolean.
    nullable: whether a column of the cells may hold a null, a column each. deals: whether any cell has several parts. few_parts,
    few_groups: whether the table may be broadcast. suppresses: whether any row may go nowhere.
    """

    parts: DataFrame
    groups: DataFrame
    printed: tuple[Printed, ...]
    nullable: tuple[bool, ...]
    deals: bool
    few_parts: bool
    few_groups: bool
    suppresses: bool = True


def label_groups(
    table: DataFrame,
    quasi_identifiers: Sequence[RawColumn],
    counted: Sequence[RawColumn],
    others: Sequence[str],
    tables: LocalRecodingTables,
    seed: int,
) -> Labelled:
    """Give every row the labels of its group, bounds in the types of the table's own columns.

    counted: the sensitive columns of the cells; others: the columns that rows of one cell may differ in and that are published.
    Rows of a dealt cell are numbered in the order of two hashes, keyed by the seed, of their other columns, so by nothing that
    says anything of a value's order or of the input's; rows alike in all of them are interchangeable. Only these rows are shuffled.
    A row whose cell is not known counts as unknown: the caller must refuse to publish.
    """
    keys = sum(cell_names(len(quasi_identifiers), len(counted)), [])
    texts = [raw.text.alias(key) for raw, key in zip([*quasi_identifiers, *counted], keys, strict=True)]
    rows = table.select("*", *texts)
    found = _of_cells(rows, tables.parts.where(F.col(FROM) == 0).drop(FROM, TO), keys, tables)
    if tables.deals:
        dealt = F.coalesce(F.col(DEALT), F.lit(False))
        drawn = _drawn(found.where(dealt).drop(GROUP, DEALT), keys, others, table.schema, tables, seed)
        found = found.where(~dealt).drop(DEALT).unionByName(drawn)
    groups = typed(tables.groups, tables.printed, quasi_identifiers, table.schema)
    groups = F.broadcast(groups) if tables.few_groups else groups
    labelled = found.join(groups.withColumnRenamed(GROUP, f"{GROUP}_key"), F.col(GROUP) == F.col(f"{GROUP}_key"), "left")
    labelled = labelled.withColumn(SUPPRESSED, F.coalesce(F.col(GROUP) == NOWHERE, F.lit(False)))
    raws = tuple(keys[: len(quasi_identifiers)])
    unknown = F.col(f"{GROUP}_key").isNull() & ~F.col(SUPPRESSED)
    return Labelled(labelled, raws, tables.printed, unknown.cast("int"), tables.suppresses)


def labelled_rows(rows: DataFrame, quasi_identifiers: Sequence[RawColumn], printed: Sequence[Printed]) -> Labelled:
    """Rows that bring the texts of their quasi-identifiers, what their groups print and what the containment check reads in that, none of
    them unknown or suppressed.
    """
    raws = cell_names(len(quasi_identifiers), 0)[0]
    return Labelled(rows.withColumn(SUPPRESSED, F.lit(False)), tuple(raws), tuple(printed), F.lit(0), False, read=True)


def typed(
    frame: DataFrame, printed: Sequence[Printed], quasi_identifiers: Sequence[RawColumn], schema: T.StructType
) -> DataFrame:
    """Bounds as values. One that the type can't hold is an open end, which says less, never something else."""
    types = {field.name: field.dataType.simpleString() for field in schema.fields}
    ends = {
        name: F.expr(f"try_cast({name} AS {types[raw.name]})")
        for raw, label in zip(quasi_identifiers, printed, strict=True)
        if isinstance(label, tuple)
        for name in label[:2]
    }
    return frame.withColumns(ends) if ends else frame


def _of_cells(rows: DataFrame, cells: DataFrame, keys: Sequence[str], tables: LocalRecodingTables) -> DataFrame:
    """Each row beside the one line of its cell, or beside nulls.

    Plain equality, on nulls too: a column that may hold them is compared as its text or nothing, and by whether it is null.
    """
    ours = [f"{key}_cell" for key in keys]
    cells = reduce(lambda frame, pair: frame.withColumnRenamed(*pair), zip(keys, ours, strict=True), cells)
    cells = F.broadcast(cells) if tables.few_parts else cells
    return rows.join(cells, _same(keys, ours, tables.nullable), "left").drop(*ours)


def _same(keys: Sequence[str], ours: Sequence[str], nullable: Sequence[bool]) -> Column:
    tests = []
    for key, own, may_be_null in zip(keys, ours, nullable, strict=True):
        left, right = F.col(key), F.col(own)
        if may_be_null:
            tests.append(left.isNull() == right.isNull())
            left, right = F.coalesce(left, F.lit("")), F.coalesce(right, F.lit(""))
        tests.append(left == right)
    return reduce(lambda all_, test: all_ & test, tests)


def _drawn(
    rows: DataFrame,
    keys: Sequence[str],
    others: Sequence[str],
    schema: T.StructType,
    tables: LocalRecodingTables,
    seed: int,
) -> DataFrame:
    """Rows of dealt cells with their groups."""
    of_cell = Window.partitionBy(*keys).orderBy(*DEALT_BY)
    hashed = rows.withColumns(dealt_by(others, schema, seed))
    ranked = hashed.withColumn(_RANK, F.row_number().over(of_cell) - 1).drop(*DEALT_BY)
    ours = [f"{key}_cell" for key in keys]
    lines = tables.parts.where(F.col(DEALT)).drop(DEALT)
    lines = reduce(lambda frame, pair: frame.withColumnRenamed(*pair), zip(keys, ours, strict=True), lines)
    lines = F.broadcast(lines) if tables.few_parts else lines
    within = (F.col(_RANK) >= F.col(FROM)) & (F.col(_RANK) < F.col(TO))
    return ranked.join(lines, _same(keys, ours, tables.nullable) & within, "left").drop(*ours, FROM, TO, _RANK)
