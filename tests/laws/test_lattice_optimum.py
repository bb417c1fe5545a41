"""The search equals exhaustive search: over random tables, hierarchies, models, limits, losses, weights and level bounds."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import brute
import numpy as np
from hierarchies import bind, hierarchy, model
from oracle import Answer, exhaustive

from anon_spark.algorithms.checker import Verdict
from anon_spark.algorithms.driver_part import DriverPart
from anon_spark.algorithms.lattice import decide, decide_with, failing_classes, whole_table
from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.algorithms.node_space import NodeSpace
from anon_spark.algorithms.templates import with_templates
from anon_spark.domain.errors import InfeasibleError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import ModelSpec
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import FullDomainRecoding, Levels
from anon_spark.models.base import Model
from anon_spark.models.registry import models_of

LOSSES = ("gcp", "distortion", "glm", "discernibility", "c-avg")


def random_hierarchy(rng: random.Random, column: str) -> Hierarchy:
    """Two to four levels, ragged in part, a null leaf under the root at times, numbers or categories."""
    leaves = [str(v) for v in rng.sample(range(30), rng.randint(1, 6))]
    depth = rng.randint(0, 2)
    numeric = rng.random() < 0.4
    paths: list[list[str | None]] = []
    for place, leaf in enumerate(sorted(leaves, key=int)):
        inner = [f"{level}:{place // 2**level}" for level in range(1, depth + 1)]
        if not numeric and rng.random() < 0.2:
            inner = []
        paths.append([leaf, *inner, "*"])
    if rng.random() < 0.3:
        paths.append([None, "*"])
    return hierarchy(column, paths, {leaf: int(leaf) for leaf in leaves} if numeric else None)


def random_models(rng: random.Random, sensitive: Sequence[str]) -> list[ModelSpec]:
    models = []
    for kind in rng.sample(["k", "k", "alpha", "alpha", "refined", "distinct", "frequency", *NEWER], rng.randint(1, 3)):
        column = rng.choice(sensitive)
        values = rng.choice([None, ("s0",), ("s0", "s1", "never")])
        alpha = Fraction(rng.randint(2, 10), 10)
        if kind == "k":
            models.append(model("k-anonymity", k=rng.randint(1, 5)))
        elif kind in ("alpha", "refined"):
            models.append(model("alpha-deassociation", column, alpha=alpha, values=values, refined=kind == "refined"))
        elif kind in NEWER:
            models.append(NEWER[kind](rng, column))
        else:
            models.append(model("l-diversity", column, kind=kind, l=rng.randint(1, 3)))
    return models


TREE = hierarchy("disease", [("s0", "x", "*"), ("s1", "x", "*"), ("s2", "y", "*"), ("s3", "z", "*"), (None, "*")])


def ranks(values: Iterable[str | None]) -> np.ndarray:
    """Place in their order of the values by number: those are sorted, null last."""
    found = set(values)
    line = sorted(found, key=brute.order)
    return np.array([line.index(v) for v in sorted(found, key=lambda v: (v is None, v))])


NEWER: dict[str, Callable[[random.Random, str], ModelSpec]] = {
    "entropy": lambda rng, column: model("l-diversity", column, kind="entropy", l=Fraction(rng.randint(10, 30), 10)),
    "recursive": lambda rng, column: model(
        "l-diversity", column, kind="recursive", l=rng.randint(1, 3), c=Fraction(rng.randint(2, 12), 4)
    ),
    "t": lambda rng, column: model(
        "t-closeness", column, t=Fraction(rng.randint(1, 8), 12), distance=rng.choice(["equal", "ordered", "hierarchical"])
    ),
    "delta": lambda rng, column: model("delta-disclosure", column, delta=Fraction(rng.randint(3, 20), 10)),
    "epsilon": lambda rng, column: model(
        "epsilon-k-sensitivity", column, epsilon=Fraction(rng.randint(0, 5), 10), k=rng.randint(1, 3), levels=rng.randint(1, 3),
        weights="uniform", b=None,
    ),
    "weights": lambda rng, column: model(
        "l-alpha-diversity", column, l=rng.randint(1, 2), alpha=Fraction(rng.randint(1, 8), 2), levels=rng.randint(2, 4)
    ),
    "lambda": lambda rng, column: model(
        "lambda-alpha-k", column, k=rng.randint(1, 3), alpha=Fraction(rng.randint(5, 10), 10), levels=rng.randint(1, 3),
        **{"lambda": {str(level): Fraction(10 - level, 9) for level in range(1, 4)}},
    ),
    "beta": lambda rng, column: model(
        "beta-likeness", column, beta=Fraction(rng.randint(2, 20), 8), kind=rng.choice(["basic", "enhanced"])
    ),
}


def random_problem(rng: random.Random) -> tuple[Problem, FrequencySet]:
    hierarchies = [random_hierarchy(rng, f"q{i}") for i in range(rng.choice([2, 2, 3, 3, 4, 5]))]
    sensitive = ["disease", "wage"][: rng.randint(1, 2)]
    kinds = rng.choice([["s0", "s1", "s2"], [None, "s0", "s1", "s2", "s3"]])
    shape = rng.choice([1, 3])
    rows = [
        [h.leaves[int(len(h.leaves) * rng.random() ** shape)] for h in hierarchies] + [rng.choice(kinds) for _ in sensitive]
        for _ in range(rng.randint(1, 24))
    ]
    low = tuple(rng.choice([0, 0, 0, rng.randint(0, h.levels - 1)]) for h in hierarchies)
    high = tuple(
        rng.choice([h.levels - 1, h.levels - 1, rng.randint(a, h.levels - 1)]) for a, h in zip(low, hierarchies, strict=True)
    )
    models = random_models(rng, sensitive)
    limit = rng.choice([Fraction(0), Fraction(rng.randint(1, 9), 20)])
    if rng.random() < 0.3:
        names = [h.column for h in hierarchies]
        given = tuple(names if limit else rng.sample(names, rng.randint(1, len(names))))
        h = Fraction(rng.randint(3, 10), 10)
        models.append(model("confidence-bound", rng.choice(sensitive), value=rng.choice(["s0", "s1"]), h=h, given=given))
    return bind(
        rows,
        hierarchies,
        models,
        sensitive,
        trees=tuple(TREE if m.parameters.get("distance") == "hierarchical" else None for m in models),
        ranks=tuple(ranks(row[len(hierarchies) + j] for row in rows) for j in range(len(sensitive))),
        ignores_null=tuple(rng.random() < 0.3 for _ in sensitive),
        weights=tuple(Fraction(rng.choice([1, 1, 2, 5]), rng.choice([1, 3])) for _ in hierarchies),
        min_levels=low,
        max_levels=high,
        limit=limit,
        loss=rng.choice(LOSSES),
    )


class Waves(LocalChecker):
    """The driver's checks, asked for in waves as Spark's are."""

    width = 4

    def check(self, nodes: Sequence[Levels]) -> list[Verdict]:
        assert len(set(nodes)) == len(nodes)
        return super().check(nodes)


class Parts(Waves):
    """What lies above some smaller set is checked from that set alone, as it is beside waves on Spark."""

    def __init__(self, problem: Problem, models: Sequence[Model], frequency: FrequencySet, cache_bytes: int):
        super().__init__(problem, models, frequency, cache_bytes)
        self.most = 1 + len(frequency.count) // 2
        self.part = DriverPart(problem, models, self.most, len(frequency.count), self.fetch)

    def fetch(self, levels: Levels) -> FrequencySet | None:
        cells = self.cells(levels)
        found = FrequencySet(cells.nodes.T, cells.sensitive.T, cells.count)
        return found if len(found.count) <= self.most else None

    def next_of(self, unknown: np.ndarray, space: NodeSpace) -> tuple[np.ndarray, int]:
        part = self.part.of(unknown, space, fewest=0)
        assert not (part & ~unknown).any()
        return (part, 1) if part.any() else (unknown, self.width)

    def check(self, nodes: Sequence[Levels]) -> list[Verdict]:
        right = super().check(nodes)
        here = self.part.verdicts(nodes)
        return [replace(here[n], kept=full.kept) if n in here else full for n, full in zip(nodes, right, strict=True)]


def outcome(
    problem: Problem, frequency: FrequencySet, kind: type[Waves] | None, parts: list[DriverPart]
) -> FullDomainRecoding | None:
    try:
        if kind is None:
            return decide(problem, frequency)
        made: list[Waves] = []

        def make(models: Sequence[Model], called: str) -> Waves:
            made.append(kind(problem, models, frequency, cache_bytes=2000))
            return made[-1]

        checker = with_templates(problem, models_of(problem), make)
        parts += [made[0].part] if isinstance(made[0], Parts) else []
        return decide_with(problem, checker, whole_table(problem, frequency))
    except InfeasibleError:
        return None


def agree(problem: Problem, frequency: FrequencySet, found: FullDomainRecoding | None, right: Answer) -> None:
    if found is None or right.best is None:
        assert found is None and right.best is None, (found, right)
        return
    loss, _, levels = right.best
    assert found.levels == levels, (found, right)
    assert found.losses[problem.loss] == (loss if problem.k or problem.loss != "c-avg" else None)
    assert found.suppressed_rows == right.holding[levels]
    assert found.trace.minimal in (None, right.minimal())
    if not problem.limit and all(m.union_closed for m in models_of(problem)):
        assert found.trace.minimal is not None
    trace = found.trace
    assert trace.nodes == trace.checked + trace.marked + trace.pruned and min(trace.checked, trace.marked, trace.pruned) >= 0
    suppressed = failing_classes(problem, frequency, levels)
    nodes = {tuple(line) for line in suppressed.tolist()}
    lost = 0
    for codes, n in zip(frequency.codes, frequency.count, strict=True):
        node = tuple(int(h.nodes[level][c]) for h, level, c in zip(problem.hierarchies, levels, codes, strict=True))
        lost += int(n) if node in nodes else 0
    assert lost == found.suppressed_rows


def test_the_search_equals_exhaustive_search(full: bool) -> None:
    feasible, parts = 0, list[DriverPart]()
    for seed in range(5000 if full else 500):
        problem, frequency = random_problem(random.Random(seed))
        right = exhaustive(problem, frequency)
        feasible += right.best is not None
        for kind in (None, Waves, Parts):
            try:
                agree(problem, frequency, outcome(problem, frequency, kind, parts), right)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {kind}: {problem.models}, {problem.loss}, {problem.limit}") from error
    assert feasible > 100, "the tables must not be hopeless"
    assert sum(part.checked for part in parts) > 50, "parts must be met"
