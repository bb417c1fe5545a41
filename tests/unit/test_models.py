"""Privacy models by worked values; their refusals; the flags that allow pruning, attacked at random."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hierarchies import model

from anon_spark.domain.errors import InternalError
from anon_spark.kernels.rollup import holds_all
from anon_spark.models.alpha_deassociation import AlphaDeassociation, RefinedAlphaDeassociation
from anon_spark.models.base import Distinct, Largest, Model, Size, Statistic, Whole
from anon_spark.models.confidence import ConfidenceBound
from anon_spark.models.k_anonymity import KAnonymity
from anon_spark.models.l_diversity import DistinctLDiversity, FrequencyLDiversity
from anon_spark.models.registry import Asked, build

S = "disease"
MODELS: list[Model] = [
    KAnonymity(3),
    AlphaDeassociation(S, Fraction(2, 5)),
    AlphaDeassociation(S, Fraction(1, 2), ("a", "b")),
    RefinedAlphaDeassociation(S, Fraction(2, 5)),
    RefinedAlphaDeassociation(S, Fraction(1, 2), ("a",)),
    DistinctLDiversity(S, 2),
    FrequencyLDiversity(S, 2),
    ConfidenceBound(S, Fraction(1, 2), ("a",), ("q",)),
]


def stats(histogram: Counter, asked: Model) -> dict[Statistic, int]:
    found: dict[Statistic, int] = {}
    for statistic in asked.reads:
        if isinstance(statistic, Size):
            found[statistic] = sum(histogram.values())
        elif isinstance(statistic, Distinct):
            found[statistic] = len(+histogram)
        else:
            assert isinstance(statistic, Largest)
            found[statistic] = max(
                (n for v, n in histogram.items() if statistic.values is None or v in statistic.values), default=0
            )
    return found


def holds(asked: Model, **counts: int) -> bool:
    return bool(asked.holds(stats(Counter(counts), asked)))


def whole(**counts: int) -> Whole:
    return Whole(sum(counts.values()), {S: counts})


def test_k_is_a_least_size() -> None:
    assert holds(KAnonymity(3), a=3) and not holds(KAnonymity(3), a=2)


def test_alpha_is_exact_at_the_boundary() -> None:
    """0.1 of 10 rows is 1 row, whatever 0.1 * 10 is in floating point; so for every tenth and every size."""
    for tenths in range(1, 11):
        for size in range(1, 200):
            asked = AlphaDeassociation(S, Fraction(tenths, 10), ("a",))
            most = tenths * size // 10
            assert holds(asked, a=most, b=size - most)
            assert most == size or not holds(asked, a=most + 1, b=size - most - 1)


def test_refined_alpha_rounds_up_exactly() -> None:
    for tenths in range(1, 11):
        for size in range(1, 200):
            asked = RefinedAlphaDeassociation(S, Fraction(tenths, 10), ("a",))
            most = -(-tenths * size // 10)
            assert holds(asked, a=most, b=size - most)
            assert most == size or not holds(asked, a=most + 1, b=size - most - 1)


def test_alpha_reads_listed_values_alone() -> None:
    asked = AlphaDeassociation(S, Fraction(1, 2), ("HIV",))
    assert holds(asked, flu=9, HIV=1) and holds(asked, flu=9) and not holds(asked, flu=1, HIV=2)
    assert not holds(AlphaDeassociation(S, Fraction(1, 2)), flu=9, HIV=1)


def test_refined_alpha_is_not_monotone() -> None:
    """METHODS 1: two classes of 3 rows with 2 sensitive hold at 0.4, their union does not."""
    asked = RefinedAlphaDeassociation(S, Fraction(2, 5), ("s",))
    assert holds(asked, s=2, t=1) and not holds(asked, s=4, t=2)
    assert not asked.union_closed


def test_l_diversity_of_both_kinds() -> None:
    assert holds(DistinctLDiversity(S, 2), a=9, b=1) and not holds(DistinctLDiversity(S, 2), a=9)
    assert holds(FrequencyLDiversity(S, 2), a=2, b=1, c=1) and not holds(FrequencyLDiversity(S, 2), a=3, b=1, c=1)


@pytest.mark.parametrize("asked", MODELS, ids=repr)
def test_the_union_of_holding_classes(asked: Model) -> None:
    """A model that says it is closed under union withstands the attack; one that says it is not has a counter-example."""
    rng = random.Random(1)
    broken = 0
    for _ in range(20_000):
        first, second = (Counter({v: rng.randint(0, 4) for v in "abc"}) for _ in range(2))
        if asked.holds(stats(first, asked)) and asked.holds(stats(second, asked)):
            broken += not asked.holds(stats(first + second, asked))
    assert (broken == 0) == asked.union_closed


@pytest.mark.parametrize("asked", MODELS, ids=repr)
def test_any_rows_added(asked: Model) -> None:
    rng = random.Random(2)
    broken = 0
    for _ in range(20_000):
        first, added = (Counter({v: rng.randint(0, 4) for v in "abc"}) for _ in range(2))
        if asked.holds(stats(first, asked)):
            broken += not asked.holds(stats(first + added, asked))
    assert (broken == 0) == asked.survives_any_rows


def test_limit_example_that_no_alpha_survives() -> None:
    """METHODS 1: a1:s, a1:t, a2:s at 0.5: the two rows hold; with the third added they don't."""
    assert holds(AlphaDeassociation(S, Fraction(1, 2)), s=1, t=1) and not holds(AlphaDeassociation(S, Fraction(1, 2)), s=2, t=1)


