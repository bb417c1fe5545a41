"""What the write pass adds to a plan, and what it leaves beside a release."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from anon_spark.domain.bind import bind
from anon_spark.domain.policy import Column, FlatHierarchy
from anon_spark.io.files import files_of
from anon_spark.plans.columns import raw_column
from anon_spark.plans.local import local_table
from anon_spark.plans.publish import HELPER, label, published

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("star", "rows"), [(False, [("x",)]), (True, [("*",), ("x",)])])
def test_rows_are_filtered_only_where_some_are_suppressed(spark: SparkSession, star: bool, rows: list[tuple]) -> None:
    table = spark.createDataFrame([("x",), ("y",)], "a string")
    column = Column(name="a", role="quasi-identifier", hierarchy=FlatHierarchy())
    hierarchy = bind(column, "text", {"x": 1, "y": 1}, where="")
    raw = raw_column("a", table.schema["a"].dataType)
    y = int(hierarchy.nodes[0][hierarchy.codes["y"]])
    failing = local_table(spark, pa.table({f"{HELPER}g0": pa.array([y], pa.int32())}))
    for classes, expected, filtered in ((failing, rows, not star), (None, [("x",), ("y",)], False)):
        labelled = label(table, [raw], [hierarchy], [0], classes)
        assert labelled.suppresses == (classes is not None)
        release = published(labelled, ["a"], ["a"], star)
        assert sorted(map(tuple, release.collect())) == expected
        release.createOrReplaceTempView("released_rows")
        plan = spark.sql("EXPLAIN EXTENDED SELECT * FROM released_rows").collect()[0][0].split("== Analyzed")[1].split("== Optim")[0]
        assert ("Filter" in plan) == filtered


def test_a_small_file_is_written_alone(spark: SparkSession, tmp_path: Path) -> None:
    for path in (str(tmp_path / "a b/report.json"), f"file://{tmp_path}/c/report.json"):
        files_of(spark, path).write(path, "é")
        files_of(spark, path).write(path, "ü")
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        "a b/report.json", "c/report.json",
    ]  # fmt: skip
    assert (tmp_path / "c/report.json").read_text() == "ü"


@pytest.mark.parametrize("bound", ["0", "-1"])
def test_a_session_whose_batches_have_no_bound(spark: SparkSession, bound: str) -> None:
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(key)
    spark.conf.set(key, bound)
    try:
        assert [row.a for row in local_table(spark, pa.table({"a": [1, 2, 3]})).collect()] == [1, 2, 3]
        assert spark.conf.get(key) == bound
    finally:
        spark.conf.set(key, before)
