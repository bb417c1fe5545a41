"""``output.partition_by``: directories say every value as it is, or the job refuses; and they tell nothing of the input's order."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from commands import runner
from pyspark.sql import SparkSession

from anon_spark import anonymize
from anon_spark.cli.main import cli
from anon_spark.domain.errors import ConfigurationError, DataError
from jobs import local_policy, policy, printed, quasi, released

pytestmark = pytest.mark.spark

ODD = "a.b `c=d"
UNTOUCHED = (ODD, "n", "born", "ok", "pay")
COLUMNS = [quasi("zip"), quasi("age", {"intervals": [10]}), *({"name": name, "role": "insensitive"} for name in UNTOUCHED)]
SCHEMA = f"zip string, age int, `{ODD.replace('`', '``')}` string, n bigint, born date, ok boolean, pay double"
TEXTS = ["10", "010", None, "null", "é %2F/:*", "\n\x7f x ", "__HIVE"]


def rows() -> list[tuple]:
    days = [date(1, 1, 1), date(1899, 12, 31), None]
    return [(text, 20 + i % 9, TEXTS[i % 5], [2**63 - 1, -1, None][i % 3], days[i % 3], [True, False, None][i % 3], i / 4)
            for text in TEXTS for i in range(6)]  # fmt: skip


@pytest.mark.parametrize("kind", [pytest.param("parquet", marks=pytest.mark.parity), "csv"])
def test_every_value_comes_back_from_its_directory_and_is_audited(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    by = ["zip", ODD, "n", "born", "ok"]
    output = {"format": kind, "path": str(tmp_path / "out"), "partition_by": by}
    asked = policy(COLUMNS, k=6, output=output, models=[])
    release = released(spark, rows(), SCHEMA, asked)
    assert printed(release) == Counter((row[0], "[20, 29]", *row[2:]) for row in rows())
    assert [field.dataType.simpleString() for field in release.table.schema] == [
        "string", "string", "string", "bigint", "date", "boolean", "double",
    ]  # fmt: skip
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == {
        "zip=10", "zip=010", "zip=__HIVE_DEFAULT_PARTITION__", "zip=null", "zip=é %252F%2F%3A%2A", "zip=%0A%7F x ", "zip=__HIVE",
    }  # fmt: skip
    conf = tmp_path / "job.yaml"
    conf.write_text(json.dumps({key: value for key, value in asked.to_dict().items() if value is not None}))
    audited = runner().invoke(cli, ["audit", str(conf)])
    assert audited.exit_code == 0, (audited.output, audited.exception)
    # 10 and 010 are two classes, as they were printed
    assert "42 rows in 7 classes; sizes 6 to 6" in audited.stdout and "as published by release" in audited.stdout
    part = next((tmp_path / "out/zip=10").rglob("part-*"))
    part.rename(tmp_path / "out/zip=010" / part.relative_to(tmp_path / "out/zip=10").with_name(f"part-9{part.suffix}"))
    moved = runner().invoke(cli, ["audit", str(conf)])
    assert moved.exit_code == 5 and "1 data file missing: 'zip=10/" in moved.stderr and "that it does not name: 'zip=010/" in moved.stderr


@pytest.mark.parametrize("by", [["sex"], pytest.param(["n", "sex"], marks=pytest.mark.parity)])
def test_the_order_of_the_input_leaves_no_trace(spark: SparkSession, tmp_path: Path, by: list[str]) -> None:
    given = [(["f", "m", None][i % 3], i % 2, i) for i in range(600)]
    columns = [quasi("sex"), {"name": "n", "role": "insensitive"}, {"name": "m", "role": "insensitive"}]
    found = []
    for turn, ordered in enumerate((given, given[::-1])):
        frame = spark.createDataFrame(ordered, "sex string, n int, m int")
        frame = frame.repartition(7, "m") if turn else frame.coalesce(1)
        out = tmp_path / f"out{turn}"
        anonymize(frame, local_policy(columns, k=40, output={"path": str(out), "partition_by": by}))
        found.append({
            str(path.parent.relative_to(out)): pq.ParquetFile(path).read(["m"])["m"].to_pylist() for path in sorted(out.rglob("*.parquet"))
        })  # fmt: skip
    assert found[0] == found[1] and sorted(sum(found[0].values(), [])) == list(range(600))
    for places in found[0].values():
        steps = sum(after > before for before, after in pairwise(places)) / (len(places) - 1)
        assert 0.3 < steps < 0.7, places


UNFIT = [
    ([None, ""], "the empty text, or __HIVE_DEFAULT_PARTITION__, in 3 rows of 'town'"),
    (["a", ""], "the empty text, or __HIVE_DEFAULT_PARTITION__, in 3 rows of 'town'"),
    (["a", "__HIVE_DEFAULT_PARTITION__"], "the empty text, or __HIVE_DEFAULT_PARTITION__, in 3 rows of 'town'"),
    (["a", "é" * 121 + "/"], "texts of 'town' in 3 rows"),
    (["a", "x\0"], "texts of 'town' in 3 rows"),
]


@pytest.mark.parametrize(("towns", "told"), UNFIT)
def test_what_no_directory_can_say_is_refused(spark: SparkSession, tmp_path: Path, towns: list[Any], told: str) -> None:
    asked = policy([quasi("town"), {"name": "n", "role": "insensitive"}], output={"path": str(tmp_path / "out"), "partition_by": ["town"]})
    with pytest.raises(DataError) as caught:
        released(spark, [(town, i) for town in towns for i in range(3)], "town string, n int", asked)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"policy: output.partition_by: found {told}; expected ") and "leave it out of partition_by" in line
    assert list(tmp_path.iterdir()) == []


def test_texts_up_to_the_length_of_a_name_and_suppressed_ones_pass(spark: SparkSession, tmp_path: Path) -> None:
    columns = [quasi("town"), {"name": "n", "role": "insensitive"}]
    output = {"path": str(tmp_path / "out"), "partition_by": ["town"]}
    long = "é" * 117 + "/"
    given = [*((town, i) for town in ("a", long) for i in range(3)), ("", 9)]
    release = released(spark, given, "town string, n int", policy(columns, suppression={"limit": 0.2}, output=output))
    assert printed(release) == Counter(given[:-1])


def test_columns_that_can_be_no_directories_are_told_before_any_work(spark: SparkSession, tmp_path: Path) -> None:
    columns = [quasi("age"), quasi("town"), *({"name": name, "role": "insensitive"} for name in ("pay", "when", ".x", "list"))]
    schema = "age int, town string, pay double, when timestamp, `.x` int, list array<int>, more int"
    by = ["age", "pay", "when", ".x", "list", "mroe"]
    output = {"path": str(tmp_path / "out"), "partition_by": by}
    asked = policy(columns, job="top-down", numeric="bounds", unlisted="keep", output=output)
    with pytest.raises(ConfigurationError) as caught:
        released(spark, [], schema, asked)
    lines = str(caught.value).splitlines()
    for line, words in zip(lines, (
        "'age', which is published as age_min, age_max, age_null", "'pay' of type double", "'when' of type timestamp",
        "'.x', whose directories would be hidden", "'list' of type array<int>", "'mroe', which is not published",
    ), strict=True):  # fmt: skip
        assert words in line, lines
    every = policy([quasi("town")], output={"path": str(tmp_path / "out"), "partition_by": ["town"]})
    with pytest.raises(ConfigurationError, match=r"output\.partition_by: found every column of the release; expected fewer"):
        released(spark, [("a",)] * 2, "town string", every)
    assert list(tmp_path.iterdir()) == []
