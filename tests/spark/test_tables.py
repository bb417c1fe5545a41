"""Reading a table as it is or not at all: nothing is emptied, dropped, swapped or told in silence."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from anon_spark.domain.errors import AnonError, ConfigurationError, DataError, PlatformError
from anon_spark.domain.policy import Source
from anon_spark.io.spark_errors import as_ours, error_class, job_faults, spark_faults
from anon_spark.io.tables import read

pytestmark = pytest.mark.spark

SECRET = "SECRET_123"


def csv(folder: Path, *texts: str | bytes, **options: str) -> Source:
    """A CSV of one file, or a directory of several."""
    path = folder / "csv"
    path.mkdir()
    for number, text in enumerate(texts):
        (path / f"{number}.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return Source(format="csv", path=str(path if len(texts) > 1 else path / "0.csv"), options={"header": "true", **options})


def rows(spark: SparkSession, source: Source, *columns: str) -> Counter[tuple[Any, ...]]:
    """The rows as a run would meet them, or the error as a run would tell it."""
    with job_faults("job.yaml"):
        table: DataFrame = read(spark, source, "job.yaml")
        return Counter(tuple(row) for row in (table.select(*columns) if columns else table).collect())


def refused(spark: SparkSession, source: Source, *columns: str, kind: type[AnonError] = DataError) -> str:
    with pytest.raises(kind) as raised:
        rows(spark, source, *columns)
    text = str(raised.value)
    assert SECRET not in text and "\n" not in text and text.startswith("job.yaml: input")
    return text


def test_a_csv_keeps_blanks_quotes_and_its_first_name_after_a_byte_order_mark(spark: SparkSession, tmp_path: Path) -> None:
    source = csv(tmp_path, '\ufeffa,b\n" x ", y\n"p,q","say \\"x\\""\n5" pipe,C:\\dir\n007,NULL\n,null\n')
    assert read(spark, source, "").columns == ["a", "b"]
    assert rows(spark, source) == Counter(
        [(" x ", " y"), ("p,q", 'say "x"'), ('5" pipe', "C:\\dir"), ("007", "NULL"), (None, "null")]
    )


@pytest.mark.parametrize(
    "line",
    [f"{SECRET}", f"{SECRET},1,2", f'"{SECRET},1', f'"say ""{SECRET}""",1', f'"{SECRET}\n",1', f'"{SECRET}"x,1'],
    ids=["too few", "too many", "a quote that stays open", "doubled quotes", "a line end in quotes", "text behind quotes"],
)
def test_a_malformed_line_stops_the_job_even_where_its_field_is_not_read(spark: SparkSession, tmp_path: Path, line: str) -> None:
    source = csv(tmp_path, f"a,b\n1,2\n{line}\n3,4\n")
    for columns in (["a", "b"], ["a"], ["b"]):
        assert "lines or files that can't be read" in refused(spark, source, *columns)


def test_options_of_the_owner_say_how_quotes_and_line_ends_are_written(spark: SparkSession, tmp_path: Path) -> None:
    source = csv(tmp_path, 'a,b\n"say ""x""","C:\\"\n"1\n2",3\n', escape='"', multiLine="true")
    assert rows(spark, source) == Counter([('say "x"', "C:\\"), ("1\n2", "3")])


def test_a_mode_that_loses_lines_is_refused_however_it_is_spelled(spark: SparkSession, tmp_path: Path) -> None:
    for mode in ("permissive", "DropMalformed"):
        folder = tmp_path / mode
        folder.mkdir()
        assert "input.options.mode" in refused(spark, csv(folder, "a\n1\n", MODE=mode), kind=ConfigurationError)
    assert rows(spark, csv(tmp_path, "a\n1\n", MODE="failfast")) == Counter([("1",)])


def test_files_whose_headers_differ_are_not_read_by_place(spark: SparkSession, tmp_path: Path) -> None:
    assert "found files whose headers differ" in refused(spark, csv(tmp_path, "a,b\n1,2\n", "b,a\n3,4\n3,4\n"))


