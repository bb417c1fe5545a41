"""The audit's own SQL of each privacy model against the definition read by brute force, on the classes of random releases."""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import brute
import pytest
from pyspark.sql import SparkSession

from anon_spark.audit.release import audit_release
from anon_spark.audit.result import AuditResult
from anon_spark.domain.policy import Column, FlatHierarchy, ModelSpec, Policy

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from test_histogram_models import PATHS, SPECS, VALUES, S

pytestmark = pytest.mark.spark

COLUMNS = (
    Column(name="q", role="quasi-identifier", hierarchy=FlatHierarchy()),
    Column(name="r", role="quasi-identifier", hierarchy=FlatHierarchy()),
    Column(name=S, role="sensitive"),
)
Row = tuple[str, str, str | None]


def rows_at_random(rng: random.Random) -> list[Row]:
    """Few classes, some even, some of one value."""
    rows: list[Row] = []
    for q in range(rng.randint(1, 5)):
        some = rng.sample(VALUES, rng.randint(1, len(VALUES)))
        even = rng.randint(1, 4) if rng.random() < 0.4 else 0
        for value in some:
            rows += [(str(q), rng.choice("xy") if rng.random() < 0.1 else "x", value)] * (even or rng.randint(1, 9))
    return rows


def audited(spark: SparkSession, rows: list[Row], models: list[ModelSpec], nulls: str = "value") -> AuditResult:
    columns = tuple(Column(name=S, role="sensitive", nulls=nulls) if c.name == S else c for c in COLUMNS)  # type: ignore[arg-type]
    return audit_release(spark.createDataFrame(rows, f"q string, r string, {S} string"), Policy(columns=columns, privacy=tuple(models)))


def right(rows: list[Row], models: list[ModelSpec], ignored: bool = False) -> list[bool]:
    classes: dict[tuple[str, str], Counter] = defaultdict(Counter)
    for q, r, value in rows:
        classes[q, r][value] += 1
    table: Counter = sum(classes.values(), Counter())
    counted = [(Counter({v: n for v, n in seen.items() if v is not None or not ignored}), seen.total()) for seen in classes.values()]
    if ignored:
        table.pop(None, None)
    return [all(brute.holds(spec, seen, size, table, PATHS) for seen, size in counted) for spec in models]


def test_each_model_is_read_as_its_definition(spark: SparkSession) -> None:
    rng, seen = random.Random(7), defaultdict(Counter)
    for _ in range(6):
        rows = rows_at_random(rng)
        found = audited(spark, rows, SPECS)
        for spec, verdict, good in zip(SPECS, found.models, right(rows, SPECS), strict=True):
            assert verdict.holds == good, (spec, rows)
            seen[str(spec)][good] += 1
        assert found.ok == all(verdict.holds for verdict in found.models)
        broken = {spec.model for spec, verdict in zip(SPECS, found.models, strict=True) if not verdict.holds}
        assert {finding.rule for finding in found.findings} == broken
    assert sum(len(counts) == 2 for counts in seen.values()) > len(SPECS) // 2, "most models must hold here and break there"


def test_nulls_are_values_or_left_out(spark: SparkSession) -> None:
    rows: list[Row] = [("0", "x", v) for v in ("a", "a", "b", "b", None, None)] + [("1", "x", v) for v in ("a", "b", None)]
    unordered = [spec for spec in SPECS if spec.parameters.get("distance") not in ("ordered", "hierarchical")]
    specs = [spec for spec in unordered if "levels" not in spec.parameters]
    for nulls in ("value", "ignore"):
        found = audited(spark, rows, specs, nulls)
        assert [verdict.holds for verdict in found.models] == right(rows, specs, nulls == "ignore")


def test_a_class_of_ignored_nulls_alone(spark: SparkSession) -> None:
    rows: list[Row] = [("0", "x", v) for v in ("a", "a", "b", "b")] + [("1", "x", None)]
    specs = [spec for spec in SPECS if spec.model == "l-diversity"]
    found = audited(spark, rows, specs, "ignore")
    assert [verdict.holds for verdict in found.models] == right(rows, specs, True) and not found.models[0].holds
