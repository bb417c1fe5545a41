"""Numbers that Spark infers of text keep all their digits and zeros, or are refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from anon_spark.domain.errors import DataError
from anon_spark.domain.policy import Source
from anon_spark.io.tables import read
from anon_spark.job.run import source_of
from jobs import policy, quasi

pytestmark = pytest.mark.spark

LONG = "123456789012345678901234567890123456789012"


def source(folder: Path, kind: str, *values: str) -> Source:
    lines = [f'{{"a": "x", "v": {value}}}' for value in values] if kind == "json" else ["a,v", *(f"x,{value}" for value in values)]
    (folder / f"in.{kind}").write_text("\n".join(lines) + "\n")
    options = {"header": "true", "inferSchema": "true"} if kind == "csv" else {}
    return Source(format=kind, path=str(folder / f"in.{kind}"), options=options)


@pytest.mark.parametrize(
    ("kind", "values", "what"),
    [
        ("csv", ["007", "8"], "leading zeros"),
        ("csv", ["007", "8.5"], "leading zeros"),
        ("csv", ["+5", "8"], "a plus sign"),
        ("csv", ["0.12345678901234567891"], "more digits"),
        ("csv", ["12345678901234567", "0.5"], "more digits"),
        ("json", ["0.12345678901234567891", "1.5"], "more digits"),
        ("json", [LONG, "1"], "more digits"),
        ("json", ["12345678901234567", "0.5"], "more digits"),
        ("json", ["1e-400", "0.5"], "more digits"),
        ("csv", ["2020-01-01T00:00:00.123456789", "2020-01-01T00:00:00.123456000"], "smaller parts of a second"),
    ],
)
def test_numbers_that_inference_changes_are_refused_and_kept_as_text(
    spark: SparkSession, tmp_path: Path, kind: str, values: list[str], what: str
) -> None:
    asked = source(tmp_path, kind, *values)
    with pytest.raises(DataError, match=f"^job.yaml: v: found 1 values with .*{what}.*type: string"):
        read(spark, asked, "job.yaml")
    rows = read(spark, asked, "job.yaml", ["v"]).select("a", "v").collect()
    assert Counter(tuple(row) for row in rows) == Counter(("x", value) for value in values)


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["0", "-7", "9007199254740993"], [0, -7, 9007199254740993]),
        (["0.5", "-0.0", "1.50", "1E23", "9007199254740992"], [0.5, 0.0, 1.5, 1e23, 9007199254740992.0]),
        (["0.30000000000000004", "5.6843418860808015e-14", "100000000000000000000"], [0.1 + 0.2, 2.0**-44, 1e20]),
    ],
    ids=["whole", "fractions", "doubles that a program printed"],
)
def test_numbers_that_inference_keeps_are_read(
    spark: SparkSession, tmp_path: Path, kind: str, texts: list[str], expected: list[Any]
) -> None:
    rows = read(spark, source(tmp_path, kind, *texts), "job.yaml").select("v").collect()
    assert Counter(row[0] for row in rows) == Counter(expected)


def test_text_is_text_in_every_role(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("zip,code,more\n01234,007,00\n01234,008,01\n")
    asked = policy(
        [
            quasi("zip", type="string"),
            {"name": "code", "role": "sensitive", "type": "string"},
            {"name": "more", "role": "insensitive", "type": "string"},
        ],
        input={"format": "csv", "path": str(tmp_path / "in.csv"), "options": {"header": "true", "inferSchema": "true"}},
    )
    rows = source_of(spark, asked).collect()
    assert Counter(tuple(row) for row in rows) == Counter([("01234", "007", "00"), ("01234", "008", "01")])