def test_headers_that_differ_by_capitals_alone(spark: SparkSession, tmp_path: Path) -> None:
    named, unnamed = tmp_path / "named", tmp_path / "unnamed"
    named.mkdir(), unnamed.mkdir()
    # names are one for Spark unless it is told otherwise
    source = csv(named, "Age,zip\n1,2\n", "age,ZIP\n3,4\n")
    assert rows(spark, source) == Counter([("1", "2"), ("3", "4")])
    assert "2 different first lines, which differ by capitals alone" in refused(spark, csv(unnamed, ",b\n1,2\n", ",B\n3,4\n"))
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert "found files whose headers differ" in refused(spark, source)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_files_with_one_header_are_one_table(spark: SparkSession, tmp_path: Path) -> None:
    assert rows(spark, csv(tmp_path, "a,b\n1,2\n", "\ufeffa,b\n3,4\n", inferSchema="true")) == Counter([(1, 2), (3, 4)])


def test_names_that_spark_made_up_are_in_no_file(spark: SparkSession, tmp_path: Path) -> None:
    source = csv(tmp_path, ",a,A\n0,1,2\n", ",a,A\n3,4,5\n")
    assert read(spark, source, "").columns == ["_c0", "a1", "A2"]
    assert rows(spark, source) == Counter([("0", "1", "2"), ("3", "4", "5")])


@pytest.mark.parametrize("line", ['{"a": 1, "b"', f'{{"a": {SECRET}}}', f"[{SECRET}]"])
def test_malformed_json_stops_the_job(spark: SparkSession, tmp_path: Path, line: str) -> None:
    (tmp_path / "in.json").write_text('{"a": 1, "b": 2}\n' + line + "\n")
    refused(spark, Source(format="json", path=str(tmp_path / "in.json")))


