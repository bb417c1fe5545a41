"""Losses and the lower bound by hand-worked values and against plain loops."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hierarchies import bind, flat, hierarchy, model

from anon_spark.metrics.losses import LossTable
from anon_spark.metrics.lower_bound import gcp_lower_bound, sampled_lower_bound
from anon_spark.metrics.pair_cost import PairCost

ZIP = hierarchy("zip", [["11", "1*", "*"], ["12", "1*", "*"], ["21", "2*", "*"], ["none", "*"]])
ONE = flat("one", ["same"])


def table(**more: object) -> LossTable:
    rows = [["11", "same"], ["12", "same"], ["21", "same"], ["none", "same"]]
    return LossTable(bind(rows, [ZIP, ONE], [model("k-anonymity", k=2)], **more)[0])


def kept(*rows: int) -> tuple[np.ndarray, np.ndarray]:
    return np.array(rows), np.array([sum(rows)])


def test_nothing_generalized_costs_nothing() -> None:
    losses = table().losses((0, 0), kept(1, 1, 1, 1), 4, 4)
    assert losses == {"gcp": 0, "distortion": 0, "glm": 0, "discernibility": 4, "c-avg": Fraction(1, 2)}


def test_all_at_the_root_costs_all() -> None:
    """A constant column has one leaf: its root costs nothing in gcp and glm, a step a row in distortion."""
    losses = table().losses((2, 1), kept(1, 1, 1, 1), 1, 16)
    assert losses == {"gcp": Fraction(1, 2), "distortion": 1, "glm": Fraction(1, 2), "discernibility": 16, "c-avg": 2}


def test_one_step_of_a_ragged_tree() -> None:
    """At level 1: 11 and 12 under 1* (2 of 4 leaves), 21 alone under 2* (0), none already at the root (1)."""
    losses = table().losses((1, 0), kept(1, 1, 1, 1), 3, 6)
    assert losses["gcp"] == (Fraction(2, 4) * 2 + 0 + 1) / 4 / 2
    assert losses["glm"] == (Fraction(1, 3) * 2 + 0 + 1) / 4 / 2
    assert losses["distortion"] == Fraction(1 + 1 + 1 + 1, 2 + 2 + 2 + 1 + 4)


def test_a_suppressed_row_is_fully_generalized() -> None:
    """The row ``none`` is dropped: 1 a column in gcp and glm, the constant one too; its root's height in distortion; n in squares."""
    losses = table().losses((0, 0), kept(1, 1, 1, 0), 3, 3)
    assert losses == {
        "gcp": Fraction(1, 4),
        "distortion": Fraction(1 + 1, 11),
        "glm": Fraction(1, 4),
        "discernibility": 3 + 4,
        "c-avg": Fraction(1, 2),
    }
    assert table().by_column((0, 0), kept(1, 1, 1, 0)) == (Fraction(1, 4), Fraction(1, 4))


def test_weights_count_in_gcp_and_glm_alone() -> None:
    weighted = table(weights=(Fraction(3), Fraction(1)))
    losses, plain = weighted.losses((2, 1), kept(1, 1, 1, 1), 1, 16), table().losses((2, 1), kept(1, 1, 1, 1), 1, 16)
    assert losses["gcp"] == losses["glm"] == Fraction(3, 4)
    assert losses["distortion"] == plain["distortion"]


def test_without_k_there_is_no_c_avg() -> None:
    problem, _ = bind([["11"], ["12"]], [ZIP], [])
    assert LossTable(problem).losses((0,), (np.array([1, 1, 0, 0]),), 2, 2)["c-avg"] is None


def test_a_single_number_costs_nothing_at_its_root() -> None:
    age = hierarchy("age", [["7", "*"]], {"7": 7})
    problem, _ = bind([["7"], ["7"]], [age], [model("k-anonymity", k=2)])
    assert LossTable(problem).losses((1,), (np.array([2]),), 1, 4)["gcp"] == 0


def test_parts_add_up_to_the_unsuppressed_loss() -> None:
    measured = table(weights=(Fraction(3), Fraction(1)))
    for loss in ("gcp", "glm", "distortion"):
        for levels in [(0, 1), (1, 0), (2, 1)]:
            parts = [measured.parts(loss, i, range(level, level + 1))[0] for i, level in enumerate(levels)]
            assert sum(parts) == measured.loss(loss, levels, kept(1, 1, 1, 1), 1, 1)


def test_numerators_that_int64_cannot_hold() -> None:
    big = 10**30
    age = hierarchy("age", [["0", "low", "*"], ["1", "low", "*"], [str(big), "high", "*"]], {"0": 0, "1": 1, str(big): big})
    problem, _ = bind([["0"], ["1"], [str(big)]], [age], [model("k-anonymity", k=1)])
    assert LossTable(problem).losses((1,), (np.array([1, 1, 1]),), 2, 5)["gcp"] == Fraction(2, 3 * big)


def test_worked_boxes_of_hua_and_pei() -> None:
    """METHODS 2: ages 24 to 32; {24, 30} costs .75; Bachelor beside Master costs ANY, 1; two of three leaves are GradSchool."""
    ages = [24, 25, 30, 32]
    age = hierarchy("age", [[str(v), "*"] for v in ages], {str(v): v for v in ages})
    costs = PairCost(age, np.arange(4))
    assert costs.table(8)[0].tolist() == [0, 1, 6, 8] and 8 % costs.denominator() == 0
    tree = [["Bachelor", "Bachelor", "*"], ["Master", "GradSchool", "*"], ["Doctorate", "GradSchool", "*"]]
    education = hierarchy("education", tree)
    assert PairCost(education, np.arange(3)).table(3).tolist() == [[0, 3, 3], [3, 0, 2], [3, 2, 0]]


