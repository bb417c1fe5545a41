"""The classifier measure of runs: learnt from what the release prints, whatever the job, the place and the format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession
from test_utility import SCHEMA, asked, leaves_of, rows

from anon_spark import anonymize
from anon_spark.job import classifier as job
from anon_spark.metrics.classifier import Lines
from anon_spark.report.utility import utility_lines
from jobs import policy, quasi

pytestmark = pytest.mark.spark
pytest.importorskip("sklearn")


@pytest.mark.parametrize(
    ("more", "name"),
    [
        pytest.param(more, name, marks=() if name == seen else pytest.mark.long)
        for more, seen in (({}, "lattice"), ({"suppression": {"limit": 0.1, "show": "star"}}, "top-down"), ({"output": "csv"}, None))
        for name in ("lattice", "top-down")
    ],
)
def test_it_learns_from_what_is_printed(
    spark: SparkSession, name: str, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    caught: list[tuple[Any, ...]] = []
    real = job.accuracies

    def catching(hierarchies: Any, leaf_rows: Any, raw: Lines, released: Lines) -> Any:
        caught.append((hierarchies, raw, released))
        return real(hierarchies, leaf_rows, raw, released)

    monkeypatch.setattr(job, "accuracies", catching)
    if more.get("output"):
        more = {"output": {"format": "csv", "path": str(tmp_path / "out")}}
    table = rows()
    with anonymize(spark.createDataFrame(table, SCHEMA), asked(name, 64, **more)) as release:
        published = [tuple(row) for row in release.table.select("sex", "age", "zip", "buys").collect()]
        utility = release.report.to_dict()["utility"]
    hierarchies, raw, released = caught[0]
    values = sorted({row[3] for row in table}, key=lambda v: (v is None, v or ""))
    wanted = sorted(
        (*(tuple(sorted(map(str, leaves_of(j, row[j], table)))) for j in range(3)), values.index(row[3])) for row in published
    )
    found = []
    for low, high, label, count in zip(released.low, released.high, released.label, released.rows, strict=True):
        held = [tuple(sorted(str(h.leaves[c]) for c in range(a, b + 1))) for h, a, b in zip(hierarchies, low, high, strict=True)]
        found += [(*held, int(label))] * int(count)
    assert sorted(found) == wanted
    assert int(raw.rows.sum()) == len(table) and np.array_equal(raw.low, raw.high)
    accuracy = utility["classifier"]["accuracy"]
    commonest = max(sum(row[3] == value for row in table) for value in values)
    assert accuracy["majority"] == pytest.approx(commonest / len(table)) and 0 < accuracy["released"] <= 1 and 0 < accuracy["raw"] <= 1
    assert any(title == "classifier" and "logistic regression" in meaning for title, _, meaning in utility_lines(utility))


def test_where_it_is_not_measured(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    table = spark.createDataFrame(rows(), SCHEMA)

    def measured(wanted: Any) -> object:
        with anonymize(table, wanted) as release:
            return release.report.to_dict()["utility"]["classifier"]

    columns = [quasi("sex"), quasi("age", {"intervals": [5]}), quasi("zip")]
    assert measured(policy([*columns, {"name": "buys", "role": "sensitive"}], k=4)) is None
    monkeypatch.setattr(job, "MOST_CELLS", 3)
    assert measured(asked("lattice", 64)) is None
    monkeypatch.undo()
    monkeypatch.setattr(job, "is_installed", lambda: False)
    assert measured(asked("lattice", 64)) is None
