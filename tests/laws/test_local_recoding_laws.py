"""What holds of every local recoding, on random small tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hierarchies import bind, flat, hierarchy, model
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import all_hold

from anon_spark.algorithms import local_exchange, local_recoding, local_tally
from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.domain.errors import NoneFoundError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalRecoding
from anon_spark.kernels.local import block, swift
from anon_spark.kernels.local.block import agglomerated, peeled
from anon_spark.kernels.local.improve import improve
from anon_spark.kernels.local.prepare import ladders, prepare

TREE = hierarchy(
    "tree", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cde", "*"), ("d", "cde", "*"), ("e", "cde", "*"), ("f", "*", "*")]
)
PLACES = {str(v): v for v in (1, 2, 4, 8, 16, 17)}
LINE = hierarchy("line", [(text, "*") for text in PLACES] + [(None, "*")], PLACES)
ROW = st.tuples(st.sampled_from("abcdef"), st.sampled_from([*PLACES, None]), st.sampled_from("xyz"), st.sampled_from("stu"))
ROWS = st.lists(ROW, min_size=1, max_size=40)


def tables(rows: list, models: list) -> tuple[Problem, FrequencySet]:
    weights = (Fraction(1), Fraction(2), Fraction(1, 3))
    ranks = (np.arange(len({row[3] for row in rows})),)
    return bind(rows, [TREE, LINE, flat("flat", list("xyz"))], models, ["s"], weights=weights, ranks=ranks)


def ncp(problem: Problem, low: tuple, high: tuple) -> Fraction:
    """By the leaves of the published nodes, written without the product's arrays."""
    total = Fraction(0)
    for h, a, b, w in zip(problem.hierarchies, low, high, problem.weights, strict=True):
        if a == b:
            continue
        if h.numeric:
            texts = [h.leaves[a], h.leaves[b]]
            total += w * (1 if None in texts else Fraction(PLACES[texts[1]] - PLACES[texts[0]], 16))
            continue
        level = next(x for x in range(h.levels) if h.nodes[x][a] == h.nodes[x][b])
        label = h.labels[level][h.nodes[level][a]]
        under = {c for x in range(1, h.levels) for c in range(len(h.leaves)) if h.labels[x][h.nodes[x][c]] == label}
        total += w * Fraction(len(under), len(h.leaves))
    return total / sum(problem.weights)


def check(problem: Problem, frequency: FrequencySet, found: LocalRecoding) -> dict[int, Counter]:
    """Rows conserved, boxes tight, loss right; the sensitive values of each group."""
    held: Counter = Counter()
    boxes, values = defaultdict(list), defaultdict(Counter)
    for cell, group, n in zip(found.cell.tolist(), found.group.tolist(), found.held.tolist(), strict=True):
        assert n > 0
        held[cell] += n
        boxes[group].append(tuple(frequency.codes[cell].tolist()))
        values[group][int(frequency.sensitive[cell, 0])] += n
    assert held == dict(enumerate(frequency.count.tolist()))
    assert sorted(boxes) == list(range(len(found.size)))
    total = Fraction(0)
    for group, lines in boxes.items():
        low, high = tuple(map(min, zip(*lines, strict=True))), tuple(map(max, zip(*lines, strict=True)))
        assert low == tuple(found.low[group]) and high == tuple(found.high[group])
        assert values[group].total() == found.size[group]
        total += values[group].total() * ncp(problem, low, high)
    assert found.loss == total / problem.rows
    return values


