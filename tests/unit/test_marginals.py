"""Distributions in bins: no bin tells of fewer raw rows than may be shown, and every row is in one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hierarchies import flat, hierarchy
from hypothesis import given
from hypothesis import strategies as st

from anon_spark.domain.values import print_day
from anon_spark.metrics.marginals import OTHERS, in_bins, leaf_bins, rebuilt, value_bins
from anon_spark.metrics.size_histogram import size_histogram
from anon_spark.plans.box_marginals import ONE, units_of_leaves


@given(rows=st.lists(st.integers(0, 40), min_size=1, max_size=60), least=st.integers(1, 12), most=st.integers(1, 30))
def test_every_bin_stands_for_enough_rows_and_all_rows_are_there(rows: list[int], least: int, most: int) -> None:
    count = np.array(rows)
    bins = value_bins([str(i) for i in range(len(rows))], count, least, most)
    assert bins.rows.sum() == count.sum() and len(bins.labels) == len(bins.rows) <= most + 1
    assert in_bins(bins, count).tolist() == bins.rows.tolist()
    if count.sum() >= least:
        assert all(n == 0 or n >= least for n in bins.rows)
    else:
        assert bins.labels == (OTHERS,)


def test_the_rest_is_never_told_by_the_total() -> None:
    """10, 6 and 2 rows with at least 5: were 10 and 6 shown, the total would tell the 2."""
    bins = value_bins(["a", "b", "c"], np.array([10, 6, 2]), 5)
    assert bins.labels == ("a", OTHERS) and bins.rows.tolist() == [10, 8]
    assert value_bins(["a", "b", "c"], np.array([10, 6, 0]), 5).labels == ("a", "b", OTHERS)
    assert value_bins(["a", None], np.array([10, 6]), 5).labels == ("a", None)


def test_few_values_are_told_by_themselves_and_many_by_the_lowest_level_that_has_few() -> None:
    zips = [f"{i:03d}" for i in range(100)]
    masks = hierarchy("zip", [[z, z[:2] + "*", z[0] + "**", "*"] for z in zips])
    bins = leaf_bins(masks, np.full(100, 3), 5)
    assert bins.labels == tuple(f"{i:02d}*" for i in range(10)) and bins.rows.tolist() == [30] * 10
    assert leaf_bins(flat("sex", ["f", "m"]), np.array([7, 9]), 5).labels == ("m", "f")


def test_numbers_without_a_hierarchy_lie_in_ranges_whose_ends_are_no_values() -> None:
    values = [str(1_003 + 37 * i) for i in range(60)]
    h = hierarchy("pay", [[v, "*"] for v in values], numbers={v: int(v) for v in values})
    bins = leaf_bins(h, np.ones(60, np.int64), 2)
    ends = {end for label in bins.labels if label and label != OTHERS for end in label[1:-1].split(", ")}
    assert bins.ordered and len(bins.labels) > 10 and not ends & set(values) and "2000" in ends
    assert bins.rows.sum() == 60 and bins.rows.min() >= 2


def test_classes_are_spread_over_what_they_print() -> None:
    found = rebuilt(np.array([0, 1, 2]), np.array([1, 3, 2]), np.array([4, 6, 1]), 5)
    assert found.tolist() == pytest.approx([2, 4, 3, 2, 0])


@given(st.dictionaries(st.integers(1, 100_000), st.integers(1, 50), min_size=1, max_size=80))
def test_size_bins_hold_every_class_once(classes: dict[int, int]) -> None:
    bins = size_histogram(classes)
    assert sum(b.classes for b in bins) == sum(classes.values())
    assert sum(b.rows for b in bins) == sum(size * n for size, n in classes.items())
    assert bins[0].least == min(classes) and bins[-1].most == max(classes) and len(bins) <= 16
    for a, b in itertools.pairwise(bins):
        assert b.least == a.most + 1
    for b in bins:
        assert b.classes == sum(n for size, n in classes.items() if b.least <= size <= b.most)


def test_no_classes_no_bins() -> None:
    assert size_histogram({}) == ()


@given(
    boxes=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 10**6)), min_size=1, max_size=20),
    cut=st.integers(0, 20),
)
def test_units_add_up_to_the_same_wherever_boxes_lie(boxes: list[tuple[int, int, int]], cut: int) -> None:
    ends = np.array([(min(a, b), max(a, b)) for a, b, _ in boxes])
    size = np.array([n for _, _, n in boxes])
    whole = units_of_leaves(ends[:, 0], ends[:, 1], size, 10)
    parts = [units_of_leaves(ends[part, 0], ends[part, 1], size[part], 10) for part in (slice(cut), slice(cut, None))]
    assert (sum(parts) == whole).all()
    assert np.allclose(whole / ONE, rebuilt(ends[:, 0], ends[:, 1], size, 10), atol=len(boxes) / ONE)


def test_days_lie_in_ranges_of_whole_days_and_null_has_none() -> None:
    days = [print_day(730_000 + 11 * i) for i in range(50)]
    h = hierarchy("born", [*([d, "*"] for d in days), [None, "*"]], numbers={d: 730_000 + 11 * i for i, d in enumerate(days)})
    bins = leaf_bins(h, np.array([2] * 50 + [9]), 2)
    assert bins.labels[-1] == OTHERS and bins.rows[-1] == 9 and bins.rows.sum() == 109
    first, last = str(bins.labels[0])[1:-1].split(", ")
    assert first <= days[0] < last and len(first) == len(last) == 10 and len(bins.labels) > 10
