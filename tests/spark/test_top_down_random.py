"""Random small tables through the whole job: the models, the labels and the rows of the release, read by brute force."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from anon_spark import Policy, anonymize
from anon_spark.job import decide_groups
from jobs import local_policy, printed, quasi, tree

pytestmark = pytest.mark.spark
SCHEMA = "age int, pay double, born date, zip string, school string, sex string, illness string, id int"
SCHOOLS = {"HS": "School", "Some": "School", "BSc": "Degree", "MSc": "Degree", "PhD": "Degree"}
MODELS: list[list[dict]] = [
    [],
    [{"model": "alpha-deassociation", "alpha": 0.5}],
    [{"model": "alpha-deassociation", "alpha": 0.5, "values": ["flu"], "refined": True}],
    [{"model": "l-diversity", "l": 2}, {"model": "alpha-deassociation", "alpha": "2/3"}],
    [{"model": "l-diversity", "l": 2, "kind": "frequency"}],
]


def rows_of(seed: int) -> list[tuple]:
    draw = Random(seed)
    ages = [draw.choice([21, 24, 24, 30, 31, 58, None]) for _ in range(60)]
    rows = []
    for i, age in enumerate(ages):
        born = None if draw.random() < 0.1 else date(1965, 5, 1) + timedelta(days=draw.choice([0, 20, 90, 2500]))
        pay = draw.choice([-0.5, 0.25, 1e12, float("nan"), None, 3.0, 3.0])
        zipped = draw.choice(["53711", "53712", "53799", "61000", None])
        ill = draw.choice(["flu", "cough", "fever", "HIV", None])
        rows.append((age, pay, born, zipped, draw.choice([*SCHOOLS, None]), draw.choice("MF"), ill, i))
    return rows


def asked(folder: Path, models: list[dict], **more: Any) -> Policy:
    school = tree(folder, "school", *(f"{leaf};{node};*" for leaf, node in SCHOOLS.items()))
    columns = [
        {"name": "age", "role": "quasi-identifier", "weight": 2},
        {"name": "pay", "role": "quasi-identifier"},
        quasi("born", {"date": ["month", "year"]}),
        quasi("zip", {"mask": "right"}),
        quasi("school", school, weight="1/3"),
        quasi("sex"),
        {"name": "illness", "role": "sensitive"},
        {"name": "id", "role": "insensitive"},
    ]
    return local_policy(columns, k=4, models=models, staging=folder, **more)


def label(column: int, values: list, everything: list) -> str | None:
    """The smallest label over a group's values, by the texts of METHODS and DESIGN."""
    distinct = set(map(text, values))
    if len(distinct) == 1:
        return distinct.pop()
    if None in distinct or "NaN" in distinct or column == 5:
        return "*"
    if column <= 1:
        line = sorted(v for v in everything if text(v) not in (None, "NaN"))
        low, high = min(values), max(values)
        return "*" if (low, high) == (line[0], line[-1]) else f"[{text(low)}, {text(high)}]"
    path = {
        2: lambda v: [text(v)[:7], text(v)[:4], "*"],
        3: lambda v: [v[:5 - n] + "*" * n for n in range(1, 5)] + ["*"],
        4: lambda v: [SCHOOLS[v], "*"],
    }[column]
    return next(node for node in path(values[0]) if all(node in path(v) for v in values))


