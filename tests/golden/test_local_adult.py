"""What local recoding of UCI Adult loses at most, age as a number, nothing suppressed."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hierarchies import bind, hierarchy, model

from anon_spark.algorithms.local_recoding import decide_local

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize(("k", "most"), [(5, 0.0225), (10, 0.0370), (50, 0.0885), (100, 0.1215)])
def test_adult(shared: Path, k: int, most: float) -> None:
    with (shared / "adult" / "adult.csv").open(newline="") as file:
        rows = [[line[c] for c in COLUMNS] for line in csv.DictReader(file, delimiter=";")]
    trees = []
    for i, column in enumerate(COLUMNS):
        if column == "age":
            ages = sorted({int(row[i]) for row in rows})
            trees.append(hierarchy("age", [(str(a), "*") for a in ages], {str(a): a for a in ages}))
            continue
        with (shared / "adult" / f"adult_hierarchy_{column}.csv").open(newline="") as file:
            trees.append(hierarchy(column, list(csv.reader(file, delimiter=";"))))
    problem, frequency = bind(rows, trees, [model("k-anonymity", k=k)])
    found = decide_local(problem, frequency)
    assert found.size.min() >= k and found.size.sum() == len(rows) == found.held.sum()
    assert np.array_equal(np.bincount(found.cell, found.held), frequency.count)
    assert float(found.loss) <= most
