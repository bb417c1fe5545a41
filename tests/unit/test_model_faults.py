"""What a configuration of the models can't ask, and what the values of a table can't give them: told before any search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hierarchies import bind as bound_table
from hierarchies import flat, model

from anon_spark.audit.words import figure
from anon_spark.config.load import parse
from anon_spark.domain.errors import ConfigurationError, DataError
from anon_spark.domain.policy import Column, FileHierarchy, FlatHierarchy, Policy
from anon_spark.domain.problem import Problem
from anon_spark.job.bind_models import bind_models, model_tree
from anon_spark.job.schema import BoundSchema
from anon_spark.plans.columns import RawColumn
from anon_spark.report import words


def faults(asked: Mapping[str, Any], job: str = "lattice", **more: Any) -> list[tuple[str, str]]:
    columns = [{"name": name, "role": "quasi-identifier", "hierarchy": "flat"} for name in ("q", "r")]
    columns.append({"name": "s", "role": "sensitive"})
    try:
        parse({"job": job, "columns": columns, "privacy": [asked], **more})
    except ConfigurationError as error:
        return [(fault.key, fault.found) for fault in error.faults]
    return []


CONFIDENCE = {"model": "confidence-bound", "value": "HIV", "h": 0.5, "given": ["q"]}
LEVELS = {"model": "lambda-alpha-k", "k": 2, "alpha": 1, "levels": 3, "lambda": {1: 1, 3: 0.5}}


def test_a_template_of_some_columns_beside_a_limit() -> None:
    """No search is known to be exact there; of all columns, or without a limit, or in local recoding, it may be asked."""
    limit = {"suppression": {"limit": 0.1}}
    (fault,) = faults(CONFIDENCE, **limit)
    assert fault == ("privacy.0.given", "1 of 2 quasi-identifiers beside suppression.limit 0.1")
    assert not faults({**CONFIDENCE, "given": ["r", "q"]}, **limit)
    assert not faults(CONFIDENCE) and not faults(CONFIDENCE, job="top-down", **limit)


def test_every_level_has_its_lambda_and_is_whole() -> None:
    assert faults(LEVELS) == [("privacy.0.lambda", "nothing for level 2")]
    assert not faults({**LEVELS, "lambda": {1: 1, 2: 0.7, 3: 0.5}})
    given = {**LEVELS, "levels": {"flu": 1, "HIV": 2.5}}
    assert faults(given) == [("privacy.0.levels", "2.5")]
    assert faults({**LEVELS, "levels": {}}) == [("privacy.0.levels", "an empty mapping")]


def test_a_tree_of_values_is_a_file() -> None:
    asked = {"model": "t-closeness", "t": 0.2, "distance": "hierarchical", "hierarchy": {"mask": "right"}}
    assert faults(asked) == [("privacy.0.hierarchy", "a mapping")]
    asked["hierarchy"] = {"path": "s.csv", "others": "root"}
    assert faults(asked) == [("privacy.0.hierarchy", "others or inner")]


def problem_of(asked: Any, values: list[str | None], **more: Any) -> tuple[Policy, BoundSchema, Problem]:
    problem, _ = bound_table([("x", value) for value in values], [flat("q", ["x"])], [asked], ["s"], **more)
    columns = (
        Column(name="q", role="quasi-identifier", hierarchy=FlatHierarchy()),
        Column(name="s", role="sensitive", nulls="ignore" if problem.ignores_null[0] else "value"),
    )
    return Policy(columns=columns, privacy=(asked,)), BoundSchema((), (), (), (), frozenset()), problem


def ordered(kind: str, values: list[str | None], **more: Any) -> Problem:
    policy, bound, problem = problem_of(model("t-closeness", "s", distance="ordered"), values, **more)
    raw = RawColumn("s", kind, None)  # type: ignore[arg-type]
    return bind_models(policy, replace(bound, counted=(raw,)), problem, {})


def test_numbers_and_dates_go_by_value() -> None:
    """9 before 10, -Infinity first; values are numbered as texts, an ignored null has no place."""
    found = ordered("integer", ["10", "9", "-3", "100"])
    assert found.values[0] == ("-3", "10", "100", "9") and found.ranks[0].tolist() == [0, 2, 3, 1]  # type: ignore[union-attr]
    found = ordered("decimal", ["2.50", "-Infinity", "1E3", None], ignores_null=(True,))
    assert found.values[0] == ("-Infinity", "1E3", "2.50", None) and found.ranks[0].tolist() == [0, 2, 1, -1]  # type: ignore[union-attr]
    assert ordered("date", ["2020-01-02", "1999-12-31"]).ranks[0].tolist() == [0, 1]  # type: ignore[union-attr]


@pytest.mark.parametrize("value", [None, "NaN"])
def test_what_has_no_order_is_the_datas_fault(value: str | None) -> None:
    with pytest.raises(DataError, match=r"privacy.0.distance: found no place in the order of s for null or NaN in 2 rows"):
        ordered("decimal", ["1.0", "2.0", value, value])


def test_a_value_without_level_or_leaf_is_the_datas_fault() -> None:
    raw = (RawColumn("s", "text", None),)  # type: ignore[arg-type]
    levels = model("l-alpha-diversity", "s", l=1, alpha=1, levels={"flu": 1})
    policy, bound, problem = problem_of(levels, ["flu", "HIV", "HIV"])
    with pytest.raises(DataError, match=r"1 value of s without a level, in 2 rows"):
        bind_models(policy, replace(bound, counted=raw), problem, {})
    tree = model("t-closeness", "s", t=1, distance="hierarchical", hierarchy=FileHierarchy(path="s.csv"))
    policy, bound, problem = problem_of(tree, ["flu", "HIV", "HIV"])
    with pytest.raises(DataError, match="hierarchy") as caught:
        bind_models(policy, replace(bound, counted=raw), problem, {model_tree(0): [["flu", "*"]]})
    assert "HIV" not in str(caught.value)
    whole = bind_models(policy, replace(bound, counted=raw), problem, {model_tree(0): [["flu", "*"], ["HIV", "*"]]})
    assert whole.trees[0] is not None and whole.trees[0].levels == 2 and np.array_equal(whole.totals[0], [2, 1])


def test_parameters_are_told_as_they_were_written() -> None:
    assert figure({"flu": Fraction(1), "HIV": Fraction(5, 2)}) == "flu: 1, HIV: 2.5"
    assert figure(FileHierarchy(path="conf/s.csv")) == "conf/s.csv" and figure(("q", "r")) == "q, r"
    told = words.model("t-closeness", {"t": Fraction(1, 5), "hierarchy": FileHierarchy(path="conf/s.csv"), "levels": {"flu": Fraction(1)}})
    assert told == "t-closeness (t = 0.2, hierarchy = conf/s.csv, levels = flu = 1)"
