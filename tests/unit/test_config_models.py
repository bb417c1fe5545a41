"""Each privacy model with its parameters, exact, and what it refuses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from anon_spark.config.load import parse
from anon_spark.domain.errors import ConfigurationError
from anon_spark.domain.policy import FileHierarchy, ModelSpec, Policy


def policy(model: dict[str, Any]) -> Policy:
    columns = [{"name": "q", "role": "quasi-identifier", "hierarchy": "flat"}, {"name": "s", "role": "sensitive"}]
    return parse({"columns": columns, "privacy": [model]})


def faults(model: dict[str, Any]) -> list[tuple[str, str, str]]:
    with pytest.raises(ConfigurationError) as caught:
        policy(model)
    return [(fault.key, fault.found, fault.advice) for fault in caught.value.faults]


MODELS = [
    ({"model": "k-anonymity", "k": 5}, {"k": 5}),
    ({"model": "alpha-deassociation", "alpha": 1}, {"values": None, "alpha": Fraction(1), "refined": False}),
    (
        {"model": "alpha-deassociation", "alpha": 0.1, "values": ["HIV", 1, True, "HIV"], "refined": True},
        {"values": ("HIV", "1", "true"), "alpha": Fraction(1, 10), "refined": True},
    ),
    ({"model": "l-diversity", "l": 3}, {"kind": "distinct", "l": Fraction(3), "c": None}),
    (
        {"model": "l-diversity", "l": 2, "kind": "recursive", "c": 0.5},
        {"kind": "recursive", "l": Fraction(2), "c": Fraction(1, 2)},
    ),
    ({"model": "l-diversity", "l": 2.5, "kind": "entropy"}, {"kind": "entropy", "l": Fraction(5, 2), "c": None}),
    ({"model": "t-closeness", "t": 0.2}, {"t": Fraction(1, 5), "distance": "equal", "hierarchy": None}),
    (
        {"model": "t-closeness", "t": 0.2, "distance": "hierarchical", "hierarchy": {"path": "s.csv"}},
        {"t": Fraction(1, 5), "distance": "hierarchical", "hierarchy": FileHierarchy(path="s.csv")},
    ),
    ({"model": "delta-disclosure", "delta": 1.5}, {"delta": Fraction(3, 2)}),
    ({"model": "beta-likeness", "beta": 2, "kind": "enhanced"}, {"beta": Fraction(2), "kind": "enhanced"}),
    (
        {"model": "epsilon-k-sensitivity", "epsilon": 0.2, "k": 3, "levels": 4, "weights": "height", "b": 2},
        {"epsilon": Fraction(1, 5), "k": 3, "levels": 4, "weights": "height", "b": Fraction(2)},
    ),
    (
        {"model": "l-alpha-diversity", "l": 2, "alpha": 1.5, "levels": {"HIV": 2, "flu": 1}},
        {"l": 2, "alpha": Fraction(3, 2), "levels": {"HIV": Fraction(2), "flu": Fraction(1)}},
    ),
    (
        {"model": "lambda-alpha-k", "k": 2, "alpha": 0.5, "lambda": {1: 1, 2: 0.5}, "levels": 2},
        {"k": 2, "alpha": Fraction(1, 2), "lambda": {"1": Fraction(1), "2": Fraction(1, 2)}, "levels": 2},
    ),
    (
        {"model": "confidence-bound", "value": "HIV", "h": 0.5, "given": ["q"]},
        {"value": "HIV", "h": Fraction(1, 2), "given": ("q",)},
    ),
]


@pytest.mark.parametrize(("model", "parameters"), MODELS)
def test_each_model(model, parameters):
    column = None if model["model"] == "k-anonymity" else "s"
    assert policy(model).privacy == (ModelSpec(model=model["model"], column=column, parameters=parameters),)


@pytest.mark.parametrize(
    ("model", "where", "found"),
    [
        ({"model": "l-diversity", "l": 2, "kind": "recursive"}, "c", "nothing"),
        ({"model": "t-closeness", "t": 0.2, "distance": "hierarchical"}, "hierarchy", "nothing"),
        ({"model": "t-closeness", "t": 0.2, "hierarchy": {"path": "a"}}, "hierarchy", "a hierarchy beside distance equal"),
        ({"model": "t-closeness", "t": 0.2, "distance": "hierarchical", "hierarchy": {"mask": "up"}}, "hierarchy.mask", "'up'"),
        ({"model": "t-closeness", "t": -0.2}, "t", "-0.2"),
        ({"model": "beta-likeness", "beta": 0}, "beta", "0"),
        ({"model": "epsilon-k-sensitivity", "epsilon": 0, "k": 1, "levels": 1, "b": 1}, "b", "b beside weights uniform"),
        ({"model": "epsilon-k-sensitivity", "epsilon": 0, "k": 1, "levels": True}, "levels", "true"),
        ({"model": "epsilon-k-sensitivity", "epsilon": 0, "k": 1}, "levels", "nothing"),
        ({"model": "l-alpha-diversity", "l": 2, "alpha": 1, "levels": {"HIV": 0}}, "levels", "0"),
        ({"model": "lambda-alpha-k", "k": 2, "alpha": 0.5, "levels": 2}, "lambda", "nothing"),
        (
            {"model": "lambda-alpha-k", "k": 2, "alpha": 0.5, "levels": 2, "lambda_": {"1": 1}, "lambda": {"1": 1, "2": 1}},
            "lambda_",
            "an unknown key",
        ),
        ({"model": "lambda-alpha-k", "k": 2, "alpha": 0.5, "levels": 2, "lambda": {}}, "lambda", "an empty mapping"),
        ({"model": "confidence-bound", "value": "HIV", "h": 0.5, "given": ["s"]}, "given.0", "'s'"),
        ({"model": "confidence-bound", "value": "HIV", "h": 0.5, "given": []}, "given", "an empty list"),
    ],
)
def test_model_faults(model, where, found, monkeypatch):
    assert [fault[:2] for fault in faults(model)] == [("privacy.0." + where, found)]
