"""A release in a table of PostgreSQL as Spark writes and reads it.

Spark's statements never hold a name of the release's columns: staged they have names of our own, and read they are given those by a
query of ours. How Spark quotes names in a database's statements differs between its versions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.errors import ConfigurationError, DataError, Fault
from anon_spark.domain.policy import Sink
from anon_spark.io.jdbc_options import for_spark, with_password
from anon_spark.io.postgresql import Database, address_of
from anon_spark.io.postgresql_tables import Place, facts_of, place_of, quote
from anon_spark.plans.columns import HELPER


def own_names(count: int) -> list[str]:
    """Names of staged columns; none of a release begins like them."""
    return [f"{HELPER}{number}" for number in range(count)]


def spark_options(spark: SparkSession, options: Mapping[str, str], where: str) -> dict[str, str]:
    """The configured options without the table, with the password."""
    given = for_spark(spark, options, where, "output")
    return {name: value for name, value in given.items() if name.lower() != "dbtable"}


def write_staged(release: DataFrame, options: Mapping[str, str], staged: Place) -> None:
    """Write the rows to a new table."""
    named = release.toDF(*own_names(len(release.columns)))
    named.write.format("jdbc").options(**options).option("dbtable", staged.quoted).mode("error").save()


def read_staged(spark: SparkSession, options: Mapping[str, str], staged: Place, schema: T.StructType) -> DataFrame:
    """What was written, each column by the type that it was written with: the database has none for some."""
    return _typed(_load(spark, options, staged.quoted, schema), schema)


def read_table(
    spark: SparkSession, options: Mapping[str, str], place: Place, names: Sequence[str], schema: T.StructType | None
) -> DataFrame:
    """A published table by its columns' names; schema: their types, if they are known."""
    own = own_names(len(names))
    chosen = ", ".join(f"{quote(name)} AS {quote(ours)}" for name, ours in zip(names, own, strict=True))
    back = _load(spark, options, f"(SELECT {chosen} FROM {place.quoted}) AS release", schema)
    return back.toDF(*names) if schema is None else _typed(back, schema)


def read_published(spark: SparkSession, sink: Sink, where: str) -> DataFrame:
    """A release that was published before. Raises DataError where there is none."""
    options = with_password(spark, sink.options, where, "output")
    database = Database(address_of(options, where), where)
    try:
        place = place_of(database, str(sink.place), where)
        facts = facts_of(database, place)
    finally:
        database.close()
    if facts is None:
        found, advice = f"no table {place}", "run the job first, or check its spelling"
        raise DataError([Fault(where, "output", found, "a release", advice)])
    if not facts.columns:
        raise ConfigurationError([Fault(where, "output", f"{place} without columns", "a release", "was it published?")])
    return read_table(spark, spark_options(spark, sink.options, where), place, facts.columns, None)


def _load(spark: SparkSession, options: Mapping[str, str], table: str, schema: T.StructType | None) -> DataFrame:
    given = {**options, "dbtable": table}
    if schema is not None and any(isinstance(field.dataType, T.TimestampNTZType) for field in schema.fields):
        given["preferTimestampNTZ"] = "true"
    return spark.read.format("jdbc").options(**given).load()


def _typed(back: DataFrame, schema: T.StructType) -> DataFrame:
    chosen = []
    for found, meant in zip(back.schema.fields, schema.fields, strict=True):
        column = F.col(found.name)
        column = column if found.dataType == meant.dataType else column.cast(meant.dataType)
        chosen.append(column.alias(meant.name, metadata={}))
    return back.select(*chosen)
