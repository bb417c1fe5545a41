"""Bound hierarchies as small tables, keyed by the canonical text of a value."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.plans.local import local_table

IN_PLAN = 64
"""Up to this many values are searched one by one, which is as quick as a hash join and costs no Spark job of its own."""
BROADCAST_VALUES = 500_000
"""Look-ups up to this many values (some tens of MB) are broadcast; larger ones are joined by a shuffle."""


def _small(frame: DataFrame, values: int) -> DataFrame:
    return F.broadcast(frame) if values <= BROADCAST_VALUES else frame


def _texts_and_codes(hierarchy: Hierarchy) -> tuple[list[str], list[int]]:
    pairs = [(text, code) for text, code in hierarchy.codes.items() if text is not None]
    return [text for text, _ in pairs], [code for _, code in pairs]


def labels_at(spark: SparkSession, hierarchy: Hierarchy, level: int, key: str, label: str, node: str) -> DataFrame:
    """(key string, label string, node int): what each raw text but null is published as at one level."""
    nodes, labels = hierarchy.nodes[level].tolist(), hierarchy.labels[level]
    texts, codes = _texts_and_codes(hierarchy)
    placed = [nodes[code] for code in codes]
    table = pa.table([pa.array(texts, pa.string()), pa.array([labels[n] for n in placed], pa.string()), pa.array(placed, pa.int32())],
                     names=[key, label, node])  # fmt: skip
    return _small(local_table(spark, table), len(texts))


def label_and_node(hierarchy: Hierarchy, level: int, raw: Column) -> Column:
    """struct<label string, node int> of a raw text, from a map that is part of the plan: for ``IN_PLAN`` values at most."""
    nodes, labels = hierarchy.nodes[level].tolist(), hierarchy.labels[level]
    texts, codes = _texts_and_codes(hierarchy)
    pairs = [F.struct(F.lit(labels[nodes[c]]).cast("string").alias("label"), F.lit(nodes[c]).alias("node")) for c in codes]
    return F.element_at(F.map_from_arrays(F.array(*map(F.lit, texts)), F.array(*pairs)), raw)


def paths_of(spark: SparkSession, hierarchy: Hierarchy, key: str, path: str) -> DataFrame:
    """(key string, path array<int>): node number at every level, then the leaf code, of each raw text but null."""
    table = [[*column] for column in zip(*(nodes.tolist() for nodes in hierarchy.nodes), strict=True)]
    texts, codes = _texts_and_codes(hierarchy)
    paths = pa.array([[*table[code], code] for code in codes], pa.list_(pa.int32()))
    return _small(local_table(spark, pa.table([pa.array(texts, pa.string()), paths], names=[key, path])), len(texts))


def null_path(hierarchy: Hierarchy) -> Column:
    """What ``paths_of`` would hold for null: a null array where the column has none."""
    code = hierarchy.codes.get(None)
    if code is None:
        return F.lit(None).cast("array<int>")
    return F.array(*[F.lit(int(nodes[code])) for nodes in hierarchy.nodes], F.lit(code))
