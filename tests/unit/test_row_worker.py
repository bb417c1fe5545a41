"""Rows that travel through blocks: each comes out once with its own columns and its group's labels, whatever the batches and the order."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hierarchies import bind, flat, hierarchy, model

from anon_spark.algorithms import local_row_worker as worker
from anon_spark.algorithms.local_cells import Pass
from anon_spark.algorithms.local_row_numbers import ColumnNumbers, RowNumbers, words_of
from anon_spark.domain.box_labels import labels
from anon_spark.domain.problem import Problem
from anon_spark.kernels.local.cuts import axes_of
from anon_spark.kernels.local.tree import Tree, grow
from anon_spark.plans.block_lines import BROKEN, COMBINATIONS, GROUP, KEY, MEMBERS, SIZE, SIZES, box_names
from anon_spark.plans.frequency import cell_names
from anon_spark.plans.row_hash import DEALT_BY

TREE = hierarchy("tree", [(x, "ab" if x in "ab" else "c-f", "*") for x in "abcdef"])
PLACES = {str(v): v for v in range(1, 31)}
LINE = hierarchy("line", [(text, "*") for text in PLACES] + [(None, "*")], PLACES)
PRINTED = ("l0", "l1", "l2")


def rows_of(seed: int, count: int) -> list[tuple]:
    draw = random.Random(seed)
    return [(draw.choice("abcdef"), draw.choice([*PLACES, None]), draw.choice("xyz"), draw.choice("sstuv")) for _ in range(count)]


def sent(problem: Problem, tree: Tree, rows: list[tuple], order: list[int], batch: int, quick: bool) -> tuple[pa.Table, list[dict]]:
    """What comes out for rows, numbered by their place, that come in this order in batches of so many: lines, and a record a row."""
    names = sum(cell_names(3, 1), [])
    columns = {"id": pa.array(order, pa.int64()), "__anon_own": pa.array([i * 7 for i in order], pa.int64())}
    columns |= {name: pa.array([rows[i][j] for i in order], pa.string()) for j, name in enumerate(names)}
    # the second hash tells apart those that the first does not
    columns |= {DEALT_BY[0]: pa.array([i * 31 % 5 for i in order]), DEALT_BY[1]: pa.array([-i for i in order])}
    numbers = RowNumbers.of(problem)
    work = worker.RowsPass(Pass(problem, 20, None, quick), numbers, PRINTED, 8)
    table = pa.Table.from_batches(worker.routed_rows(pa.table(columns).to_batches(max_chunksize=batch), numbers, tree))
    table = table.sort_by([(KEY, "ascending")])
    lines = pa.Table.from_batches(worker.grouped_rows(table.to_batches(max_chunksize=batch), work))
    shown = [GROUP, BROKEN, *PRINTED]
    # members: three texts, a sensitive number, and what went with the row
    own = ["q0", "q1", "q2", "value", "id", "own"]
    records = [
        {**{name: line[name] for name in shown}, **dict(zip(own, member.values(), strict=True))}
        for line in lines.to_pylist()
        for member in line[MEMBERS]
    ]
    return lines, records


def tree_of(problem: Problem, codes: np.ndarray, most: int) -> Tree:
    return grow(axes_of(problem.hierarchies, problem.weights), codes, np.ones(len(codes), np.int64), most, 12)


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_rows_come_out_once_with_the_labels_of_their_group(seed: int, quick: bool) -> None:
    rows = rows_of(seed, 150)
    asked = [model("k-anonymity", k=4), model("alpha-deassociation", "s", alpha=Fraction(3, 5))]
    problem, frequency = bind(rows, [TREE, LINE, flat("flat", list("xyz"))], asked, ["s"])
    tree = tree_of(problem, np.unique(frequency.codes, axis=0), 40)
    lines, found = sent(problem, tree, rows, list(range(150)), 1000, quick)
    assert sorted(row["id"] for row in found) == list(range(150)) and tree.blocks > 1
    of = defaultdict(list)
    for row in found:
        raw = rows[row["id"]]
        assert row["own"] == 7 * row["id"] and (row["q0"], row["q1"], row["q2"], problem.values[0][row["value"]]) == raw
        of[row[GROUP]].append(row)
    boxes = {line[GROUP]: line for line in lines.to_pylist()}
    assert lines.num_rows == len(boxes) == len(of)
    for number, members in of.items():
        values = [rows[row["id"]] for row in members]
        assert len(members) == boxes[number][SIZE] >= 4
        assert members[0][BROKEN] or max(Counter(value[3] for value in values).values()) <= Fraction(3, 5) * len(members)
        for j, h in enumerate(problem.hierarchies):
            codes = np.array([h.codes[value[j]] for value in values])
            assert (boxes[number][box_names(3)[j]], boxes[number][box_names(3)[3 + j]]) == (codes.min(), codes.max())
            assert {row[PRINTED[j]] for row in members} == set(labels(h, codes.min(keepdims=True), codes.max(keepdims=True)))
    assert lines[COMBINATIONS].to_numpy().sum() == len(np.unique(frequency.codes, axis=0))
    assert raw_sizes(lines) == Counter(Counter(row[:3] for row in rows).values())
    shuffled = list(range(150))
    random.Random(seed).shuffle(shuffled)
    for order, batch in ((shuffled, 1), (shuffled[::-1], 7)):
        _, again = sent(problem, tree, rows, order, batch, quick)
        assert sorted(again, key=lambda row: row["id"]) == sorted(found, key=lambda row: row["id"])


def raw_sizes(lines: pa.Table) -> Counter:
    found: Counter = Counter()
    for sizes in lines[SIZES].to_pylist():
        found.update({pair["size"]: pair["classes"] for pair in sizes})
    return found


def test_texts_that_are_one_leaf_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """"1" and "01" are one number: one combination for the groups, two for the risk of the raw table; each row keeps its text."""
    line = replace(LINE, codes={**LINE.codes, "01": LINE.codes["1"], "007": LINE.codes["7"]})
    rows = [("a", text, "x", "s") for text in ["1", "01", "01", "7", "007", "2", None, None] * 5]
    problem, frequency = bind(rows, [TREE, line, flat("flat", list("xyz"))], [model("k-anonymity", k=3)], ["s"])
    monkeypatch.setattr(worker, "MEMBERS_A_LINE", 2)
    lines, found = sent(problem, tree_of(problem, np.unique(frequency.codes, axis=0), 60), rows, list(range(40)), 7, False)
    assert all((row["q0"], row["q1"], row["q2"], "s") == rows[row["id"]] for row in found) and len(found) == 40
    assert raw_sizes(lines) == Counter(Counter(rows).values()) == {5: 4, 10: 2}
    assert max(len(line[MEMBERS]) for line in lines.to_pylist()) == 2
    sizes = Counter(row[GROUP] for row in found)
    assert sum(lines[SIZE].to_pylist()) == 40
    assert {line[GROUP]: line[SIZE] for line in lines.to_pylist() if line[SIZE]} == sizes


@pytest.mark.parametrize("spans", [[2, 3], [40_000, 30_000, 50_000, 7], [2_000_000] * 5, [1, 1, 2]])
def test_words_sort_like_numbers_and_give_them_back(spans: list[int]) -> None:
    draw = np.random.default_rng(3)
    columns = tuple(ColumnNumbers(pa.array([], pa.string()), np.arange(span, dtype=np.int32), True) for span in spans)
    numbers = RowNumbers(columns, len(spans), tuple(words_of(spans)))
    lines = [draw.integers(0, span, 500).astype(np.int32) for span in spans]
    lines = [np.append(line, [0, span - 1]) for line, span in zip(lines, spans, strict=True)]
    words = numbers.packed(lines)
    assert all((back == line).all() for back, line in zip(numbers.unpacked(words), lines, strict=True))
    assert (np.lexsort(words[::-1]) == np.lexsort(lines[::-1])).all()
    prefix = numbers.prefix(words[0])
    assert prefix.min() >= 0 and prefix.max() < 1 << 32 and (np.diff(prefix[np.argsort(words[0])]) >= 0).all()


def test_rows_of_unknown_cells_are_left_out_for_the_count_to_find() -> None:
    rows = rows_of(5, 60)
    problem, frequency = bind(rows, [TREE, LINE, flat("flat", list("xyz"))], [model("k-anonymity", k=3)], ["s"])
    tree = tree_of(problem, np.unique(frequency.codes, axis=0), 60)
    more = [*rows, ("g", "1", "x", "s"), ("a", "31", "x", "s"), (None, "1", "x", "s"), ("a", "1", "x", "w")]
    _, found = sent(problem, tree, more, list(range(64)), 1000, False)
    assert sorted(row["id"] for row in found) == list(range(60))


def test_rows_of_a_cell_are_dealt_in_the_order_of_their_hashes() -> None:
    rows = [("a", "1", "x", "s")] * 9 + [("a", "2", "x", "s")] * 2 + [("f", "30", "z", "s")] * 7
    problem, frequency = bind(rows, [TREE, LINE, flat("flat", list("xyz"))], [model("k-anonymity", k=4)], ["s"])
    tree = tree_of(problem, frequency.codes, 60)
    _, found = sent(problem, tree, rows, list(range(18)), 1000, False)
    cell = sorted((row["id"] * 31 % 5, -row["id"], row[GROUP]) for row in found if row["id"] < 9)
    groups = [group for _, _, group in cell]
    # two rows are lent to the pair beside them: the first or the last ones by their hashes
    assert sorted(Counter(groups).values()) == [2, 7] and groups == sorted(groups)
    assert min(Counter(row[GROUP] for row in found).values()) >= 4


def test_the_wider_the_rows_the_fewer_are_taken_up_together() -> None:
    problem, _ = bind(rows_of(1, 9), [TREE, LINE, flat("flat", list("xyz"))], [model("k-anonymity", k=3)], ["s"])
    numbers = RowNumbers.of(problem)
    most = [worker.RowsPass(Pass(problem, 20, None), numbers, PRINTED, columns).most for columns in (5, 50, 300)]
    assert most == [worker.MOST_LINES, worker.MOST_VALUES // 50, worker.FEWEST_ROWS]
