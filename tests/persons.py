"""Random tables of several rows a person, and exhaustive search over their lattices in sets of persons, for tests."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor

import brute
import numpy as np
from hierarchies import bind, hierarchy, model
from oracle import Answer, loss_of, node

from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import ModelSpec
from anon_spark.domain.problem import Problem

Row = Sequence[str | None]
"""Quasi-identifiers, then sensitive values, then the person, None for nobody else's."""


def random_rows(rng: random.Random, columns: int, sensitive: int) -> list[list[str | None]]:
    """Few persons of several rows each, some of them alike, some without an id."""
    persons = [None, *(f"p{i}" for i in range(rng.randint(1, 8)))]
    values = rng.choice([["s0", "s1"], ["s0", "s1", "s2", None]])
    return [
        [*(str(rng.randint(0, 3)) for _ in range(columns)), *(rng.choice(values) for _ in range(sensitive)), rng.choice(persons)]
        for _ in range(rng.randint(1, 24))
    ]


def random_problem(rng: random.Random) -> tuple[Problem, FrequencySet, list[list[str | None]]]:
    columns, sensitive = rng.randint(1, 3), ["disease", "wage"][: rng.randint(0, 2)]
    rows = random_rows(rng, columns, len(sensitive))
    high, low = [(str(leaf), f"{leaf // 2}x", "*") for leaf in range(4)], [(str(leaf), "*") for leaf in range(4)]
    hierarchies = [hierarchy(f"q{i}", high if rng.random() < 0.7 else low) for i in range(columns)]
    models = random_models(rng, sensitive, [h.column for h in hierarchies])
    given = any(m.model == "confidence-bound" and len(m.parameters["given"]) < columns for m in models)  # type: ignore[arg-type]
    limit = Fraction(0) if given else rng.choice([Fraction(0), Fraction(rng.randint(1, 9), 20)])
    ignores = tuple(rng.random() < 0.3 for _ in sensitive)
    loss = rng.choice(["gcp", "distortion", "glm", "discernibility", "c-avg"])
    problem, frequency = bind_persons(rows, hierarchies, models, sensitive, limit=limit, loss=loss, ignores_null=ignores)
    return problem, frequency, rows


def bind_persons(
    rows: Sequence[Row], hierarchies: Sequence[Hierarchy], models: Sequence[ModelSpec], sensitive: Sequence[str] = (), **more: object
) -> tuple[Problem, FrequencySet]:
    """A problem that counts persons and its frequency set, which tells them."""
    numbers = {None: 0} | {person: i for i, person in enumerate(sorted({row[-1] for row in rows} - {None}), 1)}  # type: ignore[type-var]
    problem, _ = bind([row[:-1] for row in rows], hierarchies, models, sensitive, **more)
    d = len(hierarchies)
    codes = [[h.codes[row[i]] for i, h in enumerate(hierarchies)] for row in rows]
    values = [[problem.values[j].index(row[d + j]) for j in range(len(sensitive))] for row in rows]
    cells = Counter((*line, *held, numbers[row[-1]]) for line, held, row in zip(codes, values, rows, strict=True))
    table = np.array(sorted(cells), np.int32).reshape(len(cells), d + len(sensitive) + 1)
    frequency = FrequencySet(table[:, :d], table[:, d:], np.array([cells[key] for key in sorted(cells)], np.int64))
    totals = tuple(
        np.array([persons_in([row for row in rows if row[d + j] == text]) for text in texts], np.int64)
        for j, texts in enumerate(problem.values)
    )
    fields = {name: getattr(problem, name) for name in problem.__dataclass_fields__}
    return Problem(**{**fields, "persons": persons_in(rows), "totals": totals}), frequency


def persons_in(rows: Sequence[Row]) -> int:
    """Distinct persons, every row without one being its own."""
    known = [row[-1] for row in rows if row[-1] is not None]
    return len(set(known)) + len(rows) - len(known)


