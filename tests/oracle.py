"""Exhaustive search over a lattice in plain dicts and fractions, made to be obviously right; shares nothing with the job but its input."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import floor

from brute import holds

from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem

Levels = tuple[int, ...]


@dataclass
class Answer:
    """best: (loss, height, levels) or None; holding: level vector -> suppressed rows, for every node that holds."""

    best: tuple[Fraction, int, Levels] | None
    holding: dict[Levels, int]

    def minimal(self) -> tuple[Levels, ...]:
        return tuple(sorted(v for v in self.holding if not any(u != v and below(u, v) for u in self.holding)))


def below(u: Levels, v: Levels) -> bool:
    return all(a <= b for a, b in zip(u, v, strict=True))


def exhaustive(problem: Problem, frequency: FrequencySet) -> Answer:
    cells = [
        (tuple(map(int, codes)), tuple(map(int, values)), int(n))
        for codes, values, n in zip(frequency.codes, frequency.sensitive, frequency.count, strict=True)
    ]
    best, holding = None, {}
    for levels in product(*(range(a, b + 1) for a, b in zip(problem.min_levels, problem.max_levels, strict=True))):
        classes = defaultdict(list)
        for codes, values, n in cells:
            classes[tuple(int(h.nodes[level][c]) for h, level, c in zip(problem.hierarchies, levels, codes, strict=True))].append(
                (codes, values, n)
            )
        kept = [members for members in classes.values() if all_hold(problem, members, cells, levels)]
        rows = sum(n for members in kept for _, _, n in members)
        suppressed = problem.rows - rows
        if suppressed > floor(problem.limit * problem.rows) or not kept:
            continue
        holding[levels] = suppressed
        key = (loss_of(problem, levels, cells, kept), sum(levels), levels)
        best = key if best is None else min(best, key)
    return Answer(best, holding)


def node(problem: Problem, i: int, levels: Levels, cell: tuple) -> int:
    return int(problem.hierarchies[i].nodes[levels[i]][cell[0][i]])


def all_hold(problem: Problem, members: list, table: list, levels: Levels | None = None) -> bool:
    """Whether a class holds every model; levels: of the node it is of, None for a group of a local recoding."""
    size = sum(n for _, _, n in members)
    trees = problem.trees or (None,) * len(problem.models)
    for spec, tree in zip(problem.models, trees, strict=True):
        if spec.column is None:
            if not holds(spec, Counter(), size, Counter()):
                return False
            continue
        j = problem.sensitive.index(spec.column)
        own = members
        if spec.model == "confidence-bound" and levels is not None:
            given = [i for i, h in enumerate(problem.hierarchies) if h.column in spec.parameters["given"]]
            own = [cell for cell in table if all(node(problem, i, levels, cell) == node(problem, i, levels, members[0]) for i in given)]
        size = sum(n for _, _, n in own)
        seen, whole = (histogram(problem, j, cells) for cells in (own, table))
        paths = None if tree is None else {v: [h[tree.nodes[i][tree.codes[v]]] for i, h in enumerate(tree.labels)] for v in whole}
        if not holds(spec, seen, size, whole, paths):
            return False
    return True


def histogram(problem: Problem, j: int, cells: list) -> Counter:
    """Rows by counted value of one sensitive column."""
    found: Counter = Counter()
    for _, values, n in cells:
        text = problem.values[j][values[j]]
        if not (text is None and problem.ignores_null[j]):
            found[text] += n
    return found


def loss_of(problem: Problem, levels: Levels, cells: list, kept: list) -> Fraction:
    n_all = problem.rows
    published = [(codes, n) for members in kept for codes, _, n in members]
    lost = n_all - sum(n for _, n in published)
    sizes = [sum(n for _, _, n in members) for members in kept]
    if problem.loss == "discernibility":
        return Fraction(sum(size**2 for size in sizes) + lost * n_all)
    if problem.loss == "c-avg":
        return Fraction(sum(sizes), len(sizes)) / (problem.k or 1)
    if problem.loss == "distortion":
        at = lambda i, level, code: Fraction(problem.hierarchies[i].height[level].numerators[code])  # noqa: E731
        d = range(len(levels))
        root = sum(n * at(i, -1, codes[i]) for codes, _, n in cells for i in d)
        done = sum(n * at(i, levels[i], codes[i]) for codes, n in published for i in d)
        published_root = sum(n * at(i, -1, codes[i]) for codes, n in published for i in d)
        return (done + root - published_root) / root
    total = Fraction(0)
    for i, (h, weight) in enumerate(zip(problem.hierarchies, problem.weights, strict=True)):
        cost = (h.ncp if problem.loss == "gcp" else h.glm)[levels[i]]
        column = sum(n * Fraction(cost.numerators[codes[i]], cost.denominator) for codes, n in published) + lost
        total += weight * column / n_all
    return total / sum(problem.weights)