@contextmanager
def small_cells() -> Iterator[None]:
    """A few combinations are very many, and cells hold a few of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_recoding, "MANY", 2)
        patch.setattr(swift, "CELLS", 6)
        patch.setattr(swift, "GROUPS_OF_K", 2)
        yield


@settings(max_examples=30, deadline=None)
@given(ROWS, st.integers(1, 4))
def test_wide_regions_whose_lattice_is_too_large_to_peel(rows: list, k: int) -> None:
    assume(len(rows) >= k)
    problem, frequency = tables(rows, [model("k-anonymity", k=k)])
    with small_cells(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_recoding, "MANY", 1_000)
        patch.setattr(local_recoding, "NARROWEST_BLOCK", 5)
        patch.setattr(block, "MOST_NODES", 1)
        found = decide_local(problem, frequency)
    values = check(problem, frequency, found)
    assert min(group.total() for group in values.values()) >= k


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 6), st.sampled_from([None, 2, 7]), st.booleans())
def test_groups_hold_k_rows_and_nothing_is_lost(rows: list, k: int, most: int | None, swiftly: bool) -> None:
    assume(len(rows) >= k)
    problem, frequency = tables(rows, [model("k-anonymity", k=k)])
    with small_cells() if swiftly else nullcontext():
        found = decide_local(problem, frequency, most)
    values = check(problem, frequency, found)
    assert min(group.total() for group in values.values()) >= k


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(1, 4), st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_cells_does_not_count(rows: list, k: int, random: object, swiftly: bool) -> None:
    assume(len(rows) >= k)
    problem, frequency = tables(rows, [model("k-anonymity", k=k)])
    order = np.arange(len(frequency.count))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = FrequencySet(frequency.codes[order], frequency.sensitive[order], frequency.count[order])
    with small_cells() if swiftly else nullcontext():
        one, other = decide_local(problem, frequency), decide_local(problem, shuffled)
    assert one.low.tolist() == other.low.tolist() and one.high.tolist() == other.high.tolist()
    of_one = sorted(zip(one.cell.tolist(), one.group.tolist(), one.held.tolist(), strict=True))
    assert of_one == sorted(zip(order[other.cell].tolist(), other.group.tolist(), other.held.tolist(), strict=True))


MODELS = st.sampled_from(
    [
        model("alpha-deassociation", "s", alpha=Fraction(1, 2)),
        model("alpha-deassociation", "s", alpha=Fraction(1, 2), values=("s",)),
        model("alpha-deassociation", "s", alpha=Fraction(2, 5), refined=True),
        model("l-diversity", "s", l=2, kind="distinct"),
        model("l-diversity", "s", l=2, kind="frequency"),
        model("l-diversity", "s", l=Fraction(3, 2), kind="entropy"),
        model("l-diversity", "s", l=2, c=Fraction(2), kind="recursive"),
        model("t-closeness", "s", t=Fraction(1, 3), distance="equal"),
        model("t-closeness", "s", t=Fraction(1, 4), distance="ordered"),
        model("delta-disclosure", "s", delta=Fraction(4, 5)),
        model("beta-likeness", "s", beta=Fraction(1, 2), kind="basic"),
        model("beta-likeness", "s", beta=Fraction(3, 2), kind="enhanced"),
        model("epsilon-k-sensitivity", "s", epsilon=Fraction(1, 4), k=2, levels=2, weights="uniform"),
        model("l-alpha-diversity", "s", l=2, alpha=Fraction(2), levels=2),
        model("lambda-alpha-k", "s", k=2, alpha=Fraction(4, 5), levels=2, **{"lambda": {"1": Fraction(1), "2": Fraction(3, 4)}}),
        model("confidence-bound", "s", value="s", h=Fraction(1, 2), given=("tree",)),
    ]
)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 4), MODELS)
def test_other_models_hold_after_repair(rows: list, k: int, asked: object) -> None:
    problem, frequency = tables(rows, [model("k-anonymity", k=k), asked])
    whole = [(None, line, int(n)) for line, n in zip(frequency.sensitive.tolist(), frequency.count.tolist(), strict=True)]
    assume(len(rows) >= k and all_hold(problem, whole, whole))
    try:
        found = decide_local(problem, frequency)
    except NoneFoundError as error:
        assert problem.models[1].parameters.get("refined") and "proves none" in str(error)
        return
    for group in check(problem, frequency, found).values():
        assert group.total() >= k
        assert all_hold(problem, [(None, [value], n) for value, n in group.items()], whole)


def test_many_kinds_are_looked_at_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sensitive value of its own in every row: memory is bounded by what is looked at, and every group still holds."""
    monkeypatch.setattr(local_exchange, "MOST_KINDS", 20)
    monkeypatch.setattr(local_exchange, "FEW_TOGETHER", 2)
    monkeypatch.setattr(local_tally, "MOST_COUNTS", 50)
    rows = [("abcdef"[i % 6], list(PLACES)[i % 5], "xyz"[i % 3], f"{i // 2:02}") for i in range(80)]
    asked = model("t-closeness", "s", t=Fraction(1, 5), distance="ordered")
    problem, frequency = tables(rows, [model("k-anonymity", k=4), asked])
    whole = [(None, line, int(n)) for line, n in zip(frequency.sensitive.tolist(), frequency.count.tolist(), strict=True)]
    groups = check(problem, frequency, decide_local(problem, frequency)).values()
    assert len(groups) > 2
    for group in groups:
        assert all_hold(problem, [(None, [value], n) for value, n in group.items()], whole)


