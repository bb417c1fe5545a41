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
from anon_spark.domain.policy import ModelSpec
from jobs import policy, quasi

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


MODELS: list[dict[str, Any]] = [
    {"model": "l-diversity", "kind": "entropy", "l": 2.5, "column": "illness"},
    {"model": "l-diversity", "kind": "recursive", "l": 2, "c": 1.5, "column": "illness"},
]
IDS = [" ".join(str(value) for value in asked.values()) for asked in MODELS]


@pytest.mark.parametrize("place", [HERE, THERE], ids=["here", "there"])
@pytest.mark.parametrize("job", ["lattice", "top-down"])
@pytest.mark.parametrize("asked", MODELS, ids=IDS)
def test_every_class_holds(spark: SparkSession, tmp_path: Path, asked: dict[str, Any], job: str, place: dict) -> None:
    """The model breaks the release that k alone gives, and holds the one that is asked for it."""
    rows = rows_of(3)
    frame = spark.createDataFrame(rows, SCHEMA)
    given = policy(COLUMNS, k=3, job=job, models=[asked], settings=place, staging=tmp_path)
    with anonymize(frame, given) as release:
        assert release.report.audit is not None and release.report.audit.ok
        found = [tuple(row) for row in release.table.collect()]
    assert sorted(row[-1] for row in found) == list(range(len(rows)))
    assert all(row[3:] == rows[row[-1]][3:] for row in found)
    assert broken(found, given.privacy, rows) == []


def broken(found: list[tuple], models: tuple[ModelSpec, ...], rows: list[tuple]) -> list[tuple]:
    """Classes of a release that break a model."""
    groups = defaultdict(list)
    for row in found:
        groups[row[:3]].append(row)
    place = {"illness": 3, "wage": 4}
    wrong = []
    for labels, members in groups.items():
        for spec in models:
            at = place.get(spec.column or "")
            seen, table = (Counter(str(r[at]) for r in some) if at else Counter() for some in (members, rows))
            if not brute.holds(spec, seen, len(members), table):
                wrong.append((labels, spec, dict(seen)))
    return wrong
