"""How well the classes of a release tell a class label."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.plans.columns import HELPER, named


def majorities(release: DataFrame, printed: Sequence[str], label: str) -> DataFrame:
    """One row, ``rows``: rows that carry the commonest label of their class, a null being one.  printed: what tells classes apart."""
    keys = {f"{HELPER}k{i}": named(name) for i, name in enumerate([*printed, label])}
    *classes, _ = keys
    counts = release.select(*[column.alias(name) for name, column in keys.items()]).groupBy(*keys).agg(F.count(F.lit(1)).alias("n"))
    return counts.groupBy(*classes).agg(F.max("n").alias("n")).agg(F.coalesce(F.sum("n"), F.lit(0)).alias("rows"))
