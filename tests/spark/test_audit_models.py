"""The audit's own SQL of each privacy model against the definition read by brute force, on the classes of random releases."""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import brute
import pytest
from pyspark.sql import SparkSession

from anon_spark.audit.release import _plan as release_plan
from anon_spark.audit.release import audit_release
from anon_spark.audit.result import AuditResult
from anon_spark.audit.structure import structure_of
from anon_spark.domain.policy import Column, FileHierarchy, FlatHierarchy, ModelSpec, Policy, Suppression

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from test_histogram_models import PATHS, SPECS, VALUES, S

pytestmark = pytest.mark.spark

COLUMNS = (
    Column(name="q", role="quasi-identifier", hierarchy=FlatHierarchy()),
    Column(name="r", role="quasi-identifier", hierarchy=FlatHierarchy()),
    Column(name=S, role="sensitive"),
)
Row = tuple[str, str, str | None]
PARTS = 5


def rows_at_random(rng: random.Random) -> list[Row]:
    """Few classes, some even, some of one value."""
    rows: list[Row] = []
    for q in range(rng.randint(1, 5)):
        some = rng.sample(VALUES, rng.randint(1, len(VALUES)))
        even = rng.randint(1, 4) if rng.random() < 0.4 else 0
        for value in some:
            rows += [(str(q), rng.choice("xy") if rng.random() < 0.1 else "x", value)] * (even or rng.randint(1, 9))
    return rows


def audited(spark: SparkSession, rows: list[Row], models: list[ModelSpec], nulls: str = "value", **more: Any) -> AuditResult:
    """Values go by letters; where models ask for an order, by the numbers 1 to 5."""
    columns = tuple(Column(name=S, role="sensitive", nulls=nulls) if c.name == S else c for c in COLUMNS)  # type: ignore[arg-type]
    frame, kind = rows, "string"
    if any(spec.parameters.get("distance") == "ordered" for spec in models):
        frame, kind = [(q, r, VALUES.index(v) + 1) for q, r, v in rows], "int"
    policy = Policy(columns=columns, privacy=tuple(models), suppression=Suppression(limit=more.pop("limit", Fraction(0))))
    return audit_release(spark.createDataFrame(frame, f"q string, r string, {S} {kind}"), policy, **more)


def numbered(spec: ModelSpec, folder: Path) -> ModelSpec:
    """The model over the numbers of the values, its tree a file."""
    if isinstance(given := spec.parameters.get("levels"), dict):
        levels = {str(VALUES.index(v) + 1): level for v, level in given.items()}
        return ModelSpec(model=spec.model, column=spec.column, parameters={**spec.parameters, "levels": levels})
    if spec.parameters.get("distance") != "hierarchical":
        return spec
    path = folder / "tree.csv"
    path.write_text("\n".join(";".join((str(VALUES.index(v) + 1), *above)) for v, (_, *above) in PATHS.items()) + "\n")
    return ModelSpec(model=spec.model, column=spec.column, parameters={**spec.parameters, "hierarchy": FileHierarchy(path=str(path))})


def right(rows: list[Row], models: list[ModelSpec], ignored: bool = False) -> list[bool]:
    classes: dict[tuple[str, str], Counter] = defaultdict(Counter)
    for q, r, value in rows:
        classes[q, r][value] += 1
    table: Counter = sum(classes.values(), Counter())
    counted = [(Counter({v: n for v, n in seen.items() if v is not None or not ignored}), seen.total()) for seen in classes.values()]
    if ignored:
        table.pop(None, None)
    return [all(brute.holds(spec, seen, size, table, PATHS) for seen, size in counted) for spec in models]


def broken(spark: SparkSession, rows: list[Row], models: list[ModelSpec]) -> dict[tuple[str, str], list[bool]]:
    """Of each class what the audit says of each model."""
    policy = Policy(columns=COLUMNS, privacy=tuple(models))
    frame = spark.createDataFrame([(q, r, VALUES.index(str(v)) + 1) for q, r, v in rows], f"q string, r string, {S} int")
    table: dict[str | None, int] = Counter(str(VALUES.index(str(v)) + 1) for _, _, v in rows)
    plan = release_plan(frame, policy, structure_of(frame.schema, policy, None), None, {S: table})
    assert not plan.refused
    found = plan.classes.select("q0", "q1", *(c.breaks.alias(f"b{i}") for i, c in enumerate(plan.checks) if c is not None)).collect()
    return {(row["q0"], row["q1"]): list(row)[2:] for row in found}


