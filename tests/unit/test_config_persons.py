"""Models beside a column of persons: which of them count, and which are refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from anon_spark.config.load import parse
from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import Policy


def asked(*models: dict[str, Any], job: str = "lattice") -> Policy:
    columns = [
        {"name": "patient", "role": "person"},
        {"name": "sex", "role": "quasi-identifier", "hierarchy": "flat"},
        {"name": "illness", "role": "sensitive"},
    ]
    return parse({"job": job, "columns": columns, "privacy": list(models)})


def faults(*models: dict[str, Any], job: str = "lattice") -> list[Fault]:
    with pytest.raises(ConfigurationError) as caught:
        asked(*models, job=job)
    return list(caught.value.faults)


COUNTING: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 2},
    {"model": "alpha-deassociation", "alpha": 0.5},
    {"model": "alpha-deassociation", "alpha": 0.5, "refined": True},
    {"model": "l-diversity", "kind": "frequency", "l": 2},
    {"model": "lambda-alpha-k", "k": 2, "alpha": 0.5, "lambda": {1: 1}, "levels": 1},
    {"model": "confidence-bound", "value": "HIV", "h": 0.5, "given": ["sex"]},
]
OTHERS: list[dict[str, Any]] = [
    {"model": "l-diversity", "l": 2},
    {"model": "l-diversity", "kind": "entropy", "l": 2},
    {"model": "l-diversity", "kind": "recursive", "l": 2, "c": 2},
    {"model": "t-closeness", "t": 0.2},
    {"model": "delta-disclosure", "delta": 1},
    {"model": "beta-likeness", "beta": 1},
    {"model": "epsilon-k-sensitivity", "epsilon": 0.1, "k": 2, "levels": 2},
    {"model": "l-alpha-diversity", "l": 2, "alpha": 1, "levels": 2},
]


def test_models_that_count_may_count_persons() -> None:
    assert [spec.model for spec in asked(*COUNTING).privacy] == [model["model"] for model in COUNTING]


@pytest.mark.parametrize("model", OTHERS, ids=lambda model: f"{model['model']}-{model.get('kind', '')}")
@pytest.mark.parametrize("job", ["lattice", "top-down"])
def test_models_of_histograms_are_refused_beside_persons(model: dict[str, Any], job: str) -> None:
    (fault,) = faults(model, job=job)
    assert fault.key == "privacy.0.model" and "beside role person" in fault.found and "histograms" in fault.advice
