"""Cells on their way through blocks: coded, sampled, shuffled, grouped, and brought back to the raw texts that rows know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.plans.block_lines import (
    BLOCK,
    BROKEN,
    COMBINATIONS,
    DEALT,
    FROM,
    GROUP,
    HELD,
    MEMBERS,
    ROWS,
    SIZE,
    TO,
    code_names,
    high_names,
    look_names,
    low_names,
    value_names,
)
from anon_spark.plans.columns import HELPER
from anon_spark.plans.frequency import cell_names, hashed
from anon_spark.plans.lookups import with_number

Batches = Iterable[pa.RecordBatch]
Worker = Callable[[Batches], Iterator[pa.RecordBatch]]
_TEXT, _OFFSET = HELPER + "text", HELPER + "offset"
_GRAINS = 1 << 30


def coded(cells: DataFrame, hierarchies: Sequence[Hierarchy], values: Sequence[Sequence[str | None]]) -> DataFrame:
    """A frequency set with the codes of its texts beside them: __anon_q0.., __anon_s0.., __anon_n, __anon_g0.., __anon_v0..

    A cell with a value that is not known is left out: who counts the rows finds them missing.
    """
    texts, others = cell_names(len(hierarchies), len(values))
    known = [hierarchy.codes for hierarchy in hierarchies]
    known += [{text: number for number, text in enumerate(column)} for column in values]
    names = [*code_names(len(hierarchies)), *value_names(len(values))]
    frame = cells
    for text, name, codes in zip([*texts, *others], names, known, strict=True):
        frame = with_number(frame.withColumn(_TEXT, F.col(text)), _TEXT, codes, name)
    return reduce(lambda kept, name: kept.where(F.col(name).isNotNull()), names, frame)


def lines(cells: DataFrame, columns: int, sensitive: int) -> DataFrame:
    """Cells of ``coded`` as lines without a group; cells may be alike now."""
    return cells.select(*code_names(columns), *value_names(sensitive), F.col(ROWS).alias(HELD))


def sampled(cells: DataFrame, columns: int, share: float) -> DataFrame:
    """The cells of about this share of the raw combinations of a frequency set, drawn by a hash of their texts."""
    drawn = F.pmod(hashed([F.col(name) for name in cell_names(columns, 0)[0]]), F.lit(_GRAINS))
    return cells.where(drawn < F.lit(int(share * _GRAINS)))


def routed(frame: DataFrame, worker: Worker, columns: int, sensitive: int) -> DataFrame:
    """Lines with the blocks that the worker finds for them."""
    return frame.mapInArrow(worker, f"{_integers(columns, sensitive)}, {HELD} long, {BLOCK} int")


def passed(
    frame: DataFrame, worker: Worker, columns: int, sensitive: int, partitions: int, *, first: bool, last: bool
) -> DataFrame:
    """One shuffle by block, then the worker on each partition; lines lie by block and, in it, by codes or by group.

    The number of partitions is fixed, so that adaptive execution neither splits a block nor counts on small partitions being cheap.
    """
    within = code_names(columns) if first else [GROUP]
    placed = frame.repartition(partitions, BLOCK).sortWithinPartitions(BLOCK, *within)
    schema = f"{_integers(columns, sensitive)}, {ROWS} long, {HELD} long, {GROUP} long, {COMBINATIONS} int"
    schema += f", {BROKEN} boolean" if last else f", {BLOCK} int"
    return placed.mapInArrow(worker, schema)


def _integers(columns: int, sensitive: int) -> str:
    return ", ".join(f"{name} int" for name in (*code_names(columns), *value_names(sensitive)))


def block_figures(frame: DataFrame) -> DataFrame:
    """One row: blocks, and the fewest, the median and the most combinations of one."""
    held = frame.where(F.col(COMBINATIONS) > 0)
    size = F.col(COMBINATIONS)
    # the lower median, as one of the sizes
    middle = F.sort_array(F.collect_list(size))[F.floor((F.count(size) - 1) / 2).cast("int")]
    return held.agg(F.count(size).alias("blocks"), F.min(size).alias("least"), middle.alias("middle"), F.max(size).alias("most"))


def groups_of(frame: DataFrame, columns: int) -> DataFrame:
    """Lines of the last pass as groups: __anon_group, __anon_lo0.., __anon_hi0.., __anon_size, __anon_broken."""
    codes = code_names(columns)
    low = [F.min(code).alias(name) for code, name in zip(codes, low_names(columns), strict=True)]
    high = [F.max(code).alias(name) for code, name in zip(codes, high_names(columns), strict=True)]
    size, broken = F.sum(HELD).alias(SIZE), F.max(BROKEN).alias(BROKEN)
    return frame.groupBy(GROUP).agg(*low, *high, size, broken)


def classes_of(groups: DataFrame, worker: Worker, columns: int) -> DataFrame:
    """Groups that print alike as one class: the columns of ``groups_of``, __anon_members array<long>.

    The worker adds a column a quasi-identifier that tells looks apart. A class bears the smallest of its members' numbers.
    """
    bounds = ", ".join(f"{name} int" for name in (*low_names(columns), *high_names(columns)))
    looks = ", ".join(f"{name} long" for name in look_names(columns))
    seen = groups.mapInArrow(worker, f"{GROUP} long, {bounds}, {SIZE} long, {BROKEN} boolean, {looks}")
    joined = seen.groupBy(*look_names(columns)).agg(*_united(columns), F.collect_list(GROUP).alias(MEMBERS))
    return joined.select(GROUP, *low_names(columns), *high_names(columns), SIZE, BROKEN, MEMBERS)


def merged(classes: DataFrame, moves: DataFrame, columns: int) -> DataFrame:
    """Classes as groups after some moved into others; those that others moved into are marked as broken: not yet seen to hold.

    moves: __anon_group, __anon_class; a line for every class of a merge, also for the one whose number is kept.
    """
    moved = classes.drop(MEMBERS).join(F.broadcast(moves), GROUP, "left")
    touched = F.col(CLASS).isNotNull()
    named = moved.withColumns({BROKEN: touched, GROUP: F.coalesce(CLASS, GROUP)})
    return named.groupBy(F.col(GROUP).alias(CLASS)).agg(*_united(columns)).drop(CLASS)


CLASS = HELPER + "class"


def _united(columns: int) -> list[Column]:
    low = [F.min(name).alias(name) for name in low_names(columns)]
    high = [F.max(name).alias(name) for name in high_names(columns)]
    return [F.min(GROUP).alias(GROUP), *low, *high, F.sum(SIZE).alias(SIZE), F.max(BROKEN).alias(BROKEN)]


def members_of(classes: DataFrame) -> DataFrame:
    """__anon_group, __anon_class of the groups of classes that have several."""
    several = classes.where(F.size(MEMBERS) > 1)
    return several.select(F.explode(MEMBERS).alias(GROUP), F.col(GROUP).alias(CLASS)).where(F.col(GROUP) != F.col(CLASS))


def renamed(frame: DataFrame, moves: DataFrame) -> DataFrame:
    """A frame whose __anon_group is that of its class where ``moves`` (__anon_group, __anon_class) has one."""
    return frame.join(moves, GROUP, "left").withColumn(GROUP, F.coalesce(CLASS, GROUP)).drop(CLASS)


def histograms(frame: DataFrame, chosen: DataFrame, sensitive: int) -> DataFrame:
    """Rows of the chosen classes by sensitive values: __anon_group, __anon_v0.., __anon_held.  chosen: __anon_group, few."""
    held = frame.join(F.broadcast(chosen), GROUP, "left_semi")
    return held.groupBy(GROUP, *value_names(sensitive)).agg(F.sum(HELD).alias(HELD))


def parts_of(frame: DataFrame, cells: DataFrame, columns: int, sensitive: int, partitions: int) -> DataFrame:
    """Lines as parts of the raw cells of ``coded``: their texts, __anon_group, __anon_from, __anon_to, __anon_dealt.

    Raw cells that are one coded cell are laid end to end in the order of their texts, its parts in the order of their groups; where
    the two overlap, rows of the raw cell go to the part's group. Both sides are shuffled once, by codes.
    """
    keys = [*code_names(columns), *value_names(sensitive)]
    texts = sum(cell_names(columns, sensitive), [])
    part = frame.select(*keys, GROUP, HELD).repartition(partitions, *keys).groupBy(*keys, GROUP).agg(F.sum(HELD).alias(HELD))
    part = _laid(part, keys, [GROUP], HELD, FROM)
    raw = cells.repartition(partitions, *keys).groupBy(*keys, *texts).agg(F.sum(ROWS).alias(ROWS))
    raw = _laid(raw, keys, texts, ROWS, _OFFSET)
    overlap = (F.col(FROM) < F.col(_OFFSET) + F.col(ROWS)) & (F.col(FROM) + F.col(HELD) > F.col(_OFFSET))
    ours = [f"{key}_part" for key in keys]
    part = reduce(lambda left, pair: left.withColumnRenamed(*pair), zip(keys, ours, strict=True), part)
    same = reduce(lambda left, pair: left & (F.col(pair[0]) == F.col(pair[1])), zip(keys, ours, strict=True), overlap)
    begin = F.greatest(F.col(FROM) - F.col(_OFFSET), F.lit(0).cast("long"))
    end = F.least(F.col(FROM) + F.col(HELD) - F.col(_OFFSET), F.col(ROWS))
    dealt = (begin > 0) | (end < F.col(ROWS))
    return raw.join(part, same).select(*texts, GROUP, begin.alias(FROM), end.alias(TO), dealt.alias(DEALT))


def _laid(frame: DataFrame, keys: Sequence[str], order: Sequence[str], rows: str, start: str) -> DataFrame:
    """Lines of the same keys end to end: where each starts."""
    before = Window.partitionBy(*keys).orderBy(*order).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return frame.withColumn(start, F.sum(rows).over(before) - F.col(rows))
