"""What the other models cost beside k = 10 on UCI Adult, the sensitive column being the occupation: near to nothing."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from adult import adult
from hierarchies import bind, model
from oracle import all_hold

from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.domain.policy import ModelSpec

HALF = model("alpha-deassociation", "occupation", alpha=Fraction(1, 2))
REFINED = model("alpha-deassociation", "occupation", alpha=Fraction(1, 5), refined=True, values=("Prof-specialty",))
DISTINCT = model("l-diversity", "occupation", l=4, kind="distinct")
THIRD = model("l-diversity", "occupation", l=3, kind="frequency")


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize(
    ("asked", "most"),
    [((HALF,), 0.0415), ((DISTINCT,), 0.0385), ((HALF, DISTINCT), 0.0420), ((THIRD,), 0.0610), ((REFINED,), 0.0650)],
)
def test_adult(shared: Path, asked: Sequence[ModelSpec], most: float) -> None:
    plain, problem, _ = adult(shared, 10)
    with (shared / "adult" / "adult.csv").open(newline="") as file:
        rows = [(*row, line["occupation"]) for row, line in zip(plain, csv.DictReader(file, delimiter=";"), strict=True)]
    problem, frequency = bind(rows, problem.hierarchies, [*problem.models, *asked], ["occupation"])
    found = decide_local(problem, frequency)
    assert np.array_equal(np.bincount(found.cell, found.held), frequency.count)
    members: list[list] = [[] for _ in found.size]
    for cell, group, n in zip(found.cell.tolist(), found.group.tolist(), found.held.tolist(), strict=True):
        members[group].append((None, frequency.sensitive[cell].tolist(), n))
    cells = [(None, line.tolist(), int(n)) for line, n in zip(frequency.sensitive, frequency.count, strict=True)]
    assert all(all_hold(problem, group, cells) for group in members)
    assert float(found.loss) <= most
