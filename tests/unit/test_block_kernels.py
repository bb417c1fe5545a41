"""Trees of cuts, runs of Arrow batches, and classes merged across blocks: the Spark place without Spark."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hierarchies import bind, flat, hierarchy, model

from anon_spark.algorithms.local_merge import Classes, breaking, merge
from anon_spark.kernels.arrow import runs
from anon_spark.kernels.local.cuts import axes_of
from anon_spark.kernels.local.prepare import prepare
from anon_spark.kernels.local.scale import boxes_on, points_on, scale_of
from anon_spark.kernels.local.tree import grow, route
from anon_spark.metrics.box_cost import box_loss
from anon_spark.metrics.box_sums import BoxSums, box_sums, losses_of
from anon_spark.models.registry import models_of

TREE = hierarchy(
    "tree", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cde", "*"), ("d", "cde", "*"), ("e", "cde", "*"), ("f", "*", "*")]
)
PLACES = {str(v): v for v in range(1, 31)}
LINE = hierarchy("line", [(text, "*") for text in PLACES] + [(None, "*")], PLACES)
FLAT = flat("flat", [f"v{i}" for i in range(200)])
ALL, WEIGHTS = (TREE, LINE, FLAT), (Fraction(1), Fraction(2), Fraction(1, 3))


def codes_of(seed: int, count: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return np.unique(np.stack([draw.integers(0, len(h.leaves), count) for h in ALL], axis=1).astype(np.int32), axis=0)


def test_boxes_on_the_whole_scale_cost_what_they_cost_on_their_own() -> None:
    scale, codes = scale_of(ALL, WEIGHTS), codes_of(1, 60)
    low, high = np.minimum(codes[:-1], codes[1:]), np.maximum(codes[:-1], codes[1:])
    _, cost = boxes_on(scale, low, high)
    for a, b, units in zip(low, high, cost, strict=True):
        exact = box_loss(ALL, WEIGHTS, a[None, :], b[None, :], np.ones(1, np.int64))[0]
        assert abs(units / 2**22 - float(exact)) < 1e-6
    own, points = prepare(ALL, WEIGHTS, codes)
    assert np.array_equal(own.cap, scale.costs.cap) and np.array_equal(points.low[1], points_on(scale, codes).low[1])


@pytest.mark.parametrize("share", [0.125, 0.4])
def test_a_tree_sends_its_own_points_to_blocks_of_the_wanted_size(share: float) -> None:
    codes = codes_of(2, 3000)
    tree = grow(axes_of(ALL, WEIGHTS), codes, np.ones(len(codes), np.int64), 200, 1, share)
    block = route(tree, codes)
    sizes = np.bincount(block, minlength=tree.blocks)
    assert tree.blocks == len(sizes) and sizes.min() >= 1 and sizes.max() <= 200
    assert np.array_equal(route(tree, codes[::-1])[::-1], block)
    assert np.array_equal(np.concatenate([route(tree, codes[i : i + 1]) for i in range(50)]), block[:50])


def test_a_sample_tells_the_sizes_of_blocks() -> None:
    codes = codes_of(3, 20_000)
    drawn = np.random.default_rng(4).random(len(codes)) < 0.2
    tree = grow(axes_of(ALL, WEIGHTS), codes[drawn], np.ones(int(drawn.sum()), np.int64), 100, 1)
    sizes = np.bincount(route(tree, codes), minlength=tree.blocks)
    assert sizes.max() < 1.5 * 500


def test_unrelated_values_are_cut_by_code_and_equal_ones_not_at_all() -> None:
    axes = axes_of((FLAT,), (Fraction(1),))
    codes = np.arange(200, dtype=np.int32)[:, None]
    tree = grow(axes, codes, np.ones(200, np.int64), 30, 1)
    assert np.bincount(route(tree, codes)).max() <= 30
    same = np.zeros((50, 1), np.int32)
    assert grow(axes, same, np.ones(50, np.int64), 10, 1).blocks == 1


def test_no_side_of_a_cut_has_too_few_rows() -> None:
    codes = codes_of(5, 500)
    rows = np.random.default_rng(6).integers(1, 9, len(codes))
    tree = grow(axes_of(ALL, WEIGHTS), codes, rows, 1, 300)
    assert np.bincount(route(tree, codes), rows).min() >= 300


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_runs_do_not_depend_on_batches(size: int) -> None:
    draw = random.Random(size)
    lines = sorted((draw.randrange(4), draw.randrange(6), draw.randrange(3)) for _ in range(200)) + [(9, 1, 1)] * 40
    table = pa.table({name: pa.array([line[j] for line in lines], pa.int32()) for j, name in enumerate("bxy")})
    batches = [pa.RecordBatch.from_pydict({n: pa.array([], pa.int32()) for n in "bxy"}), *table.to_batches(max_chunksize=size)]
    found = [[tuple(row.values()) for row in run.to_pylist()] for run in runs(batches, "b", ["x", "y"], 20)]
    assert [row for run in found for row in run] == lines
    assert found == [[tuple(row.values()) for row in run.to_pylist()] for run in runs(table.to_batches(), "b", ["x", "y"], 20)]
    for one, other in pairwise(found):
        assert len({row[0] for row in one}) == 1 and one[-1] != other[0]
        assert one[0][0] != other[0][0] or len(one) + sum(row == other[0] for row in other) > 20
    assert all(len(run) <= 20 or len(set(run)) == 1 for run in found) and len(found[-1]) == 40
    assert list(runs([], "b", ["x"], 20)) == []


def classes(rows: list[tuple[int, int, list[int]]]) -> Classes:
    """(lowest, highest, sensitive numbers) of each class over one column."""
    low, high = (np.array([[row[x]] for row in rows], np.int32) for x in (0, 1))
    lines = [(g, v, row[2].count(v)) for g, row in enumerate(rows) for v in sorted(set(row[2]))]
    of, value, held = (np.array(column, np.int64) for column in zip(*lines, strict=True))
    return Classes(np.arange(len(rows)) * 10, low, high, np.array([len(r[2]) for r in rows]), of, value[:, None].astype(np.int32), held)


def test_breaking_classes_merge_with_the_neighbour_that_helps() -> None:
    rows = [(str(v), s) for v, s in zip(range(1, 13), "ssttstststst", strict=True)]
    asked = [model("k-anonymity", k=2), model("alpha-deassociation", "s", alpha=Fraction(1, 2))]
    problem, _ = bind(rows, [LINE], asked, ["s"])
    models = models_of(problem)
    given = classes([(0, 1, [0, 0]), (2, 3, [1, 1]), (4, 5, [0, 1]), (20, 21, [0, 1])])
    assert breaking(problem, models, given).tolist() == [True, True, False, False]
    assert merge(problem, models, given, breaking(problem, models, given)) == {0: 0, 10: 0}
    # no neighbour helps: all become one
    given = classes([(0, 1, [0, 0]), (2, 3, [0, 1]), (9, 9, [0, 1])])
    assert merge(problem, models, given, breaking(problem, models, given)) == {0: 0, 10: 0, 20: 0}


def test_sums_of_parts_are_the_sums_of_all() -> None:
    rows = [("a", "1", "v0"), ("b", "30", "v1"), ("f", None, "v199")] + [("c", str(v), f"v{v}") for v in range(2, 20)]
    problem, frequency = bind(rows, list(ALL), [model("k-anonymity", k=1)], weights=WEIGHTS)
    low, high = np.minimum(frequency.codes[:-1], frequency.codes[1:]), np.maximum(frequency.codes[:-1], frequency.codes[1:])
    size = np.arange(1, len(low) + 1)
    every = box_sums(problem.hierarchies, low, high, size)
    parts = [box_sums(problem.hierarchies, low[x], high[x], size[x]) for x in (slice(0, 7), slice(7, 8), slice(8, None))]
    assert parts[0].plus(parts[1]).plus(BoxSums.of_text(parts[2].text())) == every
    n = int(size.sum())
    loss, by_column = losses_of(problem, every)
    exact, columns = box_loss(problem.hierarchies, WEIGHTS, low, high, size)
    assert loss["gcp"] == exact * n / problem.rows and by_column == tuple(c * n / problem.rows for c in columns)