def test_pairs_of_dates_moments_and_what_is_off_the_line() -> None:
    days = ["2020-01-01", "2020-01-02", "2020-01-05"]
    dated = hierarchy("day", [[d, "*"] for d in days] + [[None, "*"]], {d: i for i, d in enumerate(days)})
    assert PairCost(dated, np.arange(4)).table(4).tolist() == [[0, 1, 4, 4], [1, 0, 3, 4], [4, 3, 0, 4], [4, 4, 4, 0]]
    moments = ["2020-01-01 00:00:00", "2020-01-01 06:00:00", "2020-01-02 00:00:00", "NaN", "odd"]
    timed = hierarchy("at", [[m, "*"] for m in moments], {m: i for i, m in enumerate(moments)})
    table_ = PairCost(timed, np.arange(5)).table(4)
    assert table_[0].tolist() == [0, 1, 4, 4, 0] and table_[:, 4].tolist() == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("seed", range(30))
def test_the_lower_bound_against_all_pairs(seed: int) -> None:
    rng = random.Random(seed)
    ages = rng.sample(range(40), 5)
    age = hierarchy("age", [[str(v), str(v // 10), "*"] for v in sorted(ages)], {str(v): v for v in ages})
    rows = [[str(rng.choice(ages)), rng.choice(["11", "12", "21", "none"])] for _ in range(rng.randint(3, 15))]
    k = rng.randint(1, 4)
    problem, frequency = bind(rows, [age, ZIP], [model("k-anonymity", k=k)], weights=(Fraction(1), Fraction(rng.randint(1, 3))))
    found = gcp_lower_bound(problem, frequency.codes, frequency.count)
    assert found == (None if len(rows) < k else slow_bound(rows, k, problem.weights))


def slow_bound(rows: list[list[str]], k: int, weights: tuple[Fraction, ...]) -> Fraction:
    ages = [int(row[0]) for row in rows]
    spread = max(ages) - min(ages) or 1

    def cost(a: list[str], b: list[str]) -> Fraction:
        leaves = {a[1], b[1]}
        zips = 0 if len(leaves) == 1 else Fraction(2, 4) if leaves == {"11", "12"} else 1
        return (weights[0] * Fraction(abs(int(a[0]) - int(b[0])), spread) + weights[1] * zips) / sum(weights)

    nearest = [
        sorted(cost(row, other) for j, other in enumerate(rows) if j != i)[k - 2] if k > 1 else 0 for i, row in enumerate(rows)
    ]
    return Fraction(sum(nearest), len(rows))


def test_a_bound_on_a_grid_is_a_bound_close_below() -> None:
    """Denominators too large for exact sums: primes beyond 2**30 in two columns."""
    spread = [(1 << 31) - 1, (1 << 61) - 1]
    columns = [
        hierarchy(f"c{i}", [[str(v), "*"] for v in (0, 1 + i, top)], {str(v): v for v in (0, 1 + i, top)})
        for i, top in enumerate(spread)
    ]
    rows = [["0", "0"], ["1", "2"], [str(spread[0]), str(spread[1])]]
    problem, frequency = bind(rows, columns, [model("k-anonymity", k=2)])
    first, second = (Fraction(1 + i, top) for i, top in enumerate(spread))
    exact = ((first + second) * 2 + (1 - first) + (1 - second)) / 2 / 3
    found = gcp_lower_bound(problem, frequency.codes, frequency.count)
    assert found is not None and exact - Fraction(8, 2**50) < found <= exact


def test_no_bound_without_k_or_beyond_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, frequency = bind([["11"], ["12"]], [ZIP], [model("l-diversity", "s", kind="distinct", l=1)])
    assert gcp_lower_bound(problem, frequency.codes, frequency.count) is None
    problem, frequency = bind([["11"], ["12"]], [ZIP], [model("k-anonymity", k=2)])
    assert gcp_lower_bound(problem, frequency.codes, frequency.count) == Fraction(1, 2)
    monkeypatch.setattr("anon_spark.metrics.lower_bound.MOST_COMBINATIONS", 1)
    assert gcp_lower_bound(problem, frequency.codes, frequency.count) is None


def test_the_sampled_bound_is_exact_on_all_rows_and_near_on_some() -> None:
    rng = random.Random(5)
    ages = list(range(60))
    age = hierarchy("age", [[str(v), str(v // 10), "*"] for v in ages], {str(v): v for v in ages})
    rows = [[str(rng.choice(ages)), rng.choice(["11", "12", "21", "none"])] for _ in range(300)]
    problem, frequency = bind(rows, [age, ZIP], [model("k-anonymity", k=4)])
    exact = float(gcp_lower_bound(problem, frequency.codes, frequency.count) or 0)
    whole = sampled_lower_bound(problem, frequency.codes, frequency.count, 300)
    assert whole is not None and whole.low == whole.high == whole.estimate == pytest.approx(exact, rel=1e-12) and whole.rows == 300
    some = sampled_lower_bound(problem, frequency.codes, frequency.count, 100)
    assert some is not None and some.low <= exact <= some.high and 0 < some.high - some.low < exact
