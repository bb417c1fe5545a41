"""Odd names, types and shapes of tables: columns that are no quasi-identifiers pass unchanged, and nothing rides along."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark import anonymize
from anon_spark.domain.errors import ConfigurationError
from jobs import class_sizes, policy, printed, quasi, released

pytestmark = pytest.mark.spark

NAMES = ["a.b", "a b", "a`b", "日本", "ÄÖ", "`", "select", "a,b;{c}=\t", "'\"", "1"]
TYPES = {
    "flag": "id % 2 = 0",
    "tiny": "CAST(id AS tinyint)",
    "big": "9223372036854775807 - id",
    "real": "CAST(id / 3 AS float)",
    "double": "CASE id WHEN 0 THEN DOUBLE('NaN') WHEN 1 THEN DOUBLE('-Infinity') WHEN 2 THEN -0.0D ELSE id / 7D END",
    "money": "CAST(id AS decimal(38, 18))",
    "text": "CASE id WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'null' ELSE 'é\\n\\0\"' END",
    "bytes": "CASE id WHEN 0 THEN NULL ELSE X'00FF' END",
    "day": "date_sub(DATE'0001-01-10', CAST(id AS int))",
    "at": "timestamp_micros(-62135596800000000 + id)",
    "local": "TIMESTAMP_NTZ'1850-06-01 12:34:56.000001'",
    "months": "make_ym_interval(0, CAST(id AS int))",
    "time": "make_dt_interval(0, 0, 0, id)",
    "list": "CASE id WHEN 0 THEN NULL WHEN 1 THEN array() WHEN 2 THEN array(NULL) ELSE array(id, NULL) END",
    "map": "map('k', id, 'l', NULL)",
    "deep": "named_struct('a.b', array(map(id, named_struct('x', id, 'y', array(X'00')))), 'c', CAST(NULL AS int))",
}


def typed(spark: SparkSession) -> DataFrame:
    more = (
        {"variant": "parse_json(concat('{\"a\": ', id, '}'))", "variants": "array(parse_json('1'))"}
        if spark.version >= "4"
        else {}
    )
    columns = [f"{text} AS `{name}`" for name, text in {**TYPES, **more}.items()]
    return spark.range(6).selectExpr("id % 2 AS q", *columns)


def comparable(frame: DataFrame) -> Counter[tuple]:
    """Rows whose doubles, maps and variants can be compared and counted."""
    return Counter(
        tuple(map(repr, row)) for row in frame.select(*[F.to_json(F.struct(f"`{n}`")) for n in frame.columns]).collect()
    )


def test_columns_of_every_type_pass_unchanged_type_included(spark: SparkSession, tmp_path: Path) -> None:
    table = typed(spark)
    with anonymize(table, policy([quasi("q")], unlisted="keep", staging=tmp_path)) as release:
        before, after = table.drop("q"), release.table.drop("q")
        assert after.dtypes == before.dtypes
        assert comparable(after) == comparable(before)
        assert class_sizes(release) == [3, 3]


def test_fixed_and_bounded_texts_are_text(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("DROP TABLE IF EXISTS bounded")
    spark.sql("CREATE TABLE bounded (c CHAR(4), v VARCHAR(5), s VARCHAR(9)) USING parquet")
    try:
        spark.sql("INSERT INTO bounded VALUES ('a', 'x ', 's'), ('a', 'x ', 't'), ('a', 'x', 's'), ('a', 'x', 't')")
        columns = [quasi("c"), quasi("v"), {"name": "s", "role": "sensitive"}]
        asked = policy(columns, staging=tmp_path, models=[{"model": "l-diversity", "l": 2}])
        with anonymize(spark.table("bounded"), asked) as release:
            rows = {("a   ", "x ", "s"), ("a   ", "x ", "t"), ("a   ", "x", "s"), ("a   ", "x", "t")}
            assert printed(release) == Counter(rows)
    finally:
        spark.sql("DROP TABLE bounded")


def test_any_name_is_just_a_name(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.range(4).selectExpr(*[f"CAST(id % 2 AS string) AS c{i}" for i in range(len(NAMES))]).toDF(*NAMES)
    roles = [quasi(name) for name in NAMES[:4]]
    roles += [{"name": name, "role": "sensitive"} for name in NAMES[4:7]] + [
        {"name": n, "role": "insensitive"} for n in NAMES[7:]
    ]
    models = [{"model": "alpha-deassociation", "column": name, "alpha": 1} for name in NAMES[4:7]]
    with anonymize(table, policy(roles, staging=tmp_path, models=models)) as release:
        assert release.table.columns == NAMES
        assert printed(release) == Counter({("0",) * 10: 2, ("1",) * 10: 2})
        assert set(release.report.lattice.levels) == set(NAMES[:4])
        assert class_sizes(release) == [2, 2]


def test_capitals_that_collide_are_refused_where_spark_takes_them_for_one(spark: SparkSession, tmp_path: Path) -> None:
    asked = policy([quasi("Age")], unlisted="keep", staging=tmp_path)
    with pytest.raises(ConfigurationError, match="columns 'Age' and 'age', which Spark takes for one"):
        anonymize(spark.createDataFrame([(1, 2)], "a int, b int").toDF("Age", "age"), asked)
    with pytest.raises(ConfigurationError, match=r"found 'age', which the input lacks; .*did you mean 'Age'"):
        anonymize(spark.createDataFrame([(1,)], "Age int"), policy([quasi("age")], unlisted="drop", staging=tmp_path))
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        rows = [(1, "x"), (1, "x"), (2, "y"), (2, "y")]
        with released(spark, rows, "Age int, age string", asked) as release:
            assert printed(release) == Counter({("1", "x"): 2, ("2", "y"): 2})
    finally:
        spark.conf.set("spark.sql.caseSensitive", "false")


def test_a_table_of_three_hundred_columns(spark: SparkSession, tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(300)]
    made = spark.range(40).selectExpr(*[f"CAST(id % {2 + i % 2} AS int) AS {name}" for i, name in enumerate(names)])
    made.write.parquet(str(tmp_path / "wide"))
    table = spark.read.parquet(str(tmp_path / "wide"))
    asked = policy([quasi(name) for name in names[:10]], k=6, unlisted="keep", staging=tmp_path)
    with anonymize(table, asked) as release:
        assert release.table.columns == names
        assert class_sizes(release) == [6, 6, 7, 7, 7, 7]
        assert release.report.lattice.nodes == 2**10


def test_comments_and_metadata_of_the_input_reach_no_file(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.range(4).select(
        (F.col("id") % 2).cast("int").alias("q", metadata={"comment": "SECRET", "min": "SECRET"}),
        F.struct(F.col("id").alias("x", metadata={"comment": "SECRET"})).alias("s", metadata={"note": "SECRET"}),
    )
    for kind in ("parquet", "orc"):
        asked = policy([quasi("q"), {"name": "s", "role": "insensitive"}], output={"format": kind, "path": str(tmp_path / kind)})
        anonymize(table, asked)
        files = [path for path in (tmp_path / kind).rglob("*") if path.is_file()]
        assert files and not any(b"SECRET" in path.read_bytes() for path in files)
    footers = [pq.read_metadata(path) for path in (tmp_path / "parquet").glob("*.parquet")]
    assert footers and all(b"SECRET" not in value for footer in footers for value in (footer.metadata or {}).values())


def test_what_cannot_be_grouped_is_no_quasi_identifier(spark: SparkSession, tmp_path: Path) -> None:
    names = ["bytes", "months", "time", "list", "map", "deep", *(["variant"] if spark.version >= "4" else [])]
    asked = policy([quasi(name) for name in names], unlisted="keep", staging=tmp_path)
    with pytest.raises(ConfigurationError) as raised:
        anonymize(typed(spark), asked)
    lines = str(raised.value).splitlines()
    assert len(lines) == len(names)
    assert all(f"({name}): found type " in line for name, line in zip(names, lines, strict=True))
