"""Tables, views and queries over text files: read as strictly as files, or told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from anon_spark import anonymize
from anon_spark.domain.errors import AnonError, ConfigurationError, DataError
from anon_spark.domain.policy import Source
from anon_spark.io.catalog import SKIPS, stored_source, unseen
from anon_spark.io.spark_errors import job_faults
from anon_spark.io.staging import real_place
from anon_spark.io.tables import read
from jobs import policy, quasi

pytestmark = pytest.mark.spark


@pytest.fixture
def stored(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """A table ``strict_t`` over a CSV file with a separator that Spark prints among its options."""
    path = tmp_path / "with blank"
    path.mkdir()
    (path / "a.csv").write_text("a,b\n1,x\n2,y\n")
    spark.sql("DROP TABLE IF EXISTS strict_t")
    spark.sql(f"CREATE TABLE strict_t (a INT, Provider STRING) USING csv OPTIONS (header 'true', sep ',') LOCATION '{path}'")
    yield path / "a.csv"
    spark.sql("DROP TABLE IF EXISTS strict_t")


def read_all(spark: SparkSession, source: Source) -> Counter[tuple]:
    with job_faults("job.yaml"):
        return Counter(tuple(row) for row in read(spark, source, "job.yaml").collect())


def test_a_table_over_csv_is_read_as_strictly_as_its_files(spark: SparkSession, stored: Path) -> None:
    source = Source(table="strict_t")
    found = stored_source(spark, source)
    assert found is not None and (found.format, found.options["sep"], found.options["header"]) == ("csv", ",", "true")
    assert read_all(spark, source) == Counter([(1, "x"), (2, "y")])
    assert unseen(spark, source) == ()
    for content in (b"a,b\n1,x\nz,y\n", b"a,b\n1\n", b'a,b\n1,"x\n2,y\n', b"a,b\n1,\xe9\n"):
        stored.write_bytes(content)
        spark.sql("REFRESH TABLE strict_t")
        with pytest.raises(DataError, match="input"):
            read_all(spark, source)


def test_a_column_called_like_the_head_of_the_details_hides_nothing(spark: SparkSession, stored: Path) -> None:
    spark.sql("DROP TABLE strict_t")
    columns = "`# Detailed Table Information` INT, Location STRING, Provider STRING"
    spark.sql(f"CREATE TABLE strict_t ({columns}) USING csv OPTIONS (header 'true') LOCATION '{stored.parent}'")
    found = stored_source(spark, Source(table="strict_t"))
    assert found is not None and (found.format, real_place(str(found.path))) == ("csv", str(stored.parent.resolve()))


def test_a_table_that_was_made_to_lose_lines_is_refused(spark: SparkSession, stored: Path) -> None:
    spark.sql("DROP TABLE strict_t")
    spark.sql(f"CREATE TABLE strict_t (a INT) USING csv OPTIONS (header 'true', mode 'DROPMALFORMED') LOCATION '{stored.parent}'")
    with pytest.raises(ConfigurationError, match="mode"):
        read_all(spark, Source(table="strict_t"))


def test_views_and_queries_over_text_files_are_warned_of(spark: SparkSession, stored: Path, tmp_path: Path) -> None:
    spark.read.csv(str(stored), header=True).createOrReplaceTempView("lenient_v")
    for source in (Source(table="lenient_v"), Source(query="SELECT * FROM lenient_v;"), Source(query=f"SELECT * FROM json.`{stored}`")):
        (told,) = unseen(spark, source)
        assert "FAILFAST" in told
    for source in (None, Source(path="x", format="csv"), Source(query="SELECT 'FileScan' AS a"), Source(table="no_such_table")):
        assert unseen(spark, source) == ()
    asked = policy([quasi("a")], k=1, input={"query": "SELECT a FROM lenient_v"}, output={"path": str(tmp_path / "out")})
    from anon_spark.job.run import run

    assert any("FAILFAST" in warning for warning in run(spark, asked).release.report.warnings)


@pytest.mark.parametrize("setting", SKIPS)
def test_a_session_that_leaves_files_out_is_refused(spark: SparkSession, tmp_path: Path, setting: str) -> None:
    table = spark.sql("SELECT 1 AS a")
    table.createOrReplaceTempView("one_row")
    before = spark.conf.get(setting)
    spark.conf.set(setting, "true")
    try:
        asks = (
            lambda: read_all(spark, Source(table="one_row")),
            lambda: read_all(spark, Source(query="SELECT 1 AS a")),
            lambda: anonymize(table, policy([quasi("a")], k=1, staging=tmp_path)),
        )
        for ask in asks:
            with pytest.raises(ConfigurationError, match=setting):
                ask()
        # options of its own keep an input by path whole
        (tmp_path / "in").mkdir()
        (tmp_path / "in/a.parquet").write_bytes(b"PAR1 nothing")
        with pytest.raises(AnonError):
            read_all(spark, Source(format="parquet", path=str(tmp_path / "in")))
    finally:
        spark.conf.set(setting, str(before))


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_columns_of_every_file_are_read(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    for place, columns in enumerate(("1 AS a", "2 AS a, 'x' AS b")):
        spark.sql(f"SELECT {columns}").coalesce(1).write.format(kind).mode("append").save(str(tmp_path / "in"))
        assert place in (0, 1)
    assert read_all(spark, Source(format=kind, path=str(tmp_path / "in"))) == Counter([(1, None), (2, "x")])
    spark.sql("SELECT 'text' AS a").write.format(kind).mode("append").save(str(tmp_path / "in"))
    with pytest.raises(AnonError, match="input"):
        read_all(spark, Source(format=kind, path=str(tmp_path / "in")))


def test_dates_are_not_guessed(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("d\n2020-02-31\n")
    source = Source(
        format="csv", path=str(tmp_path / "in.csv"),
        options={"header": "true", "inferSchema": "true", "timestampFormat": "yyyy-MM-dd", "dateFormat": "yyyy-MM-dd"},
    )  # fmt: skip
    before = spark.conf.get("spark.sql.legacy.timeParserPolicy")
    spark.conf.set("spark.sql.legacy.timeParserPolicy", "LEGACY")
    try:
        with pytest.raises(ConfigurationError, match="timeParserPolicy"):
            read_all(spark, source)
    finally:
        spark.conf.set("spark.sql.legacy.timeParserPolicy", str(before))


def test_xml_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ConfigurationError, match=r"input.format: found xml"):
        read_all(spark, Source(format="xml", path="/x.xml", options={"rowTag": "r"}))
