"""The passes over blocks as a worker runs them, the shuffle between them played by a sort."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hierarchies import bind, flat, hierarchy, model

from anon_spark.algorithms import local_block_worker as worker
from anon_spark.algorithms import local_cells
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.kernels.local.cuts import axes_of
from anon_spark.kernels.local.tree import grow
from anon_spark.plans.block_lines import BLOCK, BROKEN, COMBINATIONS, GROUP, HELD, ROWS

TREE = hierarchy(
    "tree", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cde", "*"), ("d", "cde", "*"), ("e", "cde", "*"), ("f", "*", "*")]
)
PLACES = {str(v): v for v in range(1, 31)}
LINE = hierarchy("line", [(text, "*") for text in PLACES] + [(None, "*")], PLACES)


def bound(seed: int, count: int, models: list) -> tuple[Problem, FrequencySet]:
    draw = random.Random(seed)
    rows = [(draw.choice("aabcdef"), draw.choice([*PLACES, None]), draw.choice("xyz"), draw.choice("sstuv")) for _ in range(count)]
    return bind(rows, [TREE, LINE, flat("flat", list("xyz"))], models, ["s"])


def passes(problem: Problem, frequency: FrequencySet, most: int, batch: int, quick: bool = False) -> pa.Table:
    """Lines of the last pass; batch: rows of a batch."""
    codes = np.unique(frequency.codes, axis=0)
    axes, ones = axes_of(problem.hierarchies, problem.weights), np.ones(len(codes), np.int64)
    trees = [grow(axes, codes, ones, most * wider, 1, share) for wider, share in ((1, 0.125), (2, 0.4))]
    works = [worker.Pass(problem, most, trees[1], quick), worker.Pass(problem, 2 * most, None)]
    names, values = works[0].columns
    columns = {name: pa.array(frequency.codes[:, j], pa.int32()) for j, name in enumerate(names)}
    columns |= {name: pa.array(frequency.sensitive[:, j], pa.int32()) for j, name in enumerate(values)}
    table = pa.table({**columns, HELD: pa.array(frequency.count, pa.int64())})
    table = pa.Table.from_batches(worker.routed(table.to_batches(max_chunksize=batch), works[0], trees[0]))
    for work, step, keys in zip(works, (worker.first_pass, worker.later_pass), (names, [GROUP]), strict=True):
        table = table.sort_by([(key, "ascending") for key in [BLOCK, *keys]])
        table = pa.Table.from_batches(step(table.to_batches(max_chunksize=batch), work))
    return table


ASKED = [
    [],
    [model("alpha-deassociation", "s", alpha=Fraction(2, 5))],
    [model("alpha-deassociation", "s", alpha=Fraction(9, 20), refined=True)],
    [model("l-diversity", "s", l=3, kind="distinct")],
]


@pytest.mark.parametrize("asked", ASKED, ids=["k", "alpha", "refined", "l"])
@pytest.mark.parametrize("quick", [False, True])
def test_rows_are_kept_and_what_breaks_a_model_is_told(asked: list, quick: bool) -> None:
    problem, frequency = bound(5, 300, [model("k-anonymity", k=4), *asked])
    lines = passes(problem, frequency, 15, 10, quick).to_pylist()
    names = ["__anon_g0", "__anon_g1", "__anon_g2", "__anon_v0"]
    held, values, told = Counter(), defaultdict(Counter), defaultdict(set)
    cells = zip(frequency.codes.tolist(), frequency.sensitive.tolist(), frequency.count.tolist(), strict=True)
    counts = {(*codes, s): n for codes, (s,), n in cells}
    for line in lines:
        cell = tuple(line[name] for name in names)
        assert line[HELD] > 0 and line[ROWS] == counts[cell]
        held[cell] += line[HELD]
        values[line[GROUP]][problem.values[0][line["__anon_v0"]]] += line[HELD]
        told[line[GROUP]].add(line[BROKEN])
    assert held == counts
    for group, found in values.items():
        assert told[group] == {not holds(problem, found)}
    assert sum(line[COMBINATIONS] for line in lines) >= len(np.unique(frequency.codes, axis=0))


def holds(problem: Problem, found: Counter) -> bool:
    size, most = found.total(), max(found.values())
    for spec in problem.models:
        given = spec.parameters
        if spec.model == "k-anonymity" and size < given["k"]:
            return False
        if spec.model == "l-diversity" and len(found) < given["l"]:
            return False
        if spec.model == "alpha-deassociation":
            listed = most - 1 < given["alpha"] * size if given.get("refined") else most <= given["alpha"] * size
            if not listed:
                return False
    return True


@pytest.mark.parametrize("asked", ASKED[:3], ids=["k", "alpha", "refined"])
def test_batches_and_the_order_of_cells_do_not_count(asked: list) -> None:
    problem, frequency = bound(6, 300, [model("k-anonymity", k=3), *asked])
    first = passes(problem, frequency, 20, 10_000)
    order = np.random.default_rng(1).permutation(len(frequency.count))
    shuffled = FrequencySet(frequency.codes[order], frequency.sensitive[order], frequency.count[order])
    again = passes(problem, shuffled, 20, 3)
    keys = [(name, "ascending") for name in first.column_names]
    assert first.sort_by(keys).to_pylist() == again.sort_by(keys).to_pylist()


def test_a_block_far_too_large_is_taken_up_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """One block by the tree; runs of 40 lines and blocks of 10 combinations in the worker."""
    monkeypatch.setattr(worker, "MOST_LINES", 40)
    problem, frequency = bound(8, 400, [model("k-anonymity", k=3)])
    work = worker.Pass(problem, 10, None)
    names, values = work.columns
    order = np.lexsort((*frequency.sensitive.T, *frequency.codes.T[::-1]))
    columns = {name: pa.array(frequency.codes[order, j], pa.int32()) for j, name in enumerate(names)}
    columns |= {name: pa.array(frequency.sensitive[order, j], pa.int32()) for j, name in enumerate(values)}
    zeros = np.zeros(len(order), np.int32)
    table = pa.table({**columns, HELD: pa.array(frequency.count[order], pa.int64()), BLOCK: pa.array(zeros, pa.int32())})
    lines = pa.Table.from_batches(worker.first_pass(table.to_batches(max_chunksize=7), work))
    sizes = lines[COMBINATIONS].to_numpy()
    assert sizes.max() <= 10 * local_cells.SLACK and lines[HELD].to_numpy().sum() == 400
    of = defaultdict(int)
    for group, n in zip(lines[GROUP].to_pylist(), lines[HELD].to_pylist(), strict=True):
        of[group] += n
    assert min(of.values()) >= 3
