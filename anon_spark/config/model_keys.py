"""The privacy models by name, with their parameters (METHODS 1). One class a model; the name in the file is in MODELS."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field

from anon_spark.config.keys import Keys
from anon_spark.config.notes import show
from anon_spark.config.scalars import (
    AtLeastOne,
    Count,
    Flag,
    Name,
    Number,
    Positive,
    PositiveShare,
    Refused,
    Share,
    Value,
    Whole,
    checked,
    choice,
    value_text,
)

DiversityKind = Literal["distinct", "entropy", "recursive", "frequency"]
Distance = Literal["equal", "ordered", "hierarchical"]
LikenessKind = Literal["basic", "enhanced"]
Weights = Literal["uniform", "height"]
_level = Number("a level >= 1", low=Fraction(1))


def _levels(value: object) -> int | dict[str, Fraction]:
    """The number of levels to find, or the level of each value."""
    if isinstance(value, Mapping):
        return {value_text(name): _level(level) for name, level in value.items()}
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused(show(value), "a number of levels >= 1, or a mapping of values to levels")
    return Whole(1)(value)


def _some(values: list[str]) -> list[str]:
    if not values:
        raise Refused("an empty list", "at least one value", "leave {key} out for every value")
    return list(dict.fromkeys(values))


def _columns(names: list[str]) -> list[str]:
    if not names:
        raise Refused("an empty list", "at least one quasi-identifier")
    return list(dict.fromkeys(names))


def _some_levels(levels: dict[str, Fraction]) -> dict[str, Fraction]:
    if not levels:
        raise Refused("an empty mapping", "a share for each level")
    return levels


Levels = Annotated[int | dict[str, Fraction], checked(_levels)]


class ModelKeys(Keys):
    """What every model takes."""

    model: str


class OneColumnKeys(ModelKeys):
    """What every model of a sensitive column takes; the column may be left out where there is one."""

    column: Name | None = None


class KAnonymity(ModelKeys):
    """1.1."""

    k: Count = Field(description="k, an integer >= 1")


class AlphaDeassociation(OneColumnKeys):
    """1.2 and, refined, 1.3."""

    values: Annotated[list[Value], AfterValidator(_some)] | None = None
    alpha: PositiveShare = Field(description="alpha, a number in (0, 1]")
    refined: Flag = False


class LDiversity(OneColumnKeys):
    """1.4 to 1.7."""

    kind: Annotated[DiversityKind, choice(get_args(DiversityKind))] = "distinct"
    l: AtLeastOne = Field(description="l, a number >= 1")  # noqa: E741
    c: Positive | None = None


class TCloseness(OneColumnKeys):
    """1.8; the hierarchy, of the hierarchical distance, is read on its own."""

    t: Share = Field(description="t, a number in [0, 1]")
    distance: Annotated[Distance, choice(get_args(Distance))] = "equal"
    hierarchy: Any = None


class DeltaDisclosure(OneColumnKeys):
    """1.9."""

    delta: Positive = Field(description="delta, a number > 0")


class BetaLikeness(OneColumnKeys):
    """1.10."""

    beta: Positive = Field(description="beta, a number > 0")
    kind: Annotated[LikenessKind, choice(get_args(LikenessKind))] = "basic"


class EpsilonKSensitivity(OneColumnKeys):
    """1.11; b is the power of the weights by height."""

    epsilon: Share = Field(description="epsilon, a number in [0, 1]")
    k: Count = Field(description="k, an integer >= 1")
    levels: Levels = Field(description="a number of levels, or a mapping of values to levels")
    weights: Annotated[Weights, choice(get_args(Weights))] = "uniform"
    b: Positive | None = None


class LAlphaDiversity(OneColumnKeys):
    """1.12; alpha is a sum over rows, not a share."""

    l: Count = Field(description="l, an integer >= 1")  # noqa: E741
    alpha: Positive = Field(description="alpha, a number > 0")
    levels: Levels = Field(description="a number of levels, or a mapping of values to levels")


class LambdaAlphaK(OneColumnKeys):
    """1.13."""

    model_config = ConfigDict(populate_by_name=False)

    k: Count = Field(description="k, an integer >= 1")
    alpha: PositiveShare = Field(description="alpha, a number in (0, 1]")
    lambda_: Annotated[dict[str, Positive], AfterValidator(_some_levels)] = Field(
        alias="lambda", description="a mapping of levels to numbers > 0"
    )
    levels: Levels = Field(description="a number of levels, or a mapping of values to levels")


class ConfidenceBound(OneColumnKeys):
    """1.14."""

    value: Value = Field(description="the sensitive value that is bounded")
    h: PositiveShare = Field(description="h, a number in (0, 1]")
    given: Annotated[list[Name], AfterValidator(_columns)] = Field(description="a list of quasi-identifiers")


MODELS: Mapping[str, type[ModelKeys]] = {
    "k-anonymity": KAnonymity,
    "alpha-deassociation": AlphaDeassociation,
    "l-diversity": LDiversity,
    "t-closeness": TCloseness,
    "delta-disclosure": DeltaDisclosure,
    "beta-likeness": BetaLikeness,
    "epsilon-k-sensitivity": EpsilonKSensitivity,
    "l-alpha-diversity": LAlphaDiversity,
    "lambda-alpha-k": LambdaAlphaK,
    "confidence-bound": ConfidenceBound,
}
