"""From a configured model to the predicate: a plain table of the models that are built."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anon_spark.domain.errors import InternalError
from anon_spark.domain.policy import ModelSpec
from anon_spark.models.alpha_deassociation import AlphaDeassociation, RefinedAlphaDeassociation
from anon_spark.models.base import Model, exact
from anon_spark.models.k_anonymity import KAnonymity
from anon_spark.models.l_diversity import DistinctLDiversity, FrequencyLDiversity


def _k_anonymity(spec: ModelSpec) -> Model:
    return KAnonymity(_whole(spec, "k"))


def _alpha_deassociation(spec: ModelSpec) -> Model:
    kind = RefinedAlphaDeassociation if spec.parameters.get("refined") else AlphaDeassociation
    values = spec.parameters.get("values")
    listed = None if values is None else tuple(str(v) for v in values)  # type: ignore[attr-defined]
    return kind(_column(spec), exact(spec.parameters["alpha"]), listed)


def _l_diversity(spec: ModelSpec) -> Model:
    kind = KINDS[str(spec.parameters.get("kind", "distinct"))]
    return kind(_column(spec), _whole(spec, "l"))


KINDS: dict[str, type[DistinctLDiversity] | type[FrequencyLDiversity]] = {
    "distinct": DistinctLDiversity,
    "frequency": FrequencyLDiversity,
}
BUILDERS: dict[str, Callable[[ModelSpec], Model]] = {
    "k-anonymity": _k_anonymity,
    "alpha-deassociation": _alpha_deassociation,
    "l-diversity": _l_diversity,
}


def is_built(spec: ModelSpec) -> bool:
    """Whether this model, in this kind, can be decided."""
    return spec.model in BUILDERS and (spec.model != "l-diversity" or spec.parameters.get("kind", "distinct") in KINDS)


def build(spec: ModelSpec) -> Model:
    """The model of a validated configuration entry whose column is filled in; InternalError for one that ``is_built`` denies."""
    if not is_built(spec):
        raise InternalError(f"no model is built for {spec.model}")
    return BUILDERS[spec.model](spec)


def build_all(specs: Iterable[ModelSpec]) -> tuple[Model, ...]:
    """The models in the configured order."""
    return tuple(build(spec) for spec in specs)


def _whole(spec: ModelSpec, key: str) -> int:
    return int(str(spec.parameters[key]))


def _column(spec: ModelSpec) -> str:
    if spec.column is None:
        raise InternalError(f"the column of {spec.model} was not filled in")
    return spec.column
