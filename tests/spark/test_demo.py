"""The demo's job, as it is committed and as the README shows it, on the table that it is made for."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from commands import runner
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from anon_spark.cli.main import cli

pytestmark = [pytest.mark.spark, pytest.mark.adult]
ROOT = Path(__file__).resolve().parents[2]
QUASI = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass"]


def shown() -> list[str]:
    """What the README says that the demo prints, without the places where things lie."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = text.split("The demo ends like this:\n\n```\n")[1].split("\n```")[0]
    return [line for line in block.splitlines() if not line.startswith(("release ", "report "))]


def test_the_demo_publishes_what_the_readme_shows(
    spark: SparkSession, adult: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    places = [f"input.path={adult}", f"output.path={tmp_path / 'out'}", f"report.path={tmp_path / 'report'}"]
    sets = [part for place in places for part in ("--set", place)]
    ran = runner().invoke(cli, ["run", "conf/adult.yaml", *sets])
    assert ran.exit_code == 0, ran.output
    printed = [line.rstrip() for line in ran.stdout.splitlines()]
    assert [line for line in shown() if line not in printed] == []

    release = spark.read.parquet(str(tmp_path / "out"))
    assert Counter(release.columns) == Counter([*QUASI, "occupation", "hours-per-week", "income"])
    quasi = [F.col(f"`{name}`") for name in QUASI]
    rows = [row["count"] for row in release.groupBy(*quasi).count().collect()]
    assert (sum(rows), len(rows), min(rows), max(rows)) == (32_240, 156, 10, 1_506)
    counted = release.groupBy(*quasi, "occupation").count()
    most = F.max(F.when(F.col("occupation").isNotNull(), F.col("count")))
    # a share is one of all the rows of a class; that somebody gave no occupation is none to be learnt
    assert counted.groupBy(*quasi).agg(most.alias("most"), F.sum("count").alias("rows")).where("most * 2 > rows").count() == 0
    report = json.loads((tmp_path / "report/report.json").read_text())
    assert (report["status"], report["suppressed"]["rows"]) == ("published", 321)

    audited = runner().invoke(cli, ["audit", "conf/adult.yaml", *sets])
    assert audited.exit_code == 0, audited.output
