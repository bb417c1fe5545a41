"""What happens around a run: other partitions, inputs that change under it, formats that can't hold a release, secrets."""

from __future__ import annotations

import itertools
import json
import logging
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from anon_spark import Policy, anonymize
from anon_spark.domain.errors import AnonError, AuditError, ConfigurationError, DataError
from anon_spark.job import run as job
from jobs import class_sizes, policy, printed, quasi, released, tree

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("megabytes", [64, pytest.param(0, marks=pytest.mark.long)])
def test_partitions_skew_and_batches_change_nothing(spark: SparkSession, tmp_path: Path, megabytes: int) -> None:
    # half of the rows are one combination; the others come in sizes around k
    half = ["IF(id % 2 = 0, 0, CAST(pow(id % 97, 2) AS int) % 41) AS a", "IF(id % 2 = 0, 'x', CAST(id % 3 AS string)) AS b"]
    table = spark.range(3000).selectExpr(*half, "CAST(id % 11 AS string) AS s", "id AS n")
    columns = [
        quasi("a", {"intervals": [5, 10]}),
        quasi("b"),
        {"name": "s", "role": "sensitive"},
        {"name": "n", "role": "insensitive"},
    ]
    models = [{"model": "alpha-deassociation", "alpha": 0.4}]
    settings = {"driver_megabytes": megabytes}
    asked = policy(columns, k=10, models=models, suppression={"limit": 0.02}, settings=settings, staging=tmp_path)
    shapes: list[Callable[[DataFrame], DataFrame]] = [
        lambda frame: frame.coalesce(1),
        lambda frame: frame.repartition(8, "a"),
        lambda frame: frame.where("n < 0").union(frame.orderBy("n", ascending=False)).repartition(200 if megabytes else 20, "n"),
    ]
    found = []
    batch = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    for shape, size in zip(shapes, (7, 10_000, 100), strict=True):
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", size)
        try:
            with anonymize(shape(table), asked) as release:
                assert min(class_sizes(release)) >= 10
                found.append((release.report.lattice.levels, release.report.suppressed.rows, printed(release)))
        finally:
            spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", batch)
    assert found[0] == found[1] == found[2]