@pytest.mark.parametrize("part", range(PARTS))
def test_each_model_is_read_as_its_definition(spark: SparkSession, tmp_path: Path, part: int) -> None:
    """Class by class, on one table of many."""
    specs = SPECS[part::PARTS]
    asked, rng = [numbered(spec, tmp_path) for spec in specs], random.Random(part)
    rows = [(f"{i}{q}", r, v) for i in range(12) for q, r, v in rows_at_random(rng)]
    rows += [(str(n), "z", v) for n in range(3) for v in "abcde"] + [("all", "z", v) for _, _, v in rows]
    classes: dict[tuple[str, str], Counter] = defaultdict(Counter)
    for q, r, value in rows:
        classes[q, r][value] += 1
    table, seen = sum(classes.values(), Counter()), Counter[tuple[int, bool]]()
    for key, verdicts in broken(spark, rows, asked).items():
        for i, (spec, breaks) in enumerate(zip(specs, verdicts, strict=True)):
            good = brute.holds(spec, classes[key], classes[key].total(), table, PATHS)
            assert breaks == (not good), (spec, key, classes[key], table)
            seen[i, good] += 1
    assert len(seen) > len(specs), "models must hold of some classes and not of others"


def test_nulls_are_values_or_left_out(spark: SparkSession) -> None:
    rows: list[Row] = [("0", "x", v) for v in ("a", "a", "b", "b", None, None)] + [("1", "x", v) for v in ("a", "b", None)]
    unordered = [spec for spec in SPECS if spec.parameters.get("distance") not in ("ordered", "hierarchical")]
    specs = [spec for spec in unordered if "levels" not in spec.parameters]
    specs = specs[::3]
    for nulls in ("value", "ignore"):
        found = audited(spark, rows, specs, nulls)
        assert [verdict.holds for verdict in found.models] == right(rows, specs, nulls == "ignore")


def test_a_class_of_ignored_nulls_alone(spark: SparkSession) -> None:
    rows: list[Row] = [("0", "x", v) for v in ("a", "a", "b", "b")] + [("1", "x", None)]
    specs = [spec for spec in SPECS if spec.model == "l-diversity"][1::3]
    found = audited(spark, rows, specs, "ignore")
    assert [verdict.holds for verdict in found.models] == right(rows, specs, True) and not found.models[0].holds


CLOSE = [spec for spec in SPECS if spec.model in ("t-closeness", "delta-disclosure", "beta-likeness")][::6]


def test_the_table_is_the_inputs_where_rows_were_suppressed(spark: SparkSession) -> None:
    """Of the input the third value was suppressed: the release alone is at distance 0 from itself, from the input it is not."""
    rows: list[Row] = [("0", "x", v) for v in "aabb"]
    t = ModelSpec(model="t-closeness", column=S, parameters={"t": Fraction(1, 5), "distance": "equal", "hierarchy": None})
    beta = ModelSpec(model="beta-likeness", column=S, parameters={"beta": Fraction(1, 5), "kind": "basic"})
    whole = {S: {"a": 2, "b": 2, "c": 1}}
    near = audited(spark, rows, [t, beta], limit=Fraction(1, 4), distribution=whole)
    assert [verdict.holds for verdict in near.models] == [True, False] and [f.rule for f in near.findings] == ["beta-likeness"]
    assert near.models[0].worst == pytest.approx(0.2) and near.models[1].worst == pytest.approx(0.25)
    exact = ModelSpec(model="t-closeness", column=S, parameters={**t.parameters, "t": Fraction(199, 1000)})
    assert not audited(spark, rows, [exact], limit=Fraction(1, 4), distribution=whole).ok


def test_what_the_release_alone_cannot_tell_is_not_taken_to_hold(spark: SparkSession) -> None:
    rows: list[Row] = [("0", "x", v) for v in "aabb"]
    alone = audited(spark, rows, CLOSE, limit=Fraction(1, 4))
    assert not alone.ok and not any(verdict.holds for verdict in alone.models)
    assert all("the published ones alone do not tell it" in finding.message for finding in alone.findings)
    assert any("are not taken to hold" in sentence for sentence in alone.cannot_know)
    whole = audited(spark, rows, CLOSE)
    assert whole.ok and any("the release's own was taken" in sentence for sentence in whole.cannot_know)


def test_a_value_that_the_table_has_not_is_met(spark: SparkSession) -> None:
    rows: list[Row] = [("0", "x", v) for v in "aabb"]
    found = audited(spark, rows, CLOSE, distribution={S: {"a": 4}})
    assert not any(verdict.holds for verdict in found.models)


def test_a_confidence_bound_is_read_of_the_classes_of_the_given_columns(spark: SparkSession) -> None:
    """Of q = 0 two of five rows have the value, though two of three where r is x; a local recoding is asked for the latter."""
    rows: list[Row] = [("0", "x", "a"), ("0", "x", "a"), ("0", "x", "b"), ("0", "y", "b"), ("0", "y", "c"), ("1", "y", "b")]
    for h, given, lattice, local in (("0.4", ("q",), True, False), ("0.39", ("q",), False, False), ("0.5", ("r",), False, False),
                                     ("2/3", ("r",), True, True), ("0.4", ("q", "r"), False, False)):
        asked = ModelSpec(model="confidence-bound", column=S, parameters={"value": "a", "h": Fraction(h), "given": given})
        for job, right in (("lattice", lattice), ("top-down", local)):
            policy = Policy(job=job, columns=COLUMNS, privacy=(asked,))  # type: ignore[arg-type]
            found = audit_release(spark.createDataFrame(rows, f"q string, r string, {S} string"), policy)
            assert found.models[0].holds == right, (h, given, job)
