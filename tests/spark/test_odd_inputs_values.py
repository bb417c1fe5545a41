"""Odd values as quasi-identifiers: each is published as what it is, or counted as what it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from anon_spark import anonymize
from anon_spark.domain.errors import ConfigurationError, DataError, InfeasibleError
from jobs import class_sizes, policy, printed, quasi, released, tree

pytestmark = pytest.mark.spark


@contextmanager
def setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    before = spark.conf.get(key)
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.set(key, before)


KINDS = """
SELECT * FROM VALUES
('007',  'null', CAST(1.50 AS DECIMAL(10,2)), -0.0D,            DATE'0001-01-01', TIMESTAMP'1883-11-18 12:03:57.5',
  true,  -9223372036854775808, FLOAT(0.1), TIMESTAMP_NTZ'2021-11-07 01:30:00', '7', ' 12'),
('7',    '',     CAST(-7 AS DECIMAL(10,2)),   DOUBLE('NaN'),    DATE'1582-10-15', TIMESTAMP'1899-12-31 23:59:59',
  false, 9223372036854775807,  FLOAT(-0.0), TIMESTAMP_NTZ'0999-01-01 00:00:00', '007', '3e1'),
(' 7',   NULL,   NULL,                        DOUBLE('-Infinity'), DATE'9999-12-31', TIMESTAMP'2021-03-14 03:00:00.000001',
  NULL,  0,                    FLOAT('NaN'), NULL,                                    '-3', '+5.25'),
('É\\t\\n', 'NULL', CAST(99999999.99 AS DECIMAL(10,2)), 1e-5D,   NULL,             NULL,
  true,  NULL,                 NULL,        TIMESTAMP_NTZ'2021-11-07 01:30:00', NULL, ' NaN ')