def test_truncated_and_empty_parquet_is_told(spark: SparkSession, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    spark.range(1000).selectExpr("id", f"concat('{SECRET}', id) AS s").coalesce(1).write.parquet(str(whole))
    (file,) = whole.glob("*.parquet")
    content = file.read_bytes()
    for name, held in {"half": content[: len(content) // 2], "start": content[:4] + b"\0" * 3000 + content[3004:]}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.parquet").write_bytes(held)
        assert "can't be read" in refused(spark, Source(format="parquet", path=str(tmp_path / name)))
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside/a.parquet").write_bytes(content)
    (tmp_path / "beside/b.parquet").write_bytes(content[:500])
    with pytest.raises((DataError, PlatformError)) as raised:
        rows(spark, Source(format="parquet", path=str(tmp_path / "beside")))
    assert SECRET not in str(raised.value)
    source = Source(format="parquet", path=str(whole))
    table = read(spark, source, "job.yaml")
    file.unlink()
    with pytest.raises(DataError, match="input"), job_faults("job.yaml"):
        table.collect()


def test_tables_views_and_queries_are_read(spark: SparkSession, tmp_path: Path) -> None:
    spark.createDataFrame([(1, "x")], "a int, `b.c` string").createOrReplaceTempView("odd_view")
    path = str(tmp_path / "parts")
    spark.createDataFrame([(1, "x"), (2, "y")], "n int, p string").write.partitionBy("p").parquet(path)
    assert rows(spark, Source(table="odd_view")) == Counter([(1, "x")])
    assert rows(spark, Source(query="SELECT a + 1 AS a FROM odd_view -- ';'")) == Counter([(2,)])
    assert rows(spark, Source(query="WITH v AS (SELECT a FROM odd_view) SELECT a FROM v ORDER BY a;\n")) == Counter([(1,)])
    assert rows(spark, Source(format="parquet", path=path)) == Counter([(1, "x"), (2, "y")])
    assert rows(spark, Source(format="parquet", path=f"{path}/p=x", options={"basePath": path})) == Counter([(1, "x")])


def test_a_query_can_only_query(spark: SparkSession) -> None:
    spark.createDataFrame([(1,)], "a int").createOrReplaceTempView("kept_view")
    for statement in ("DROP VIEW kept_view", "CACHE TABLE kept_view", "SET spark.sql.caseSensitive=true"):
        refused(spark, Source(query=statement), kind=ConfigurationError)
    assert spark.table("kept_view").count() == 1


def test_no_word_of_the_data_is_taken_for_the_name_of_an_error(spark: SparkSession) -> None:
    with pytest.raises(AnonError) as raised:
        rows(spark, Source(query=f"SELECT raise_error('[{SECRET}] [PATH_NOT_FOUND.{SECRET}] {SECRET}') AS a FROM range(3)"))
    assert SECRET not in str(raised.value)


def test_a_codec_that_the_session_names_and_lacks_is_told(spark: SparkSession, tmp_path: Path) -> None:
    before = spark.conf.get("spark.sql.parquet.compression.codec")
    spark.conf.set("spark.sql.parquet.compression.codec", "lzo")
    try:
        refused = pytest.raises(ConfigurationError, match="found a compression whose class Spark lacks")
        with refused, spark_faults("a", "output", ConfigurationError):
            spark.range(1).write.parquet(str(tmp_path / "t"))
    finally:
        spark.conf.set("spark.sql.parquet.compression.codec", before)


def test_errors_are_named_by_what_is_known() -> None:
    class Named(PySparkException):
        def getCondition(self) -> str:
            return "SOMETHING_NEW"

        getErrorClass = getCondition

    assert error_class(Named(f"[{SECRET}] {SECRET}")) == "SOMETHING_NEW"
    assert error_class(Named("x.y.SparkException: [FAILED_READ_FILE.NO_HINT] a [CAST_INVALID_INPUT] b")) == "CAST_INVALID_INPUT"
    assert isinstance(as_ours(Named("java.io.IOException: No space left"), "a", "b"), PlatformError)
    assert "no space left on a disk; make room" in str(as_ours(Named(f"{SECRET}: No space left on device [X]"), "a", "b"))
    ancient = as_ours(Named("[TASK_WRITE_FAILED] x [INCONSISTENT_BEHAVIOR_CROSS_VERSION.WRITE_ANCIENT_DATETIME] y"), "a", "output")
    assert isinstance(ancient, ConfigurationError) and "datetimeRebaseModeInWrite to CORRECTED" in str(ancient)
    assert isinstance(as_ours(Named("[CONFLICTING_DIRECTORY_STRUCTURES]"), "a", "input"), ConfigurationError)
    codec = as_ours(Named(f"x.BadConfigurationException: {SECRET} ClassNotFoundException: com.x.LzoCodec"), "a", "output")
    assert isinstance(codec, ConfigurationError) and "output: found a compression whose class Spark lacks" in str(codec)
    assert isinstance(as_ours(Named("[MALFORMED_CSV_RECORD]"), "a", "b"), DataError)
    crashed = as_ours(Named(f"SparkException: Python worker exited unexpectedly (crashed) {SECRET} java.io.EOFException"), "a", "input")
    assert isinstance(crashed, PlatformError) and "a Python worker of Spark died" in str(crashed)
    forbidden = as_ours(Named(f"[FAILED_READ_FILE.NO_HINT] java.io.FileNotFoundException: {SECRET} (Permission denied)"), "a", "input")
    assert isinstance(forbidden, DataError) and "input: found files that this user may not read" in str(forbidden)
    assert isinstance(as_ours(Named("[DIVIDE_BY_ZERO]"), "a", "b"), DataError)
    assert "an expression that fails" not in str(as_ours(Named("[MALFORMED_RECORD_IN_PARSING] x [CAST_INVALID_INPUT]"), "a", "b"))
    assert isinstance(as_ours(Named("[DATA_SOURCE_NOT_FOUND]"), "a", "b"), ConfigurationError)
