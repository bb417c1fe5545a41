"""The lattice over persons equals exhaustive search: tables of several rows a person, ids that are null, every model that counts."""

from __future__ import annotations

import random

import persons

from anon_spark.algorithms.lattice import decide, failing_classes
from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.domain.errors import InfeasibleError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import FullDomainRecoding
from anon_spark.kernels.rollup import persons_by_value, persons_of
from anon_spark.models.base import LargestPersons, Persons
from anon_spark.models.persons import PersonAnonymity, PersonShare


def found(problem: Problem, frequency: FrequencySet) -> FullDomainRecoding | None:
    try:
        return decide(problem, frequency)
    except InfeasibleError:
        return None


def test_the_optimum_over_persons_equals_exhaustive_search(full: bool) -> None:
    feasible = differ = 0
    for seed in range(3000 if full else 600):
        problem, frequency, rows = persons.random_problem(random.Random(seed))
        right, ours = persons.exhaustive(problem, frequency, rows), found(problem, frequency)
        told = f"seed {seed}: {problem.models}, {problem.loss}, {problem.limit}"
        assert (ours is None) == (right.best is None), told
        if ours is None or right.best is None:
            continue
        feasible += 1
        differ += problem.persons != problem.rows
        assert ours.levels == right.best[2], told
        assert ours.suppressed_rows == right.holding[ours.levels], told
        assert (problem.k is None and problem.loss == "c-avg") or ours.losses[problem.loss] == right.best[0], told
        assert ours.trace.minimal in (None, right.minimal()), told
        assert bool(len(failing_classes(problem, frequency, ours.levels))) == bool(ours.suppressed_rows), told
    assert feasible > 100 and differ > 80


def test_persons_are_counted_as_sets_count_them() -> None:
    for seed in range(200):
        problem, frequency, rows = persons.random_problem(random.Random(seed))
        assert persons_of(frequency) == persons.persons_in(rows) == problem.persons
        for j, texts in enumerate(problem.values):
            place = len(problem.hierarchies) + j
            right = [persons.persons_in([row for row in rows if row[place] == text]) for text in texts]
            assert persons_by_value(frequency, j, len(texts)).tolist() == right


def test_unions_keep_k_over_persons_and_not_their_share() -> None:
    """Two classes of two persons each, in both the same one ill: one of two is, and of both together one of three. A third class shows
    the share grow: alone 1 of 2 and 1 of 2, together 2 of 3, where the healthy person is the same."""
    k, share = PersonAnonymity(2), PersonShare("illness", persons.Fraction(1, 2))
    most = LargestPersons("illness")
    assert share.holds({Persons(): 2, most: 1}) and not share.holds({Persons(): 3, most: 2})
    assert k.union_closed and k.survives_any_rows and not share.union_closed and not share.survives_any_rows
    assert k.holds({Persons(): 2}) and not k.holds({Persons(): 1})


def test_case_15_of_entities() -> None:
    """Rows (person, region): P1 north six times, P2 and P3 south twice each. Rows are 6 and 4, persons 1 and 2: only the root has 2."""
    rows = [*[["N", "P1"]] * 6, *[["S", "P2"]] * 2, *[["S", "P3"]] * 2]
    flat = persons.hierarchy("region", [("N", "*"), ("S", "*")])
    problem, frequency = persons.bind_persons(rows, [flat], [persons.model("k-anonymity", k=2)])
    assert decide(problem, frequency).levels == (1,)
    nobody, cells = persons.bind_persons([[region, None] for region, _ in rows], [flat], [persons.model("k-anonymity", k=4)])
    assert nobody.persons == 10 and decide(nobody, cells).levels == (0,)
    checker = LocalChecker(problem, (PersonAnonymity(2),), frequency)
    size, _, holds = checker.verdicts_of(checker.cells((0,)))
    assert (size.tolist(), holds.tolist()) == ([6, 4], [False, True])
