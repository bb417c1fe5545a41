"""A full-domain recoding put on the rows: look-ups, suppression, the counts of the write pass, and an order that tells nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import ROOT
from anon_spark.plans.columns import HELPER, RawColumn, named
from anon_spark.plans.lookups import IN_PLAN, label_and_node, labels_at
from anon_spark.plans.partitions import nameable
from anon_spark.plans.row_hash import hash_parts

SUPPRESSED = HELPER + "suppressed"
Printed = str | tuple[str, str, str]
"""Name of a column that holds labels, or of those that hold a box's smallest value, its largest, and whether the value is null."""


def bounds_names(name: str) -> tuple[str, str, str]:
    """Columns of the release that show a quasi-identifier under ``numeric: bounds``."""
    return f"{name}_min", f"{name}_max", f"{name}_null"


@dataclass(frozen=True)
class Labelled:
    """Rows with helper columns: for each quasi-identifier its raw text, its label and its node; and whether the row is suppressed.

    raws, labels: names of those columns, in the configured order; unknown: how many of a row's values the recoding does not know;
    suppresses: whether any row can be suppressed; read: whether the frame has what the containment check reads in labels.
    """

    frame: DataFrame
    raws: tuple[str, ...]
    labels: tuple[Printed, ...]
    unknown: Column
    suppresses: bool
    read: bool = False


def label(
    table: DataFrame,
    columns: Sequence[RawColumn],
    hierarchies: Sequence[Hierarchy],
    levels: Sequence[int],
    failing: DataFrame | None,
) -> Labelled:
    """Give every row its labels. failing: node numbers __anon_g0.. of the classes to suppress, distinct; None for none.

    A value that the hierarchies do not know keeps a null label and counts as unknown: the caller must refuse to publish.
    """
    names = range(len(columns))
    raws, labels, nodes = ([f"{HELPER}{part}{i}" for i in names] for part in ("raw", "label", "g"))
    frame = table.select("*", *[column.text.alias(raw) for column, raw in zip(columns, raws, strict=True)])
    unknown: Column = F.lit(0)
    for i, hierarchy in enumerate(hierarchies):
        frame, missing = _label_one(frame, hierarchy, levels[i], raws[i], labels[i], nodes[i])
        unknown = unknown + missing
    if failing is None:
        frame = frame.withColumn(SUPPRESSED, F.lit(False))
    else:
        marked = failing.withColumn(SUPPRESSED, F.lit(True))
        frame = frame.join(marked, nodes, "left").withColumn(SUPPRESSED, F.coalesce(F.col(SUPPRESSED), F.lit(False)))
    return Labelled(frame, tuple(raws), tuple(labels), unknown, failing is not None)


def _label_one(frame: DataFrame, hierarchy: Hierarchy, level: int, raw: str, label: str, node: str) -> tuple[DataFrame, Column]:
    found, number, spare = F.col(f"{raw}_found"), F.col(f"{raw}_node"), [f"{raw}_key", f"{raw}_found", f"{raw}_node"]
    values = len(hierarchy.codes) - (None in hierarchy.codes)
    if 0 < values <= IN_PLAN:
        joined, pair = frame, label_and_node(hierarchy, level, F.col(raw))
        found, number = pair["label"], pair["node"]
    else:
        joined = frame.join(labels_at(frame.sparkSession, hierarchy, level, *spare), F.col(raw) == F.col(spare[0]), "left")
    code = hierarchy.codes.get(None)
    if code is None:
        null_label, null_node = F.lit(None).cast("string"), F.lit(None).cast("int")
    else:
        place = int(hierarchy.nodes[level][code])
        null_label, null_node = F.lit(hierarchy.labels[level][place]).cast("string"), F.lit(place)
    is_null = F.col(raw).isNull()
    labelled = joined.withColumns(
        {label: F.when(is_null, null_label).otherwise(found), node: F.when(is_null, null_node).otherwise(number)}
    ).drop(*spare)
    return labelled, F.col(node).isNull().cast("int")


def published(labelled: Labelled, quasi_identifiers: Sequence[str], output: Sequence[str], star: bool) -> DataFrame:
    """The columns of the release in their order; suppressed rows are left out, or print the root everywhere where ``star``."""
    star = star and labelled.suppresses
    # a filter that keeps all rows is not free: what Spark infers from it took minutes on a view of hundreds of derived columns
    frame = labelled.frame.where(~F.col(SUPPRESSED)) if labelled.suppresses and not star else labelled.frame
    labels = dict(zip(quasi_identifiers, labelled.labels, strict=True))
    chosen: list[Column] = []
    for name in output:
        label = labels.get(name)
        if isinstance(label, tuple):
            # null in both bounds, and no null itself, is the root
            shown = zip(bounds_names(name), label, (None, None, False), strict=True)
            chosen += [_starred(F.col(part), F.lit(root), star).alias(column) for column, part, root in shown]
        else:
            chosen.append((named(name) if label is None else _starred(F.col(label), F.lit(ROOT), star)).alias(name))
    return frame.select(*chosen)


def _starred(label: Column, root: Column, star: bool) -> Column:
    return F.when(F.col(SUPPRESSED), root).otherwise(label) if star else label


def hide_order(frame: DataFrame, directories: Sequence[str] = ()) -> DataFrame:
    """The same rows, placed and sorted by a hash of their own columns alone, so that nothing of the input's order survives.

    directories: columns that the files are to be partitioned by.
    """
    key = HELPER + "order"
    parts = [part for field in frame.schema.fields for part in hash_parts(named(field.name), field.dataType)]
    keyed = nameable(frame.withColumn(key, F.xxhash64(*parts)), directories)
    # a writer of directories needs the rows of each together, and would sort them anew
    return keyed.repartition(F.col(key)).sortWithinPartitions(*map(named, directories), key).drop(key)
