"""What boxes of leaf codes print."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from anon_spark.domain.bind import bind
from anon_spark.domain.box_labels import as_published, bounds, labels
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Column, DateHierarchy, FileHierarchy, FlatHierarchy, IntervalHierarchy, MaskHierarchy

Box = tuple[str | None, str | None]


def bound(values: Sequence[str | None], kind: str, spec: object = None, bounds: str = "tight", **more: object) -> Hierarchy:
    column = Column(name="x", role="quasi-identifier", hierarchy=spec, **more)  # type: ignore[arg-type]
    tree = getattr(spec, "lines", None)
    return as_published(bind(column, kind, dict.fromkeys(values, 1), tree=tree, where="t"), column, bounds)  # type: ignore[arg-type]


def printed(h: Hierarchy, *boxes: Box) -> list[str | None]:
    """Labels of boxes given by raw texts."""
    ends = np.array([[h.codes[a], h.codes[b]] for a, b in boxes], np.int32)
    return labels(h, ends.min(axis=1), ends.max(axis=1))


def test_numbers() -> None:
    h = bound(["24", "030", "7", None], "integer")
    assert printed(h, ("24", "030"), ("7", "7"), ("7", "030"), (None, None), ("7", None)) == ["[24, 30]", "7", "*", None, "*"]
    h = bound(["-5.0", "0.05", "1.0E12", "NaN", "Infinity"], "decimal")
    assert printed(h, ("-5.0", "0.05"), ("0.05", "1.0E12"), ("NaN", "NaN"), ("NaN", "Infinity"), ("0.05", "Infinity")) == [
        "[-5.0, 0.05]", "[0.05, 1000000000000.0]", "NaN", "*", "*",
    ]  # fmt: skip


def test_a_single_value_beats_the_root() -> None:
    assert printed(bound(["7"], "integer"), ("7", "7")) == ["7"]
    assert printed(bound(["7", None], "integer"), ("7", "7"), ("7", None)) == ["7", "*"]


def test_a_text_that_looks_like_a_number_beside_dates_is_no_date() -> None:
    h = bound(["2020-01-01", "2020-03-01", "12"], "text", IntervalHierarchy(widths=(Fraction(7),), others="root"), type="date")
    boxes = (("2020-01-01", "2020-03-01"), ("2020-01-01", "12"), ("12", "12"))
    assert printed(h, *boxes) == ["*", "*", "12"]


def test_numbers_in_intervals() -> None:
    spec = IntervalHierarchy(widths=(Fraction(5), Fraction(10)), upper=Fraction(40))
    values = ["21", "24", "26", "35", "44", "52", "90"]
    boxes = (("21", "24"), ("21", "26"), ("24", "35"), ("44", "52"), ("35", "52"), ("21", "90"), ("26", "26"))
    tight = ["[21, 24]", "[21, 26]", "[24, 35]", "[44, 52]", "[35, 52]", "*", "26"]
    assert printed(bound(values, "integer", spec), *boxes) == tight
    widened = ["[20, 24]", "[20, 29]", "*", ">= 40", "*", "*", "26"]
    assert printed(bound(values, "integer", spec, "intervals"), *boxes) == widened


def test_dates() -> None:
    values = ["1965-05-01", "1965-05-30", "1965-08-02", "1972-01-01"]
    boxes = ((values[0], values[1]), (values[0], values[2]), (values[1], values[3]), (values[0], values[3]), (values[2], values[2]))
    assert printed(bound(values, "date"), *boxes) == [
        "[1965-05-01, 1965-05-30]", "[1965-05-01, 1965-08-02]", "[1965-05-30, 1972-01-01]", "*", "1965-08-02",
    ]  # fmt: skip
    periods = ["1965-05", "1965", "*", "*", "1965-08-02"]
    assert printed(bound(values, "date", DateHierarchy(units=("month", "quarter", "year", "decade"))), *boxes) == periods


def test_masks_print_the_common_part() -> None:
    h = bound(["53711", "53712", "53799", "61000", "537"], "text", MaskHierarchy())
    assert printed(h, ("53711", "53712"), ("53711", "53799"), ("53711", "61000"), ("537", "53799")) == [
        "5371*", "537**", "*", "537**",
    ]  # fmt: skip
    h = bound(["19-A", "20-A", "19-B"], "text", MaskHierarchy(side="left"))
    assert printed(h, ("19-A", "20-A"), ("19-A", "19-B")) == ["**-A", "*"]


def test_flat_is_the_value_or_nothing() -> None:
    assert printed(bound(["a", "b", None], "text", FlatHierarchy()), ("a", "a"), ("a", "b"), (None, None)) == ["a", "*", None]
    assert printed(bound(["1", "2", "3"], "integer", FlatHierarchy()), ("1", "2"), ("2", "2")) == ["*", "2"]


class _File(FileHierarchy):
    lines = (("a", "vowel", "*"), ("e", "vowel", "*"), ("b", "consonant", "*"), ("y", "*"))


@pytest.mark.parametrize(("box", "label"), [(("a", "e"), "vowel"), (("a", "b"), "*"), (("b", "b"), "b"), (("b", "y"), "*")])
def test_categories_print_the_smallest_node(box: Box, label: str) -> None:
    assert printed(bound(["a", "b", "e", "y"], "text", _File(path="x")), box) == [label]


def ends(h: Hierarchy, *boxes: Box) -> list[tuple]:
    codes = np.array([[h.codes[a], h.codes[b]] for a, b in boxes], np.int32)
    return list(zip(*bounds(h, codes.min(axis=1), codes.max(axis=1)), strict=True))


def test_bounds_of_values() -> None:
    h = bound(["24", "30", "7", None], "integer")
    assert ends(h, ("24", "30"), ("7", "7"), ("7", "30"), (None, None), ("7", None)) == [
        ("24", "30", False), ("7", "7", False), (None, None, False), (None, None, True), (None, None, False),
    ]  # fmt: skip
    h = bound(["-1.5", "0.5", "2.5", "NaN"], "decimal")
    assert ends(h, ("-1.5", "0.5"), ("NaN", "NaN"), ("0.5", "NaN")) == [
        ("-1.5", "0.5", False), ("NaN", "NaN", False), (None, None, False),
    ]  # fmt: skip


def test_bounds_of_intervals() -> None:
    spec = IntervalHierarchy(widths=(Fraction(5), Fraction(10)), lower=Fraction(20), upper=Fraction(40))
    h = bound(["3", "9", "21", "26", "44", "52"], "integer", spec, "intervals")
    assert ends(h, ("3", "9"), ("21", "26"), ("44", "52"), ("9", "21"), ("26", "26")) == [
        (None, "19", False), ("20", "29", False), ("40", None, False), (None, None, False), ("26", "26", False),
    ]  # fmt: skip
    h = bound(["3.5", "9.0", "21.0", "26.0"], "decimal", spec, "intervals")
    assert ends(h, ("3.5", "9.0"), ("21.0", "26.0")) == [(None, "20.0", False), ("20.0", "30.0", False)]
    spec = IntervalHierarchy(widths=(Fraction(7),), origin="2020-01-06", lower="2020-01-06")
    h = bound(["2019-12-01", "2020-01-01", "2020-01-07", "2020-01-12"], "date", spec, "intervals")
    assert ends(h, ("2019-12-01", "2020-01-01"), ("2020-01-07", "2020-01-12")) == [
        (None, "2020-01-05", False), ("2020-01-06", "2020-01-12", False),
    ]  # fmt: skip
