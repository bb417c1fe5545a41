"""Bound hierarchies as small tables, keyed by the canonical text of a value or by the node of a level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.plans.local import local_table

IN_PLAN = 64
"""Up to this many values are searched one by one, which is as quick as a hash join and costs no Spark job of its own."""
IN_ARRAY = 20_000
"""Up to this many nodes are lifted by an array that is part of the plan (some 100 kB); more of them by a join."""
BROADCAST_VALUES = 500_000
"""Look-ups up to this many values (some tens of MB) are broadcast; larger ones are joined by a shuffle."""


def _small(frame: DataFrame, values: int) -> DataFrame:
    return F.broadcast(frame) if values <= BROADCAST_VALUES else frame


def _texts_and_codes(codes: Mapping[str | None, int]) -> tuple[list[str], list[int]]:
    pairs = [(text, code) for text, code in codes.items() if text is not None]
    return [text for text, _ in pairs], [code for _, code in pairs]


def labels_at(spark: SparkSession, hierarchy: Hierarchy, level: int, key: str, label: str, node: str) -> DataFrame:
    """(key string, label string, node int): what each raw text but null is published as at one level."""
    nodes, labels = hierarchy.nodes[level].tolist(), hierarchy.labels[level]
    texts, codes = _texts_and_codes(hierarchy.codes)
    placed = [nodes[code] for code in codes]
    table = pa.table([pa.array(texts, pa.string()), pa.array([labels[n] for n in placed], pa.string()), pa.array(placed, pa.int32())],
                     names=[key, label, node])  # fmt: skip
    return _small(local_table(spark, table), len(texts))


def label_and_node(hierarchy: Hierarchy, level: int, raw: Column) -> Column:
    """struct<label string, node int> of a raw text, from a map that is part of the plan: for ``IN_PLAN`` values at most."""
    nodes, labels = hierarchy.nodes[level].tolist(), hierarchy.labels[level]
    texts, codes = _texts_and_codes(hierarchy.codes)
    pairs = [F.struct(F.lit(labels[nodes[c]]).cast("string").alias("label"), F.lit(nodes[c]).alias("node")) for c in codes]
    return F.element_at(F.map_from_arrays(F.array(*map(F.lit, texts)), F.array(*pairs)), raw)


def with_number(frame: DataFrame, text: str, codes: Mapping[str | None, int], number: str) -> DataFrame:
    """The frame with the column ``text`` replaced by its int number, null where ``codes`` does not know it."""
    texts, numbers = _texts_and_codes(codes)
    raw = F.col(text)
    found: Column = F.lit(None).cast("int")
    key, spare = f"{number}_key", f"{number}_found"
    if 0 < len(texts) <= IN_PLAN:
        found = F.element_at(F.map_from_arrays(F.array(*map(F.lit, texts)), F.array(*map(F.lit, numbers))), raw)
    elif texts:
        table = pa.table([pa.array(texts, pa.string()), pa.array(numbers, pa.int32())], names=[key, spare])
        frame = frame.join(_small(local_table(frame.sparkSession, table), len(texts)), raw == F.col(key), "left")
        found = F.col(spare)
    null = F.lit(codes.get(None)).cast("int")
    return frame.withColumn(number, F.when(raw.isNull(), null).otherwise(found)).drop(text, key, spare)


def lifted(
    frame: DataFrame, hierarchy: Hierarchy, low: int, node: str, highs: Mapping[str, int]
) -> tuple[DataFrame, list[Column]]:
    """The nodes at higher levels of the column ``node``, which holds nodes at level ``low``: one int column a name of ``highs``.

    Returns the frame, joined to a look-up where there are many nodes, and the columns, none of them null.
    """
    maps = {name: hierarchy.lift(low, high) for name, high in highs.items() if high != low}
    same = [F.col(node).alias(name) for name, high in highs.items() if high == low]
    if not maps:
        return frame, same
    if len(hierarchy.labels[low]) <= IN_ARRAY:
        return frame, [*same, *[F.coalesce(_array(up.tolist())[F.col(node)], F.lit(0)).alias(name) for name, up in maps.items()]]
    key, held = f"{node}_key", {name: f"{name}_found" for name in maps}
    table = {key: pa.array(range(len(hierarchy.labels[low])), pa.int32())}
    table |= {held[name]: pa.array(up, pa.int32()) for name, up in maps.items()}
    known = _small(local_table(frame.sparkSession, pa.table(table)), len(hierarchy.labels[low]))
    return frame.join(known, F.col(node) == F.col(key)), [*same, *[F.col(held[name]).alias(name) for name in maps]]


def _array(numbers: Sequence[int]) -> Column:
    """A literal array<int>: a split text is folded to one by the optimizer, and is one value to send, not thousands."""
    return F.split(F.lit(",".join(map(str, numbers))), ",").cast("array<int>")
