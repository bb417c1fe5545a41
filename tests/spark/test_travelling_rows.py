"""What goes with a row through the blocks: the columns that are published or grouped, and no other."""

from __future__ import annotations

import logging

import pytest
from pyspark.sql import SparkSession

from anon_spark import anonymize
from anon_spark.job import cautions, decide_groups
from anon_spark.plans.row_blocks import travels
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
