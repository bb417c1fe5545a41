"""Columns and literals by any name, quoted for the DataFrame API and for SQL text."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

HELPER = "__audit_"
"""Prefix of every column that the audit adds to a frame of others."""
FEW = 1000
"""Up to so many texts a test of membership is a literal set, half the cost of a broadcast join; beyond, plans get slow."""
BETWEEN = "\0"
"""Stands between a value and its label in such a set."""


def quoted(name: str) -> str:
    """The name as a SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def named(name: str) -> Column:
    """The column of this exact name, whatever dots, blanks or backticks it holds."""
    return F.col(quoted(name))


def look_up(spark: SparkSession, labels: Mapping[str, tuple[str, ...]], key: str, known: str) -> DataFrame:
    """(key string, known array<string>), a row an entry, to be broadcast. A literal: no worker process has to start for it."""
    text = json.dumps([{"k": one, "v": several} for one, several in labels.items()])
    entries = F.from_json(F.lit(text), "array<struct<k string, v array<string>>>")
    table = F.broadcast(spark.range(1).select(F.inline(entries)))
    return table.select(F.col("k").alias(key), F.col("v").alias(known))
