"""Outputs by odd spellings and links, published by Spark: the release is where the reader looks, and nothing else is left."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from anon_spark import anonymize
from anon_spark.domain.errors import ConfigurationError
from jobs import policy, quasi

pytestmark = pytest.mark.spark


def publish(spark: SparkSession, path: Path | str, value: str, mode: str = "overwrite") -> None:
    table = spark.createDataFrame([(value,), (value,)], "a string")
    anonymize(table, policy([quasi("a")], output={"path": str(path), "mode": mode}, report={"path": f"{path}/../report/."}))


def values(spark: SparkSession, path: Path) -> list[str]:
    return [row[0] for row in spark.read.parquet(str(path)).distinct().collect()]


def test_spellings_and_links(spark: SparkSession, tmp_path: Path) -> None:
    publish(spark, f"{tmp_path}/real/.", "x", mode="error")
    (tmp_path / "link").symlink_to("real")
    assert values(spark, tmp_path / "link") == ["x"]
    publish(spark, tmp_path / "link", "y")
    assert (tmp_path / "link").is_symlink() and values(spark, tmp_path / "real") == ["y"]
    publish(spark, f"file://{tmp_path}/real/sub/..", "z")
    assert values(spark, tmp_path / "link") == ["z"]
    assert {path.name for path in tmp_path.iterdir()} == {"real", "link", "report"}
    assert {path.name for path in (tmp_path / "report").iterdir()} == {"report.json", "report.html"}


def test_a_stream_is_no_table(spark: SparkSession, tmp_path: Path) -> None:
    stream = spark.readStream.format("rate").load()
    with pytest.raises(ConfigurationError, match="found a streaming DataFrame"):
        anonymize(stream, policy([quasi("value"), {"name": "timestamp", "role": "identifier"}], staging=tmp_path))
    assert list(tmp_path.iterdir()) == []
