"""Every model of occupations beside k = 10 on UCI Adult, by both jobs: the release of k alone breaks it, the one asked for holds it."""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import brute
import numpy as np
import pytest
from adult import COLUMNS, adult
from hierarchies import bind, hierarchy, model

from anon_spark.algorithms.lattice import decide
from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.domain.errors import InfeasibleError, NoneFoundError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.policy import ModelSpec
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalRecoding

S = "occupation"
OFFICE = {"Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"}
SERVICE = {"Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"}
MODELS = {
    "entropy l = 5": model("l-diversity", S, kind="entropy", l=Fraction(5)),
    "recursive (1, 3)": model("l-diversity", S, kind="recursive", l=3, c=Fraction(1)),
    "t = 0.5, equal": model("t-closeness", S, t=Fraction(1, 2), distance="equal"),
    "t = 0.35, hierarchical": model("t-closeness", S, t=Fraction(7, 20), distance="hierarchical"),
    "delta = 2.5": model("delta-disclosure", S, delta=Fraction(5, 2)),
    "beta = 4": model("beta-likeness", S, beta=Fraction(4), kind="basic"),
    "beta = 4, enhanced": model("beta-likeness", S, beta=Fraction(4), kind="enhanced"),
    "(0.1, 10)-sensitivity, 4 levels": model("epsilon-k-sensitivity", S, epsilon=Fraction(1, 10), k=10, levels=4, weights="uniform"),
    "(5, 6)-diversity, 4 levels": model("l-alpha-diversity", S, l=5, alpha=Fraction(6), levels=4),
    "lambda 1, 0.9, 0.8, 0.7, alpha = 0.4": model(
        "lambda-alpha-k", S, k=10, alpha=Fraction(2, 5), levels=4, **{"lambda": {str(i): Fraction(11 - i, 10) for i in range(1, 5)}}
    ),
    "Prof-specialty at most 0.5 given sex, age": model(
        "confidence-bound", S, value="Prof-specialty", h=Fraction(1, 2), given=("sex", "age")
    ),
}


def problem_of(shared: Path, asked: Iterable[ModelSpec]) -> tuple[Problem, FrequencySet, list[tuple]]:
    plain, problem, _ = adult(shared, 10)
    with (shared / "adult" / "adult.csv").open(newline="") as file:
        rows = [(*row, line[S]) for row, line in zip(plain, csv.DictReader(file, delimiter=";"), strict=True)]
    models = [*problem.models, *asked]
    kind = lambda value: "office" if value in OFFICE else "service" if value in SERVICE else "manual"  # noqa: E731
    tree = hierarchy(S, [(value, kind(value), "*") for value in sorted({row[-1] for row in rows})])
    trees = tuple(tree if spec.parameters.get("distance") == "hierarchical" else None for spec in models)
    problem, frequency = bind(rows, problem.hierarchies, models, [S], trees=trees)
    return problem, frequency, rows


def groups_of(found: LocalRecoding, problem: Problem, frequency: FrequencySet) -> list[Counter]:
    groups = [Counter() for _ in found.size]
    for cell, group, n in zip(found.cell.tolist(), found.group.tolist(), found.held.tolist(), strict=True):
        groups[group][problem.values[0][frequency.sensitive[cell, 0]]] += n
    return groups


def breaking(spec: ModelSpec, problem: Problem, groups: Iterable[Counter], table: Counter) -> int:
    tree = problem.trees[-1]
    paths = None if tree is None else {v: [h[tree.nodes[i][tree.codes[v]]] for i, h in enumerate(tree.labels)] for v in table}  # type: ignore[index]
    return sum(not brute.holds(spec, seen, seen.total(), table, paths) for seen in groups)


@pytest.fixture(scope="module")
def of_k_alone(shared: Path) -> list[Counter]:
    """The groups of a top-down release of k = 10 alone, with their occupations."""
    problem, frequency, _ = problem_of(shared, [MODELS["beta = 4"]])
    alone, _, _ = problem_of(shared, [])
    return groups_of(decide_local(alone, frequency), problem, frequency)


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_local_recoding(shared: Path, of_k_alone: list[Counter], name: str) -> None:
    spec = MODELS[name]
    problem, frequency, rows = problem_of(shared, [spec])
    table = Counter(row[-1] for row in rows)
    before = breaking(spec, problem, of_k_alone, table)
    started = time.process_time()
    if "epsilon" in spec.parameters:
        # at most one row of the most sensitive level a class, which merging never mends
        with pytest.raises(NoneFoundError, match="all rows were one, which still breaks it"):
            decide_local(problem, frequency)
        return
    found = decide_local(problem, frequency)
    seconds = time.process_time() - started
    assert np.array_equal(np.bincount(found.cell, found.held), frequency.count)
    groups = groups_of(found, problem, frequency)
    print(f"| {name} | {before:,} of {len(of_k_alone):,} | {float(found.loss):.4f} | {len(groups):,} | {seconds:.0f} |")
    assert before > 0 and breaking(spec, problem, groups, table) == 0
    assert float(found.loss) < 0.3


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_lattice(shared: Path, name: str) -> None:
    spec = MODELS[name]
    problem, frequency, rows = problem_of(shared, [spec])
    started = time.process_time()
    if "epsilon" in spec.parameters:
        # at most one row of the most sensitive level a class: no level of any column makes such classes
        with pytest.raises(InfeasibleError, match="none of the lattice's 864 nodes holds"):
            decide(problem, frequency)
        return
    found = decide(problem, frequency)
    seconds = time.process_time() - started
    levels, table = found.levels, Counter(row[-1] for row in rows)
    columns = [i for i, name in enumerate(COLUMNS) if name in spec.parameters.get("given", COLUMNS)]  # type: ignore[operator]
    groups: dict[tuple[int, ...], Counter] = {}
    for codes, value, n in zip(frequency.codes.tolist(), frequency.sensitive[:, 0].tolist(), frequency.count.tolist(), strict=True):
        key = tuple(int(problem.hierarchies[i].nodes[levels[i]][codes[i]]) for i in columns)
        groups.setdefault(key, Counter())[problem.values[0][value]] += n
    print(f"| {name} | {levels} | {float(found.losses['gcp'] or 0):.4f} | {found.classes:,} | {found.trace.checked} | {seconds:.0f} |")
    assert breaking(spec, problem, groups.values(), table) == 0
