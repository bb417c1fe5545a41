"""Releases of random tables under each privacy model, by both jobs, here and on Spark: every class holds by brute force."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import brute
import pytest
from pyspark.sql import SparkSession

from anon_spark import anonymize
from anon_spark.domain.errors import ConfigurationError
from anon_spark.domain.policy import ModelSpec
from anon_spark.job.check import check
from anon_spark.report.plan import render_plan
from jobs import policy, quasi, tree

pytestmark = pytest.mark.spark

ILL = ["flu", "flu", "flu", "cough", "cough", "fever", "HIV"]
SCHEMA = "zip string, age int, sex string, illness string, wage int, id int"
HERE, THERE = {"driver_megabytes": 64}, {"driver_megabytes": 0, "block_combinations": 10}
COLUMNS = [
    quasi("zip", {"mask": "right"}),
    quasi("age", {"intervals": [10, 20, 40], "origin": 0}),
    quasi("sex"),
    {"name": "illness", "role": "sensitive"},
    {"name": "wage", "role": "sensitive"},
    {"name": "id", "role": "insensitive"},
]


def rows_of(seed: int, count: int = 70) -> list[tuple]:
    draw = Random(seed)
    return [
        (draw.choice(["5371", "5372", "6100"]), draw.randint(20, 59), draw.choice("MF"), draw.choice(ILL), draw.choice([1, 2, 5, 9]), i)
        for i in range(count)
    ]


GIVEN = {"flu": 1, "cough": 1, "fever": 2, "HIV": 3, "plague": 4}
"""The last is the most sensitive, and no row has it."""
MODELS: list[dict[str, Any]] = [
    {"model": "l-diversity", "kind": "frequency", "l": 2.1, "column": "illness"},
    {"model": "l-diversity", "kind": "entropy", "l": 2.5, "column": "illness"},
    {"model": "l-diversity", "kind": "recursive", "l": 2, "c": 1.5, "column": "illness"},
    {"model": "t-closeness", "t": 0.25, "column": "illness"},
    {"model": "t-closeness", "t": 0.15, "distance": "ordered", "column": "wage"},
    {"model": "delta-disclosure", "delta": 0.8, "column": "illness"},
    {"model": "beta-likeness", "beta": 0.9, "column": "illness"},
    {"model": "beta-likeness", "beta": 2, "kind": "enhanced", "column": "wage"},
    {"model": "epsilon-k-sensitivity", "epsilon": 0.3, "k": 4, "levels": GIVEN, "column": "illness"},
    {"model": "l-alpha-diversity", "l": 2, "alpha": 3, "levels": GIVEN, "column": "illness"},
    {"model": "lambda-alpha-k", "k": 3, "alpha": 0.7, "lambda": {1: 1, 2: 0.6}, "levels": 2, "column": "illness"},
    {"model": "confidence-bound", "value": "HIV", "h": 0.25, "given": ["zip", "sex"], "column": "illness"},
    {"model": "t-closeness", "t": 0.2, "distance": "hierarchical", "column": "illness"},
]
TREE = {"flu": ("flu", "cold", "*"), "cough": ("cough", "cold", "*"), "fever": ("fever", "other", "*"), "HIV": ("HIV", "other", "*")}
IDS = [" ".join(str(value) for value in asked.values()) for asked in MODELS]


SOME = {"entropy": "lattice", "delta-disclosure": "top-down", "confidence-bound": "lattice"}
"""Of the models on Spark, one of each shape at every commit, with a job; in the driver process each with the one job or the other."""
CASES = [
    pytest.param(asked, job, place, id=f"{name}-{job}-{called}", marks=[] if is_kept or seen == job else [pytest.mark.long])
    for number, (asked, name) in enumerate(zip(MODELS, IDS, strict=True))
    for seen in [next((SOME[some] for some in SOME if some in name), None)]
    for job in ("lattice", "top-down")
    for place, called in ((HERE, "here"), (THERE, "there"))
    for is_kept in [called == "here" and (number % 2 == 0) == (job == "lattice")]
]


@pytest.mark.parametrize(("asked", "job", "place"), CASES)
def test_every_class_holds(spark: SparkSession, tmp_path: Path, asked: dict[str, Any], job: str, place: dict) -> None:
    """The model breaks the release that k alone gives, and holds the one that is asked for it."""
    rows = rows_of(3)
    if asked.get("distance") == "hierarchical":
        asked = {**asked, "hierarchy": tree(tmp_path, "illness", *(";".join(path) for path in TREE.values()))}
    frame = spark.createDataFrame(rows, SCHEMA)
    given = policy(COLUMNS, k=3, job=job, models=[asked], settings=place, staging=tmp_path)
    with anonymize(frame, given) as release:
        assert release.report.audit is not None and release.report.audit.ok
        found = [tuple(row) for row in release.table.collect()]
    assert sorted(row[-1] for row in found) == list(range(len(rows)))
    assert all(row[3:] == rows[row[-1]][3:] for row in found)
    assert broken(job, found, given.privacy, rows) == []


def broken(job: str, found: list[tuple], models: tuple[ModelSpec, ...], rows: list[tuple]) -> list[tuple]:
    """Classes of a release that break a model."""
    groups = defaultdict(list)
    for row in found:
        groups[row[:3]].append(row)
    place = {"illness": 3, "wage": 4}
    wrong = []
    for labels, members in groups.items():
        for spec in models:
            at = place.get(spec.column or "")
            if "given" in spec.parameters and job == "lattice":
                names = [i for i, name in enumerate(("zip", "age", "sex")) if name in spec.parameters["given"]]
                members = [r for r in found if all(r[i] == labels[i] for i in names)]
            seen, table = (Counter(str(r[at]) for r in some) if at else Counter() for some in (members, rows))
            if not brute.holds(spec, seen, len(members), table, TREE):
                wrong.append((labels, spec, dict(seen)))
    return wrong


def test_check_tells_the_tightest_parameters_and_every_fault(spark: SparkSession, tmp_path: Path) -> None:
    """Of 70 rows: what can hold of each model, which sensitive value stands in the way, and nothing is searched."""
    rows = rows_of(3)
    counts = Counter(row[3] for row in rows)
    lines = (";".join(path) for path in TREE.values())
    hierarchical = {**MODELS[-1], "hierarchy": tree(tmp_path, "illness", *lines)}
    asked = [*MODELS[:-1], hierarchical, {"model": "l-diversity", "kind": "entropy", "l": 3.9, "column": "illness"}]
    plan = check(spark, policy(COLUMNS, k=3, models=asked, staging=tmp_path), spark.createDataFrame(rows, SCHEMA))
    told = render_plan(plan)
    assert plan.tightest[0] == "k-anonymity: k up to 70"
    assert f"l-diversity (illness): l by entropy up to {int(brute.effective(counts) * 10_000) / 10_000:g}" in plan.tightest
    assert "t-closeness (wage): t from 0, which the whole table as one class has" in plan.tightest
    share = -(-counts["HIV"] * 10_000 // 70) / 10_000
    assert f"confidence-bound (illness): h from {share:g}, the share of HIV" in plan.tightest
    sentence = "".join(map(str, plan.refusals))
    assert "l = 3.9 by entropy is above" in sentence and "where flu is commonest" in sentence
    assert "tightest" in told


def test_an_order_is_asked_of_numbers_and_dates(spark: SparkSession, tmp_path: Path) -> None:
    asked = {"model": "t-closeness", "t": 0.2, "distance": "ordered", "column": "illness"}
    with pytest.raises(ConfigurationError, match=r"privacy.1.distance: found ordered, on illness of type string"):
        check(spark, policy(COLUMNS, models=[asked], staging=tmp_path), spark.createDataFrame(rows_of(3), SCHEMA))


def test_three_rows_a_batch(spark: SparkSession, tmp_path: Path) -> None:
    """Classes lie across the batches that a worker is given; the release is the same."""
    rows, found = rows_of(5), []
    for most in ("10000", "3"):
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", most)
        try:
            asked = policy(COLUMNS, k=3, models=[MODELS[2], MODELS[3]], settings=THERE, staging=tmp_path)
            with anonymize(spark.createDataFrame(rows, SCHEMA), asked) as release:
                found.append(sorted(tuple(row) for row in release.table.collect()))
        finally:
            spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10000")
    assert found[0] == found[1] and broken("lattice", found[0], asked.privacy, rows) == []
