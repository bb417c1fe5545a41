"""Interval and date hierarchies: labels, nesting, open ends, costs by METHODS 2.1."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from anon_spark.domain.bind import UnmappedError, bind
from anon_spark.domain.errors import ConfigurationError
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Column, DateHierarchy, IntervalHierarchy
from anon_spark.domain.values import Kind


def intervals(*widths: str, **more: Any) -> IntervalHierarchy:
    return IntervalHierarchy(widths=tuple(map(Fraction, widths)), **more)


def bound(spec: Any, kind: Kind, texts: Iterable[str | None], **more: Any) -> Hierarchy:
    column = Column(name="x", role="quasi-identifier", hierarchy=spec, **more)
    return bind(column, kind, dict.fromkeys(texts, 1), where="job.yaml")


def printed(hierarchy: Hierarchy, level: int) -> list[str | None]:
    return [hierarchy.labels[level][node] for node in hierarchy.nodes[level]]


def ncp(hierarchy: Hierarchy, level: int) -> list[Fraction]:
    cost = hierarchy.ncp[level]
    return [Fraction(numerator, cost.denominator) for numerator in cost.numerators]


def refusal(spec: Any, kind: Kind, texts: Iterable[str | None] = ("1",)) -> str:
    with pytest.raises(ConfigurationError) as caught:
        bound(spec, kind, texts)
    return str(caught.value)


def test_levels_that_already_hold_everything_are_kept() -> None:
    ages = bound(intervals("5", "10", "20"), "integer", ["7", "1", "5"])
    assert ages.levels == 5
    assert printed(ages, 1) == ["[0, 4]", "[5, 9]", "[5, 9]"]
    assert printed(ages, 2) == ["[0, 9]"] * 3
    assert ncp(ages, 1) == [Fraction(1, 2), Fraction(1, 3), Fraction(1, 3)]
    assert ncp(ages, 2) == ncp(ages, 3) == ncp(ages, 4) == [1, 1, 1]
    assert [cost.numerators for cost in ages.height] == [(level,) * 3 for level in range(5)]
    assert ages.glm == ages.ncp and ages.numeric


def test_an_integer_node_spans_its_closed_ends() -> None:
    ages = bound(intervals("5"), "integer", ["10", "15", "19", "30"])
    assert printed(ages, 1) == ["[10, 14]", "[15, 19]", "[15, 19]", "[30, 34]"]
    assert ncp(ages, 1) == [Fraction(4, 20), Fraction(4, 20), Fraction(4, 20), 0]


def test_a_decimal_node_spans_its_width_before_clipping() -> None:
    prices = bound(intervals("5"), "decimal", ["10.0", "15.0", "19.5", "30.0"])
    assert printed(prices, 1) == ["[10.0, 15.0)", "[15.0, 20.0)", "[15.0, 20.0)", "[30.0, 35.0)"]
    assert ncp(prices, 1) == [Fraction(5, 20), Fraction(5, 20), Fraction(5, 20), 0]


@pytest.mark.parametrize(
    ("kind", "width", "texts", "labels"),
    [
        ("integer", "3", ["-5", "-4", "-3", "3", "4", "5"], ["[-6, -4]", "[-6, -4]", "[-3, -1]", "[3, 5]", "[3, 5]", "[3, 5]"]),
        ("decimal", "0.05", ["0.05", "0.1", "0.15"], ["[0.05, 0.1)", "[0.1, 0.15)", "[0.15, 0.2)"]),
        ("decimal", "0.05", ["1.0E12", "-0.01"], ["[-0.05, 0.0)", "[1000000000000.0, 1000000000000.05)"]),
        ("decimal", "1", ["1.0E300", "4.9E-324"], ["[0.0, 1.0)", f"[1{'0' * 300}.0, 1{'0' * 299}1.0)"]),
        ("integer", "1", ["7", "8"], ["7", "8"]),
        ("integer", "10", [str(10**30)], [f"[{10**30}, {10**30 + 9}]"]),
    ],
)
def test_labels_are_exact(kind: Kind, width: str, texts: list[str], labels: list[str]) -> None:
    assert printed(bound(intervals(width), kind, texts), 1) == labels


def test_origin_moves_the_grid() -> None:
    assert printed(bound(intervals("10", origin=Fraction(5)), "integer", ["4", "5", "14"]), 1) == [
        "[-5, 4]",
        "[5, 14]",
        "[5, 14]",
    ]


def test_open_ends_at_every_level_but_the_leaves() -> None:
    ages = bound(intervals("5", "20", lower=Fraction(18), upper=Fraction(88)), "integer", ["3", "18", "87", "88", "99"])
    assert printed(ages, 0) == ["3", "18", "87", "88", "99"]
    assert printed(ages, 1) == ["< 18", "[18, 19]", "[85, 87]", ">= 88", ">= 88"]
    assert printed(ages, 2) == ["< 18", "[18, 19]", "[80, 87]", ">= 88", ">= 88"]
    assert ncp(ages, 1) == [Fraction(14, 96), Fraction(1, 96), Fraction(2, 96), Fraction(11, 96), Fraction(11, 96)]
    assert ages.height[3].numerators == (2, 2, 3, 2, 2)


def test_numbers_in_any_spelling_are_one_leaf() -> None:
    zeros = bound(intervals("1"), "decimal", ["-0.0", "0.0", "1.0"])
    assert zeros.leaves == ("0.0", "1.0")
    assert zeros.codes == {"-0.0": 0, "0.0": 0, "1.0": 1}
    sevens = bound(intervals("5"), "text", ["007", " 7", "12"])
    assert sevens.leaves == ("7", "12") and sevens.codes == {"007": 0, " 7": 0, "12": 1}


@pytest.mark.parametrize(
    ("widths", "texts", "label"),
    [
        (("5",), ["7", "12"], "[5, 9]"),
        (("5",), ["7", "12.5"], "[5.0, 10.0)"),
        (("0.5",), ["7", "12"], "[7.0, 7.5)"),
        (("5",), ["7", "NaN"], "[5, 9]"),
    ],
)
def test_a_text_column_implies_its_numbers(widths: tuple[str, ...], texts: list[str], label: str) -> None:
    assert printed(bound(intervals(*widths), "text", texts), 1)[0] == label


def test_a_text_column_that_says_its_type() -> None:
    assert printed(bound(intervals("5"), "text", ["7"], type="double"), 1) == ["[5.0, 10.0)"]


def test_null_nan_and_infinities_are_leaves_under_the_root() -> None:
    numbers = bound(intervals("5"), "decimal", [None, "NaN", "Infinity", "2.0", "-Infinity", "1.0"])
    assert numbers.leaves == ("1.0", "2.0", "-Infinity", "Infinity", "NaN", None)
    assert printed(numbers, 0)[-1] is None
    assert printed(numbers, 1) == ["[0.0, 5.0)"] * 2 + ["*"] * 4
    assert ncp(numbers, 0) == [0] * 6
    assert ncp(numbers, 1) == [1] * 6
    assert numbers.height[1].numerators == (1,) * 6
    assert numbers.height[2].numerators == (2, 2, 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("texts", "levels"),
    [(["7"], [[0], [0], [0]]), ([None], [[0], [0], [0]]), (["7", None], [[0, 0], [0, 1], [1, 1]]), ([], [[], [], []])],
)
def test_a_range_of_zero_costs_nothing(texts: list[str | None], levels: list[list[int]]) -> None:
    column = bound(intervals("5"), "integer", texts)
    assert [ncp(column, level) for level in range(3)] == levels


def test_dates_before_1900_and_single_days() -> None:
    days = bound(intervals("1", "7", origin="1899-12-25"), "date", ["1899-12-31", "1900-01-01", "0001-01-01"])
    assert printed(days, 1) == ["0001-01-01", "1899-12-31", "1900-01-01"]
    assert printed(days, 2) == ["[0001-01-01, 0001-01-07]", "[1899-12-25, 1899-12-31]", "[1900-01-01, 1900-01-07]"]
    bounded = bound(intervals("30", lower="1950-01-01"), "text", ["1949-12-31", "1950-01-01"])
    assert printed(bounded, 1) == ["< 1950-01-01", "[1950-01-01, 1950-01-15]"]


def test_an_interval_of_days_spans_its_closed_ends() -> None:
    days = bound(intervals("10", origin="2020-01-01"), "date", ["2020-01-01", "2020-01-15", "2020-02-10"])
    assert ncp(days, 1) == [Fraction(9, 40), Fraction(9, 40), 0]


def test_timestamps_fall_in_intervals_of_days() -> None:
    times = bound(intervals("2"), "timestamp", ["1970-01-02 23:59:59.999999", "1970-01-03 00:00:00", "1970-01-05 00:00:00"])
    assert printed(times, 1) == ["[1970-01-01, 1970-01-02]", "[1970-01-03, 1970-01-04]", "[1970-01-05, 1970-01-06]"]
    assert ncp(times, 1)[1] == Fraction(2 * 86_400_000_000, 2 * 86_400_000_000 + 1)


def test_values_that_are_no_numbers_are_outside() -> None:
    with pytest.raises(UnmappedError) as caught:
        bound(intervals("5"), "text", ["7", "seven", ""])
    assert "x: 2 of 3 distinct values unmapped, 2 of 3 rows" in str(caught.value)
    assert "seven" not in str(caught.value)
    assert caught.value.unmapped == {"seven": 1, "": 1}
    rooted = bound(intervals("5", others="root"), "text", ["7", "seven", "", "9"])
    assert rooted.leaves == ("7", "9", "", "seven")
    assert printed(rooted, 1) == ["[5, 9]", "[5, 9]", "*", "*"]
    assert ncp(rooted, 1) == [1, 1, 1, 1]


def test_faults_of_intervals() -> None:
    assert "level 2 is not a coarsening of level 1 (widths [5, 12])" in refusal(intervals("5", "12"), "integer")
    assert "widths [0.5]" in refusal(intervals("0.5"), "integer")
    assert "widths [1/3]" in refusal(intervals("1/3"), "decimal")
    assert "widths []" in refusal(intervals(), "integer")
    assert "widths above 0" in refusal(intervals("-5"), "integer")
    assert "column x: hierarchy.lower" in refusal(intervals("5", lower=Fraction(9), upper=Fraction(9)), "integer")
    assert "column x: hierarchy.origin: found 1990; expected an ISO date" in refusal(intervals("5", origin=Fraction(1990)), "date")
    assert "intervals on a column of kind boolean" in refusal(intervals("5"), "boolean", ["true"])
    many = refusal(intervals("5", "12", lower="x", origin=Fraction("0.5")), "integer")
    assert len(many.split("\n")) == 3


def test_periods() -> None:
    births = bound(
        DateHierarchy(units=("month", "quarter", "half", "year", "decade", "century")), "date", ["1965-05-17", "1899-12-31"]
    )
    assert [printed(births, level) for level in range(8)] == [
        ["1899-12-31", "1965-05-17"],
        ["1899-12", "1965-05"],
        ["1899-Q4", "1965-Q2"],
        ["1899-H2", "1965-H1"],
        ["1899", "1965"],
        ["1890s", "1960s"],
        ["1800-1899", "1900-1999"],
        ["*", "*"],
    ]


def test_a_period_costs_its_days_clipped_to_the_range() -> None:
    births = bound(DateHierarchy(units=("month", "year")), "date", ["1965-01-10", "1965-02-03", "1966-01-10"])
    assert ncp(births, 1) == [Fraction(21, 365), Fraction(27, 365), Fraction(9, 365)]
    assert ncp(births, 2) == [Fraction(355, 365), Fraction(355, 365), Fraction(9, 365)]


def test_periods_of_timestamps() -> None:
    texts = ["1965-05-17 13:30:00", "1965-05-17 14:00:00", "1965-05-18 00:00:00"]
    times = bound(DateHierarchy(units=("hour", "day", "year")), "text", texts)
    assert printed(times, 1) == ["1965-05-17 13", "1965-05-17 14", "1965-05-18 00"]
    assert printed(times, 2) == ["1965-05-17", "1965-05-17", "1965-05-18"]
    assert ncp(times, 1) == [Fraction(30, 630), Fraction(60, 630), 0]
    assert printed(bound(DateHierarchy(units=("year",)), "text", ["1965-05-17"]), 0) == ["1965-05-17"]


def test_faults_of_periods() -> None:
    assert "'day'; expected one of month" in refusal(DateHierarchy(units=("day", "month")), "date", ["1965-05-17"])
    assert "'weeks'" in refusal(DateHierarchy(units=("weeks",)), "date", [])
    assert "fine to coarse" in refusal(DateHierarchy(units=("year", "month")), "date", [])
    assert "fine to coarse" in refusal(DateHierarchy(units=()), "date", [])
    assert "date on a column of kind integer" in refusal(DateHierarchy(units=("year",)), "integer")
