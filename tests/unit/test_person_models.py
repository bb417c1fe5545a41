"""Models over persons: exact shares that unions break, bounds that add up and imply them."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import persons
import pytest
from hierarchies import model

from anon_spark.domain.errors import InternalError
from anon_spark.models.base import Largest, LargestPersons, Persons, Whole
from anon_spark.models.persons import GIVEN_PERSONS, GivenPersons, GivenShare, PersonAnonymity, PersonShare, RefinedGivenShare


def test_unions_keep_no_share_of_persons() -> None:
    """Each of two classes has the same healthy person and an ill one of its own: 1 of 2, 1 of 2, and together 2 of 3."""
    first, second = [["flu", "a"], ["cough", "h"]], [["flu", "b"], ["cough", "h"]]
    half = model("alpha-deassociation", "illness", alpha=Fraction(1, 2), values=("flu",), refined=False)
    verdicts = [persons.holds(half, rows, first + second, 0, False) for rows in (first, second, first + second)]
    assert verdicts == [True, True, False] and not PersonShare.union_closed


def test_a_class_that_holds_by_the_bounds_holds() -> None:
    """Random classes of a table in which one row of each person is marked: what holds by counted rows holds by sets."""
    kinds = [(2, False, None), (3, False, ("flu",)), (2, True, ("flu",))]
    held = 0
    for seed in range(3000):
        draw = Random(seed)
        table = [[draw.choice(["flu", "cough", "HIV"]), draw.choice([None, *"abcdefgh"])] for _ in range(draw.randint(2, 16))]
        seen, given = set(), []
        for _, person in table:
            given.append(person is None or person not in seen)
            seen.add(person)
        chosen = [i for i in range(len(table)) if draw.random() < 0.6]
        rows = [table[i] for i in chosen]
        some = sum(given[i] for i in chosen)
        if not rows:
            continue
        assert some <= persons.persons_in(rows)
        assert not GivenPersons(3).holds({GIVEN_PERSONS: some}) or persons.persons_in(rows) >= 3
        for parts, refined, listed in kinds:
            alpha = Fraction(1, parts)
            values = [row[0] for row in rows if listed is None or row[0] in listed]
            most = max((values.count(value) for value in values), default=0)
            bound = (RefinedGivenShare if refined else GivenShare)("illness", alpha, listed)
            if bound.holds({Largest("illness", listed): most, GIVEN_PERSONS: some}):
                held += 1
                spec = model("alpha-deassociation", "illness", alpha=alpha, values=listed, refined=refined)
                assert persons.holds(spec, rows, table, 0, False), (seed, rows)
    assert held > 1000


@pytest.mark.parametrize("bound", [GivenShare("i", Fraction(2, 5)), RefinedGivenShare("i", Fraction(2, 5)), GivenPersons(3)])
def test_no_excess_is_where_a_bound_holds(bound: GivenShare | GivenPersons) -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 6, (500, 1 if isinstance(bound, GivenPersons) else 3))
    given = counts[:, 0] if isinstance(bound, GivenPersons) else rng.integers(0, 9, 500)
    stats = {GIVEN_PERSONS: given, Largest("i"): counts.max(axis=1)}
    found = bound.excess(given, counts, np.arange(counts.shape[1]))
    assert ((found == 0) == bound.holds(stats)).all() and 0 < (found == 0).sum() < 500


def test_what_is_told_before_the_search_is_counted_in_persons() -> None:
    whole = Whole(10, {"i": {"flu": 2, None: 1}}, 3)
    assert PersonAnonymity(4).infeasible(whole, 5) == "3 persons < k = 4: ask for a smaller k" == GivenPersons(4).infeasible(whole, 0)
    assert PersonAnonymity(3).infeasible(whole, 0) is None and PersonAnonymity(3).tightest(whole) == "k up to 3 persons"
    for share in (PersonShare("i", Fraction(1, 10)), GivenShare("i", Fraction(1, 10))):
        assert share.infeasible(whole, 0) is None, "no bound and no share that unions break denies a release"
        assert "0.6667" in share.tightest(whole)
    assert PersonShare("i", Fraction(1, 2)).tightest(Whole(0, {"i": {}}, 0)) == "any share"


def test_exact_counts_of_persons_mend_no_group() -> None:
    for exact in (PersonAnonymity(2), PersonShare("i", Fraction(1, 2))):
        with pytest.raises(InternalError):
            exact.excess(np.ones(1), np.ones((1, 1)), np.zeros(1))
        assert exact.merged_under is exact and exact.counted is None
    assert PersonShare("i", Fraction(1, 2)).reads == (Persons(), LargestPersons("i"))
    assert RefinedGivenShare("i", Fraction(1, 2)).merged_under == GivenShare("i", Fraction(1, 2))