def text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return "NaN" if value != value else "1000000000000.0" if value == 1e12 else repr(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def holds(models: list[dict], values: Counter) -> bool:
    size = values.total()
    for model in models:
        if model["model"] == "l-diversity":
            l_ = model["l"]
            good = max(values.values()) * l_ <= size if model.get("kind") == "frequency" else len(values) >= l_
        else:
            alpha = Fraction(str(model["alpha"]))
            most = max(values[v] for v in model.get("values", values))
            good = most - 1 < alpha * size if model.get("refined") else most <= alpha * size
        if not good:
            return False
    return True


LONG = pytest.mark.long
HERE, BLOCKS, ROWS = {"driver_megabytes": 64}, {"driver_megabytes": 0, "block_combinations": 10}, None
"""Where it is decided: in the driver process, in blocks of cells, in blocks of rows."""


@pytest.mark.parametrize(
    ("seed", "place"),
    [
        (0, HERE), (1, BLOCKS), (3, ROWS),
        *(pytest.param(*case, marks=LONG) for case in (*((seed, HERE) for seed in range(1, 5)), (3, BLOCKS), (0, ROWS))),
    ],
)
def test_a_release_is_what_was_asked(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, place: dict | None
) -> None:
    rows, models, settings = rows_of(seed), MODELS[seed], place or BLOCKS
    monkeypatch.setattr(decide_groups, "rows_travel", lambda *_: place is None)
    frame = spark.createDataFrame(rows, SCHEMA)
    with anonymize(frame, asked(tmp_path, models, settings=settings)) as release:
        found = printed(release)
        loss = release.report.loss.gcp
    assert sorted(row[-1] for row in found.elements()) == list(range(60))
    groups = defaultdict(list)
    for row in found.elements():
        assert row[-2] == rows[row[-1]][-2]
        groups[row[:-2]].append(rows[row[-1]])
    for labels, members in groups.items():
        assert len(members) >= 4 and holds(models, Counter(row[-2] for row in members))
        expected = tuple(label(j, [m[j] for m in members], [r[j] for r in rows]) for j in range(6))
        assert labels == expected
    assert 0 < loss < 1
    for other in variants(spark, frame, rows)[: 2 if seed == 0 else 1]:
        with anonymize(other, asked(tmp_path, models, settings=settings)) as release:
            assert printed(release) == found


def variants(spark: SparkSession, frame: DataFrame, rows: list[tuple]) -> list[DataFrame]:
    """The same table in other orders and partitions, empty ones among them."""
    return [frame.repartition(9, "id"), spark.createDataFrame(rows[::-1], SCHEMA).coalesce(1)]


@pytest.mark.parametrize("place", [HERE, ROWS], ids=["here", "rows"])
def test_bounds_are_columns_of_the_type_of_the_input(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: dict | None
) -> None:
    rows, settings = rows_of(11), place or BLOCKS
    monkeypatch.setattr(decide_groups, "rows_travel", lambda *_: place is None)
    frame = spark.createDataFrame(rows, SCHEMA)
    with anonymize(frame, asked(tmp_path, [], settings=settings)) as release:
        labels = {row["id"]: row for row in release.table.collect()}
    with anonymize(frame, asked(tmp_path, [], numeric="bounds", settings=settings)) as release:
        types = {field.name: field.dataType.simpleString() for field in release.table.schema.fields}
        assert list(types) == [
            "age_min", "age_max", "age_null", "pay_min", "pay_max", "pay_null", "born", "zip", "school", "sex", "illness", "id",
        ]  # fmt: skip
        assert [types[f"age_{part}"] for part in ("min", "max", "null")] == ["int", "int", "boolean"]
        assert types["pay_min"] == types["pay_max"] == "double" and types["born"] == "string"
        assert sum(row["count"] for row in release.classes.withColumnRenamed("rows", "count").collect()) == 60
        for row in release.table.collect():
            for name in ("age", "pay"):
                low, high, is_null = (row[f"{name}_{part}"] for part in ("min", "max", "null"))
                shown = text(low) if text(low) == text(high) else f"[{text(low)}, {text(high)}]"
                shown = (None if is_null else "*") if low is None else shown
                assert shown == labels[row["id"]][name]


def test_ranges_can_be_widened_to_intervals(spark: SparkSession, tmp_path: Path) -> None:
    ages = [21, 22, 24, 24, 26, 31, 33, 35, 38, 39, 91, 93, 97, None, None]
    columns = [quasi("age", {"intervals": [5, 10, 20], "upper": 80}), {"name": "id", "role": "insensitive"}]
    for numeric in ("interval", "bounds"):
        policy = local_policy(columns, k=2, bounds="intervals", numeric=numeric, staging=tmp_path)
        frame = spark.createDataFrame([(age, i) for i, age in enumerate(ages)], "age int, id int")
        with anonymize(frame, policy) as release:
            assert release.report.loss.gcp > 0
            assert {warning.partition(" (")[0] for warning in release.report.warnings} <= {"id"}
            found = {row["id"]: tuple(row)[:-1] for row in release.table.collect()}
        if numeric == "interval":
            assert {found[i] for i in (10, 11, 12)} == {(">= 80",)} and found[13] == (None,)
            assert {found[i][0] for i in (2, 3)} <= {"24", "[20, 24]"} and all("22" not in str(label) for label in found.values())
        else:
            assert {found[i] for i in (10, 11, 12)} == {(80, None, False)} and found[13] == (None, None, True)