def random_models(rng: random.Random, sensitive: Sequence[str], columns: Sequence[str]) -> list[ModelSpec]:
    kinds = ["k"] if not sensitive else ["k", "k", "alpha", "refined", "frequency", "lambda", "confidence"]
    models = []
    for kind in rng.sample(kinds, rng.randint(1, min(3, len(kinds)))):
        column = rng.choice(sensitive) if sensitive else None
        share = Fraction(rng.randint(3, 10), 10)
        if kind == "k":
            models.append(model("k-anonymity", k=rng.randint(1, 5)))
        elif kind in ("alpha", "refined"):
            values = rng.choice([None, ("s0",), ("s0", "s1", "never")])
            models.append(model("alpha-deassociation", column, alpha=share, values=values, refined=kind == "refined"))
        elif kind == "frequency":
            models.append(model("l-diversity", column, kind="frequency", l=rng.randint(1, 3)))
        elif kind == "lambda":
            given = {"k": rng.randint(1, 3), "levels": rng.randint(1, 3), "lambda": {str(i): Fraction(10 - i, 9) for i in range(1, 4)}}
            models.append(model("lambda-alpha-k", column, alpha=share, **given))
        else:
            some = tuple(rng.sample(columns, rng.randint(1, len(columns))))
            models.append(model("confidence-bound", column, value="s0", h=share, given=some))
    return models


def holds(spec: ModelSpec, rows: Sequence[Row], table: Sequence[Row], place: int | None, ignores: bool) -> bool:
    """Whether a class holds a model, read off its definition in persons.  place: of the model's column in a row."""
    p, size = spec.parameters, persons_in(rows)
    if spec.model == "k-anonymity":
        return size >= p["k"]
    assert place is not None
    counts = by_value(rows, place, ignores)
    if spec.model == "alpha-deassociation":
        listed = counts.values() if p["values"] is None else [counts[v] for v in p["values"]]
        return all(n <= (ceil(p["alpha"] * size) if p["refined"] else p["alpha"] * size) for n in listed)
    if spec.model == "l-diversity":
        return all(n * p["l"] <= size for n in counts.values())
    if spec.model == "confidence-bound":
        return counts[p["value"]] <= p["h"] * size
    levels = brute.levels(p["levels"], by_value(table, place, ignores))
    return size >= p["k"] and all(n <= p["lambda"][str(levels[v])] * p["alpha"] * size for v, n in counts.items())


def by_value(rows: Sequence[Row], place: int, ignores: bool) -> Counter:
    values = {row[place] for row in rows if not (ignores and row[place] is None)}
    return Counter({value: persons_in([row for row in rows if row[place] == value]) for value in values})


def exhaustive(problem: Problem, frequency: FrequencySet, rows: Sequence[Row]) -> Answer:
    """Every node tried."""
    d = len(problem.hierarchies)
    coded = [tuple(h.codes[row[i]] for i, h in enumerate(problem.hierarchies)) for row in rows]
    cells = [(code, (), 1) for code in coded]
    best, holding = None, {}
    for levels in product(*(range(h.levels) for h in problem.hierarchies)):
        nodes = [tuple(node(problem, i, levels, cell) for i in range(d)) for cell in cells]
        classes = defaultdict(list)
        for line, at in enumerate(nodes):
            classes[at].append(line)
        kept = []
        for members in classes.values():
            if all(_holds(problem, spec, members, nodes, rows) for spec in problem.models):
                kept.append([cells[line] for line in members])
        suppressed = problem.rows - sum(map(len, kept))
        if suppressed > floor(problem.limit * problem.rows) or not kept:
            continue
        holding[levels] = suppressed
        key = (loss_of(problem, levels, cells, kept), sum(levels), levels)
        best = key if best is None else min(best, key)
    return Answer(best, holding)


def _holds(problem: Problem, spec: ModelSpec, members: list[int], nodes: list[tuple], rows: Sequence[Row]) -> bool:
    own = [rows[line] for line in members]
    j = None if spec.column is None else problem.sensitive.index(spec.column)
    if spec.model == "confidence-bound":
        given = [i for i, h in enumerate(problem.hierarchies) if h.column in spec.parameters["given"]]  # type: ignore[operator]
        own = [row for row, at in zip(rows, nodes, strict=True) if all(at[i] == nodes[members[0]][i] for i in given)]
    place = None if j is None else len(problem.hierarchies) + j
    return holds(spec, own, rows, place, j is not None and problem.ignores_null[j])
