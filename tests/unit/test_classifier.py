"""A classifier that learnt from boxes, asked about raw values: by hand where the answer is plain."""

from __future__ import annotations

import numpy as np
import pytest
from hierarchies import flat, hierarchy

from anon_spark.metrics import classifier
from anon_spark.metrics.classifier import Lines, accuracies

pytest.importorskip("sklearn")
AGES = [str(i) for i in range(24)]
AGE = hierarchy("age", [[a, "*"] for a in AGES], numbers={a: int(a) for a in AGES})
SEX = flat("sex", ["f", "m"])


def lines(*given: tuple[int, int, int, int]) -> Lines:
    """(low, high, class, rows) each, of one column."""
    low, high, label, rows = (np.array(part) for part in zip(*given, strict=True))
    return Lines(low[:, None], high[:, None], label, rows)


RAW = lines(*((age, age, int(age >= 12), 10) for age in range(24)))
ROWS = np.full(24, 10)


def asked(released: Lines) -> dict[str, float] | None:
    return accuracies([AGE], [ROWS], RAW, released)


def test_what_can_be_told_is_told() -> None:
    assert asked(lines((0, 11, 0, 120), (12, 23, 1, 120))) == {"released": 1, "raw": 1, "majority": 0.5}


def test_a_release_of_stars_tells_no_more_than_the_majority() -> None:
    raw = lines((0, 0, 0, 30), (1, 1, 1, 10))
    found = accuracies([SEX], [np.array([30, 10])], raw, lines((0, 1, 0, 30), (0, 1, 1, 10)))
    assert found == {"released": 0.75, "raw": 1, "majority": 0.75}


def test_a_release_that_lost_a_class_names_the_other() -> None:
    found = asked(lines((0, 11, 0, 120)))
    assert found == {"released": 0.5, "raw": 1, "majority": 0.5}


def test_an_interval_lies_in_the_bins_of_its_leaves() -> None:
    bins = classifier._bins(AGE, ROWS)
    assert np.bincount(bins).tolist() == [2] * 12
    features = classifier._features([bins], lines((0, 0, 0, 1), (0, 3, 0, 1), (0, 23, 0, 1)))
    assert features[0].tolist() == [1] + [0] * 11 and features[1].tolist() == [0.5, 0.5] + [0] * 10
    assert features[2].tolist() == pytest.approx([1 / 12] * 12)


def test_rare_values_share_a_bin_and_null_has_its_own() -> None:
    many = flat("town", [f"t{i:02d}" for i in range(40)])
    rows = np.arange(40)
    bins = classifier._bins(many, rows)
    assert len(np.unique(bins)) == 31 and len(np.unique(bins[:10])) == 1
    null = hierarchy("age", [[a, "*"] for a in AGES] + [[None, "*"]], numbers={a: int(a) for a in AGES})
    bins = classifier._bins(null, np.append(ROWS, 3))
    assert (bins == bins[-1]).sum() == 1 and len(np.unique(bins)) == 13


def test_the_order_of_rows_does_not_matter_and_counts_are_rows() -> None:
    released = lines((0, 5, 0, 60), (6, 14, 0, 60), (6, 14, 1, 30), (15, 23, 1, 90))
    backwards = Lines(released.low[::-1], released.high[::-1], released.label[::-1], released.rows[::-1])
    assert asked(released) == asked(backwards)
    twice = Lines(*(np.repeat(part, 2, axis=0) for part in (released.low, released.high, released.label)), np.repeat(released.rows, 2) // 2)
    assert asked(twice) == pytest.approx(asked(released))


@pytest.mark.parametrize("limit", ["MOST_ENTRIES", "MOST_CLASSES"])
def test_what_is_too_much_is_not_measured(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier, limit, 1)
    assert asked(RAW) is None


def test_one_class_or_no_row_is_nothing_to_learn() -> None:
    assert accuracies([AGE], [ROWS], lines((0, 0, 0, 5), (1, 1, 0, 5)), RAW) is None
    nothing = Lines(np.zeros((0, 1), int), np.zeros((0, 1), int), np.zeros(0, int), np.zeros(0, int))
    assert asked(nothing) is None
