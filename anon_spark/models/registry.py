"""From a configured model to the predicates that it asks for: a plain table by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from anon_spark.domain.errors import InternalError
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.kept import kept
from anon_spark.domain.policy import ModelSpec
from anon_spark.domain.problem import GIVEN, Problem
from anon_spark.models.alpha_deassociation import AlphaDeassociation, RefinedAlphaDeassociation
from anon_spark.models.base import Model, exact
from anon_spark.models.closeness import EqualCloseness, HierarchicalCloseness, OrderedCloseness
from anon_spark.models.confidence import ConfidenceBound
from anon_spark.models.entropy_l import EntropyLDiversity, RecursiveLDiversity
from anon_spark.models.histogram import Known
from anon_spark.models.k_anonymity import KAnonymity
from anon_spark.models.l_diversity import DistinctLDiversity, FrequencyLDiversity
from anon_spark.models.levels import Graded, graded
from anon_spark.models.persons import GivenPersons, GivenShare, PersonAnonymity, PersonShare, RefinedGivenShare
from anon_spark.models.relative import BetaLikeness, DeltaDisclosure
from anon_spark.models.sensitivity import EpsilonSensitivity, LevelShares, WeightedRows


@dataclass(frozen=True)
class Asked:
    """A model as configured, its column filled in, and what it may be bound to: the table's sensitive columns by name, and the tree
    over its values where it has one."""

    spec: ModelSpec
    columns: Mapping[str, Known] = field(default_factory=dict)
    tree: Hierarchy | None = None

    @property
    def column(self) -> str:
        if self.spec.column is None:
            raise InternalError(f"the column of {self.spec.model} was not filled in")
        return self.spec.column

    @property
    def known(self) -> Known:
        """The sensitive column, as the table has it."""
        if self.column not in self.columns:
            raise InternalError(f"{self.spec.model} was not bound to the values of {self.column}")
        return self.columns[self.column]

    @property
    def bound_tree(self) -> Hierarchy:
        """The tree over the column's values."""
        if self.tree is None:
            raise InternalError(f"{self.spec.model} was not bound to a hierarchy of {self.column}")
        return self.tree

    @cached_property
    def levels(self) -> Graded:
        """The column's values by sensitivity."""
        given = self.spec.parameters
        return graded(self.known, given["levels"], given.get("weights"), given.get("b"))

    def whole(self, key: str) -> int:
        return int(str(self.spec.parameters[key]))

    def exact(self, key: str) -> Fraction:
        return exact(self.spec.parameters[key])


def _alpha_deassociation(asked: Asked) -> tuple[Model, ...]:
    kind = RefinedAlphaDeassociation if asked.spec.parameters.get("refined") else AlphaDeassociation
    return (kind(asked.column, asked.exact("alpha"), _listed(asked)),)


def _listed(asked: Asked) -> tuple[str, ...] | None:
    values = asked.spec.parameters.get("values")
    return None if values is None else tuple(str(v) for v in values)  # type: ignore[attr-defined]


def _given(asked: Asked) -> tuple[str, ...]:
    return tuple(str(name) for name in asked.spec.parameters["given"])  # type: ignore[attr-defined]


def _shares(asked: Asked) -> tuple[Fraction, ...]:
    """lambda * alpha of each level; of a level without a lambda, which no value is on, nothing."""
    given: Mapping[str, Fraction] = asked.spec.parameters["lambda"]  # type: ignore[assignment]
    levels = range(1, len(asked.levels.sensitivity) + 1)
    return tuple(exact(given.get(str(level), 0)) * asked.exact("alpha") for level in levels)


def _l_diversity(asked: Asked) -> tuple[Model, ...]:
    return (DIVERSITIES[str(asked.spec.parameters.get("kind", "distinct"))](asked),)


DIVERSITIES: dict[str, Callable[[Asked], Model]] = {
    "distinct": lambda asked: DistinctLDiversity(asked.column, asked.whole("l")),
    "frequency": lambda asked: FrequencyLDiversity(asked.column, asked.exact("l")),
    "entropy": lambda asked: EntropyLDiversity(asked.known, asked.exact("l")),
    "recursive": lambda asked: RecursiveLDiversity(asked.known, asked.whole("l"), asked.exact("c")),
}
CLOSENESS: dict[str, Callable[[Asked], Model]] = {
    "equal": lambda asked: EqualCloseness(asked.known, asked.exact("t")),
    "ordered": lambda asked: OrderedCloseness(asked.known, asked.exact("t")),
    "hierarchical": lambda asked: HierarchicalCloseness(asked.known, asked.exact("t"), asked.bound_tree),
}
BUILDERS: dict[str, Callable[[Asked], tuple[Model, ...]]] = {
    "k-anonymity": lambda asked: (KAnonymity(asked.whole("k")),),
    "alpha-deassociation": _alpha_deassociation,
    "l-diversity": _l_diversity,
    "t-closeness": lambda asked: (CLOSENESS[str(asked.spec.parameters.get("distance") or "equal")](asked),),
    "delta-disclosure": lambda asked: (DeltaDisclosure(asked.known, asked.exact("delta")),),
    "confidence-bound": lambda asked: (
        ConfidenceBound(asked.column, asked.exact("h"), (str(asked.spec.parameters["value"]),), _given(asked)),
    ),
    "epsilon-k-sensitivity": lambda asked: (
        KAnonymity(asked.whole("k")),
        EpsilonSensitivity(asked.levels, asked.exact("epsilon"), asked.whole("k")),
    ),
    "l-alpha-diversity": lambda asked: (
        DistinctLDiversity(asked.column, asked.whole("l")),
        WeightedRows(asked.levels, asked.exact("alpha")),
    ),
    "lambda-alpha-k": lambda asked: (
        KAnonymity(asked.whole("k")),
        LevelShares(asked.levels, asked.exact("alpha"), _shares(asked)),
    ),
    "beta-likeness": lambda asked: (
        BetaLikeness(asked.known, asked.exact("beta"), asked.spec.parameters.get("kind") == "enhanced"),
    ),
}


