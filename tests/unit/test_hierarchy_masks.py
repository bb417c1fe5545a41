"""Masks, flat hierarchies and the values of a column that need no file: blanks, nulls, empty texts."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from anon_spark.domain.bind import bind
from anon_spark.domain.errors import ConfigurationError
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Column, FlatHierarchy, MaskHierarchy
from anon_spark.domain.values import Kind


def bound(spec: Any, texts: Iterable[str | None], kind: Kind = "text", **more: Any) -> Hierarchy:
    column = Column(name="x", role="quasi-identifier", hierarchy=spec, **more)
    return bind(column, kind, dict.fromkeys(texts, 1), where="job.yaml")


def printed(hierarchy: Hierarchy, level: int) -> list[str | None]:
    return [hierarchy.labels[level][node] for node in hierarchy.nodes[level]]


def ncp(hierarchy: Hierarchy, level: int) -> list[Fraction]:
    cost = hierarchy.ncp[level]
    return [Fraction(numerator, cost.denominator) for numerator in cost.numerators]


def test_zip_codes_one_digit_a_level() -> None:
    zips = bound(MaskHierarchy(), ["81667", "81925", "81931", "81675"])
    assert zips.levels == 6
    assert zips.leaves == ("81667", "81675", "81925", "81931")
    assert printed(zips, 1) == ["8166*", "8167*", "8192*", "8193*"]
    assert printed(zips, 2) == ["816**", "816**", "819**", "819**"]
    assert printed(zips, 3) == ["81***"] * 4 and printed(zips, 4) == ["8****"] * 4 and printed(zips, 5) == ["*"] * 4
    assert ncp(zips, 1) == [0] * 4 and ncp(zips, 2) == [Fraction(1, 2)] * 4 and ncp(zips, 3) == [1] * 4
    assert not zips.numeric


def test_shorter_values_are_padded_on_the_masked_side() -> None:
    mixed = bound(MaskHierarchy(), ["53711", "5371", "53", ""])
    assert mixed.leaves == ("", "53", "5371", "53711")
    assert printed(mixed, 1) == ["*****", "53***", "5371*", "5371*"]
    assert printed(mixed, 3) == ["*****", "53***", "53***", "53***"]
    # What is printed as 53*** says no more than "one of the three that begin with 53", whoever prints it.
    assert ncp(mixed, 1) == [0, Fraction(3, 4), Fraction(2, 4), Fraction(2, 4)]
    assert mixed.height[5].numerators == (2, 3, 5, 5)


def test_left_side_and_steps_and_character() -> None:
    left = bound(MaskHierarchy(side="left", steps=(2, 4), character="#"), ["53711", "21711", "53", "4371"])
    assert left.leaves == ("21711", "53711", "4371", "53")
    assert printed(left, 1) == ["##711", "##711", "##371", "###53"]
    assert printed(left, 2) == ["####1", "####1", "####1", "####3"]
    assert printed(left, 3) == ["*"] * 4


def test_a_mask_character_in_the_data_is_one_node_with_the_padding() -> None:
    odd = bound(MaskHierarchy(), ["53", "53*", "53 1", "5311"])
    assert printed(odd, 1) == ["53 *", "53**", "53**", "531*"]
    assert odd.leaves == ("53 1", "53", "53*", "5311")


def test_steps_beyond_the_longest_value_print_the_root() -> None:
    assert printed(bound(MaskHierarchy(steps=(1, 3)), ["ab", "c"]), 2) == ["*", "*"]
    assert bound(MaskHierarchy(), ["a", "b"]).levels == 2
    assert bound(MaskHierarchy(), [None]).levels == 2
    assert bound(MaskHierarchy(), [""]).leaves == ("",)


def test_numbers_are_masked_by_their_text() -> None:
    assert printed(bound(MaskHierarchy(), ["53711", "53712"], "integer"), 1) == ["5371*", "5371*"]
    assert printed(bound(MaskHierarchy(), ["1.0E3", "NaN"], "decimal"), 1) == ["1000.*", "*"]


def test_faults_of_masks() -> None:
    for spec, found in [
        (MaskHierarchy(character="**"), "'**'; expected a single character"),
        (MaskHierarchy(steps=(2, 2)), "[2, 2]; expected characters masked at each level"),
        (MaskHierarchy(steps=(0,)), "[0]"),
        (MaskHierarchy(steps=()), "[]"),
    ]:
        with pytest.raises(ConfigurationError) as caught:
            bound(spec, ["a"])
        assert found in str(caught.value)
    with pytest.raises(ConfigurationError, match="mask on a column of kind date"):
        bound(MaskHierarchy(), ["2020-01-01"], "date")


def test_null_empty_and_the_words_are_different_values() -> None:
    cities = bound(FlatHierarchy(), ["Oslo", "", None, "NULL", " Oslo", "null"])
    assert cities.leaves == ("", " Oslo", "NULL", "Oslo", "null", None)
    assert len(set(cities.codes.values())) == 6
    assert printed(cities, 1) == ["*"] * 6
    assert ncp(cities, 1) == [1] * 6 and ncp(cities, 0) == [0] * 6


def test_trim_takes_blanks_off_text() -> None:
    cities = bound(FlatHierarchy(), ["Oslo", " Oslo ", "Os lo", "  "], trim=True)
    assert cities.leaves == ("", "Os lo", "Oslo")
    assert cities.codes == {"Oslo": 2, " Oslo ": 2, "Os lo": 1, "  ": 0}


def test_flat_numbers_are_ordered_by_value_and_cost_by_range() -> None:
    numbers = bound(FlatHierarchy(), ["10", "9", "-1", None], "integer")
    assert numbers.leaves == ("-1", "9", "10", None)
    assert numbers.numeric and ncp(numbers, 1) == [1] * 4
    assert ncp(bound(None, ["7"], "integer"), 1) == [0]
    assert bound(FlatHierarchy(), ["true", "false"], "boolean").leaves == ("false", "true")
    assert bound(FlatHierarchy(), ["+10000-01-01", "2020-01-01"], "date").leaves == ("2020-01-01", "+10000-01-01")


def test_single_leaf_costs_nothing() -> None:
    for texts in (["a"], [None]):
        alone = bound(FlatHierarchy(), texts)
        assert ncp(alone, 1) == [0] and alone.glm[1].numerators == (0,) and alone.height[1].numerators == (1,)


def test_lists_in_a_text_are_opaque() -> None:
    assert len(bound(FlatHierarchy(), ["EC_X, EC_Y", "EC_Y, EC_X"]).leaves) == 2


def test_arrays_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        bound(FlatHierarchy(), ["a"]).nodes[0][0] = 1