AS t(t, n, c, d, day, at, b, i, f, z, w, x)
"""
NAMES = ["t", "n", "c", "d", "day", "at", "b", "i", "f", "z", "w", "x"]
LEVEL_0 = {
    ("007", "null", "1.50", "0.0", "0001-01-01", "1883-11-18 12:03:57.5", "true", "-9223372036854775808", "0.1",
     "2021-11-07 01:30:00", "7", "12"),
    ("7", "", "-7.00", "NaN", "1582-10-15", "1899-12-31 23:59:59", "false", "9223372036854775807", "0.0",
     "0999-01-01 00:00:00", "7", "30.0"),
    (" 7", None, None, "-Infinity", "9999-12-31", "2021-03-14 03:00:00.000001", None, "0", "NaN", None, "-3", "5.25"),
    ("É\t\n", "NULL", "99999999.99", "0.00001", None, None, "true", None, None, "2021-11-07 01:30:00", None, "NaN"),
}  # fmt: skip
LEVEL_1 = {
    ("*", "*", "[0.0, 10.0)", "[0.0, 10.0)", "0001", "1883-11", "*", "[-9223372036854775810, -9223372036854775801]", "[0.0, 1.0)",
     "2021", "[0, 9]", "[10.0, 20.0)"),
    ("*", "*", "[-10.0, 0.0)", "*", "1582", "1899-12", "*", "[9223372036854775800, 9223372036854775809]", "[0.0, 1.0)", "0999",
     "[0, 9]", "[30.0, 40.0)"),
    ("*", "*", "*", "*", "9999", "2021-03", "*", "[0, 9]", "*", "*", "[-10, -1]", "[0.0, 10.0)"),
    ("*", "*", "[99999990.0, 100000000.0)", "[0.0, 10.0)", "*", "*", "*", "*", "*", "2021", "*", "*"),
}  # fmt: skip


@pytest.mark.parametrize(("level", "expected"), [(0, LEVEL_0), (1, LEVEL_1)])
def test_every_kind_of_value_is_published_as_what_it_is(spark: SparkSession, tmp_path: Path, level: int, expected: set) -> None:
    tens, years = {"intervals": [10]}, {"date": ["year"]}
    hierarchies = ["flat", "flat", tens, tens, years, {"date": ["month"]}, "flat", tens, {"intervals": [1]}, years, tens, tens]
    columns = [quasi(name, spec, min_level=level) for name, spec in zip(NAMES, hierarchies, strict=True)]
    with setting(spark, "spark.sql.session.timeZone", "America/New_York"):
        table = spark.sql(KINDS)
        # level 1 of two of them joins what level 0 tells apart, so that k = 2 holds only with every row twice
        with anonymize(table.union(table), policy(columns, staging=tmp_path)) as release:
            assert printed(release) == Counter(dict.fromkeys(expected, 2))
            assert {field.dataType.simpleString() for field in release.table.schema} == {"string"}
            assert set(release.report.lattice.levels.values()) == {level}


def test_an_hour_that_a_clock_passes_twice_is_one_value(spark: SparkSession, tmp_path: Path) -> None:
    with setting(spark, "spark.sql.session.timeZone", "America/New_York"):
        # 05:30 and 06:30 UTC are both half past one in New York
        table = spark.sql("SELECT timestamp_seconds(1636263000 + 3600 * id) AS at, CAST(id AS int) AS n FROM range(2)")
        columns = [quasi("at", {"date": ["day"]}), {"name": "n", "role": "insensitive"}]
        with anonymize(table, policy(columns, staging=tmp_path)) as release:
            assert printed(release) == Counter({("2021-11-07 01:30:00", 0): 1, ("2021-11-07 01:30:00", 1): 1})
            assert release.report.loss.gcp == 0


def test_text_that_is_no_number_is_counted_and_never_read_as_one(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(text,) for text in ("12", "12", "twelve", "", "0x1F", "1_000", "١٢")]
    asked = policy([quasi("x", {"intervals": [10]})], staging=tmp_path)
    with pytest.raises(DataError, match="5 of 6 distinct values unmapped, 5 of 7 rows"):
        released(spark, rows, "x string", asked)
    asked = policy([quasi("x", {"intervals": [10], "others": "root"})], staging=tmp_path)
    with released(spark, rows, "x string", asked) as release:
        assert printed(release) == Counter({("*",): 5, ("[10, 19]",): 2})


def test_leading_zeros_are_kept_by_text_and_fall_with_numbers(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("007",), ("007",), ("7",), ("7",)]
    for spec, more, expected in (
        ("flat", {}, {("007",): 2, ("7",): 2}),
        ("flat", {"type": "integer"}, {("7",): 4}),
        (tree(tmp_path, "text", "007;a;*", "7;b;*"), {}, {("007",): 2, ("7",): 2}),
        (tree(tmp_path, "number", "7;a;*"), {"type": "integer"}, {("7",): 4}),
    ):
        with released(spark, rows, "x string", policy([quasi("x", spec, **more)], staging=tmp_path)) as release:
            assert printed(release) == Counter(expected), spec
    with pytest.raises(DataError, match="1 of 2 distinct values unmapped, 2 of 4 rows"):
        released(spark, rows, "x string", policy([quasi("x", tree(tmp_path, "lone", "7;b;*"))], staging=tmp_path))


@pytest.mark.parametrize(("rows", "k"), [([(7, "a", "s")] * 5, 5), ([(7, "a", "s")], 1), ([(None, None, None)] * 3, 3)])
def test_a_table_of_equal_rows_loses_nothing(spark: SparkSession, tmp_path: Path, rows: list[tuple], k: int) -> None:
    columns = [quasi("n", {"intervals": [5]}), quasi("t"), {"name": "s", "role": "sensitive"}]
    with released(spark, rows, "n int, t string, s string", policy(columns, k=k, staging=tmp_path)) as release:
        assert class_sizes(release) == [len(rows)]
        assert release.report.loss.gcp == release.report.loss.glm == release.report.loss.distortion == 0
        assert set(release.report.lattice.levels.values()) == {0}


def test_one_row_can_not_hide(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError, match=r"1 rows? < k = 2"):
        released(spark, [(1,)], "x int", policy([quasi("x")], staging=tmp_path))


def test_a_range_of_zero_costs_nothing_at_any_level(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(7.5, i) for i in range(4)]
    columns = [quasi("x", {"intervals": [5]}, min_level=1), quasi("y", {"intervals": [2]})]
    with released(spark, rows, "x double, y int", policy(columns, staging=tmp_path)) as release:
        assert printed(release) == Counter({("[5.0, 10.0)", "[0, 1]"): 2, ("[5.0, 10.0)", "[2, 3]"): 2})
        assert release.report.loss.by_column["x"] == 0 and 0 < release.report.loss.gcp < 1


def test_a_hierarchy_of_forty_thousand_leaves(spark: SparkSession, tmp_path: Path) -> None:
    lines = [f"c{i:05d};g{i // 100:03d};s{i // 10000};*" for i in range(40_000)]
    table = spark.range(40_000).select(F.format_string("c%05d", "id").alias("code"))
    asked = policy([quasi("code", tree(tmp_path, "codes", *lines))], k=100, output={"path": str(tmp_path / "out")})
    with anonymize(table, asked) as release:
        assert release.report.lattice.levels == {"code": 1}
        assert class_sizes(release) == [100] * 400
        assert release.table.where("code = 'g399'").count() == 100


def test_collations_join_no_values(spark: SparkSession, tmp_path: Path) -> None:
    if spark.version < "4":
        return
    table = spark.sql(
        "SELECT collate(a, 'UTF8_LCASE') AS a, a AS s, collate(a, 'UNICODE_CI') AS c, id "
        "FROM VALUES ('x', 1), ('X', 2), ('x', 3), ('X', 4) AS t(a, id)"
    )
    columns = [quasi("a"), {"name": "s", "role": "sensitive"}, *({"name": name, "role": "insensitive"} for name in ("c", "id"))]
    models = [{"model": "alpha-deassociation", "column": "s", "alpha": 0.5}]
    with anonymize(table, policy(columns, staging=tmp_path, models=models)) as release:
        assert printed(release) == Counter({("*", text, text, number + 1): 1 for number, text in enumerate("xXxX")})
    # whoever reads the release would take x and X for one illness, or for one person
    for role in ("sensitive", "person"):
        asked = [*columns[:2], {"name": "c", "role": role}, columns[3]]
        with pytest.raises(ConfigurationError, match=r"columns\.2 \(c\): found type string collate UNICODE_CI; expected UTF8_BINARY"):
            anonymize(table, policy(asked, staging=tmp_path, models=[{**models[0], "column": "c" if role == "sensitive" else "s"}]))


def test_a_value_that_fails_in_the_callers_query_is_logged_by_nobody(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """PySpark 4 logs the text of such failures."""
    table = spark.sql("SELECT CAST(id % 2 AS string) AS a, CAST('zq7secret' || id AS int) AS b FROM range(5)")
    with setting(spark, "spark.sql.ansi.enabled", "true"), pytest.raises(DataError):
        anonymize(table, policy([quasi("a"), {"name": "b", "role": "insensitive"}], staging=tmp_path))
    assert "zq7secret" not in "".join(capfd.readouterr())
