"""Golden optima: worked values of METHODS 1-3.1 and the small cases that users of other tools met."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hierarchies import bind, flat, hierarchy, model
from oracle import exhaustive

from anon_spark.algorithms.lattice import decide
from anon_spark.domain.errors import InfeasibleError

HALF = Fraction(1, 2)
WONG = [
    ["Cat1", "1975", "4350", "HIV"], ["Cat1", "1955", "4350", "HIV"], ["Cat1", "1955", "5432", "flu"],
    ["Cat1", "1955", "5432", "fever"], ["Cat2", "1975", "4350", "flu"], ["Cat2", "1975", "4350", "fever"],
]  # fmt: skip
WONG_TREES = [flat("Job", ["Cat1", "Cat2"]), flat("Birth", ["1955", "1975"]), flat("Postcode", ["4350", "5432"])]
ZIPS = ["81667", "81675", "81925", "81931"]
C01 = [
    ["34", "male", "81675"], ["45", "female", "81667"], ["66", "male", "81925"], ["70", "female", "81931"],
    ["34", "female", "81931"], ["70", "male", "81931"], ["45", "male", "81931"],
]  # fmt: skip
C01_TREES = [
    hierarchy("age", [["34", "<50", "*"], ["45", "<50", "*"], ["66", ">=50", "*"], ["70", ">=50", "*"]]),
    flat("gender", ["male", "female"]),
    hierarchy("zip", [[z[: 5 - i] + "*" * i for i in range(5)] + ["*****"] for z in ZIPS]),
]
C22 = [
    ["a1", "b1", "HIV"], ["a1", "b1", "HIV"], ["a2", "b1", "HIV"], ["a2", "b1", "flu"],
    ["a1", "b2", "flu"], ["a1", "b2", "cold"], ["a2", "b2", "flu"], ["a2", "b2", "cold"],
]  # fmt: skip
AB = [flat("a", ["a1", "a2"]), flat("b", ["b1", "b2"])]


def alpha(column: str, *values: str, most: Fraction = HALF, refined: bool = False) -> object:
    return model("alpha-deassociation", column, alpha=most, values=values or None, refined=refined)


def k(size: int) -> object:
    return model("k-anonymity", k=size)


def test_wong_table_1_ties_are_broken_by_the_level_vector() -> None:
    """Three nodes with two columns generalized tie at height 2; the smallest level vector is Birth and Postcode."""
    problem, frequency = bind(WONG, WONG_TREES, [k(2), alpha("Illness", "HIV")], ["Illness"], loss="distortion")
    found = decide(problem, frequency)
    assert found.levels == (0, 1, 1)
    assert found.trace.minimal == ((0, 1, 1), (1, 0, 1), (1, 1, 0))
    assert found.losses["distortion"] == Fraction(2, 3)
    assert (found.classes, found.smallest, found.largest) == (2, 2, 4)


@pytest.mark.parametrize("loss", ["gcp", "glm"])
def test_wong_table_1_by_other_losses(loss: str) -> None:
    problem, frequency = bind(WONG, WONG_TREES, [k(2), alpha("Illness", "HIV")], ["Illness"], loss=loss)
    assert decide(problem, frequency).levels == (0, 1, 1)


def test_wong_table_5() -> None:
    """<G0,B1,P1> holds with classes {1,2} at 435* and {3,4} at 436*; so do its subsets and its generalization."""
    births = ["May 1965", "Jun 1965", "Jul 1965", "Aug 1965"]
    posts = [["4351", "435*", "*"], ["4361", "436*", "*"], ["4362", "436*", "*"]]
    trees = [flat("Gender", ["male"]), flat("Birth", births), hierarchy("Postcode", posts)]
    rows = [["male", b, p, s] for b, p, s in zip(births, ["4351", "4351", "4361", "4362"], "ncnn", strict=True)]
    problem, frequency = bind(rows, trees, [k(2), alpha("Sens", "c")], ["Sens"])
    right = exhaustive(problem, frequency)
    assert {(0, 1, 1), (0, 1, 2)} <= set(right.holding) and (0, 1, 0) not in right.holding
    found = decide(problem, frequency)
    assert found.levels == (0, 1, 1) and found.classes == 2 and found.trace.minimal == ((0, 1, 1),)
    for columns, levels in [((0,), (0,)), ((0, 1), (0, 1)), ((1, 2), (1, 1))]:
        sub = [[row[i] for i in columns] + [row[3]] for row in rows]
        problem, frequency = bind(sub, [trees[i] for i in columns], [k(2), alpha("Sens", "c")], ["Sens"])
        assert levels in exhaustive(problem, frequency).holding


def test_refined_alpha_holds_below_and_not_above() -> None:
    """METHODS 1: alpha = 0.4, two classes of 3 rows with 2 sensitive; pruning by a failing root would find nothing."""
    rows = [["x", s] for s in "sst"] + [["y", s] for s in "sst"]
    problem, frequency = bind(rows, [flat("q", ["x", "y"])], [alpha("d", "s", most=Fraction(2, 5), refined=True)], ["d"])
    found = decide(problem, frequency)
    assert found.levels == (0,) and set(exhaustive(problem, frequency).holding) == {(0,)}


def test_alpha_beside_a_limit_holds_below_and_not_above() -> None:
    """METHODS 1: rows a1:s, a1:t, a2:s, limit 1/3: level 0 holds with one row suppressed, the root does not."""
    rows = [["a1", "s"], ["a1", "t"], ["a2", "s"]]
    problem, frequency = bind(rows, [flat("q", ["a1", "a2"])], [alpha("d", "s")], ["d"], limit=Fraction(1, 3))
    found = decide(problem, frequency)
    assert found.levels == (0,) and found.suppressed_rows == 1


def test_beside_a_limit_the_optimum_is_no_minimal_node() -> None:
    """METHODS 3.1: (0,0) (1,0) (2,0), k = 2, limit 1/3: the only minimal node (1,0) loses .556, (2,0) loses .500."""
    trees = [hierarchy("c1", [["0", "x", "*"], ["1", "x", "*"], ["2", "*"]]), flat("c2", ["0"])]
    problem, frequency = bind([["0", "0"], ["1", "0"], ["2", "0"]], trees, [k(2)], limit=Fraction(1, 3))
    found = decide(problem, frequency)
    assert found.levels == (2, 0) and found.losses["gcp"] == HALF and found.trace.minimal == ((1, 0),)
    assert exhaustive(problem, frequency).holding[(1, 0)] == 1


@pytest.mark.parametrize(
    ("limit", "passing", "minimal"),
    [
        (Fraction(0), 11, ((1, 1, 2), (2, 0, 3))),
        (Fraction(1, 7), 17, ((0, 1, 3), (1, 0, 3), (1, 1, 2))),
        (Fraction(3, 10), 18, ((0, 1, 3), (1, 0, 3), (1, 1, 2), (2, 0, 2))),
    ],
)
def test_c01_nodes_that_pass(limit: Fraction, passing: int, minimal: tuple) -> None:
    problem, frequency = bind(C01, C01_TREES, [k(2)], limit=limit)
    found = decide(problem, frequency)
    right = exhaustive(problem, frequency)
    assert found.trace.nodes == 36 and len(right.holding) == passing
    assert found.trace.minimal == minimal == right.minimal()
    assert right.best is not None and found.levels == right.best[2]


def test_c01_rows_suppressed_at_each_minimal_node() -> None:
    problem, frequency = bind(C01, C01_TREES, [k(2)], limit=Fraction(3, 10))
    holding = exhaustive(problem, frequency).holding
    assert [holding[v] for v in [(0, 1, 3), (1, 0, 3), (1, 1, 2), (2, 0, 2)]] == [1, 1, 0, 2]


def test_c03_a_lone_class() -> None:
    rows = [["A", status, "30-49"] for status in ["Single", "Married", "Married", "Single", "Widow"]]
    trees = [flat("region", ["A"]), flat("status", ["Single", "Married", "Widow"]), flat("age", ["30-49"])]
    problem, frequency = bind(rows, trees, [k(2)])
    found = decide(problem, frequency)
    assert (found.levels, found.classes, found.smallest) == ((0, 1, 0), 1, 5)
    problem, frequency = bind(rows, trees, [k(2)], limit=Fraction(1, 5))
    found = decide(problem, frequency)
    assert (found.levels, found.suppressed_rows, found.classes, found.smallest, found.largest) == ((0, 0, 0), 1, 2, 2, 2)


def test_c04_full_domain_has_one_level_only() -> None:
    rows = [[letter] for letter in "LRLBBBLRRRFI"]
    problem, frequency = bind(rows, [flat("q", list("LRBFI"))], [k(3)])
    assert decide(problem, frequency).levels == (1,)
    problem, frequency = bind(rows, [flat("q", list("LRBFI"))], [k(3)], limit=Fraction(2, 12))
    found = decide(problem, frequency)
    assert (found.levels, found.suppressed_rows, found.classes) == ((0,), 2, 3)


def test_c11_constant_columns_change_no_class() -> None:
    a, b, c = flat("A", ["1", "2"]), flat("B", ["b"]), flat("C", [None])
    rows = [[v, "b", None] for v in "111122"]
    for picked in [(0,), (0, 1), (0, 2), (0, 1, 2)]:
        problem, frequency = bind([[row[i] for i in picked] for row in rows], [(a, b, c)[i] for i in picked], [k(2)])
        found = decide(problem, frequency)
        assert set(found.levels) == {0} and (found.smallest, found.largest, found.classes) == (2, 4, 2)


def test_c14_impossible() -> None:
    tree = [flat("q", ["x", "y"])]
    with pytest.raises(InfeasibleError, match=r"^privacy\.0: 3 rows < k = 5: ask for a smaller k$"):
        decide(*bind([["x"], ["x"], ["y"]], tree, [k(5)]))
    rows = [["x", "HIV"]] * 3 + [["y", "flu"]] * 7
    with pytest.raises(InfeasibleError, match=r"alpha = 0.2 is below HIV's share of the table, 0.300.*than 0.3 can hold$"):
        decide(*bind(rows, tree, [alpha("d", "HIV", most=Fraction(1, 5))], ["d"]))


def test_c18_weights_levels_and_ties() -> None:
    rows = [[a, b] for a in ("a1", "a2") for b in ("b1", "b2")]
    found = decide(*bind(rows, AB, [k(2)]))
    assert found.trace.minimal == ((0, 1), (1, 0)) and found.losses["gcp"] == HALF and found.levels == (0, 1)
    assert decide(*bind(rows, AB, [k(2)], weights=(Fraction(1), Fraction(3)))).levels == (1, 0)
    assert decide(*bind(rows, AB, [k(2)], max_levels=(0, 1))).levels == (0, 1)
    assert decide(*bind(rows, AB, [k(2)], min_levels=(1, 0))).levels == (1, 0)


def test_c20_limits_are_exact() -> None:
    """.29 of 100 rows is 29 rows, which floating point makes 28.999999999999996."""
    tree = [flat("q", [str(v) for v in range(30)])]
    rows = [["0"]] * 71 + [[str(v)] for v in range(1, 30)]
    problem, frequency = bind(rows, tree, [k(2)], limit=Fraction("0.29"))
    assert problem.may_suppress == 29
    found = decide(problem, frequency)
    assert (found.levels, found.suppressed_rows, found.classes) == ((0,), 29, 1)
    assert decide(*bind(rows, tree, [k(2)], limit=Fraction("0.28"))).levels == (1,)


def test_c20_one_row_within_five_percent() -> None:
    problem, frequency = bind([["x"]] * 100 + [["y"]], [flat("q", ["x", "y"])], [k(2)], limit=Fraction(1, 20))
    found = decide(problem, frequency)
    assert (found.levels, found.suppressed_rows) == ((0,), 1)


def test_c22_both_prunings_are_unsound_beside_a_limit() -> None:
    problem, frequency = bind(C22, AB, [k(2), alpha("disease", "HIV")], ["disease"])
    found = decide(problem, frequency)
    assert found.trace.minimal == ((0, 1),) and (found.classes, found.smallest, found.largest) == (2, 4, 4)
    problem, frequency = bind(C22, AB, [k(2), alpha("disease", "HIV")], ["disease"], limit=Fraction(1, 4))
    assert exhaustive(problem, frequency).holding == {(0, 0): 2, (0, 1): 0, (1, 1): 0}
    found = decide(problem, frequency)
    assert (found.levels, found.suppressed_rows, found.losses["gcp"]) == ((0, 0), 2, Fraction(1, 4))


def test_a_later_node_with_a_higher_bound_may_still_win_the_tie() -> None:
    """(1,0) and (0,1) both lose 1/2; the bound of (0,1) is its loss, that of (1,0), with 3 rows suppressed, lies below."""
    rows = [list(r) for r in ("01", "22", "01", "02", "10", "20", "22", "11")]
    trees = [hierarchy("a", [["0", "x", "*"], ["1", "x", "*"], ["2", "y", "*"]]), flat("b", ["0", "1", "2"])]
    problem, frequency = bind(rows, trees, [k(2)], limit=Fraction(7, 18))
    right = exhaustive(problem, frequency)
    assert right.best == (HALF, 1, (0, 1)) and right.holding[(1, 0)] == 3
    found = decide(problem, frequency)
    assert found.levels == (0, 1) and found.losses["gcp"] == HALF


def test_fewest_heights_before_the_smallest_vector() -> None:
    """Squares of (2,0) and (0,1) tie: one step beats two, though the order of visits differs."""
    rows = [list(r) for r in ("00", "02", "21", "10", "12", "21")]
    trees = [hierarchy(c, [["0", "x", "*"], ["1", "x", "*"], ["2", "y", "*"]]) for c in "ab"]
    problem, frequency = bind(rows, trees, [k(2)], limit=Fraction(7, 18), loss="discernibility")
    right = exhaustive(problem, frequency)
    assert right.best == (Fraction(12), 1, (1, 0))
    assert decide(problem, frequency).levels == (1, 0)
