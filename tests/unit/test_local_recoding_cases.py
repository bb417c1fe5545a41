"""Local recoding on tables small enough to know the answer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hierarchies import bind, flat, hierarchy, model

from anon_spark.algorithms.local_recoding import block_size, decide_local
from anon_spark.domain.errors import InfeasibleError, NoneFoundError
from anon_spark.domain.hierarchy import Hierarchy


def numbers(column: str, values: list[int | None]) -> Hierarchy:
    known = sorted({v for v in values if v is not None})
    paths = [(str(v), "*") for v in known] + [(None, "*")] * (None in values)
    return hierarchy(column, paths, {str(v): v for v in known})


def k_anonymity(k: int) -> list:
    return [model("k-anonymity", k=k)]


def test_hua_and_peis_table() -> None:
    """METHODS 2: k = 2 gives {1,2}, {3,4}, {5,6}."""
    education = hierarchy("education", [("Bachelor", "Bachelor", "*"), ("Master", "Grad", "*"), ("Doctorate", "Grad", "*")])
    zips = [53711, 53712, 53713, 53714, 53715, 53716]
    degrees = ["Bachelor", "Bachelor", "Master", "Master", "Master", "Doctorate"]
    ages = [24, 25, 30, 30, 32, 32]
    rows = [(str(a), e, str(z)) for a, e, z in zip(ages, degrees, zips, strict=True)]
    weights = (Fraction(1, 2), Fraction(2, 5), Fraction(1, 10))
    problem, frequency = bind(rows, [numbers("age", ages), education, numbers("zip", zips)], k_anonymity(2), weights=weights)
    found = decide_local(problem, frequency)
    assert found.low.tolist() == [[0, 0, 0], [2, 1, 2], [3, 1, 4]]
    assert found.high.tolist() == [[1, 0, 1], [2, 1, 3], [3, 2, 5]]
    # [24-25] and [53711-53712]; [53713-53714]; GradSchool and [53715-53716]
    a, e, z = Fraction(1, 8), Fraction(2, 3), Fraction(1, 5)
    assert found.loss == (weights[0] * a + weights[1] * e + weights[2] * z * 3) / 3
    assert found.by_column == (a / 3, e / 3, z)


def test_one_row_of_a_large_group_is_lent() -> None:
    """C04: three of twelve rows published as *."""
    rows = [(v,) for v in ["L", "R", "L", "B", "B", "B", "L", "R", "R", "R", "F", "I"]]
    problem, frequency = bind(rows, [flat("x", list("BFILR"))], k_anonymity(3))
    found = decide_local(problem, frequency)
    assert found.loss == Fraction(3, 12) and sorted(found.size) == [3, 3, 3, 3]
    lender = frequency.codes[found.cell[np.flatnonzero(np.bincount(found.cell)[found.cell] > 1)], 0]
    assert set(lender) == {4}  # R


def test_ranges_are_tight() -> None:
    """C06: 24.92 %."""
    x, y = [1, 2, 3, 4, 5, 6, 7, 8], [10, 11, 12, 13, 50, 51, 52, 53]
    rows = [(str(a), str(b)) for a, b in zip(x, y, strict=True)]
    problem, frequency = bind(rows, [numbers("x", x), numbers("y", y)], k_anonymity(4))
    found = decide_local(problem, frequency)
    assert found.low.tolist() == [[0, 0], [4, 4]] and found.high.tolist() == [[3, 3], [7, 7]]
    assert found.loss == (Fraction(3, 7) + Fraction(3, 43)) / 2


def test_a_null_among_numbers() -> None:
    """C07: 15.71 %, the rows without an age together."""
    ages: list[int | None] = [34, 36, 38, 40, 42, 44, 46, 48, None, None]
    rows = [(None if a is None else str(a), s) for a, s in zip(ages, "MMFFMMFFMF", strict=True)]
    problem, frequency = bind(rows, [numbers("age", ages), flat("sex", ["F", "M"])], k_anonymity(2))
    found = decide_local(problem, frequency)
    assert float(found.loss) == pytest.approx(0.1571, abs=5e-5)
    assert found.low[-1].tolist() == [8, 0] and found.high[-1].tolist() == [8, 1]


@pytest.mark.parametrize("block", [None, 2, 3, 4])
def test_repair_across_blocks(block: int | None) -> None:
    """C23: {1-4} and {11-14}, 23.08 %, wherever the borders of blocks lie."""
    values = [1, 2, 3, 4, 11, 12, 13, 14]
    problem, frequency = bind([(str(v),) for v in values], [numbers("x", values)], k_anonymity(3))
    found = decide_local(problem, frequency, block)
    assert found.size.tolist() == [4, 4] and found.loss == Fraction(3, 13)


def test_all_rows_equal_and_one_group() -> None:
    problem, frequency = bind([("a",)] * 5, [flat("x", ["a"])], k_anonymity(5))
    found = decide_local(problem, frequency)
    assert found.size.tolist() == [5] and found.loss == 0
    problem, frequency = bind([("a",), ("b",), ("c",)], [flat("x", ["a", "b", "c"])], k_anonymity(3))
    found = decide_local(problem, frequency)
    assert found.size.tolist() == [3] and found.loss == 1


def test_too_few_rows_are_refused() -> None:
    problem, frequency = bind([("a",), ("b",)], [flat("x", ["a", "b"])], k_anonymity(3))
    with pytest.raises(InfeasibleError, match="2 rows < k = 3"):
        decide_local(problem, frequency)


def test_groups_that_print_alike_are_one() -> None:
    """Four groups of two distinct values each would all print *."""
    values = list("abcdefgh")
    problem, frequency = bind([(v,) for v in values], [flat("x", values)], k_anonymity(2))
    found = decide_local(problem, frequency)
    assert found.size.tolist() == [8] and found.loss == 1


def test_alpha_is_repaired() -> None:
    """Four rows a:s and b:t, alpha = 1/2: only both together hold."""
    rows = [("a", "s"), ("a", "s"), ("b", "t"), ("b", "t")]
    models = [model("k-anonymity", k=2), model("alpha-deassociation", "s", alpha=Fraction(1, 2))]
    problem, frequency = bind(rows, [flat("x", ["a", "b"])], models, ["s"])
    found = decide_local(problem, frequency)
    assert found.size.tolist() == [4] and "1 merges" in found.steps[-1]


def test_refined_alpha_ends_in_none_found_where_all_is_in_vain() -> None:
    """Of two rows one may be s, of four two: three s and one t in groups of two or more never hold."""
    rows = [("a", "s"), ("a", "s"), ("a", "s"), ("b", "t")]
    models = [model("k-anonymity", k=2), model("alpha-deassociation", "s", alpha=Fraction(2, 5), refined=True)]
    problem, frequency = bind(rows, [flat("x", ["a", "b"])], models, ["s"])
    with pytest.raises(NoneFoundError):
        decide_local(problem, frequency)


def test_refined_alpha_holds_in_parts_where_the_whole_breaks_it() -> None:
    """Of one row one may be s, of three two, of all four two but three are: a alone holds, and a, a, b together (METHODS 1)."""
    rows = [("a", "s"), ("a", "s"), ("a", "s"), ("b", "t")]
    models = [model("k-anonymity", k=1), model("alpha-deassociation", "s", alpha=Fraction(2, 5), refined=True)]
    problem, frequency = bind(rows, [flat("x", ["a", "b"])], models, ["s"])
    found = decide_local(problem, frequency)
    assert sorted(found.size.tolist()) == [1, 3] and found.loss == Fraction(3, 4)


def test_rows_of_the_same_combination_change_places() -> None:
    """R lies in both groups and holds s and t: dealt by value both groups hold, and nothing more is lost than for k alone."""
    rows = [("1", "s"), ("2", "s"), ("2", "t"), ("2", "s"), ("2", "t"), ("3", "t")]
    problem, frequency = bind(rows, [numbers("x", [1, 2, 3])], k_anonymity(3), ["s"])
    asked = replace(problem, models=(*problem.models, model("l-diversity", "s", l=2, kind="distinct")))
    alone, both = decide_local(problem, frequency), decide_local(asked, frequency)
    assert both.loss == alone.loss and both.size.tolist() == [3, 3]


def test_a_near_row_comes_rather_than_a_far_group() -> None:
    """Ten rows at 0 are all s; t lies at 1 in plenty, and again far off: one t comes, and the rest of the groups stay as they were."""
    rows = [("0", "s")] * 4 + [("1", "t")] * 4 + [("1", "u")] * 4 + [("100", "t")] * 4 + [("100", "u")] * 4
    models = [model("k-anonymity", k=4), model("l-diversity", "s", l=2, kind="distinct")]
    problem, frequency = bind(rows, [numbers("x", [0, 1, 100])], models, ["s"])
    found = decide_local(problem, frequency)
    assert found.low.ravel().tolist() == [0, 1, 2] and found.high.ravel().tolist() == [1, 1, 2]
    assert found.size.tolist() == [5, 7, 8] and found.loss == Fraction(5, 100) / 20


def test_block_sizes() -> None:
    assert block_size(10) == block_size(16_000) == 16_000
    assert block_size(1_000_000) == block_size(50_000_000) == 1_000
    assert 1_000 < block_size(200_000) < 16_000
