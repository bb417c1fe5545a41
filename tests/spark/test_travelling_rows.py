"""What goes with a row through the blocks: the columns that are published or grouped, and no other."""

from __future__ import annotations

import logging
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from anon_spark import anonymize
from anon_spark.job import cautions, decide_groups, look_over
from anon_spark.job.run import run
from anon_spark.plans import survey as survey_plan
from anon_spark.plans.columns import raw_column
from anon_spark.plans.fetch import fetch_row
from anon_spark.plans.frequency import exact_sum, frequencies, totals
from anon_spark.plans.row_blocks import travels
from anon_spark.plans.survey import survey
from jobs import local_policy, quasi

pytestmark = pytest.mark.spark
TABLE = "SELECT id AS n, string(id % 7) AS t, INTERVAL '1' DAY AS odd FROM range(40)"


@pytest.mark.parametrize(("role", "strategy"), [("identifier", True), ("insensitive", False)])
def test_a_column_that_is_dropped_keeps_no_row_back(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, role: str, strategy: bool
) -> None:
    asked = local_policy(
        [quasi("n", None), quasi("t"), {"name": "odd", "role": role}], k=2, settings={"driver_megabytes": 0, "block_combinations": 20}
    )
    went = []
    real = decide_groups._with_rows
    monkeypatch.setattr(decide_groups, "MANY", 10)
    monkeypatch.setattr(decide_groups, "_with_rows", lambda *arguments: went.append(True) or real(*arguments))
    monkeypatch.setattr(cautions, "IS_COMPILED", False)
    monkeypatch.setattr(cautions, "FEW_UNCOMPILED", 10)
    table = spark.sql(TABLE)
    assert not travels(table) and travels(table.drop("odd"))
    with caplog.at_level(logging.WARNING, "anon_spark"), anonymize(table, asked) as release:
        assert release.table.count() == 40 and min(row[-1] for row in release.classes.collect()) >= 2
        assert bool(went) is strategy
        slow = [warning for warning in release.report.warnings if "not compiled" in warning]
    # once in the report, once on standard error
    assert len(slow) == 1 and caplog.messages.count(slow[0]) == 1


def test_a_table_of_rows_that_differ_is_looked_over_and_not_grouped(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but time comes of it: the release is the one of a run that made the frequency set."""
    monkeypatch.setattr(decide_groups, "MANY", 10)
    # of so few combinations all are drawn
    monkeypatch.setattr(survey_plan, "DRAWN_BITS", 0)
    rows = [(i * 37 % 211 if i % 5 else 7, "abc"[i % 3], "xy"[i % 2] if i % 11 else None, i) for i in range(300)]
    spark.createDataFrame(rows, "n int, t string, s string, id int").repartition(3).write.parquet(str(tmp_path / "in"))
    columns = [quasi("n", None), quasi("t"), {"name": "s", "role": "sensitive"}, {"name": "id", "role": "insensitive"}]
    found = {}
    for name, formats in (("looked over", look_over.COLUMNAR), ("grouped", ())):
        monkeypatch.setattr(look_over, "COLUMNAR", formats)
        asked = local_policy(
            columns, k=3, models=[{"model": "alpha-deassociation", "column": "s", "alpha": 0.7}],
            input={"format": "parquet", "path": str(tmp_path / "in")}, output={"format": "parquet", "path": str(tmp_path / name)},
            settings={"driver_megabytes": 0, "block_combinations": 40},
        )  # fmt: skip
        report = run(spark, asked).release.report
        found[name] = sorted(map(tuple, spark.read.parquet(str(tmp_path / name)).collect()), key=lambda row: row[-1])
        assert ("too many to be worth grouping" in report.steps[0].text) is (name == "looked over")
        raw = Counter(row[:2] for row in rows)
        assert report.risk.prosecutor_mean_before == Fraction(len(raw), 300)
        assert report.risk.unique_before == Fraction(sum(count == 1 for count in raw.values()), 300) > 0
    assert found["looked over"] == found["grouped"] and len(found["grouped"]) == 300


def test_a_survey_tells_of_the_table_whatever_its_partitions(spark: SparkSession) -> None:
    table = spark.range(40_000).selectExpr("if(id < 9000, 'same', string(id % 20000)) AS a", "if(id < 9000, null, id % 7) AS b")
    columns = [raw_column(name, table.schema[name].dataType) for name in ("a", "b")]
    one, other = (fetch_row(survey(frame, columns)) for frame in (table, table.repartition(5)))
    exact = fetch_row(totals(frequencies(table, columns, []), 2, 0))
    assert one == other and (one["rows"], one["fingerprint"]) == (40_000, exact["fingerprint"])
    assert 9_000 == exact["largest"] <= one["largest"] < 9_100
    assert abs(one["cells"] - exact["cells"]) < 0.2 * exact["cells"]
    assert fetch_row(survey(table.where("a = ''"), columns))["rows"] == 0


def test_sums_of_longs_are_exact(spark: SparkSession) -> None:
    values = [2**63 - 1, -(2**63), -1, 2**44, -(2**44) - 1, 2**22 - 1, 0, None, 2**63 - 1, 2**63 - 1]
    frame = spark.createDataFrame([(value, 3) for value in values], "v long, n long")
    found = fetch_row(frame.agg(exact_sum(F.col("v")).alias("once"), exact_sum(F.col("v"), F.col("n")).alias("thrice")))
    whole = sum(value for value in values if value is not None)
    assert (int(found["once"]), int(found["thrice"])) == (whole, 3 * whole)
    assert fetch_row(frame.where("n = 0").agg(exact_sum(F.col("v")).alias("none")))["none"] is None