def changing(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Something changes the input when all is decided and before the second scan."""
    real = job.stage

    def stage(*arguments: Any) -> DataFrame:
        change()
        return real(*arguments)

    monkeypatch.setattr(job, "stage", stage)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a,s\nx,1\nx,1\ny,1\ny,1\n", "a table that changed between two scans"),
        ("a,s\nx,1\nx,1\nx,2\n", "a table that changed between two scans"),
        ("a,s\nx,1\nx,1\nx,2\nz,2\n", "a table that changed between two scans"),
        ("a,s\n", "a table that changed between two scans"),
        (None, "lines or files that can't be read"),
    ],
    ids=["other sensitive values", "a row less", "an unknown value", "no rows", "gone"],
)
def test_an_input_that_changes_under_the_job_stops_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, text: str
) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out"
    path.write_text("a,s\nx,1\nx,1\nx,2\nx,2\n")
    out.mkdir()
    spark.read.csv(str(path), header=True).createOrReplaceTempView("changing")
    columns = [quasi("a"), {"name": "s", "role": "sensitive"}]
    models = [{"model": "l-diversity", "l": 2}]
    asked = policy(columns, models=models, input={"table": "changing"}, output={"path": str(out / "release")})
    changing(monkeypatch, path.unlink if content is None else lambda: path.write_text(content))
    with pytest.raises(DataError, match=text):
        job.run(spark, asked)
    assert list(out.iterdir()) == []


def test_a_query_that_answers_otherwise_each_time_stops_the_job(spark: SparkSession, tmp_path: Path) -> None:
    asked = policy(
        [quasi("a")],
        input={"query": "SELECT reflect('java.util.UUID', 'randomUUID') AS a FROM range(9)"},
        output={"path": str(tmp_path / "out")},
    )
    with pytest.raises(DataError, match="changed between two scans"):
        job.run(spark, asked)
    assert list(tmp_path.iterdir()) == []


NASTY = ["".join(some) for size in range(4) for some in itertools.product("a\\\",\n\r \t#'é\0", repeat=size)]


@pytest.mark.parametrize("kind", ["csv", "json", "orc", "parquet"])
def test_texts_come_back_from_every_format(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    # a CSV has one text that stands for null: "\\N" unless its options say otherwise
    texts = [*NASTY, None, "null", "NULL", "_", "NaN", *(["\\N"] if kind != "csv" else [])]
    rows = [("q", text, text, number) for number, text in enumerate(texts)]
    columns = [quasi("q"), *({"name": name, "role": "insensitive"} for name in "xyz")]
    asked = policy(columns, output={"format": kind, "path": str(tmp_path / kind)})
    release = released(spark, rows, "q string, x string, y string, z int", asked)
    assert printed(release) == Counter(rows)


def test_moments_and_numbers_come_back_from_text_formats(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.sql(
        "SELECT 'q' AS q, TIMESTAMP'1850-01-01 00:00:00.123456' AS t, TIMESTAMP_NTZ'2021-03-14 02:30:00.000001' AS z, "
        "DATE'0001-02-03' AS d, CAST(1e300 AS double) AS x, CAST(0.1 AS float) AS f, CAST(1.10 AS decimal(38, 18)) AS m, NULL AS e "
        "UNION ALL SELECT 'q', NULL, NULL, NULL, double('NaN'), float('-Infinity'), NULL, NULL"
    ).drop("e")
    columns = [quasi("q"), *({"name": name, "role": "insensitive"} for name in "tzdxfm")]
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for kind in ("csv", "json"):
            release = anonymize(table, policy(columns, output={"format": kind, "path": str(tmp_path / kind)}))
            assert Counter(map(str, release.table.collect())) == Counter(map(str, table.collect()))
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize(
    ("kind", "column", "error"),
    [
        ("csv", "array(1)", ConfigurationError),
        ("csv", "named_struct('a', 1)", ConfigurationError),
        ("orc", "NULL", ConfigurationError),
        ("parkett", "1", ConfigurationError),
        ("csv", "X'80FF'", (ConfigurationError, AuditError)),
    ],
)
def test_a_format_that_cannot_hold_a_column_is_told(
    spark: SparkSession, tmp_path: Path, kind: str, column: str, error: type[AnonError] | tuple[type[AnonError], ...]
) -> None:
    table = spark.sql(f"SELECT 'q' AS q, {column} AS x FROM range(2)")
    asked = policy([quasi("q"), {"name": "x", "role": "insensitive"}], output={"format": kind, "path": str(tmp_path / "out")})
    with pytest.raises(error, match="output"):
        anonymize(table, asked)
    assert list(tmp_path.iterdir()) == []


def test_microseconds_that_a_session_cuts_are_told(spark: SparkSession, tmp_path: Path) -> None:
    asked = policy([quasi("q"), {"name": "x", "role": "insensitive"}], output={"path": str(tmp_path / "out"), "mode": "overwrite"})
    key = "spark.sql.parquet.outputTimestampType"
    spark.conf.set(key, "TIMESTAMP_MILLIS")
    try:
        for column in ("TIMESTAMP'2020-01-01 00:00:00.123'", "array(TIMESTAMP'2020-01-01 00:00:00.123000')"):
            anonymize(spark.sql(f"SELECT 'q' AS q, {column} AS x FROM range(2)"), asked)
        for column in ("TIMESTAMP'2020-01-01 00:00:00.123456'", "array(named_struct('a', TIMESTAMP'2020-01-01 00:00:00.000001'))"):
            with pytest.raises(ConfigurationError, match=r"output: found timestamps in 'x', whose microseconds .* cuts"):
                anonymize(spark.sql(f"SELECT 'q' AS q, {column} AS x FROM range(2)"), asked)
    finally:
        spark.conf.unset(key)


def test_nulls_of_a_sensitive_column_count_or_do_not(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("x", None), ("x", None), ("x", "flu"), ("x", "cold")]
    for nulls, minimum in (("value", 3), ("ignore", 2)):
        columns = [quasi("a"), {"name": "s", "role": "sensitive", "nulls": nulls}]
        asked = policy(columns, models=[{"model": "l-diversity", "l": minimum}], staging=tmp_path)
        with released(spark, rows, "a string, s string", asked) as release:
            assert printed(release) == Counter(rows)
        asked = policy(columns, models=[{"model": "l-diversity", "l": minimum + 1}], staging=tmp_path)
        with pytest.raises(AnonError) as raised:
            released(spark, rows, "a string, s string", asked)
        assert raised.value.exit_code == 4


SECRET = "SECRET-123"


def outcome(spark: SparkSession, asked: Policy, rows: list[tuple]) -> int:
    spark.createDataFrame(rows, "name string, zip string, age string, illness string, note string").createOrReplaceTempView(
        "people"
    )
    try:
        job.run(spark, asked)
    except AnonError as error:
        logging.getLogger("anon_spark.tests").error("%s", error)
        return error.exit_code
    return 0


def test_no_value_of_the_data_is_told_to_anyone(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, "anon_spark")
    common = [(f"{SECRET}-{i}", "5371" + str(i % 2), "30", "flu", "n") for i in range(12)]
    rare = (f"{SECRET}-x", f"{SECRET}-zip", "31", "cold", "n")
    zips = tree(tmp_path, "zips", "53710;*", "53711;*", f"{SECRET}-zip;*")
    columns = [
        {"name": "name", "role": "identifier"}, quasi("zip", zips), quasi("age", {"intervals": [10]}),
        {"name": "illness", "role": "sensitive"}, {"name": "note", "role": "insensitive"},
    ]  # fmt: skip
    out = tmp_path / "out"
    for megabytes in (64, 0):
        base = {
            "input": {"table": "people"}, "output": {"path": str(out / "release"), "mode": "overwrite"},
            "report": {"path": str(out / "report")}, "suppression": {"limit": 0.1}, "settings": {"driver_megabytes": megabytes},
        }  # fmt: skip
        asked = policy(columns, **base)
        for rows, code in (
            ([*common, rare], 0),
            ([*common, (*rare[:2], SECRET, *rare[3:])], 3),
            ([*common, (rare[0], SECRET, *rare[2:])], 3),
            ([rare], 4),
            ([], 4),
        )[: 5 if megabytes else 1]:
            assert outcome(spark, asked, rows) == code
        wrong = policy(columns, **{**base, "output": {"path": str(out / "release"), "mode": "overwrite", "format": "nosuch"}})
        assert outcome(spark, wrong, [*common, rare]) == 2
    assert {path.name for path in out.iterdir()} == {"release", "report"}
    held = [path for path in out.rglob("*") if path.is_file()]
    assert len(held) > 2 and json.loads((out / "report/report.json").read_text())["suppressed"]["rows"] == 1
    assert not [path for path in held if SECRET.encode() in path.read_bytes()]
    streams = capfd.readouterr()
    assert "frequency set" in caplog.text
    assert SECRET not in caplog.text + streams.out + streams.err
    shutil.rmtree(out)
