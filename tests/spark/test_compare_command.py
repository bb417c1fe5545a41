"""anon-spark compare: each value is decided as a run would decide it, on one reading of the table, and nothing is published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from test_cli import Door

from anon_spark.job import gather
from anon_spark.plans import frequency

pytestmark = pytest.mark.spark


@pytest.fixture
def door(spark: SparkSession, tmp_path: Path) -> Door:
    return Door(tmp_path)


def test_each_value_is_what_a_run_decides(door: Door) -> None:
    done = door.call("compare", "--set", "privacy.0.k=2,4,8,9")
    assert done.exit_code == 0, done.stderr
    assert door.left() == set(), "nothing is published"
    assert {path.name for path in (door.folder / "report").iterdir()} == {"compare.json", "compare.html"}
    found = json.loads((door.folder / "report/compare.json").read_text())
    assert [(c["value"], c["outcome"]) for c in found["choices"]] == [
        ("2", "holds"), ("4", "holds"), ("8", "holds"), ("9", "infeasible"),
    ]  # fmt: skip
    told = " ".join(done.stdout.split())
    assert "8 rows < k = 9" in told and "compare.html" in told and "nothing was published" in told
    for choice in found["choices"][:3]:
        assert door.call("run", "--set", f"privacy.0.k={choice['value']}", "--set", "output.mode=overwrite").exit_code == 0
        report = json.loads((door.folder / "report/report.json").read_text())
        assert choice["loss"] == report["loss"] and choice["classes"] == report["output"]["classes"]
        assert choice["risk_max"] == report["risk"]["prosecutor_max"] and choice["rows"] == report["output"]["rows"]
        needs_a_release = ("classification_metric", "classifier")
        assert choice["utility"] == {key: value for key, value in report["utility"].items() if key not in needs_a_release}


@pytest.mark.parametrize("place", [64, 0])
def test_jobs_side_by_side(door: Door, place: int) -> None:
    settings: dict[str, Any] = {"settings": {"driver_megabytes": place}}
    done = door.call("compare", "--set", "job=lattice,top-down", **settings)
    assert done.exit_code == 0, done.stderr
    found = json.loads((door.folder / "report/compare.json").read_text())
    lattice, local = found["choices"]
    assert found["job"] == "of each line" and local["loss"]["gcp"] <= lattice["loss"]["gcp"]
    assert (lattice["utility"]["query_error"] is None) == (place == 0)


def test_the_table_is_read_once(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    real = frequency.frequencies
    monkeypatch.setattr(gather, "frequencies", lambda *given: kept.append(id(frame := real(*given))) or frame)
    read: set[int] = set()
    monkeypatch.setattr(gather, "totals", lambda cells, d, s: read.add(id(cells)) or frequency.totals(cells, d, s))
    assert door.call("compare", "--set", "privacy.0.k=2,3,4").exit_code == 0
    assert len(kept) == 3 and len(read) == 1, "the frequency set of the first value serves all"


def test_what_is_wrong_with_one_value_stops_before_anything_is_read(door: Door) -> None:
    done = door.call("compare", "--set", "privacy.0.k=2,x")
    assert done.exit_code == 2 and "privacy.0.k" in done.stderr and not (door.folder / "report").exists()
    done = door.call("compare")
    assert done.exit_code == 2 and "no key with several values" in done.stderr


def test_without_a_report_it_is_printed_alone(door: Door) -> None:
    del door.settings["report"], door.settings["output"]
    done = door.call("compare", "--set", "privacy.0.k=2,4")
    assert done.exit_code == 0 and "written" not in done.stdout and "lost" in done.stdout
    assert {path.name for path in door.folder.iterdir()} == {"in.csv", "job.yaml", "out"}
