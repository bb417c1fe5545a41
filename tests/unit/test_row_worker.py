"""Rows that travel through blocks: each comes out once with its own columns and its group's labels, whatever the batches and the order."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hierarchies import bind, flat, hierarchy, model

from anon_spark.algorithms import local_row_worker as worker
from anon_spark.algorithms.local_cells import Pass
from anon_spark.domain.box_labels import labels
from anon_spark.domain.problem import Problem
from anon_spark.kernels.local.cuts import axes_of
from anon_spark.kernels.local.tree import Tree, grow
from anon_spark.plans.block_lines import BLOCK, BROKEN, COMBINATIONS, GROUP, HELD
from anon_spark.plans.frequency import cell_names
from anon_spark.plans.row_hash import DEALT_BY

TREE = hierarchy("tree", [(x, "ab" if x in "ab" else "c-f", "*") for x in "abcdef"])
PLACES = {str(v): v for v in range(1, 31)}
LINE = hierarchy("line", [(text, "*") for text in PLACES] + [(None, "*")], PLACES)
PRINTED = ("l0", "l1", "l2")


def rows_of(seed: int, count: int) -> list[tuple]:
    draw = random.Random(seed)
    return [(draw.choice("abcdef"), draw.choice([*PLACES, None]), draw.choice("xyz"), draw.choice("sstuv")) for _ in range(count)]


def sent(problem: Problem, tree: Tree, rows: list[tuple], order: list[int], batch: int, quick: bool) -> pa.Table:
    """What comes out for rows, numbered by their place, that come in this order in batches of so many."""
    names = sum(cell_names(3, 1), [])
    columns = {"id": pa.array(order), "__anon_own": pa.array([i * 7 for i in order])}
    columns |= {name: pa.array([rows[i][j] for i in order], pa.string()) for j, name in enumerate(names)}
    # the second hash tells apart those that the first does not
    columns |= {DEALT_BY[0]: pa.array([i * 31 % 5 for i in order]), DEALT_BY[1]: pa.array([-i for i in order])}
    work = worker.RowsPass(Pass(problem, 20, None, quick), PRINTED, 8)
    table = pa.Table.from_batches(worker.routed_rows(pa.table(columns).to_batches(max_chunksize=batch), work, tree))
    table = table.sort_by([(key, "ascending") for key in [BLOCK, *work.work.columns[0]]])
    return pa.Table.from_batches(worker.grouped_rows(table.to_batches(max_chunksize=batch), work))


def tree_of(problem: Problem, codes: np.ndarray, most: int) -> Tree:
    return grow(axes_of(problem.hierarchies, problem.weights), codes, np.ones(len(codes), np.int64), most, 12)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_rows_come_out_once_with_the_labels_of_their_group(seed: int, quick: bool) -> None:
    rows = rows_of(seed, 150)
    asked = [model("k-anonymity", k=4), model("alpha-deassociation", "s", alpha=Fraction(3, 5))]
    problem, frequency = bind(rows, [TREE, LINE, flat("flat", list("xyz"))], asked, ["s"])
    tree = tree_of(problem, np.unique(frequency.codes, axis=0), 40)
    found = sent(problem, tree, rows, list(range(150)), 1000, quick)
    assert sorted(found["id"].to_pylist()) == list(range(150)) and tree.blocks > 1
    assert all(own == 7 * i for i, own in zip(found["id"].to_pylist(), found["__anon_own"].to_pylist(), strict=True))
    assert not {BLOCK, *DEALT_BY, *sum(cell_names(3, 1), [])} & set(found.column_names)
    of = defaultdict(list)
    for row in found.to_pylist():
        of[row[GROUP]].append(row)
    for members in of.values():
        values = [rows[row["id"]] for row in members]
        assert len(members) >= 4 and set(Counter(row[HELD] for row in members)) == {1}
        assert members[0][BROKEN] or max(Counter(value[3] for value in values).values()) <= Fraction(3, 5) * len(members)
        for j, h in enumerate(problem.hierarchies):
            codes = np.array([h.codes[value[j]] for value in values])
            assert {row[f"__anon_g{j}"] for row in members} == set(codes.tolist())
            assert {row[PRINTED[j]] for row in members} == set(labels(h, codes.min(keepdims=True), codes.max(keepdims=True)))
    assert found[COMBINATIONS].to_numpy().sum() == len(np.unique(frequency.codes, axis=0))
    shuffled = list(range(150))
    random.Random(seed).shuffle(shuffled)
    for order, batch in ((shuffled, 1), (shuffled[::-1], 7)):
        again = sent(problem, tree, rows, order, batch, quick)
        keys = ["id", GROUP, BROKEN, *PRINTED]
        assert again.select(keys).sort_by("id") == found.select(keys).sort_by("id")


def test_rows_of_unknown_cells_are_left_out_for_the_count_to_find() -> None:
    rows = rows_of(5, 60)
    problem, frequency = bind(rows, [TREE, LINE, flat("flat", list("xyz"))], [model("k-anonymity", k=3)], ["s"])
    tree = tree_of(problem, np.unique(frequency.codes, axis=0), 60)
    more = [*rows, ("g", "1", "x", "s"), ("a", "31", "x", "s"), (None, "1", "x", "s"), ("a", "1", "x", "w")]
    found = sent(problem, tree, more, list(range(64)), 1000, False)
    assert sorted(found["id"].to_pylist()) == list(range(60))


def test_rows_of_a_cell_are_dealt_in_the_order_of_their_hashes() -> None:
    rows = [("a", "1", "x", "s")] * 9 + [("a", "2", "x", "s")] * 2 + [("f", "30", "z", "s")] * 7
    problem, frequency = bind(rows, [TREE, LINE, flat("flat", list("xyz"))], [model("k-anonymity", k=4)], ["s"])
    tree = tree_of(problem, frequency.codes, 60)
    found = sent(problem, tree, rows, list(range(18)), 1000, False).to_pylist()
    cell = sorted((row["id"] * 31 % 5, -row["id"], row[GROUP]) for row in found if row["id"] < 9)
    groups = [group for _, _, group in cell]
    # two rows are lent to the pair beside them: the first or the last ones by their hashes
    assert sorted(Counter(groups).values()) == [2, 7] and groups == sorted(groups)
    assert min(Counter(row[GROUP] for row in found).values()) >= 4


def test_the_wider_the_rows_the_fewer_are_taken_up_together() -> None:
    problem, _ = bind(rows_of(1, 9), [TREE, LINE, flat("flat", list("xyz"))], [model("k-anonymity", k=3)], ["s"])
    most = [worker.RowsPass(Pass(problem, 20, None), PRINTED, columns).most for columns in (5, 50, 300)]
    assert most == [worker.MOST_LINES, worker.MOST_VALUES // 50, worker.FEWEST_ROWS]
