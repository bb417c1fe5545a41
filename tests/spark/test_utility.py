"""What the report says of a release's utility is what its rows say, read back leaf by leaf."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from math import log, prod
from statistics import fmean
from typing import Any

import pytest
from pyspark.sql import SparkSession

from anon_spark import Policy, anonymize
from anon_spark.metrics import query_error
from anon_spark.report.html import render_html
from anon_spark.report.utility import utility_lines
from jobs import policy, quasi

pytestmark = pytest.mark.spark
SCHEMA = "sex string, age int, zip string, buys string"
Row = tuple[Any, ...]


def rows() -> list[Row]:
    draws = random.Random(2)
    made: list[Row] = []
    for _ in range(120):
        sex, age = draws.choice(["f", "m", None]), int(20 + 30 * draws.random() ** 2)
        made.append(
            (sex, age, draws.choice(["537", "538", "611"]), "yes" if age > draws.randint(20, 50) else draws.choice(["no", None]))
        )
    return [*made, ("x", 77, "999", "no")]


def asked(job: str, place: int, **more: Any) -> Policy:
    columns = [
        quasi("sex"),
        quasi("age", {"intervals": [5, 10]}),
        quasi("zip", {"mask": "right"}),
        {"name": "buys", "role": "label"},
    ]
    return policy(columns, job=job, k=4, settings={"driver_megabytes": place}, **more)


def leaves_of(column: int, label: str | None, table: list[Row]) -> list[Any]:
    """The values of the table that a label may stand for."""
    values = sorted({row[column] for row in table}, key=lambda v: (v is None, v))
    if label == "*":
        return values
    if label is None:
        return [None]
    if label.startswith("["):
        low, high = (int(end) for end in label[1:-1].split(", "))
        return [v for v in values if v is not None and low <= v <= high]
    if label.endswith("*"):
        return [v for v in values if v is not None and v.startswith(label.rstrip("*"))]
    return [v for v in values if str(v) == label]


def rebuilt(published: list[Row], table: list[Row], suppressed: int) -> Counter:
    """Rows on each point of the domain, every published row spread over what it prints, suppressed ones over all."""
    found: Counter = Counter()
    for labels in [*(row[:3] for row in published), *[("*", "*", "*")] * suppressed]:
        points = list(product(*(leaves_of(j, label, table) for j, label in enumerate(labels))))
        for point in points:
            found[point] += 1 / len(points)
    return found


def divergence(table: list[Row], q: Counter, columns: tuple[int, ...]) -> float:
    p = Counter(tuple(row[j] for j in columns) for row in table)
    at: Counter = Counter()
    for point, n in q.items():
        at[tuple(point[j] for j in columns)] += n
    return sum(n / len(table) * log(n / at[point]) for point, n in p.items())


@pytest.mark.parametrize(
    ("suppression", "job"),
    [
        pytest.param(suppression, job, marks=() if job == seen else pytest.mark.long)
        for suppression, seen in (({"limit": 0}, "lattice"), ({"limit": 0.1}, "top-down"), ({"limit": 0.1, "show": "star"}, "lattice"))
        for job in ("lattice", "top-down")
    ],
)
def test_the_measures_are_those_of_the_published_rows(
    spark: SparkSession, job: str, suppression: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple] = []
    true = query_error._answered

    def watched(sides: Any, boxes: Any, query: Any) -> float:
        seen.append((query, true(sides, boxes, query)))
        return seen[-1][1]

    monkeypatch.setattr(query_error, "_answered", watched)
    table = rows()
    with anonymize(spark.createDataFrame(table, SCHEMA), asked(job, 64, suppression=suppression)) as release:
        published = [tuple(row) for row in release.table.collect()]
        report = release.report
    missing = len(table) - len(published)
    found = report.to_dict()["utility"]
    q = rebuilt(published, table, missing)
    assert sum(q.values()) == pytest.approx(121)
    assert found["kl_divergence"] == pytest.approx(divergence(table, q, (0, 1, 2)), abs=1e-9)
    assert found["kl_divergence_pairs"] == pytest.approx(
        fmean(divergence(table, q, pair) for pair in [(0, 1), (0, 2), (1, 2)]), abs=1e-9
    )

    classes: dict[Row, Counter] = {}
    for row in published:
        classes.setdefault(row[:3], Counter())[row[3]] += 1
    assert found["classification_metric"] == pytest.approx(1 - sum(max(c.values()) for c in classes.values()) / len(table))

    kinds = found["query_error"]["kinds"]
    assert [(kind["columns"], kind["selectivity"]) for kind in kinds] == [(c, s) for c in (1, 2, 3) for s in (0.01, 0.1)]
    # leaves in the order of their codes: numbers and texts by value, null last
    order = [leaves_of(j, "*", table) for j in range(3)]
    answers = rebuilt(published, table, 0)
    assert len(seen) == 600
    for query, answer in seen[::7]:
        wanted = {j: set(order[j][a : b + 1]) for j, a, b in query}
        assert answer == pytest.approx(
            sum(n for point, n in answers.items() if all(point[j] in held for j, held in wanted.items()))
        )
    page = render_html(report)
    assert "KL divergence" in page and "mean relative error of 100 random range counts" in page and "class label" in page
    assert prod(len(column) for column in order) == len(list(product(*order)))


@pytest.mark.parametrize("job", ["lattice", "top-down"])
def test_what_is_decided_on_spark_has_the_label_measure_alone(spark: SparkSession, job: str) -> None:
    with anonymize(spark.createDataFrame(rows(), SCHEMA), asked(job, 0)) as release:
        found = release.report.to_dict()["utility"]
    assert 0 < found.pop("classification_metric") < 1
    assert found == {"query_error": None, "kl_divergence": None, "kl_divergence_pairs": None, "classifier": None}


def test_a_table_without_a_label_and_a_release_that_loses_nothing(spark: SparkSession) -> None:
    twice = [("f", 1), ("m", 2), ("x", 2)] * 2
    with anonymize(spark.createDataFrame(twice, "sex string, n int"), policy([quasi("sex"), quasi("n")])) as release:
        found = release.report.to_dict()["utility"]
        assert found["classification_metric"] is None and found["kl_divergence"] == found["kl_divergence_pairs"] == 0
        assert {kind["mean"] for kind in found["query_error"]["kinds"]} == {0}
        assert any(step.step == "measures" for step in release.report.steps)
        assert not any(name == "class label" for name, _, _ in utility_lines(release.report.utility))


@pytest.mark.parametrize(
    ("job", "place"),
    [("lattice", 64), *(pytest.param(*case, marks=pytest.mark.long) for case in (("top-down", 64), ("lattice", 0), ("top-down", 0)))],
)
def test_the_risk_before_and_after(spark: SparkSession, job: str, place: int) -> None:
    table = rows()
    raw = Counter(row[:3] for row in table).values()
    with anonymize(spark.createDataFrame(table, SCHEMA), asked(job, place)) as release:
        sizes = [row[-1] for row in release.classes.collect()]
        risk = release.report.to_dict()["risk"]
    near = pytest.approx
    assert risk["prosecutor_max"] == risk["journalist_max"] == near(1 / min(sizes)) and min(sizes) >= 4
    assert risk["prosecutor_mean"] == risk["marketer"] == near(len(sizes) / sum(sizes))
    assert risk["below_k_before"] == near(sum(n for n in raw if n < 4) / len(table))
    assert risk["unique_before"] == near(sum(n == 1 for n in raw) / len(table)) and risk["unique_after"] == 0
    assert risk["prosecutor_max_before"] == 1
    assert risk["prosecutor_mean_before"] == risk["marketer_before"] == near(len(raw) / len(table))


def test_rows_that_stay_alone_are_counted_where_no_k_forbids_them(spark: SparkSession) -> None:
    """Distinct 1-diversity holds of every table: nothing is generalized, and 2 of 4 rows are alone."""
    columns = [quasi("sex"), {"name": "ill", "role": "sensitive"}]
    models = [{"model": "l-diversity", "kind": "distinct", "l": 1}]
    table = [("f", "a"), ("f", "b"), ("m", "a"), ("x", "a")]
    with anonymize(spark.createDataFrame(table, "sex string, ill string"), policy(columns, k=None, models=models)) as release:
        risk = release.report.to_dict()["risk"]
    assert (risk["unique_before"], risk["unique_after"], risk["below_k_before"]) == (0.5, 0.5, None)
    assert risk["prosecutor_max"] == 1 and risk["marketer"] == risk["marketer_before"] == 0.75
