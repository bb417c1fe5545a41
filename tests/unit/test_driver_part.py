"""The part of a lattice that is decided from a smaller set: its verdicts are those of the whole set, and no set is above the bound."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hierarchies import bind, flat, hierarchy, model

from anon_spark.algorithms.driver_part import DriverPart
from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.algorithms.node_space import NodeSpace
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.policy import ModelSpec
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels
from anon_spark.models.registry import models_of

MODELS = [model("k-anonymity", k=3), model("alpha-deassociation", "s", alpha=Fraction(1, 2))]
FIGURES = ("failing", "failing_pruning", "classes", "smallest", "largest", "squares")


def some_problem(limit: Fraction, models: Sequence[ModelSpec] = MODELS) -> tuple[Problem, FrequencySet]:
    rng = random.Random(7)
    trees = [hierarchy(name, [[str(v), f"1:{v // 2}", f"2:{v // 4}", "*"] for v in range(8)]) for name in "ab"]
    rows = [[str(rng.randint(0, 7)), str(int(8 * rng.random() ** 2)), rng.choice("xy"), rng.choice("stu")] for _ in range(200)]
    sensitive = ["s"] if models is MODELS else []
    return bind([row[: 3 + len(sensitive)] for row in rows], [*trees, flat("c", ["x", "y"])], models, sensitive, limit=limit)


class Source:
    """Hands out sets of at most so many cells, and notes what it was asked for."""

    def __init__(self, problem: Problem, frequency: FrequencySet, most: int):
        self.whole = LocalChecker(problem, models_of(problem), frequency)
        self.most = most
        self.sizes: list[int] = []
        self.part = DriverPart(problem, models_of(problem), most, len(frequency.count), self.fetch)

    def fetch(self, levels: Levels) -> FrequencySet | None:
        cells = self.whole.cells(levels)
        self.sizes.append(len(cells.count))
        return FrequencySet(cells.nodes.T, cells.sensitive.T, cells.count) if len(cells.count) <= self.most else None


@pytest.mark.parametrize("limit", [Fraction(0), Fraction(1, 5)])
@pytest.mark.parametrize("share", [1, 2, 5, 20])
@pytest.mark.parametrize("models", [MODELS, MODELS[:1]])
def test_verdicts_of_a_part_are_those_of_the_whole_set(models: Sequence[ModelSpec], share: int, limit: Fraction) -> None:
    problem, frequency = some_problem(limit, models)
    source = Source(problem, frequency, len(frequency.count) // share)
    space = NodeSpace(problem.min_levels, problem.max_levels)
    unknown, every = np.ones(space.shape, dtype=bool), [tuple(v) for v in product(*(range(h.levels) for h in problem.hierarchies))]
    while (part := source.part.of(unknown, space, fewest=0)).any():
        here = source.part.verdicts(every)
        assert {space.place(node) for node in here} >= set(np.flatnonzero(part).tolist()) and source.sizes[-1] <= source.most
        for node, right in zip(here, source.whole.check(list(here)), strict=True):
            assert [getattr(here[node], name) for name in FIGURES] == [getattr(right, name) for name in FIGURES]
        unknown &= ~part
    sizes = [len(source.whole.cells(space.levels(int(place))).count) for place in np.flatnonzero(unknown)]
    assert all(size > source.most // 4 for size in sizes), "what is left is not far below the bound"
    assert source.part.sets == len(source.sizes) and (share > 1) == bool(sizes)


def test_one_set_serves_where_the_whole_set_fits() -> None:
    problem, frequency = some_problem(Fraction(0))
    source, space = Source(problem, frequency, len(frequency.count)), NodeSpace(problem.min_levels, problem.max_levels)
    unknown = np.ones(space.shape, dtype=bool)
    unknown[0] = False
    part = source.part.of(unknown, space, fewest=3)
    assert (part == unknown).all() and source.part.sets == 1
    assert source.part.verdicts([(0, 0, 0)]) == {}, "the set is that of the lowest unknown node, not of level 0"
    assert (source.part.of(unknown, space, fewest=3) == part).all() and source.part.sets == 1


def test_no_set_is_fetched_for_few_nodes_or_where_none_may_come() -> None:
    problem, frequency = some_problem(Fraction(0))
    space = NodeSpace(problem.min_levels, problem.max_levels)
    unknown = np.ones(space.shape, dtype=bool)
    for most, fewest in ((0, 0), (len(frequency.count), space.size)):
        source = Source(problem, frequency, most)
        assert not source.part.of(unknown, space, fewest).any() and not source.sizes


def test_a_wrong_guess_costs_a_few_fetches_and_no_more() -> None:
    problem, frequency = some_problem(Fraction(0))
    source, space = Source(problem, frequency, 40), NodeSpace(problem.min_levels, problem.max_levels)
    source.most = 4
    unknown = np.ones(space.shape, dtype=bool)
    source.part.of(unknown, space, fewest=0)
    assert 1 < len(source.sizes) < 12
