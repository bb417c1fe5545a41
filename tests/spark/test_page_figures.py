"""What the page draws of a run is what the table and the release hold, and no bin tells of fewer than k raw rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pyspark.sql import SparkSession
from test_utility import SCHEMA, Row, leaves_of, rows

from anon_spark import anonymize
from anon_spark.job import run as job
from anon_spark.metrics.marginals import OTHERS
from anon_spark.metrics.size_histogram import size_histogram
from anon_spark.report.document import Report
from anon_spark.report.figures import Figures
from jobs import policy, quasi

pytestmark = pytest.mark.spark
K = 4
PLACES = [("lattice", 64), ("lattice", 0), ("top-down", 64), ("top-down", 0)]
EVERY_COMMIT = ((0.0, "lattice", 64), (0.05, "lattice", 0), (0.05, "top-down", 64))
CASES = [
    pytest.param(*case, marks=[] if case in EVERY_COMMIT else [pytest.mark.long])
    for case in ((limit, *place) for limit in (0.0, 0.05) for place in PLACES)
]
Run = tuple[Figures, list[tuple], list[Row], list[int]]


def drawn(spark: SparkSession, name: str, place: int, limit: float, show: str = "drop", given: list[Row] | None = None) -> Run:
    """What a run draws, its released rows, the raw ones, the sizes of its classes."""
    columns = [quasi("sex"), quasi("age", {"intervals": [5, 10]}), quasi("zip", {"mask": "right"}), {"name": "buys", "role": "sensitive"}]
    models = [{"model": "alpha-deassociation", "column": "buys", "alpha": 0.95}]
    caught: list[Figures] = []
    real = job.render_html

    def catching(report: Any, examples: Any, figures: Figures) -> str:
        caught.append(figures)
        return real(report, examples, figures)

    table = given or rows()
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        asked = policy(
            columns, job=name, k=K, models=models, settings={"driver_megabytes": place}, suppression={"limit": limit, "show": show},
            report={"path": folder},
        )  # fmt: skip
        patch.setattr(job, "render_html", catching)
        with anonymize(spark.createDataFrame(table, SCHEMA), asked) as release:
            released = [tuple(row) for row in release.table.select("sex", "age", "zip", "buys").collect()]
            sizes = [row[-1] for row in release.classes.collect()]
    return caught[0], released, table, sizes


@pytest.mark.parametrize(("limit", "name", "place"), CASES)
def test_what_is_drawn_is_what_is_there(spark: SparkSession, name: str, place: int, limit: float) -> None:
    compare(*drawn(spark, name, place, limit), name, place)


@pytest.mark.parametrize("name", ["lattice", "top-down"])
def test_suppressed_rows_are_gone(spark: SparkSession, name: str) -> None:
    """Two groups of like rows, and one row far from both."""
    far = [("f", 20, "537", "yes"), ("f", 20, "537", "no")] * 10 + [("m", 40, "611", "yes"), ("m", 40, "611", "no")] * 10
    found = drawn(spark, name, 64, 0.05, given=[*far, ("x", 77, "999", "no")])
    assert len(found[1]) == 40
    compare(*found, name, 64)
    assert found[0].marginals[3].after == (20.0, 20.0)


def compare(figures: Figures, released: list[tuple], table: list[Row], sizes: list[int], name: str, place: int) -> None:
    """The figures against loops over the rows."""
    assert figures.sizes == size_histogram(Counter(sizes))
    assert [m.column for m in figures.marginals] == ["sex", "age", "zip", "buys"] and figures.least == K
    unknown = place == 0 and name == "lattice" and len(released) < len(table)
    for j, found in enumerate(figures.marginals):
        assert sum(found.before) == len(table)
        assert all(n == 0 or n >= K for n in found.before), "a bin of fewer raw rows would tell of single ones"
        raw, guessed = Counter(str(row[j]) for row in table), spread(released, table, j)
        for label, before, after in zip(found.labels, found.before, found.after or [None] * len(found.before), strict=True):
            if label == OTHERS:
                continue
            inside = [value for value in raw if value == str(label) or value in within(label)]
            assert before == sum(raw[value] for value in inside)
            if after is not None:
                assert after == pytest.approx(sum(guessed[value] for value in inside), abs=1e-3)
        assert (found.after is None) == unknown
    assert (figures.lattice is not None) == (name == "lattice") and (figures.blocks is not None) == (name == "top-down")


def within(label: str | None) -> set[str]:
    """The values that an interval's label holds."""
    if label is None or not label.startswith("["):
        return set()
    low, high = (int(end) for end in label[1:-1].split(", "))
    return {str(value) for value in range(low, high + 1)}


def spread(released: list[tuple], table: list[Row], j: int) -> Counter[str]:
    """Released rows of each raw value, each row spread evenly over the values of its label."""
    found: Counter[str] = Counter()
    for row in released:
        values = [row[j]] if j == 3 else leaves_of(j, row[j], table)
        for value in values:
            found[str(value)] += 1 / len(values)  # type: ignore[assignment]
    return found


@pytest.mark.parametrize("name", ["lattice", "top-down"])
def test_rows_printed_as_stars_are_a_class_and_spread_over_all(spark: SparkSession, name: str) -> None:
    figures, released, table, sizes = drawn(spark, name, 64, 0.2, "star")
    assert figures.sizes == size_histogram(Counter(sizes))
    if len(released) == len(table):
        assert all(sum(found.after or ()) == pytest.approx(len(table)) for found in figures.marginals)


def test_bounds_of_single_columns_hold(spark: SparkSession, tmp_path: Path) -> None:
    """Two rows of a, one of b, k = 2: b alone must be with an a, so a third of the rows lose all of the column."""
    caught: list[Figures] = []
    real = job.render_html
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "render_html", lambda report, examples, figures: caught.append(figures) or real(report, examples, figures))
        asked = policy([quasi("x")], k=2, report={"path": str(tmp_path)})
        anonymize(spark.createDataFrame([("a",), ("a",), ("b",)], "x string"), asked).close()
    assert {column: float(bound) for column, bound in caught[0].bounds.items()} == {
        "x": pytest.approx(1 / 3)
    }


@pytest.mark.parametrize("name", ["lattice", "top-down"])
def test_persons_of_several_rows_are_not_drawn_by_rows(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """Ten rows with town c are one person's: they must not be shown, nor is flu, which two persons have where k is 3."""
    table = [("p", "c", "flu")] * 10 + [(f"q{i}", "ab"[i % 2], "cold" if i else "flu") for i in range(8)]
    columns = [{"name": "who", "role": "person"}, quasi("town"), {"name": "ill", "role": "sensitive"}]
    # the local job marks one row of each person in a column of its own, which is none of the table's
    models = [{"model": "alpha-deassociation", "column": "ill", "alpha": 1}] if name == "lattice" else []
    caught: list[Figures] = []
    real = job.render_html
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "render_html", lambda report, examples, figures: caught.append(figures) or real(report, examples, figures))
        frame = spark.createDataFrame(table, "who string, town string, ill string")
        anonymize(frame, policy(columns, job=name, k=3, models=models, report={"path": str(tmp_path)})).close()
    wanted = [("ill", (OTHERS,), (9,))] if name == "lattice" else []
    assert caught[0].in_persons and [(m.column, m.labels, m.before) for m in caught[0].marginals] == wanted
    text = real(Report(job=name, status="published", started="2026-01-02T03:04:05+00:00"), (), caught[0])
    assert ("How the persons lie" in text) == (name == "lattice") and "flu" not in text
