"""Hierarchies from files: shape, order, costs by METHODS 2.2, 2.4, 2.5, faults, and values that are no leaves."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anon_spark.domain.bind import UnmappedError, bind, coverage
from anon_spark.domain.errors import ConfigurationError
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Column, FileHierarchy, IntervalHierarchy
from anon_spark.domain.values import Kind
from anon_spark.io.hierarchy_files import read_tree

EDUCATION = "Bachelor;Bachelor;ANY\nMaster;GradSchool;ANY\nDoctorate;GradSchool;ANY"
RAGGED = "a;X;*\nb;y;X;*\nc;*"


def tree_of(text: str) -> list[list[str]]:
    return [line.split(";") for line in text.split("\n")]


def bound(
    text: str, values: Mapping[str | None, int], kind: Kind = "text", others: Any = "fail", inner: Any = "fail", **more: Any
) -> Hierarchy:
    spec = FileHierarchy(path="tree.csv", others=others, inner=inner)
    column = Column(name="zipcode", role="quasi-identifier", hierarchy=spec, **more)
    return bind(column, kind, values, tree=tree_of(text), where="job.yaml")


def printed(hierarchy: Hierarchy, level: int) -> list[str | None]:
    return [hierarchy.labels[level][node] for node in hierarchy.nodes[level]]


def costs(hierarchy: Hierarchy, name: str, level: int) -> list[Fraction]:
    cost = getattr(hierarchy, name)[level]
    return [Fraction(numerator, cost.denominator) for numerator in cost.numerators]


def refusal(text: str, kind: Kind = "text") -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        bound(text, {}, kind)
    return str(caught.value).split("\n")


def test_education_of_hua_and_pei() -> None:
    education = bound(EDUCATION, {"Bachelor": 2, "Master": 3, "Doctorate": 1})
    assert education.leaves == ("Bachelor", "Master", "Doctorate")
    assert printed(education, 1) == ["Bachelor", "GradSchool", "GradSchool"]
    assert printed(education, 2) == ["*"] * 3
    assert costs(education, "ncp", 1) == [0, Fraction(2, 3), Fraction(2, 3)]
    assert costs(education, "ncp", 2) == [1, 1, 1]
    assert costs(education, "glm", 1) == [0, Fraction(1, 2), Fraction(1, 2)]


def test_row_one_of_hua_and_pei_loses_0_815() -> None:
    """[24-30], ANY, [53711-53713] with weights .5, .4, .1; the numbers as intervals that print these ranges."""
    ages = IntervalHierarchy(widths=(Fraction(7),), origin=Fraction(24))
    zips = IntervalHierarchy(widths=(Fraction(3),), origin=Fraction(53711))
    age = bind(
        Column(name="age", role="quasi-identifier", hierarchy=ages),
        "integer",
        dict.fromkeys(["24", "25", "30", "32"], 1),
        where="j",
    )
    zip_code = bind(
        Column(name="zip", role="quasi-identifier", hierarchy=zips), "integer", {str(53711 + i): 1 for i in range(6)}, where="j"
    )
    assert (printed(age, 1)[0], printed(zip_code, 1)[0]) == ("[24, 30]", "[53711, 53713]")
    education = bound(EDUCATION, {"Bachelor": 2})
    parts = [costs(age, "ncp", 1)[0], costs(education, "ncp", 2)[0], costs(zip_code, "ncp", 1)[0]]
    assert parts == [Fraction(3, 4), 1, Fraction(2, 5)]
    assert Fraction(1, 2) * parts[0] + Fraction(2, 5) * parts[1] + Fraction(1, 10) * parts[2] == Fraction("0.815")


def test_ragged_lines_are_padded_with_the_root() -> None:
    ragged = bound(RAGGED, {"a": 1})
    assert ragged.leaves == ("a", "b", "c")
    assert [printed(ragged, level) for level in range(4)] == [["a", "b", "c"], ["X", "y", "*"], ["*", "X", "*"], ["*"] * 3]
    # X is a node over a and b wherever it is printed; c has reached the root at level 1.
    assert costs(ragged, "ncp", 1) == [Fraction(2, 3), 0, 1]
    assert costs(ragged, "ncp", 2) == [1, Fraction(2, 3), 1]
    assert costs(ragged, "glm", 1) == [Fraction(1, 2), 0, 1]
    assert [cost.numerators for cost in ragged.height] == [(0, 0, 0), (1, 1, 1), (2, 2, 1), (2, 3, 1)]


def test_all_leaves_of_the_file_count_and_null_is_one_more() -> None:
    education = bound(EDUCATION, {"Master": 3, None: 2})
    assert education.leaves == ("Bachelor", "Master", "Doctorate", None)
    assert education.codes == {"Master": 1, None: 3}
    assert printed(education, 1) == ["Bachelor", "GradSchool", "GradSchool", "*"]
    assert costs(education, "ncp", 1) == [0, Fraction(2, 4), Fraction(2, 4), 1]
    assert costs(education, "glm", 1) == [0, Fraction(1, 3), Fraction(1, 3), 1]


def test_codes_follow_the_tree_depth_first() -> None:
    mixed = bound("a;X;*\nb;Y;*\nc;X;*", {})
    assert mixed.leaves == ("a", "c", "b")
    odd_even = bound("1;odd;*\n4;even;*\n3;odd;*\n2;even;*\n10;even;*", {}, "integer")
    assert odd_even.leaves == ("1", "3", "2", "4", "10")
    in_order = bound("10;high;*\n2;low;*\n9;high;*\n1;low;*", {}, "integer")
    assert in_order.leaves == ("1", "2", "9", "10")
    assert not in_order.numeric


def test_numbers_in_a_file_are_read_as_numbers_but_text_as_text() -> None:
    assert bound("007;x;*", {"7": 1}, "integer").codes == {"7": 0}
    assert bound("007;x;*", {"7": 1}, "integer").leaves == ("7",)
    assert bound("7;x;*\n0.5;x;*", {"7.0": 1}, "decimal").codes == {"7.0": 1}
    assert bound("NaN;missing;*\n1;x;*", {"NaN": 1, "1.0": 1}, "decimal").labels[1] == ("x", "missing")
    assert bound("TRUE;x;*\nfalse;x;*", {"true": 1}, "boolean").codes == {"true": 1}
    assert bound("1899-12-31;x;*", {"1899-12-31": 1}, "date").codes == {"1899-12-31": 0}
    with pytest.raises(UnmappedError):
        bound("007;x;*", {"7": 1})
    assert bound("007;x;*\n7;y;*", {"7": 1}).codes == {"7": 1}
    assert bound("7;x;*", {"007": 1}, type="integer").codes == {"007": 0}
    assert bound("007;x;*", {"007": 1}, "integer", type="string").leaves == ("007",)


def test_a_duplicate_line_is_harmless_and_a_leaf_may_bear_its_groups_name() -> None:
    assert bound("a;X;*\na;X;*;*\nb;X;*", {}).leaves == ("a", "b")
    assert printed(bound("x;x;*\ny;x;*", {}), 1) == ["x", "x"]
    assert costs(bound("x;x;*\ny;x;*\nz;*", {}), "ncp", 1) == [Fraction(2, 3), Fraction(2, 3), 1]


def test_an_empty_leaf_is_the_empty_text() -> None:
    assert bound(";unknown;*\na;b;*", {"": 1}).codes == {"": 0}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("81667;8166*;*\n81667;8167*;*", "an ambiguous leaf: '81667' is listed twice with different parents"),
        (
            "35;30-39;0-49;*\n38;30-39;50-99;*",
            "that level 2 is not a coarsening of level 1: '30-39' goes to '0-49' and to '50-99'",
        ),
        ("a;X;A;*\nb;c;X;B;*", "label 'X' with two parents: 'A' at level 2 and 'B' at level 3"),
        ("a;X;X;A;*\nb;X;A;A;*", "that level 2 is not a coarsening of level 1: 'X' goes to 'X' and to 'A'"),
        ("a;X;Y;X;*", "label 'X' with two parents"),
        ("a;X;ANY\nb;Y;Any", "lines that end in different roots: 'ANY' (1 line), 'Any' (1 line)"),
        ("a\nb", "lines of a single label (is sep right?"),
        ("x;*\ny;x;*", "label 'x' at two places: a leaf, and a group that this leaf is not in"),
        ("a;;*\nb;c;*", "an empty label at level 1 of the line of leaf 'a'"),
        ("a;b;", "an empty label at level 2"),
        ("a;ANY;X;ANY", "the root '*' below 'X'"),
        ("a;*;ANY", "label '*' below the root 'ANY'"),
    ],
)
def test_each_fault_of_a_tree_has_its_message(text: str, found: str) -> None:
    lines = refusal(text)
    assert len(lines) == 1
    assert lines[0].startswith(f"tree.csv: column zipcode: found {found}")


def test_faults_of_a_tree_come_all_at_once() -> None:
    lines = refusal("a;X;A;*\nb;X;B;*\na;Z;A;*\nc;;*\nd;e;root")
    assert [any(part in line for line in lines) for part in ("ambiguous", "coarsening", "empty label", "different roots")] == [
        True
    ] * 4


def test_many_faults_of_a_sort_are_counted() -> None:
    lines = refusal("\n".join(f"{i};x;*\n{i};y;*" for i in range(10)))
    assert len(lines) == 4 and "7 more of this sort" in lines[3]


def test_leaves_must_be_of_the_columns_kind() -> None:
    assert "leaf '<20', which is not of the column's kind integer" in refusal("<20;x;*\n20;x;*", "integer")[0]
    assert refusal("7;x;*\n007;y;*", "integer")[0].count("ambiguous") == 1
    column = Column(name="x", role="quasi-identifier", hierarchy=FileHierarchy(path="tree.csv"))
    with pytest.raises(ConfigurationError, match="without lines"):
        bind(column, "text", {}, tree=[[]], where="job.yaml")


def test_a_value_outside_is_counted_and_not_told() -> None:
    zips = "81667;8166*;*\n81925;8192*;*\n81931;8193*;*"
    with pytest.raises(UnmappedError) as caught:
        bound(zips, {"81675": 1, "81667": 1, "81925": 1, "81931": 4})
    error = caught.value
    assert "column zipcode: 1 of 4 distinct values unmapped, 1 of 7 rows" in str(error)
    assert "show-values" not in str(error)
    assert "81675" not in str(error) and "\n" not in str(error)
    assert error.exit_code == 3
    assert error.worst() == (("81675", 1),)


def test_values_outside_may_stand_under_the_root() -> None:
    rooted = bound(EDUCATION, {"PhD": 1, "Master": 1, "?": 2, None: 1}, others="root")
    assert rooted.leaves == ("Bachelor", "Master", "Doctorate", "?", "PhD", None)
    assert printed(rooted, 1) == ["Bachelor", "GradSchool", "GradSchool", "*", "*", "*"]
    assert costs(rooted, "ncp", 1) == [0, Fraction(2, 6), Fraction(2, 6), 1, 1, 1]
    assert rooted.codes == {"PhD": 4, "Master": 1, "?": 3, None: 5}


def test_an_inner_value_is_refused_or_accepted() -> None:
    ages = "35;30-39;0-49;*\n38;30-39;0-49;*\n61;60-69;50-99;*"
    for others in ("fail", "root"):
        with pytest.raises(UnmappedError, match="inner: accept") as caught:
            bound(ages, {"35": 2, "30-39": 3}, others=others)
        assert caught.value.inner == {"30-39": 3} and not caught.value.unmapped
        assert "zipcode: 1 of 2 distinct values inner nodes of the hierarchy, 3 of 5 rows" in str(caught.value)
    accepted = bound(ages, {"35": 2, "30-39": 3, "50-99": 1}, inner="accept")
    assert accepted.leaves == ("35", "38", "30-39", "61", "50-99")
    assert printed(accepted, 1) == ["30-39", "30-39", "30-39", "60-69", "50-99"]
    assert printed(accepted, 2) == ["0-49", "0-49", "0-49", "50-99", "50-99"]
    assert costs(accepted, "ncp", 1) == [Fraction(3, 5), Fraction(3, 5), Fraction(3, 5), 0, Fraction(2, 5)]
    typed = bound(ages, {"35": 2, "30-39": 3}, inner="accept", type="integer")
    assert typed.leaves == ("35", "38", "30-39", "61")


@pytest.mark.parametrize("how", [{"others": "root"}, {"inner": "accept"}])
@pytest.mark.parametrize("value", ["ANY", "*"])
def test_a_value_that_is_the_roots_label(how: dict[str, Any], value: str) -> None:
    with pytest.raises(UnmappedError):
        bound(EDUCATION, {value: 1})
    accepted = bound(EDUCATION, {value: 1}, **how)
    assert accepted.leaves[accepted.codes[value]] == value
    assert [printed(accepted, level)[accepted.codes[value]] for level in (1, 2)] == ["*", "*"]


def test_near_misses_are_told_of() -> None:
    with pytest.raises(UnmappedError) as caught:
        bound(EDUCATION, {" Master": 1, "master ": 1, "DOCTORATE": 1, "x": 1})
    assert "1 of them would match but for blanks around" in caught.value.hint
    assert "2 of them would match but for upper and lower case" in str(caught.value)
    assert bound(EDUCATION, {" Master": 1, "Master": 1}, trim=True).codes == {" Master": 1, "Master": 1}


def test_coverage() -> None:
    education = tree_of(EDUCATION)
    assert coverage(education, ["Master", "x", None]) == Fraction(1, 2)
    assert coverage(education, ["Master", "Bachelor"]) == 1
    assert coverage(education, [None]) == coverage(education, ["GradSchool"]) == 0


def test_lift_joins_nodes() -> None:
    mixed = bound("a;X;Q;*\nb;Y;Q;*\nc;Z;R;*", {})
    assert mixed.lift(1, 2).tolist() == [0, 0, 1]


@pytest.mark.shared
def test_adults_hierarchies_have_their_levels(shared: Path) -> None:
    wanted = {
        "age": (100, 20, 10, 5, 1),
        "education": (16, 5, 3, 1),
        "marital-status": (7, 2, 1),
        "native-country": (41, 5, 1),
        "occupation": (14, 3, 1),
        "workclass": (8, 3, 1),
        "race": (5, 1),
        "sex": (2, 1),
        "salary-class": (2, 1),
    }
    for name, sizes in wanted.items():
        path = str(shared / "adult" / f"adult_hierarchy_{name}.csv")
        column = Column(name=name, role="quasi-identifier", hierarchy=FileHierarchy(path=path))
        kind: Kind = "integer" if name == "age" else "text"
        hierarchy = bind(column, kind, {}, tree=read_tree(path), where="job.yaml")
        assert tuple(map(len, hierarchy.labels)) == sizes, name
        if name == "age":
            assert hierarchy.leaves == tuple(str(age) for age in range(1, 101))
            assert [printed(hierarchy, level)[19] for level in range(5)] == ["20", "15-19", "10-19", "0-19", "*"]
            assert costs(hierarchy, "ncp", 1) == [Fraction(5, 100)] * 100


@pytest.mark.shared
def test_the_wrong_file_covers_nothing_and_another_fits(shared: Path) -> None:
    trees = {name: read_tree(str(shared / "adult" / f"adult_hierarchy_{name}.csv")) for name in ("occupation", "workclass")}
    values = [line[0] for line in trees["workclass"]]
    assert coverage(trees["occupation"], values) == 0 and coverage(trees["workclass"], values) == 1
