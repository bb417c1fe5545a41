"""Spark's own pages tell the jobs of a step by a name without data, where a session has such names."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from anon_spark import anonymize
from anon_spark.io.files import is_connect
from anon_spark.job import run as job
from jobs import policy, quasi

pytestmark = [pytest.mark.spark, pytest.mark.parity]


def test_each_step_runs_under_its_own_tag(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if spark.version < "4" and not is_connect(spark):
        pytest.skip("a classic session of Spark 3.5 has no tags")
    seen: dict[str, set[str]] = {}
    real = job.audit_release

    def audit(*given: object, **named: object) -> object:
        seen["audit"] = set(spark.getTags())
        return real(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(job, "audit_release", audit)
    before = set(spark.getTags())
    anonymize(spark.createDataFrame([("secret",), ("secret",)], "x string"), policy([quasi("x")], staging=tmp_path)).close()
    tags = seen["audit"] - before
    assert "anon-spark-audit" in tags and len(tags) == 2
    assert all(tag.startswith("anon-spark-") and "secret" not in tag for tag in tags)
    assert set(spark.getTags()) == before