def test_refusals_name_the_figures() -> None:
    assert KAnonymity(5).infeasible(whole(a=3), 0) == "3 rows < k = 5: ask for a smaller k"
    assert AlphaDeassociation(S, Fraction(1, 5), ("HIV",)).infeasible(whole(HIV=2, flu=4), 0) == (
        "alpha = 0.2 is below HIV's share of the table, 0.333: no anonymization exists; no smaller alpha than 0.3334 can hold"
    )
    assert AlphaDeassociation(S, Fraction(1, 5)).infeasible(whole(HIV=3, flu=7), 0) == (
        "alpha = 0.2 is below flu's share of the table, 0.700: no anonymization exists; no smaller alpha than 0.7 can hold"
    )
    assert DistinctLDiversity(S, 3).infeasible(whole(a=1, b=5), 0) == (
        "l = 3 is above the 2 distinct values of disease in the table: no anonymization exists; no larger l than 2 can hold"
    )
    assert "a's share of the table is 0.375" in str(FrequencyLDiversity(S, 3).infeasible(whole(a=75, b=56, c=50, d=19), 0))


def test_a_share_just_above_alpha_shows_that_it_is() -> None:
    told = AlphaDeassociation(S, Fraction(1, 5)).infeasible(whole(**{f"v{i}": 20_000 for i in range(4)}, top=20_001), 0)
    assert told is not None and "share of the table, 0.20001:" in told and "than 0.2001 can hold" in told


def test_anatomy_eligibility() -> None:
    """METHODS 5.1: religion counts 75, 56, 50, 13, 3, 2, 1: l = 2 is eligible, l = 3 is not."""
    counts = whole(a=75, b=56, c=50, d=13, e=3, f=2, g=1)
    assert FrequencyLDiversity(S, 2).infeasible(counts, 0) is None
    assert FrequencyLDiversity(S, 3).infeasible(counts, 0) is not None


def test_suppression_may_save_a_share() -> None:
    """(count - S) > alpha * (n - S) refuses: 3 of 10 at 0.2 with 1 to suppress leaves 2 of 9, with 2 leaves 1 of 8."""
    asked = AlphaDeassociation(S, Fraction(1, 5), ("HIV",))
    assert "after suppressing 1 row, 0.222" in str(asked.infeasible(whole(HIV=3, flu=7), 1))
    assert asked.infeasible(whole(HIV=3, flu=7), 2) is None
    assert FrequencyLDiversity(S, 3).infeasible(whole(a=4, b=3, c=3), 0) and not FrequencyLDiversity(S, 3).infeasible(
        whole(a=4, b=3, c=3), 1
    )


@pytest.mark.parametrize("asked", MODELS, ids=repr)
def test_a_refusal_is_never_wrong(asked: Model) -> None:
    """Against every way to suppress up to S rows and publish the rest as one class."""
    rng = random.Random(3)
    for _ in range(3000):
        counts = {v: rng.randint(0, 4) for v in "abc"}
        counts = {v: n for v, n in counts.items() if n}
        rows, may = sum(counts.values()), rng.randint(0, 2)
        if rows <= may:
            continue
        left = [
            Counter({v: n - d for (v, n), d in zip(counts.items(), drop, strict=True)})
            for drop in np.ndindex(*(n + 1 for n in counts.values()))
            if sum(drop) <= may
        ]
        possible = any(asked.holds(stats(histogram, asked)) for histogram in left)
        if asked.infeasible(whole(**counts), may) is not None:
            assert not possible
        elif may == 0 and asked.union_closed:
            assert possible


