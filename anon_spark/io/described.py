"""What Spark's catalogue tells of a table: its columns as they were declared, and the details behind them."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession

from anon_spark.io.table_names import quoted

_DETAILS = "# Detailed Table Information"


@dataclass(frozen=True)
class Described:
    """columns: each line before the details, a name and a type, or a head such as ``# Partition Information``; about: the details."""

    columns: tuple[tuple[str, str], ...]
    about: dict[str, str]


def described(spark: SparkSession, *name: str) -> Described:
    """A table or view by the parts of its name. Raises one of SPARK_ERRORS where there is none."""
    lines = [(str(row[0]), str(row[1])) for row in spark.sql(f"DESCRIBE TABLE EXTENDED {quoted(*name)}").collect()]
    heads = [place for place, (head, _) in enumerate(lines) if head == _DETAILS]
    # a column may be called like any of the details, and like their head: they begin behind the last
    start = heads[-1] if heads else len(lines)
    return Described(tuple(lines[:start]), dict(lines[start:]))