PAIRS = st.lists(MODELS, min_size=1, max_size=2)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, min_size=4, max_size=60), st.integers(1, 4), PAIRS, st.randoms(use_true_random=False))
def test_several_models_hold_whatever_the_order_of_cells(rows: list, k: int, asked: list, random: object) -> None:
    problem, frequency = tables(rows, [model("k-anonymity", k=k), *asked])
    whole = [(None, line, int(n)) for line, n in zip(frequency.sensitive.tolist(), frequency.count.tolist(), strict=True)]
    assume(len(rows) >= k and all_hold(problem, whole, whole))
    order = np.arange(len(frequency.count))
    random.shuffle(order)  # type: ignore[attr-defined]
    try:
        found = decide_local(problem, frequency)
    except NoneFoundError:
        assert any(spec.parameters.get("refined") or "epsilon" in spec.parameters for spec in asked)
        return
    other = decide_local(problem, FrequencySet(frequency.codes[order], frequency.sensitive[order], frequency.count[order]))
    for group in check(problem, frequency, found).values():
        assert all_hold(problem, [(None, [value], n) for value, n in group.items()], whole)
    of_one = sorted(zip(found.cell.tolist(), found.group.tolist(), found.held.tolist(), strict=True))
    assert of_one == sorted(zip(order[other.cell].tolist(), other.group.tolist(), other.held.tolist(), strict=True))


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(2, 6), st.booleans())
def test_the_loss_never_rises_in_improvement(rows: list, k: int, from_peeling: bool) -> None:
    assume(len(rows) >= k)
    problem, frequency = tables(rows, [model("k-anonymity", k=k)])
    codes, inverse = np.unique(frequency.codes, axis=0, return_inverse=True)
    count = np.bincount(inverse.ravel(), frequency.count).astype(np.int64)
    costs, points = prepare(problem.hierarchies, problem.weights, codes)
    start = (
        peeled(costs, points, count, ladders(problem.hierarchies, codes), k, 0.1)
        if from_peeling
        else agglomerated(costs, points, count, k)
    )
    better, _ = improve(costs, points, start, k)
    losses = []
    for parts in (start, better):
        groups = defaultdict(list)
        for cell, group, n in zip(*(array.tolist() for array in parts), strict=True):
            if n:
                groups[group].append((codes[cell], n))
        assert all(sum(n for _, n in group) >= k for group in groups.values())
        sizes = [
            (np.min([c for c, _ in g], axis=0), np.max([c for c, _ in g], axis=0), sum(n for _, n in g)) for g in groups.values()
        ]
        losses.append(sum(n * ncp(problem, tuple(low), tuple(high)) for low, high, n in sizes))
    # Kernels round each column's costs to 2**-22 of a row's.
    assert losses[1] <= losses[0] + len(rows) * Fraction(8, 1 << 22)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(list(PLACES))), min_size=4, max_size=7), st.integers(2, 3))
def test_small_tables_are_near_the_best_partition(rows: list, k: int) -> None:
    """Of all partitions of the rows into groups of k or more, none loses less than half of what is found."""
    problem, frequency = bind(rows, [TREE, LINE], [model("k-anonymity", k=k)])
    found = decide_local(problem, frequency)
    lines = [tuple(h.codes[v] for h, v in zip(problem.hierarchies, row, strict=True)) for row in rows]
    least = min(sum(_loss(problem, [lines[i] for i in g]) for g in p) for p in partitions(tuple(range(len(rows))), k))
    assert found.loss * problem.rows >= least
    assert found.loss * problem.rows <= 2 * least or (least == 0 and found.loss == 0)


def _loss(problem: Problem, lines: list) -> Fraction:
    return len(lines) * ncp(problem, tuple(map(min, zip(*lines, strict=True))), tuple(map(max, zip(*lines, strict=True))))


def partitions(rows: tuple, k: int):  # type: ignore[no-untyped-def]
    """All partitions into groups of at least k."""
    if not rows:
        yield []
    for size in range(k, len(rows) + 1):
        for others in combinations(rows[1:], size - 1):
            rest = tuple(r for r in rows[1:] if r not in others)
            if not rest or len(rest) >= k:
                for more in partitions(rest, k):
                    yield [(rows[0], *others), *more]