def test_a_failing_root_proves_nothing_of_a_refined_alpha() -> None:
    assert RefinedAlphaDeassociation(S, Fraction(1, 5)).infeasible(whole(HIV=9, flu=1), 0) is None


def test_null_has_no_name_of_its_own() -> None:
    told = AlphaDeassociation(S, Fraction(1, 5)).infeasible(Whole(3, {S: {None: 2, "a": 1}}), 0)
    assert told is not None and "null's share of the table, 0.667" in told


def test_a_product_that_int64_cannot_hold() -> None:
    """alpha written with 18 digits: a wrapped product would turn the verdict round."""
    asked = AlphaDeassociation(S, Fraction(123456789012345679, 10**18), ("a",))
    rows = 2_000_000
    counts = np.arange(0, rows, 1000)
    found: dict[Statistic, Any] = {Size(): np.full(len(counts), rows), asked.largest: counts}
    right = [int(n) * 10**18 <= rows * 123456789012345679 for n in counts]
    assert holds_all([asked], found, len(counts), rows).tolist() == right
    huge: dict[Statistic, Any] = {Size(): np.array([5])}
    assert holds_all([KAnonymity(2**70)], huge, 1, 5).tolist() == [False]


def test_the_registry_builds_what_is_configured() -> None:
    specs = (
        model("k-anonymity", k=5),
        model("alpha-deassociation", S, alpha=Fraction(1, 2), values=None, refined=False),
        model("alpha-deassociation", S, alpha=Fraction(1, 2), values=("a",), refined=True),
        model("l-diversity", S, kind="distinct", l=2),
        model("l-diversity", S, kind="frequency", l=2),
    )
    assert tuple(model for spec in specs for model in build(Asked(spec))) == (
        KAnonymity(5),
        AlphaDeassociation(S, Fraction(1, 2)),
        RefinedAlphaDeassociation(S, Fraction(1, 2), ("a",)),
        DistinctLDiversity(S, 2),
        FrequencyLDiversity(S, 2),
    )
    assert build(Asked(specs[2])) != (AlphaDeassociation(S, Fraction(1, 2), ("a",)),)


@pytest.mark.parametrize(
    "spec", [model("no such model", S, t=1), model("l-diversity", S, kind="entropy", l=2), model("l-diversity", l=2)]
)
def test_what_is_not_built_or_not_bound_to_a_table_is_our_own_fault(spec: Any) -> None:
    with pytest.raises(InternalError):
        build(Asked(spec))


def test_excess_is_nothing_exactly_where_a_model_holds():
    """Histograms at random, absent values among them."""
    rng = random.Random(5)
    for _ in range(2000):
        histogram = Counter({v: rng.randint(0, 5) for v in "abc"})
        if not histogram.total():
            continue
        for asked in MODELS:
            listed = "abc" if asked.counted is None or asked.counted.values is None else asked.counted.values
            counts = np.array([[histogram[v] for v in listed]])
            excess = asked.excess(np.array([histogram.total()]), counts, np.arange(len(listed)))
            assert excess.shape == (1,) and excess[0] >= 0
            assert (excess[0] == 0) == bool(asked.holds(stats(histogram, asked)))


def test_a_confidence_that_no_table_holds_is_told_by_its_value() -> None:
    told = ConfidenceBound(S, Fraction(1, 5), ("HIV",), ("sex",)).infeasible(whole(HIV=2, flu=4), 0)
    assert told == (
        "h = 0.2 is below HIV's share of the table, 0.333: no anonymization exists; no smaller h than 0.3334 can hold"
    )
    assert ConfidenceBound(S, Fraction(1, 5), ("HIV",)).tightest(whole(HIV=2, flu=4)) == "h from 0.3334, the share of HIV"


def test_frequency_l_diversity_of_a_fraction() -> None:
    """l = 2.5: at most two of five rows; what is asked of whole numbers holds as before."""
    half = FrequencyLDiversity(S, Fraction(5, 2))
    assert holds(half, a=2, b=2, c=1) and not holds(half, a=3, b=2, c=1) and not holds(half, a=1, b=1)
    assert half.excess(np.array([5, 6]), np.array([[2, 2, 1], [3, 2, 1]]), None).tolist() == [0, 3]
    assert "l = 2.5 asks that no value of disease has more than 1 / 2.5 of the rows" in str(half.infeasible(whole(a=3, b=2, c=1), 0))
    assert half.infeasible(whole(a=2, b=2, c=1), 0) is None