def _refined(asked: Asked) -> bool:
    return bool(asked.spec.parameters.get("refined"))


def _value(asked: Asked) -> tuple[str, ...]:
    return (str(asked.spec.parameters["value"]),)


def _by_level(asked: Asked) -> list[tuple[Fraction, tuple[str | None, ...]]]:
    """The share of each level, and its values: a bound of each level says what one of each value would."""
    of_level: dict[int, list[str | None]] = {}
    for number, level in enumerate(asked.levels.level.tolist()):
        if level:
            of_level.setdefault(level, []).append(asked.known.texts[number])
    shares = _shares(asked)
    return [(shares[level - 1], tuple(texts)) for level, texts in sorted(of_level.items())]


OF_PERSONS: dict[str, Callable[[Asked], tuple[Model, ...]]] = {
    "k-anonymity": lambda asked: (PersonAnonymity(asked.whole("k")),),
    "alpha-deassociation": lambda asked: (PersonShare(asked.column, asked.exact("alpha"), _listed(asked), _refined(asked)),),
    "l-diversity": lambda asked: (PersonShare(asked.column, 1 / asked.exact("l")),),
    "confidence-bound": lambda asked: (PersonShare(asked.column, asked.exact("h"), _value(asked), given=_given(asked)),),
    "lambda-alpha-k": lambda asked: (
        PersonAnonymity(asked.whole("k")),
        *(PersonShare(asked.column, most, texts) for most, texts in _by_level(asked)),
    ),
}
"""Models over persons, counted exactly; l-diversity is of kind frequency there."""
OF_GIVEN_PERSONS: dict[str, Callable[[Asked], tuple[Model, ...]]] = {
    "k-anonymity": lambda asked: (GivenPersons(asked.whole("k")),),
    "alpha-deassociation": lambda asked: (
        (RefinedGivenShare if _refined(asked) else GivenShare)(asked.column, asked.exact("alpha"), _listed(asked)),
    ),
    "l-diversity": lambda asked: (GivenShare(asked.column, 1 / asked.exact("l")),),
    "confidence-bound": lambda asked: (GivenShare(asked.column, asked.exact("h"), _value(asked)),),
    "lambda-alpha-k": lambda asked: (
        GivenPersons(asked.whole("k")),
        *(GivenShare(asked.column, most, texts) for most, texts in _by_level(asked)),
    ),
}
"""Models over persons by bounds that add up."""


def build(asked: Asked, builders: Mapping[str, Callable[[Asked], tuple[Model, ...]]] = BUILDERS) -> tuple[Model, ...]:
    """The predicates of one configured model, which must all hold."""
    if asked.spec.model not in builders:
        raise InternalError(f"no model is built for {asked.spec.model}")
    return builders[asked.spec.model](asked)


def models_of(problem: Problem) -> tuple[Model, ...]:
    """The predicates of a problem's models, bound to its table, in the configured order."""
    return tuple(model for _, model in pairs_of(problem))


@kept
def pairs_of(problem: Problem) -> tuple[tuple[ModelSpec, Model], ...]:
    """The same, each with the configured model that asks for it. Made once a problem: a worker asks in every block, and what models
    find of the table's distribution stays with them."""
    columns = columns_of(problem)
    trees = problem.trees or (None,) * len(problem.models)
    asked = (Asked(spec, columns, tree) for spec, tree in zip(problem.models, trees, strict=True))
    builders = BUILDERS if problem.persons is None else OF_GIVEN_PERSONS if GIVEN in problem.sensitive else OF_PERSONS
    return tuple((one.spec, model) for one in asked for model in build(one, builders))


def columns_of(problem: Problem) -> dict[str, Known]:
    """The sensitive columns of a problem whose totals are known."""
    columns = {}
    for j, rows in enumerate(problem.totals):
        texts = problem.values[j]
        ignored = [text is None and problem.ignores_null[j] for text in texts]
        ranks = problem.ranks[j] if problem.ranks else None
        columns[problem.sensitive[j]] = Known(problem.sensitive[j], texts, np.where(ignored, 0, rows), problem.rows, ranks)
    return columns
