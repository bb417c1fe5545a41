"""Line ends in the values of a CSV with multiLine: as they stand in the file, or refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from anon_spark.domain.errors import DataError
from anon_spark.domain.policy import Source
from anon_spark.io.tables import read

pytestmark = pytest.mark.spark


def source(folder: Path, content: bytes, **options: str) -> Source:
    (folder / "in.csv").write_bytes(content)
    return Source(format="csv", path=str(folder / "in.csv"), options={"header": "true", "multiLine": "true", **options})


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (b'a,b\r\n"x\r\ny",1\r\nu,v\r\n', {}),
        (b'a,b\r\nz,"q\r\nw"\r\nu,v\r\n', {}),
        (b'a\r\n"q\r\nw"\r\n', {}),
        (b'a,b\r\nz,"q\r\n"\r\nu,v\r\n', {}),
        (b'a,b\rz,"q\rw"\ru,v\r', {}),
        ('a;b\r\né;"q\r\nw"\r\n'.encode("latin-1"), {"sep": ";", "encoding": "ISO-8859-1"}),
        (b'n,b\r\n1,"q\r\nw"\r\n2,v\r\n', {"inferSchema": "true"}),
    ],
    ids=["first", "last", "only", "at its end", "CR alone", "another encoding", "inferred"],
)
def test_line_ends_that_spark_would_change_are_refused(
    spark: SparkSession, tmp_path: Path, content: bytes, options: dict[str, str]
) -> None:
    with pytest.raises(DataError, match=r"^job.yaml: input: found [0-9]+ ends of line CR LF or CR in fields"):
        read(spark, source(tmp_path, content, **options), "job.yaml")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'a,b\n"x\r\ny",1\n"z\r","q\r\nw"\nu,v\n', [("x\r\ny", "1"), ("z\r", "q\r\nw"), ("u", "v")]),
        (b'a,b\r\n"x\ny",1\r\n"z","e"\r\nu,v\r\n', [("x\ny", "1"), ("z", "e"), ("u", "v")]),
        (b'a,b\r\n"x",\r\nu,""\r\n', [("x", None), ("u", None)]),
    ],
    ids=["CR LF in lines that end in LF", "LF in lines that end in CR LF", "CR LF at the end of lines alone"],
)
def test_line_ends_that_spark_keeps_are_read(
    spark: SparkSession, tmp_path: Path, content: bytes, expected: list[tuple[str | None, ...]]
) -> None:
    table = read(spark, source(tmp_path, content), "job.yaml")
    assert Counter(tuple(row) for row in table.collect()) == Counter(expected)
