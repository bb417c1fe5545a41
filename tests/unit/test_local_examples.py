"""What the summary shows of a local recoding, and what it warns of."""

from __future__ import annotations

import dataclasses

import numpy as np
from hierarchies import bind, flat, hierarchy, model

from anon_spark.algorithms.lattice import decide
from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.domain.recoding import LocalRecoding
from anon_spark.job.cautions import rare_bounds, rare_bounds_here
from anon_spark.job.examples import examples, local_examples
from anon_spark.report.words import Example

AGES = [21, 21, 21, 22, 25, 25, 40, 41, 42, 102]
NUMBERS = hierarchy("age", [(str(a), "*") for a in sorted(set(AGES))], {str(a): a for a in AGES})


def recoded(boxes: list[tuple[int, int]], k: int) -> tuple:
    """Ages in these boxes of codes, in the order of AGES."""
    problem, frequency = bind([(str(a), "x") for a in AGES], [NUMBERS, flat("b", ["x"])], [model("k-anonymity", k=k)])
    found = decide_local(problem, frequency)
    group = np.array([next(i for i, (a, b) in enumerate(boxes) if a <= code <= b) for code in frequency.codes[:, 0]])
    low, high = (np.array([[box[x], 0] for box in boxes], np.int32) for x in (0, 1))
    size = np.bincount(group, frequency.count).astype(np.int64)
    return problem, frequency, LocalRecoding(
        cell=np.arange(len(group)), group=group, held=frequency.count, low=low, high=high, size=size, loss=found.loss,
        by_column=found.by_column,
    )  # fmt: skip


def test_examples_are_values_of_k_rows_and_wider_labels_come_early() -> None:
    problem, frequency, recoding = recoded([(0, 0), (1, 2), (3, 6)], 2)
    shown = [(e.column, e.before, e.after) for e in local_examples(problem, frequency, recoding)]
    assert shown == [("age", "21", "21"), ("age", "25", "[22, 25]"), ("b", "x", "x")]


def test_where_rows_are_not_persons_no_value_is_shown() -> None:
    problem, frequency, recoding = recoded([(0, 0), (1, 2), (3, 6)], 2)
    assert local_examples(dataclasses.replace(problem, persons=3), frequency, recoding) == ()


def test_of_values_that_are_all_rare_the_labels_are_shown_alone() -> None:
    days = [f"2020-{month:02}-{day:02}" for month, end in ((1, 3), (2, 4), (3, 1)) for day in range(1, end + 1)]
    dates = hierarchy("born", [(day, day[:7], "*") for day in days])
    problem, frequency = bind([(day, "x") for day in days], [dates, flat("b", ["x"])], [model("k-anonymity", k=3)])
    recoding = dataclasses.replace(decide(problem, frequency), levels=(1, 0))
    assert examples(problem, recoding) == (
        Example("born", None, "2020-02", rare=True), Example("born", None, "2020-01", rare=True), Example("b", "x", "x"),
    )  # fmt: skip
    assert examples(dataclasses.replace(problem, persons=3), recoding) == ()


def test_a_bound_of_fewer_than_k_rows_is_warned_of() -> None:
    """The 102-year-old: [40, 102] ends in one person's age."""
    problem, _, recoding = recoded([(0, 0), (1, 2), (3, 6)], 2)
    (told,) = rare_bounds(problem, rare_bounds_here(problem, recoding))
    # 22, 40 and 102 are each the age of one row
    assert told.startswith("age: 3 values that fewer than k = 2 rows of the table have, printed as a bound of 2 classes")
    assert "102" not in told
    problem, _, recoding = recoded([(0, 6)], 2)
    assert rare_bounds(problem, rare_bounds_here(problem, recoding)) == ()
