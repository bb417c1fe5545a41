"""Inputs of several files and directories: no row is left out, no column swapped, no zero of a directory's name lost."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from anon_spark.domain.errors import DataError
from anon_spark.domain.policy import Source
from anon_spark.io.spark_errors import job_faults
from anon_spark.io.tables import read

pytestmark = pytest.mark.spark


def csv(folder: Path, *texts: str, **options: str) -> Source:
    for number, text in enumerate(texts):
        (folder / f"{number}.csv").write_text(text, newline="")
    return Source(format="csv", path=str(folder), options={"header": "true", **options})


def rows(spark: SparkSession, source: Source, texts: Collection[str] = ()) -> Counter[tuple[Any, ...]]:
    with job_faults("job.yaml"):
        return Counter(tuple(row) for row in read(spark, source, "job.yaml", texts).collect())


def refused(spark: SparkSession, source: Source, texts: Collection[str] = ()) -> str:
    with pytest.raises(DataError) as raised:
        rows(spark, source, texts)
    text = str(raised.value)
    assert text.startswith("job.yaml: ") and "\n" not in text
    return text


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (",zip,d\n0,01234,flu\n", ",d,zip\n1,cold,04321\n"),
        ("zip,d,n,n\n1,flu,2,3\n", "d,zip,n,n\nflu,1,2,3\n"),
        (",zip,d\n0,01234,flu\n", "1,04321,cold\n2,04321,cold\n"),
    ],
    ids=["swapped", "swapped beside repeated names", "no header"],
)
@pytest.mark.parametrize("multi", ["false", "true"])
def test_headers_with_names_that_spark_makes_up_must_be_alike(
    spark: SparkSession, tmp_path: Path, first: str, second: str, multi: str
) -> None:
    # names are made up only if Spark takes them from the first of them, and it may take them from either
    text = refused(spark, csv(tmp_path, first, second, multiLine=multi))
    assert any(said in text for said in ("2 different first lines", "files whose headers differ", "lines or files that can't be read"))


@pytest.mark.parametrize("multi", ["false", "true"])
def test_headers_that_are_alike_may_be_quoted_marked_and_in_partitions(spark: SparkSession, tmp_path: Path, multi: str) -> None:
    for name, text in {"p=1": ",zip,d\n0,01,flu\n", "p=2": '\ufeff"","zip",d\n1,02,cold\n', "p=3": ",zip,d\n"}.items():
        (tmp_path / name).mkdir()
        csv(tmp_path / name, text)
    source = Source(format="csv", path=str(tmp_path), options={"header": "true", "multiLine": multi})
    assert rows(spark, source) == Counter([("0", "01", "flu", 1), ("1", "02", "cold", 2)])


def test_headers_of_a_stored_csv_must_be_alike(spark: SparkSession, tmp_path: Path) -> None:
    csv(tmp_path, "zip,d\n01234,flu\n", "d,zip\ncold,04321\n")
    spark.sql(f"CREATE TABLE swapped_csv (zip string, d string) USING csv OPTIONS (header 'true') LOCATION '{tmp_path}'")
    try:
        assert "2 different first lines" in refused(spark, Source(table="swapped_csv"))
    finally:
        spark.sql("DROP TABLE swapped_csv")


FORMATS = ["parquet", "orc", "json", "csv"]


def partitioned(spark: SparkSession, folder: Path, kind: str, *names: str) -> Source:
    """One row a directory, whose number is its column n."""
    header = {"header": "true"} if kind == "csv" else {}
    for number, name in enumerate(names):
        spark.range(1).selectExpr(f"'x{number}' AS n").coalesce(1).write.format(kind).options(**header).save(str(folder / name))
    return Source(format=kind, path=str(folder), options=header)


@pytest.mark.parametrize("kind", FORMATS)
def test_zeros_of_directories_are_kept_in_text_and_refused_in_numbers(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    source = partitioned(spark, tmp_path, kind, "zip=01234/y=7", "zip=001234/y=7", "zip=1234/y=8")
    assert rows(spark, source, ["zip"]) == Counter([("x0", "01234", 7), ("x1", "001234", 7), ("x2", "1234", 8)])
    text = refused(spark, source)
    assert "zip" in text and "type: string" in text and "01234" not in text.replace("leading zeros", "")


def test_directories_that_spark_wrote_are_read(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql(
        "SELECT 'x' AS n, 5 AS i, 2.5e0 AS d, DATE '2020-01-02' AS day, TIMESTAMP '2020-01-02 03:04:05' AS moment, 'a b/c%' AS t "
        "UNION ALL SELECT 'y', NULL, 0.1e0, NULL, TIMESTAMP '2020-01-02 03:04:05.5', '007'"
    )
    frame.write.partitionBy("i", "d", "day", "moment", "t").parquet(str(tmp_path / "t"))
    expected = Counter(tuple(row) for row in frame.collect())
    assert rows(spark, Source(format="parquet", path=str(tmp_path / "t"))) == expected


def test_fractions_and_signs_that_lose_their_text_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    for value in ("1.50", "+5", "2020-1-5"):
        (tmp_path / value).mkdir()
        source = partitioned(spark, tmp_path / value, "parquet", f"v={value}")
        assert rows(spark, source, ["v"]) == Counter([("x0", value)])
        if value == "2020-1-5":
            # Spark takes it for text by itself
            assert rows(spark, source) == Counter([("x0", value)])
        else:
            assert "v: found directories whose names" in refused(spark, source)


@pytest.mark.parametrize("kind", FORMATS)
def test_files_in_subdirectories_are_not_passed_over(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    source = partitioned(spark, tmp_path, kind, "t", "t/more", "t/_hidden", "t/.hidden")
    # saving to a directory makes it anew: its own file comes last
    for file in (tmp_path / "t/more").glob("part*"):
        shutil.copy(file, tmp_path / "t")
    nested = Source(format=kind, path=f"{source.path}/t", options=source.options)
    text = refused(spark, nested)
    assert "recursiveFileLookup" in text and "subdirectories" in text
    deep = Source(format=kind, path=nested.path, options={**source.options, "recursiveFileLookup": "true"})
    assert sum(rows(spark, deep).values()) >= 2
    flat = Source(format=kind, path=nested.path, options={**source.options, "recursiveFileLookup": "false"})
    assert sum(rows(spark, flat).values()) == sum(rows(spark, deep).values()) - 1
    shutil.rmtree(tmp_path / "t/more")
    assert rows(spark, nested) == rows(spark, flat)


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "orc"])
def test_a_column_that_directories_name_too_is_refused(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """Spark takes the directory's value for the file's: 2 was published as 1."""
    options = {"header": "true"} if kind == "csv" else {}
    for part in ("a=1", "a=3"):
        frame = spark.createDataFrame([("2", "x")], "A string, b string")
        frame.write.format(kind).options(**options).save(str(tmp_path / "in" / part))
    source = Source(format=kind, path=str(tmp_path / "in"), options=options)
    assert "input.path: found 'A', both in the files and in the names of their directories" in refused(spark, source)
    assert rows(spark, replace(source, options={**options, "recursiveFileLookup": "true"})) == Counter({("2", "x"): 2})


def test_files_beside_partition_directories_are_not_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    source = partitioned(spark, tmp_path, "parquet", "p=a", "p=b")
    assert rows(spark, source) == Counter([("x0", "a"), ("x1", "b")])
    (file,) = (tmp_path / "p=a").glob("*.parquet")
    shutil.copy(file, tmp_path / "beside.parquet")
    assert "1 files beside directories" in refused(spark, source)


def test_files_beneath_a_stored_table_are_not_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    partitioned(spark, tmp_path, "parquet", "t", "u")
    spark.sql(f"CREATE TABLE nested_table (n string) USING parquet LOCATION '{tmp_path}/t'")
    try:
        assert rows(spark, Source(table="nested_table")) == Counter([("x0",)])
        shutil.copytree(tmp_path / "u", tmp_path / "t/more")
        assert "subdirectories" in refused(spark, Source(table="nested_table"))
    finally:
        spark.sql("DROP TABLE nested_table")
