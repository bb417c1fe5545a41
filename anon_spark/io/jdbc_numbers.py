"""Numbers without a declared precision in a database: Spark reads them with a fixed number of decimals and rounds the rest in silence."""

from __future__ import annotations

from pyspark.sql import DataFrame, DataFrameReader
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import DataError, Fault
from anon_spark.io.table_names import quoted
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import fetch_row

_UNTOLD = (T.DecimalType(38, 18), T.DecimalType(38, 10))
"""What Spark takes such a column for, by database."""


def refuse_rounded(reader: DataFrameReader, table: DataFrame, where: str) -> None:
    """DataError where a number has more decimals than Spark keeps. One pass over such columns as text, none where there are none."""
    found = [(field.name, field.dataType.scale) for field in table.schema.fields if field.dataType in _UNTOLD]  # type: ignore[attr-defined]
    if not found:
        return
    texts = reader.option("customSchema", ", ".join(f"{quoted(name)} STRING" for name, _ in found)).load()
    longer = [F.coalesce(named(name).rlike(rf"[.][0-9]{{{scale}}}[0-9]*[1-9]"), F.lit(False)) for name, scale in found]
    counts = fetch_row(texts.agg(*[F.sum(one.cast("long")).alias(str(at)) for at, one in enumerate(longer)]))
    faults = [
        Fault(
            where,
            f"input: column {name}",
            f"{counted(int(rows), 'number')} of more than {scale} decimals",
            "numbers that Spark reads whole",
            "give it a precision in a query: dbtable: (SELECT CAST(x AS numeric(38, 30)) AS x ...) AS t",
        )
        for (name, scale), rows in zip(found, counts, strict=True)
        if rows
    ]
    if faults:
        raise DataError(faults)
