"""UCI Adult with its hierarchy files: few checks, and the answer of an exhaustive search written here with NumPy alone."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hierarchies import bind, hierarchy, model

from anon_spark.algorithms.lattice import decide
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.policy import ModelSpec
from anon_spark.domain.problem import Problem

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
K10 = model("k-anonymity", k=10)
ALPHA = model("alpha-deassociation", "occupation", alpha=Fraction(1, 2))


def adult(shared: Path, models: list[ModelSpec], sensitive: tuple[str, ...] = (), **more: object) -> tuple[Problem, FrequencySet]:
    with (shared / "adult" / "adult.csv").open(newline="") as file:
        rows = [[line[c] for c in (*COLUMNS, *sensitive)] for line in csv.DictReader(file, delimiter=";")]
    trees = []
    for column in COLUMNS:
        with (shared / "adult" / f"adult_hierarchy_{column}.csv").open(newline="") as file:
            trees.append(hierarchy(column, list(csv.reader(file, delimiter=";"))))
    return bind(rows, trees, models, sensitive, **more)


def nodes_that_hold(problem: Problem, frequency: FrequencySet, occupations: int) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Each node at which at most the allowed rows fail k = 10 and, with occupations, alpha = 0.5; and the cells that stay."""
    sensitive = frequency.sensitive[:, 0] if occupations else np.zeros(len(frequency.count), dtype=np.int64)
    width = max(occupations, 1)
    for levels in product(*(range(h.levels) for h in problem.hierarchies)):
        key = np.zeros(len(frequency.count), dtype=np.int64)
        for h, level, codes in zip(problem.hierarchies, levels, frequency.codes.T, strict=True):
            key = key * len(h.labels[level]) + h.nodes[level][codes]
        classes, member = np.unique(key, return_inverse=True)
        table = np.zeros((len(classes), width), dtype=np.int64)
        np.add.at(table, (member, sensitive), frequency.count)
        size = table.sum(axis=1)
        good = size >= 10
        if occupations:
            good &= 2 * table.max(axis=1) <= size
        if size[~good].sum() <= problem.limit * problem.rows:
            yield levels, good[member]


def gcp(problem: Problem, frequency: FrequencySet, levels: tuple[int, ...], stays: np.ndarray) -> Fraction:
    lost = int(frequency.count[~stays].sum())
    total = Fraction(0)
    for h, level, codes in zip(problem.hierarchies, levels, frequency.codes.T, strict=True):
        paid = np.array(h.ncp[level].numerators)[codes][stays] @ frequency.count[stays]
        total += Fraction(int(paid), h.ncp[level].denominator) + lost
    return total / problem.rows / len(levels)


@pytest.mark.shared
def test_the_optimum_of_adult_in_few_checks(shared: Path) -> None:
    problem, frequency = adult(shared, [K10])
    found = decide(problem, frequency)
    assert len(frequency.count) == 11_089 and found.trace.nodes == 2160
    assert found.trace.checked + found.trace.subset_checks <= 100
    right = [(gcp(problem, frequency, v, stays), sum(v), v) for v, stays in nodes_that_hold(problem, frequency, 0)]
    assert (found.losses["gcp"], sum(found.levels), found.levels) == min(right)
    held = np.array([v for _, _, v in right])
    minimal = {v for _, _, v in right if ((held <= v).all(axis=1)).sum() == 1}
    assert found.trace.minimal == tuple(sorted(minimal))


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize("limit", ["0", "0.01", "0.05"])
def test_the_optimum_of_adult_with_alpha(shared: Path, limit: str) -> None:
    problem, frequency = adult(shared, [K10, ALPHA], ("occupation",), limit=Fraction(limit))
    found = decide(problem, frequency)
    right = [(gcp(problem, frequency, v, stays), sum(v), v) for v, stays in nodes_that_hold(problem, frequency, 14)]
    assert (found.losses["gcp"], sum(found.levels), found.levels) == min(right)
