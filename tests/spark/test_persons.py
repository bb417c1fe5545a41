"""Jobs over tables of several rows a person: classes counted in persons, ids that go nowhere, an audit that counts them itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from random import Random
from typing import Any

import persons
import pytest
from pyspark.sql import DataFrame, SparkSession

from anon_spark import Policy, anonymize
from anon_spark.domain.errors import InfeasibleError
from anon_spark.domain.policy import ModelSpec
from jobs import policy, quasi

pytestmark = pytest.mark.spark

SCHEMA = "patient string, zip string, sex string, illness string, id int"
COLUMNS = [
    {"name": "patient", "role": "person"}, quasi("zip", {"mask": "right"}), quasi("sex"),
    {"name": "illness", "role": "sensitive"}, {"name": "id", "role": "insensitive"},
]  # fmt: skip
HERE, THERE = {"driver_megabytes": 64}, {"driver_megabytes": 0, "block_combinations": 10}


def rows_of(seed: int, count: int = 80) -> list[tuple]:
    """Some 30 persons of one to many rows, most of them near home, and rows without an id."""
    draw = Random(seed)
    homes = {f"patient-{i}": draw.choice(["5371", "5372", "6100"]) for i in range(30)}
    rows = []
    for i in range(count):
        patient = None if draw.random() < 0.1 else f"patient-{int(30 * draw.random() ** 2)}"
        home = homes[patient] if patient and draw.random() < 0.8 else draw.choice(["5371", "5372", "6100", "6101"])
        rows.append((patient, home, draw.choice("MF"), draw.choice(["flu", "flu", "cough", "HIV", None]), i))
    return rows


def classes_of(table: DataFrame, rows: Sequence[tuple]) -> list[list[tuple]]:
    """The rows of the input class by class of what was printed of them, told by the column that passes."""
    printed = {row["id"]: (row["zip"], row["sex"]) for row in table.collect()}
    classes: dict[tuple, list[tuple]] = defaultdict(list)
    for row in rows:
        if row[-1] in printed:
            classes[printed[row[-1]]].append(row)
    return list(classes.values())


def in_persons(members: Sequence[tuple]) -> int:
    return persons.persons_in([[row[0]] for row in members])


MODELS: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 5},
    {"model": "alpha-deassociation", "alpha": 0.6, "values": ["HIV", "flu"]},
    {"model": "alpha-deassociation", "alpha": 0.5, "refined": True},
    {"model": "l-diversity", "kind": "frequency", "l": 1},
    {"model": "lambda-alpha-k", "k": 4, "alpha": 0.8, "lambda": {1: 1, 2: 0.8}, "levels": 2},
    {"model": "confidence-bound", "value": "HIV", "h": 0.5, "given": ["zip"]},
]


@pytest.mark.parametrize("place", [HERE, THERE], ids=["here", "there"])
@pytest.mark.parametrize("asked", MODELS, ids=lambda asked: f"{asked['model']}{'-refined' if asked.get('refined') else ''}")
def test_every_class_of_a_lattice_holds_in_persons(spark: SparkSession, asked: dict[str, Any], place: dict) -> None:
    rows = rows_of(1)
    models = [asked] if asked["model"] == "k-anonymity" else [{"model": "k-anonymity", "k": 3}, asked]
    found = anonymize(spark.createDataFrame(rows, SCHEMA), policy(COLUMNS, k=None, models=models, settings=place))
    assert found.table.columns == ["zip", "sex", "illness", "id"]
    assert [model.holds for model in found.report.models] == [True] * len(models)
    classes = classes_of(found.table, rows)
    assert sum(map(len, classes)) == len(rows) and len(classes) > 1
    smallest = min(in_persons(members) for members in classes)
    assert found.report.models[0].worst == smallest >= models[0]["k"]
    spec = Policy(columns=COLUMNS, privacy=models).privacy[-1]
    own = [[row[1], row[3], row[0]] for row in rows]
    for members in classes:
        held = [[row[1], row[3], row[0]] for row in members]
        if asked["model"] == "confidence-bound":
            labels = {row["id"]: row["zip"] for row in found.table.collect()}
            held = [[row[1], row[3], row[0]] for row in rows if labels[row[-1]] == labels[members[0][-1]]]
        assert persons.holds(_defaults(spec), held, own, 1, False)


def _defaults(spec: ModelSpec) -> ModelSpec:
    return ModelSpec(model=spec.model, column="illness", parameters={"values": None, "refined": False, **spec.parameters})


def test_rows_of_one_person_are_no_crowd(spark: SparkSession) -> None:
    """METHODS 1.17 on case C15: by rows the regions are classes of 6 and 4, by persons of 1 and 2."""
    rows = [*[("P1", "N")] * 6, *[("P2", "S")] * 2, *[("P3", "S")] * 2]
    table = spark.createDataFrame(rows, "person string, region string")
    columns = [{"name": "person", "role": "person"}, quasi("region")]
    for job in ("lattice", "top-down"):
        for place in (HERE, THERE):
            released = anonymize(table, policy(columns, k=2, job=job, settings=place))
            assert Counter(row["region"] for row in released.table.collect()) == {"*": 10}
            assert released.report.models[0].worst == 3, "persons, not rows"
            assert released.report.output is not None and released.report.output.class_size is not None
            assert released.report.output.class_size.min == 10, "rows stay rows"
            with pytest.raises(InfeasibleError, match="3 persons < k = 4"):
                anonymize(table, policy(columns, k=4, job=job, settings=place))
    rows_alone = [{"name": "person", "role": "identifier"}, quasi("region")]
    assert anonymize(table, policy(rows_alone, k=2)).report.models[0].worst == 4
    nobody = spark.createDataFrame([(None, region) for _, region in rows], "person string, region string")
    for job in ("lattice", "top-down"):
        assert anonymize(nobody, policy(columns, k=4, job=job)).report.models[0].worst == 4, "each row without an id is its own person"
