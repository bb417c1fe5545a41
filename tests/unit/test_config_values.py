"""Numbers exactly as written, each kind of hierarchy, each privacy model with its parameters."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pytest

from anon_spark.config.load import parse
from anon_spark.config.notes import nearest
from anon_spark.config.scalars import decimal, exact
from anon_spark.domain.errors import ConfigurationError
from anon_spark.domain.policy import (
    DateHierarchy,
    FileHierarchy,
    FlatHierarchy,
    HierarchySpec,
    IntervalHierarchy,
    MaskHierarchy,
    Policy,
)


def policy(hierarchy: object = "flat", model: dict[str, Any] | None = None, **column: object) -> Policy:
    return parse(
        {
            "columns": [
                {"name": "q", "role": "quasi-identifier", "hierarchy": hierarchy, **column},
                {"name": "s", "role": "sensitive"},
            ],
            "privacy": [model or {"model": "k-anonymity", "k": 2}],
        }
    )


def hierarchy_of(raw: object, **column: object) -> HierarchySpec | None:
    return policy(raw, **column).columns[0].hierarchy


def faults(*args: Any, **keys: Any) -> list[tuple[str, str, str]]:
    with pytest.raises(ConfigurationError) as caught:
        policy(*args, **keys)
    return [(fault.key, fault.found, fault.advice) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.1, Fraction(1, 10)),
        (Decimal("0.30000000000000000001"), Fraction(30000000000000000001, 10**20)),
        ("1/3", Fraction(1, 3)),
        ("0.5", Fraction(1, 2)),
        ("1e-3", Fraction(1, 1000)),
        (".5", Fraction(1, 2)),
        (3, Fraction(3)),
        (np.float64(0.1), Fraction(1, 10)),
        (1e-300, Fraction(1, 10**300)),
        (True, None),
        ("1/0", None),
        ("0x1", None),
        ("1_0", None),
        ("٣", None),
        (" 1", None),
        ("1e999999", None),
        (Decimal("1e999999999"), None),
        (Decimal("NaN"), None),
        (float("inf"), None),
        pytest.param(10**5000, None, id="huge"),
        (None, None),
    ],
)
def test_numbers_are_the_decimals_as_written(value, number):
    assert exact(value) == number


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(1, 10), "0.1"),
        (Fraction(1, 3), "1/3"),
        (Fraction(-5, 4), "-1.25"),
        (Fraction(7), "7"),
        (Fraction(70), "70"),
        (Fraction(1, 6), "1/6"),
        (Fraction(1, 1000), "0.001"),
        (Fraction(0), "0"),
        (Fraction(-2, 3), "-2/3"),
    ],
)
def test_fractions_print_exactly(number, text):
    assert decimal(number) == text


def test_exact_numbers_reach_the_policy():
    made = parse(
        {
            "columns": [
                {"name": "q", "role": "quasi-identifier", "hierarchy": "flat", "weight": 0.1},
                {"name": "s", "role": "sensitive"},
            ],
            "privacy": [
                {"model": "alpha-deassociation", "alpha": "1/3"},
                {"model": "l-diversity", "l": 2.5, "kind": "frequency"},
            ],
            "suppression": {"limit": 0.29},
        }
    )
    assert made.columns[0].weight == Fraction(1, 10)
    assert made.privacy[0].parameters["alpha"] == Fraction(1, 3)
    assert made.privacy[1].parameters["l"] == Fraction(5, 2)
    assert made.suppression.limit * 100 == 29


def test_numpy_integers_and_paths_are_taken():
    made = policy({"path": PurePosixPath("conf/q.csv")}, {"model": "k-anonymity", "k": np.int64(5)})
    assert made.columns[0].hierarchy == FileHierarchy(path="conf/q.csv")
    assert made.privacy[0].parameters == {"k": 5} and type(made.privacy[0].parameters["k"]) is int


@pytest.mark.parametrize(
    ("raw", "made"),
    [
        ("flat", FlatHierarchy()),
        ({"path": "a.csv"}, FileHierarchy(path="a.csv")),
        ({"path": "a.csv", "sep": "\t"}, FileHierarchy(path="a.csv", sep="\t")),
        ({"path": "a.csv", "others": "root", "inner": "accept"}, FileHierarchy(path="a.csv", others="root", inner="accept")),
        ({"intervals": [5]}, IntervalHierarchy(widths=(Fraction(5),))),
        (
            {"intervals": [0.5, 1, 10], "origin": 0.25, "lower": 0, "upper": 100, "others": "root"},
            IntervalHierarchy(
                widths=(Fraction(1, 2), Fraction(1), Fraction(10)),
                origin=Fraction(1, 4),
                lower=Fraction(0),
                upper=Fraction(100),
                others="root",
            ),
        ),
        (
            {"intervals": [7, 28], "origin": "2020-01-06", "lower": "1900-01-01"},
            IntervalHierarchy(widths=(Fraction(7), Fraction(28)), origin="2020-01-06", lower="1900-01-01"),
        ),
        ({"mask": "right"}, MaskHierarchy()),
        ({"mask": "left", "character": "#", "steps": [1, 3]}, MaskHierarchy(side="left", character="#", steps=(1, 3))),
        ({"mask": "right", "character": 0}, MaskHierarchy(character="0")),
        ({"date": ["month", "year"]}, DateHierarchy(units=("month", "year"))),
        (
            {"date": ["hour", "day", "month", "quarter", "half", "year", "decade", "century"]},
            DateHierarchy(units=("hour", "day", "month", "quarter", "half", "year", "decade", "century")),
        ),
    ],
)
def test_each_kind_of_hierarchy(raw, made):
    assert hierarchy_of(raw) == made


@pytest.mark.parametrize(
    ("raw", "where", "found", "advice"),
    [
        ("flt", "", "'flt'", "did you mean 'flat'?"),
        ("right", "", "'right'", "write {mask: right}"),
        ("month", "", "'month'", "write {date: [month]}"),
        ("conf/q.csv", "", "'conf/q.csv'", "write {path: conf/q.csv}"),
        (5, "", "5", ""),
        ({}, "", "no kind of hierarchy", ""),
        ({"flat": True}, "", "no kind of hierarchy", ""),
        ({"interval": [5]}, "", "no kind of hierarchy", "did you mean 'intervals'?"),
        ({"sep": ","}, "", "no kind of hierarchy", ""),
        ({"path": "a", "mask": "left"}, "", "path and mask", ""),
        ({"mask": "middle"}, ".mask", "'middle'", ""),
        ({"mask": "right", "character": "**"}, ".character", "'**'", ""),
        ({"mask": "right", "character": " "}, ".character", "' '", ""),
        ({"mask": "right", "steps": [2, 2]}, ".steps", "2 after 2", ""),
        ({"mask": "right", "steps": []}, ".steps", "an empty list", ""),
        ({"mask": "right", "steps": [0]}, ".steps.0", "0", ""),
        (
            {"mask": "right", "origin": 0},
            ".origin",
            "an unknown key",
            "origin belongs to a hierarchy by intervals, this one is by mask",
        ),
        ({"path": "a", "steps": [1]}, ".steps", "an unknown key", "steps belongs to a hierarchy by mask, this one is by path"),
        ({"path": "a", "others": "drop"}, ".others", "'drop'", ""),
        ({"path": "a", "inner": "acept"}, ".inner", "'acept'", "did you mean 'accept'?"),
        ({"path": "a", "sep": ""}, ".sep", "''", ""),
        ({"path": ""}, ".path", "an empty text", ""),
        ({"intervals": []}, ".intervals", "an empty list", ""),
        ({"intervals": 5}, ".intervals", "5", "write [5]"),
        ({"intervals": [0]}, ".intervals.0", "0", ""),
        ({"intervals": [-1, 2]}, ".intervals.0", "-1", ""),
        ({"intervals": [10, 5]}, ".intervals", "5 after 10", ""),
        ({"intervals": [5, 12]}, ".intervals", "12 after 5", ""),
        ({"intervals": [5], "origin": "2020-13-01"}, ".origin", "'2020-13-01'", ""),
        ({"intervals": [5], "origin": "2020-01-01T00:00:00+01:00"}, ".origin", "'2020-01-01T00:00:00+01:00'", ""),
        ({"intervals": [5], "lower": 10, "upper": 10}, ".upper", "10 beside lower 10", ""),
        ({"intervals": [5], "lower": "2020-01-02", "upper": "2020-01-01"}, ".upper", "2020-01-01 beside lower 2020-01-02", ""),
        ({"intervals": [5], "lower": 1, "upper": "2020-01-01"}, "", "numbers beside dates", ""),
        ({"date": ["year", "month"]}, ".date", "month after year", ""),
        ({"date": ["year", "year"]}, ".date", "year after year", ""),
        ({"date": ["months"]}, ".date.0", "'months'", "did you mean 'month'?"),
        ({"date": "month"}, ".date", "'month'", "write ['month']"),
        ({"date": []}, ".date", "an empty list", ""),
    ],
)
def test_hierarchy_faults(raw, where, found, advice):
    assert faults(raw) == [("columns.0.hierarchy" + where, found, advice)]


@pytest.mark.parametrize(
    ("raw", "type_", "where"),
    [
        ({"date": ["month"]}, "integer", ".date"),
        ({"date": ["day", "month"]}, "date", ".date.0"),
        ({"intervals": [5]}, "boolean", ".intervals"),
        ({"intervals": [5], "origin": 0}, "date", ".origin"),
        ({"intervals": [0.5]}, "date", ".intervals.0"),
        ({"intervals": [5], "origin": "2020-01-01"}, "integer", ".origin"),
        ({"mask": "left"}, "timestamp", ".mask"),
    ],
)
def test_a_hierarchy_that_its_type_has_no_meaning_for(raw, type_, where):
    assert [fault[0] for fault in faults(raw, type=type_)] == ["columns.0.hierarchy" + where]


@pytest.mark.parametrize(
    ("raw", "type_"),
    [
        ({"date": ["day", "month"]}, "timestamp"),
        ({"intervals": [0.5]}, "timestamp"),
        ({"mask": "right"}, "integer"),
        ("flat", "date"),
    ],
)
def test_a_hierarchy_that_fits_its_type(raw, type_):
    assert hierarchy_of(raw, type=type_) is not None


@pytest.mark.parametrize(
    ("raw", "height"), [("flat", 1), ({"intervals": [5, 10]}, 3), ({"date": ["year"]}, 2), ({"mask": "left", "steps": [2]}, 2)]
)
def test_levels_up_to_the_root(raw, height):
    assert policy(raw, max_level=height, min_level=height).columns[0].max_level == height
    assert [fault[0] for fault in faults(raw, max_level=height + 1)] == ["columns.0.max_level"]


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("String", "string"),
        ("hierachy", "hierarchy"),
        ("QI", "quasi-identifier"),
        ("quasi", "quasi-identifier"),
        ("zzz", None),
        ("", None),
    ],
)
def test_nearest_names(word, name):
    assert nearest(word, ["string", "hierarchy", "quasi-identifier", "k"]) == name
