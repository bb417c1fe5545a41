"""UCI Adult bound to its hierarchy files, age as a number: what tests of local recoding measure on."""

from __future__ import annotations

import csv
from pathlib import Path

from hierarchies import bind, hierarchy, model

from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")


def adult(shared: Path, k: int) -> tuple[list[tuple[str, ...]], Problem, FrequencySet]:
    """The rows, and the problem of making them k-anonymous with its frequency set."""
    with (shared / "adult" / "adult.csv").open(newline="") as file:
        rows = [tuple(line[c] for c in COLUMNS) for line in csv.DictReader(file, delimiter=";")]
    trees = []
    for i, column in enumerate(COLUMNS):
        if column == "age":
            ages = sorted({int(row[i]) for row in rows})
            trees.append(hierarchy("age", [(str(a), "*") for a in ages], {str(a): a for a in ages}))
            continue
        with (shared / "adult" / f"adult_hierarchy_{column}.csv").open(newline="") as file:
            trees.append(hierarchy(column, list(csv.reader(file, delimiter=";"))))
    return rows, *bind(rows, trees, [model("k-anonymity", k=k)])
