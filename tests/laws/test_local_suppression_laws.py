"""Rows that are left out of a local recoding: within the limit, and only where all rows together lose less by it."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
from hierarchies import bind, flat, hierarchy, model
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.algorithms.local_summary import summarise
from anon_spark.domain.errors import NoneFoundError
from anon_spark.domain.policy import ModelSpec

TREE = hierarchy("tree", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*"), ("e", "*", "*")])
PLACES = {str(v): v for v in (1, 2, 4, 8, 40)}
LINE = hierarchy("line", [(text, "*") for text in PLACES], PLACES)
ROW = st.tuples(st.sampled_from("aaabbcde"), st.sampled_from(["1", "1", "1", "2", "4", "8", "40"]), st.sampled_from("stu"))
ALPHA = model("alpha-deassociation", "s", alpha=Fraction(2, 3))


def recoded(rows: list, models: list[ModelSpec], limit: Fraction):  # type: ignore[no-untyped-def]
    problem, frequency = bind(rows, [TREE, LINE], models, ["s"], limit=limit)
    return problem, frequency, decide_local(problem, frequency)


@settings(max_examples=150, deadline=None)
@given(st.lists(ROW, min_size=4, max_size=40), st.integers(2, 5), st.integers(0, 12), st.booleans())
def test_within_the_limit_and_only_for_less_loss(rows: list, k: int, limit: int, alpha: bool) -> None:
    counts = Counter(row[-1] for row in rows)
    assume(len(rows) >= k and 3 * max(counts.values()) <= 2 * len(rows))
    models = [model("k-anonymity", k=k), *([ALPHA] if alpha else [])]
    share = Fraction(min(limit, len(rows) - 1), len(rows))
    try:
        _, _, before = recoded(rows, models, Fraction(0))
    except NoneFoundError:
        return
    problem, frequency, found = recoded(rows, models, share)
    lost = int(found.lost.sum())
    assert lost <= limit and (found.loss < before.loss if lost else found.loss == before.loss)
    held = np.zeros(len(frequency.count), np.int64)
    np.add.at(held, np.append(found.cell, found.lost_cell), np.append(found.held, found.lost))
    assert held.tolist() == frequency.count.tolist()
    groups: dict[int, Counter] = defaultdict(Counter)
    boxes: dict[int, list] = defaultdict(list)
    for cell, group, n in zip(found.cell.tolist(), found.group.tolist(), found.held.tolist(), strict=True):
        groups[group][int(frequency.sensitive[cell, 0])] += n
        boxes[group].append(frequency.codes[cell])
    for group, values in groups.items():
        assert values.total() == found.size[group] >= k and (not alpha or 3 * max(values.values()) <= 2 * values.total())
        assert np.min(boxes[group], axis=0).tolist() == found.low[group].tolist()
        assert np.max(boxes[group], axis=0).tolist() == found.high[group].tolist()
    summary = summarise(problem, found)
    assert summary.suppressed_rows == lost and summary.losses["gcp"] == found.loss and summary.by_column == found.by_column
    assert summary.losses["discernibility"] == sum(n * n for n in found.size.tolist()) + lost * len(rows)
    assert summary.losses["c-avg"] == Fraction(len(rows) - lost, len(found.size) * k)


def letters(text: str) -> list[tuple[str, str, str]]:
    return [(letter, "1", "s") for letter in text]


def test_two_strangers_leave_and_what_was_lent_goes_home() -> None:
    """C04: F and I drag a third row to *; with 2 of 12 rows to spare they are left out."""
    rows = [(letter,) for letter in "LRLBBBLRRRFI"]
    tree = flat("x", list("BFILR"))
    for limit, lost, loss in ((Fraction(0), 0, 3), (Fraction(1, 12), 0, 3), (Fraction(2, 12), 2, 2)):
        problem, frequency = bind(rows, [tree], [model("k-anonymity", k=3)], limit=limit)
        found = decide_local(problem, frequency)
        assert int(found.lost.sum()) == lost and found.loss == Fraction(loss, 12)
    assert sorted(frequency.codes[found.lost_cell, 0]) == [1, 2] and not found.star
    assert sorted(found.size.tolist()) == [3, 3, 4]


def test_one_row_of_a_group_that_can_spare_it() -> None:
    """1, 1, 2, 2, 40 with k = 4: without the 40 the range is a fortieth."""
    rows = [(v,) for v in ("1", "1", "2", "2", "40")]
    problem, frequency = bind(rows, [LINE], [model("k-anonymity", k=4)], limit=Fraction(1, 5))
    found = decide_local(problem, frequency)
    assert found.lost.tolist() == [1] and found.loss == (4 * Fraction(1, 39) + 1) / 5


def test_stars_must_hold_too() -> None:
    rows = letters("aaaaaaaaaa") + [("c", "40", "s"), ("e", "40", "s")]
    problem, frequency = bind(rows, [TREE, LINE], [model("k-anonymity", k=2)], ["s"], limit=Fraction(2, 12))
    found = decide_local(problem, frequency)
    assert int(found.lost.sum()) in (0, 2)
    rows = letters("aaaaaaaaaa") + [("e", "40", "s")]
    problem, frequency = bind(rows, [TREE, LINE], [model("k-anonymity", k=2)], ["s"], limit=Fraction(1, 11))
    found = decide_local(problem, frequency)
    assert int(found.lost.sum()) == 1 and not found.star and found.loss == Fraction(1, 11)
