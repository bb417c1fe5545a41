"""A table of Spark's catalogue as the place of a release: where its files lie, and whether one statement can make it others.

What is atomic there: ``ALTER TABLE ... SET LOCATION`` and ``CREATE TABLE ... LOCATION`` are one change of one entry of the metastore,
for managed and for external tables alike. What is not: to write into a directory that a table has already (``INSERT OVERWRITE``
removes and adds file by file), partitions (an entry each), two renames. Those are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import types as T

from anon_spark.domain.counting import some_of
from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.io.described import described
from anon_spark.io.spark_errors import SPARK_ERRORS, names_in, spark_faults
from anon_spark.io.table_names import parts_of, quoted

SESSION_CATALOG = "spark_catalog"
FORMATS = frozenset({"parquet", "orc"})
"""Formats of tables whose files are read by nothing but their own schema: a table of text has options of its own."""
KEY = "output.table"
_SERDES = {"ParquetHiveSerDe": "parquet", "OrcSerde": "orc"}
_CUT = re.compile(r"\b(?:var)?char\(\d+\)", re.IGNORECASE)


@dataclass(frozen=True)
class Stored:
    """What the catalogue tells of a table. format: in small letters, None where it is not known; columns: name -> type, of those with
    a length (varchar) as it was declared; parted: partitioned or bucketed."""

    kind: str
    format: str | None
    location: str | None
    schema: T.StructType
    declared: dict[str, str]
    parted: bool


def full_name(spark: SparkSession, name: str, where: str) -> tuple[str, str]:
    """Database and table of a name in the session's catalogue. Raises ConfigurationError for any other catalogue: not tried yet."""
    parts = parts_of(name)
    if parts is None or len(parts) > 3:
        raise _fault(where, repr(name), "a table's name, such as db.table", "put odd names in backticks")
    current, database = (str(value) for value in spark.sql("SELECT current_catalog(), current_database()").collect()[0])
    catalog = parts[0] if len(parts) == 3 else current
    if catalog.lower() != SESSION_CATALOG:
        found = f"a table of the catalogue {catalog!r}"
        raise _fault(where, found, f"one of {SESSION_CATALOG}", "tables of other catalogues are not tried yet: publish to output.path")
    return (parts[-2] if len(parts) > 1 else database), parts[-1]


def stored_table(spark: SparkSession, name: tuple[str, str], where: str) -> Stored | None:
    """What is known of a table; None where there is none."""
    with spark_faults(where, KEY, ConfigurationError):
        try:
            told = described(spark, *name)
        except SPARK_ERRORS as error:
            if "TABLE_OR_VIEW_NOT_FOUND" in names_in(error):
                return None
            raise
        schema = spark.table(quoted(*name)).schema
    about = told.about
    provider = about.get("Provider", "").lower()
    serde = about.get("Serde Library", "").rsplit(".", 1)[-1]
    return Stored(
        kind=about.get("Type", ""),
        format=_SERDES.get(serde) if provider == "hive" else provider or None,
        location=about.get("Location"),
        schema=schema,
        declared=dict(told.columns[: len(schema.fields)]),
        # "# Partition Information" and "# Clustering Information" stand between columns and details
        parted="Num Buckets" in about or any(head.startswith("# ") for head, _ in told.columns[len(schema.fields) :]),
    )


def database_location(spark: SparkSession, database: str, where: str) -> str:
    """Where a database keeps its tables."""
    with spark_faults(where, KEY, ConfigurationError):
        rows = spark.sql(f"DESCRIBE DATABASE {quoted(database)}").collect()
    found = next((str(row[1]) for row in rows if str(row[0]) == "Location" and row[1]), None)
    if found is None:
        raise _fault(where, f"the database {database!r}, which has no location", "a database of files", "publish to output.path")
    return found


def refuse_unfit(stored: Stored, name: str, format_: str, where: str) -> str:
    """The location of a table that one statement can give other files. Raises ConfigurationError for all others."""
    if "VIEW" in stored.kind.upper():
        raise _fault(where, f"{name}, which is a view", "a table", "choose another name")
    if stored.format not in FORMATS or stored.location is None:
        found = f"{name}, a table of the format {stored.format or 'unknown'}"
        raise _fault(where, found, "a table of parquet or orc", "other formats are not tried yet: publish to output.path")
    if format_.lower() not in ("parquet", stored.format):
        found = f"{name}, a table of {stored.format}, and format {format_}"
        raise _fault(where, found, "the table's own format", "leave out output.format")
    if stored.parted:
        found = f"{name}, which is partitioned or bucketed"
        advice = "its partitions could not be exchanged in one step: choose a table without, or drop it"
        raise _fault(where, found, "a table of plain files", advice)
    return stored.location


def refuse_names(stored: Stored, names: list[str], name: str, where: str) -> None:
    """ConfigurationError where a table's columns are not called like the release's: under its schema other columns would be null."""
    if stored.schema.names != names:
        found = f"the columns {some_of(stored.schema.names)} in {name}"
        advice = "drop the table, and a new one is made; or publish to another"
        raise _fault(where, found, f"those of the release in its order: {some_of(names)}", advice)


def refuse_types(stored: Stored, schema: T.StructType, name: str, where: str) -> None:
    """ConfigurationError where a column of the table has another type than in the release, or a length that Spark does not look at."""
    for there, ours in zip(stored.schema.fields, schema.fields, strict=True):
        declared = stored.declared.get(there.name, "")
        same = bare(there.dataType) == bare(ours.dataType) and not _CUT.search(declared)
        if not same:
            found = f"{there.name!r} of type {declared or there.dataType.simpleString()} in {name}"
            raise _fault(where, found, f"the release's {ours.dataType.simpleString()}", "drop the table, and a new one is made")


def bare(kind: T.DataType) -> T.DataType:
    """A type whose parts may all be null, without metadata."""
    if isinstance(kind, T.StructType):
        return T.StructType([T.StructField(field.name, bare(field.dataType), True) for field in kind.fields])
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(bare(kind.elementType), True)
    if isinstance(kind, T.MapType):
        return T.MapType(bare(kind.keyType), bare(kind.valueType), True)
    return kind


def set_location(spark: SparkSession, name: tuple[str, str], location: str) -> None:
    """The one statement that gives a table other files."""
    spark.sql(f"ALTER TABLE {quoted(*name)} SET LOCATION '{location}'")


def create_table(spark: SparkSession, name: tuple[str, str], format_: str, location: str, schema: T.StructType) -> None:
    """The one statement that makes a table of files that are there; it is external: dropping it leaves them."""
    spark.catalog.createTable(quoted(*name), path=location, source=format_, schema=bare(schema))  # type: ignore[arg-type]


def _fault(where: str, found: str, expected: str, advice: str) -> ConfigurationError:
    return ConfigurationError([Fault(where, KEY, found, expected, advice)])
