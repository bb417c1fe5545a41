"""Confidence bounds given some of the quasi-identifiers, in full-domain recoding (METHODS 1.14).

The classes of these columns at a node are the full classes of the node that has them at the same levels and all others at the root. So
a node holds a bound where that other node does: it is checked as one, and a class is never asked for what lies outside of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from anon_spark.algorithms.checker import Checker, Verdict
from anon_spark.algorithms.node_space import NodeSpace
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels
from anon_spark.models.base import Model
from anon_spark.models.confidence import ConfidenceBound
from anon_spark.models.persons import PersonShare

Make = Callable[[Sequence[Model], str], Checker]
"""(models, a name of its own) -> a checker of them."""


def with_templates(problem: Problem, models: Sequence[Model], make: Make) -> Checker:
    """A checker of all models: the bounds given some columns in checkers of their own, one for each set of these.

    Contract: nothing may be suppressed where there are such bounds.
    """
    apart: dict[tuple[int, ...], list[Model]] = {}
    for model in models:
        if (places := some_columns(problem, model)) is not None:
            apart.setdefault(places, []).append(model)
    inner = make(of_full_classes(problem, models), "")
    if not apart:
        return inner
    return TemplateChecker(problem, inner, {places: make(some, f"-given-{i}") for i, (places, some) in enumerate(apart.items())})


def of_full_classes(problem: Problem, models: Sequence[Model]) -> tuple[Model, ...]:
    """The models that are asked of classes of all quasi-identifiers."""
    return tuple(model for model in models if some_columns(problem, model) is None)


def some_columns(problem: Problem, model: Model) -> tuple[int, ...] | None:
    """Places of the columns whose classes a model is asked of; None for all."""
    if not isinstance(model, (ConfidenceBound, PersonShare)) or model.given is None:
        return None
    places = tuple(i for i, h in enumerate(problem.hierarchies) if h.column in model.given)
    return places if len(places) < len(problem.hierarchies) else None


class TemplateChecker:
    """A ``Checker`` of nodes that asks others for what their templates say.  apart: checkers by the places of the given columns."""

    def __init__(self, problem: Problem, inner: Checker, apart: dict[tuple[int, ...], Checker]):
        self.inner = inner
        self._apart = apart
        self._root = tuple(h.levels - 1 for h in problem.hierarchies)

    @property
    def width(self) -> int:
        return self.inner.width

    def next_of(self, unknown: np.ndarray, space: NodeSpace) -> tuple[np.ndarray, int]:
        return self.inner.next_of(unknown, space)

    def will_cost(self, nodes: Sequence[Levels]) -> None:
        """Nothing is suppressed."""

    def check(self, nodes: Sequence[Levels]) -> list[Verdict]:
        found = self.inner.check(nodes)
        for places, checker in self._apart.items():
            others = [tuple(level if i in places else self._root[i] for i, level in enumerate(node)) for node in nodes]
            distinct = list(dict.fromkeys(others))
            of_node = dict(zip(distinct, checker.check(distinct), strict=True))
            found = [_failed(verdict, of_node[other]) for verdict, other in zip(found, others, strict=True)]
        return found


def _failed(verdict: Verdict, other: Verdict) -> Verdict:
    """A verdict with another node's failing rows: its kept classes are no longer known, so their squares count for nothing
    (``LossBounds``). A bound that may not prune, as one over persons, leaves alone what a node proves of those below it."""
    if not other.failing:
        return verdict
    more, pruning = max(verdict.failing, other.failing), max(verdict.failing_pruning, other.failing_pruning)
    return replace(verdict, failing=more, failing_pruning=pruning, squares=0, kept=None)
