"""The kernels' costs against exact ones, wide trees against tables, blocks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hierarchies import flat, hierarchy

from anon_spark.domain.bind import bind as bind_column
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Column
from anon_spark.kernels.local import boxes
from anon_spark.kernels.local import prepare as prepared
from anon_spark.kernels.local.boxes import (
    LINE,
    TABLE,
    UNITS,
    WIDE,
    Boxes,
    Costs,
    box_cost,
    copy_box,
    empty_boxes,
    union_cost,
    union_costs,
    widen,
)
from anon_spark.kernels.local.cuts import axes_of, best_cut, cut_blocks
from anon_spark.kernels.local.exchange import members_of
from anon_spark.kernels.local.improve import Parts, improve
from anon_spark.kernels.local.release import learn_alone, work_space
from anon_spark.kernels.local.state import State, new_state, rest_box
from anon_spark.metrics.box_cost import box_loss

TREE = hierarchy("tree", [(x, "ab" if x in "ab" else "c-f", "*") for x in "abcdef"] + [(None, "*")])
PLACES = {str(v): v for v in (0, 1, 3, 7, 20)}
LINE_OF = bind_column(
    Column(name="line", role="quasi-identifier"), "decimal", dict.fromkeys([*PLACES, "NaN", None], 1), where="test"
)
FLAT = flat("flat", list("xyz"))
TREES = (TREE, LINE_OF, FLAT)
WEIGHTS = (Fraction(1), Fraction(3), Fraction(1, 2))


def every_point() -> np.ndarray:
    return np.array(list(np.ndindex(*(len(h.leaves) for h in TREES))), dtype=np.int32)


def test_unions_cost_what_the_exact_boxes_cost(monkeypatch) -> None:
    codes = every_point()
    rng = np.random.default_rng(3)
    for widest in (1024, 2):
        monkeypatch.setattr(prepared, "WIDEST_TABLE", widest)
        costs, points = prepared.prepare(TREES, WEIGHTS, codes)
        assert costs.kind.tolist() == [TABLE if widest > 2 else WIDE, LINE, boxes.FLAT]
        out = np.zeros(len(codes), np.float32)
        for _ in range(50):
            chosen = rng.integers(0, len(codes), 4)
            box = empty_boxes(3, 1)
            copy_box(points, chosen[0], box, 0)
            for i in chosen[1:3]:
                grown = widen(costs, box, 0, points, i)
            assert grown == box_cost(costs, box, 0)
            union_costs(costs, box, 0, points, len(codes), out)
            lines = codes[chosen]
            exact, _ = box_loss(TREES, WEIGHTS, lines.min(axis=0)[None], lines.max(axis=0)[None], np.ones(1, np.int64))
            assert out[chosen[3]] == union_cost(costs, box, 0, points, chosen[3])
            assert abs(out[chosen[3]] / UNITS - float(exact)) < 4 / UNITS


def test_leaves_off_the_line_cost_the_root() -> None:
    """NaN, null and numbers beside each other cost 1, each alone 0."""
    low, high = np.array([[0, 4, 0], [0, 5, 0], [0, 5, 0]]), np.array([[0, 5, 0], [0, 6, 0], [0, 5, 0]])
    _, by_column = box_loss(TREES, WEIGHTS, low, high, np.array([1, 1, 1]))
    assert by_column == (0, Fraction(2, 3), 0)


def test_forty_thousand_leaves_need_no_table() -> None:
    m = 40_000
    wide = flat("wide", [f"{i:05d}" for i in range(m)])
    codes = np.stack([np.arange(m), np.arange(m) % 3], axis=1).astype(np.int32)
    costs, points = prepared.prepare((wide, FLAT), (Fraction(1), Fraction(1)), codes)
    assert costs.kind.tolist() == [boxes.FLAT] * 2 and costs.data.nbytes == 0
    assert union_cost(costs, points, 0, points, 3) == UNITS // 2


@pytest.mark.parametrize("widest", [1024, 2])
def test_points_in_the_columns_that_tell_them_apart_cost_the_same(widest: int) -> None:
    codes, rng = every_point(), np.random.default_rng(5)
    costs, points = prepared.prepare(TREES, WEIGHTS, codes)
    kinds = set()
    for n in [1, 2, 3, 5, 20, len(codes)] * 5:
        cells = rng.choice(len(codes), n, replace=False)
        own, narrow = prepared.narrowed(costs, points, cells, widest)
        kinds |= set(own.kind.tolist())
        assert len(own.kind) == sum(len(np.unique(column)) > 1 for column in codes[cells].T)
        found, wanted = np.zeros(n, np.float32), np.zeros(n, np.float32)
        for x in range(n):
            union_costs(own, narrow, x, narrow, n, found)
            union_costs(costs, points, cells[x], Boxes(*(array[:, cells] for array in points)), n, wanted)
            assert np.array_equal(found, wanted)
    assert kinds >= {boxes.FLAT, LINE} and (WIDE in kinds or widest > 2)


def groups_of(seed: int, m: int, groups: int) -> tuple[Costs, Boxes, State]:
    """Some points in some groups, a row each."""
    rng = np.random.default_rng(seed)
    codes = every_point()[np.sort(rng.choice(len(every_point()), m, replace=False))]
    costs, points = prepared.prepare(TREES, WEIGHTS, codes)
    group = np.r_[np.arange(groups), np.arange(groups), rng.integers(0, groups, m - 2 * groups)]
    return costs, points, new_state(costs, points, np.arange(m), group, np.ones(m, np.int64))


@pytest.mark.parametrize("widest", [1024, 2])
@pytest.mark.parametrize("seed", range(5))
def test_a_group_without_a_part_costs_what_the_box_of_the_rest_does(monkeypatch, seed: int, widest: int) -> None:
    monkeypatch.setattr(prepared, "WIDEST_TABLE", widest)
    costs, points, state = groups_of(seed, 40, 7)
    work = work_space(points, state)
    for g in range(7):
        learn_alone(costs, points, state, work, g)
        members = state.cell[state.group == g]
        for p in np.flatnonzero(state.group == g):
            rest, box = members[members != state.cell[p]], empty_boxes(3, 1)
            copy_box(points, rest[0], box, 0)
            cost = box_cost(costs, box, 0)
            for c in rest[1:]:
                cost = widen(costs, box, 0, points, c)
            assert work.alone[p] == cost
            state.away[p] = True
            assert rest_box(costs, points, state, g, box, 0) == cost == box_cost(costs, box, 0)
            state.away[p] = False


def test_parts_of_one_cell_in_one_group_are_one_and_lists_hold_what_was_dealt() -> None:
    codes = every_point()[:4]
    costs, points = prepared.prepare(TREES, WEIGHTS, codes)
    cell, group, held = np.array([3, 0, 3, 1, 0, 2]), np.array([9, 4, 9, 4, 9, 4]), np.array([2, 1, 3, 1, 1, 0])
    state = new_state(costs, points, cell, group, held)
    assert state.used[:2].tolist() == [4, 2] and state.size[:2].tolist() == [2, 6]
    parts = {(int(state.group[p]), int(state.cell[p])): int(state.held[p]) for p in range(4)}
    assert parts == {(0, 0): 1, (0, 1): 1, (1, 0): 1, (1, 3): 5}
    assert [sorted(members_of(state, np.array([g])).tolist()) for g in (0, 1)] == [[0, 1], [2, 3]]


def test_blocks_are_a_partition_with_k_rows_each() -> None:
    codes = every_point()
    blocks = cut_blocks(axes_of(TREES, WEIGHTS), codes, np.ones(len(codes), np.int64), 20, 5)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(len(codes)))
    assert all(5 <= len(block) <= 20 for block in blocks)


def test_a_block_that_no_cut_leaves_with_k_rows_stays_whole() -> None:
    codes = every_point()[:10]
    blocks = cut_blocks(axes_of(TREES, WEIGHTS), codes, np.ones(10, np.int64), 4, 6)
    assert [len(block) for block in blocks] == [10]


def pair_cost_of(codes: np.ndarray, rows: np.ndarray, j: int) -> float:
    """Mean cost of two rows, each with each, in one column, times the rows: as it is defined."""
    total = 0.0
    for x in range(len(codes)):
        for y in range(len(codes)):
            low, high = np.minimum(codes[x], codes[y])[None, j : j + 1], np.maximum(codes[x], codes[y])[None, j : j + 1]
            cost = float(box_loss(TREES[j : j + 1], WEIGHTS[j : j + 1], low, high, np.ones(1, np.int64))[0])
            total += cost * float(WEIGHTS[j] / sum(WEIGHTS)) * rows[x] * rows[y]
    return total / float(rows.sum())


@pytest.mark.parametrize("seed", range(12))
def test_a_cut_is_where_the_mean_cost_of_pairs_falls_most(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # no value beside the line: its place is that of the root for a box, and further away for a cut
    lines = every_point()[(every_point()[:, 1] < len(PLACES))]
    codes, rows = lines[np.sort(rng.choice(len(lines), 12, replace=False))], rng.integers(1, 4, 12)
    least = int(rng.integers(1, 6))
    falls = {}
    for j in range(3):
        for code in np.unique(codes[:, j])[1:]:
            below = codes[:, j] < code
            if min(rows[below].sum(), rows[~below].sum()) >= least:
                sides = sum(pair_cost_of(codes[side], rows[side], j) for side in (below, ~below))
                falls[j, int(code)] = pair_cost_of(codes, rows, j) - sides
    found = best_cut(axes_of(TREES, WEIGHTS), codes, rows, np.arange(12), least, 0.0)
    assert falls[found] > 0 and abs(falls[found] - max(falls.values())) < 1e-9


def test_nothing_is_cut_where_all_is_equal() -> None:
    codes = np.repeat(every_point()[:1], 5, axis=0)
    assert best_cut(axes_of(TREES, WEIGHTS), codes, np.ones(5, np.int64), np.arange(5), 1, 0.0)[0] == -1


def numbers(n: int) -> Hierarchy:
    """The numbers from 0 to n - 1."""
    return bind_column(Column(name="line", role="quasi-identifier"), "integer", dict.fromkeys(map(str, range(n)), 1), where="test")


def test_few_far_codes_are_cut_at_the_widest_gap() -> None:
    axes = axes_of((numbers(1000),), (Fraction(1),))
    codes = np.array([0, 1, 2, 997, 998, 999], np.int32)[:, None]
    for order in ([0, 1, 2, 3, 4, 5], [5, 2, 3, 0, 4, 1]):
        assert best_cut(axes, codes[order], np.ones(6, np.int64), np.arange(6), 1, 0.0) == (0, 997)


def test_a_group_of_thousands_of_parts_is_cut() -> None:
    line = numbers(10_000)
    codes = np.r_[np.arange(1500), np.arange(8500, 10_000)].astype(np.int32)[:, None]
    costs, points = prepared.prepare((line,), (Fraction(1),), codes)
    m = len(codes)
    parts, loss = improve(costs, points, Parts(np.arange(m), np.zeros(m, np.int64), np.ones(m, np.int64)), 1500, rounds=1)
    assert sorted(np.bincount(parts.group).tolist()) == [1500, 1500]
    assert (parts.group[np.argsort(parts.cell)][:1500] == parts.group[np.argmin(parts.cell)]).all()
    assert abs(loss / m / UNITS - 1499 / 9999) < 1e-4
