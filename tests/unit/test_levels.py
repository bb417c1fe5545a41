"""Levels of sensitivity, found and given, and what they weigh (METHODS 1.16); classes that lie across batches."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import brute
import numpy as np
import pyarrow as pa

from anon_spark.audit.levels import segments
from anon_spark.kernels.arrow import class_runs
from anon_spark.models.histogram import Known
from anon_spark.models.levels import found_levels, graded, sensitivities


def known(table: dict[str | None, int]) -> Known:
    texts = tuple(sorted(table, key=lambda v: (v is None, v or "")))
    totals = np.array([table[v] for v in texts], np.int64)
    return Known("s", texts, totals, int(totals.sum()))


def test_segments_of_like_frequency_merge() -> None:
    """50, 48, 20, 19, 1: the ranges are 2, 28, 1, 18; 20 and 19 merge first, then 50 and 48, then {20, 19} and 1 (range 19)."""
    table: dict[str | None, int] = {"a": 50, "b": 48, "c": 20, "d": 19, "e": 1}
    wanted = {9: [1, 2, 3, 4, 5], 5: [1, 2, 3, 4, 5], 4: [1, 2, 3, 3, 4], 3: [1, 1, 2, 2, 3], 2: [1, 1, 2, 2, 2], 1: [1] * 5}
    for most, right in wanted.items():
        assert found_levels(known(table), most).tolist() == right
        assert list(segments(table, most).values()) == right


def test_levels_are_those_of_the_definition() -> None:
    """The heap here, the audit's list and the definition, on tables with many ties."""
    rng = random.Random(1)
    for _ in range(400):
        table: dict[str | None, int] = {f"v{i}": rng.randint(1, 12) for i in range(rng.randint(1, 14))}
        if rng.random() < 0.3:
            table[None] = rng.randint(1, 12)
        most = rng.randint(1, 8)
        right = brute.levels(most, Counter(table))
        one = known(table)
        assert dict(zip(one.texts, found_levels(one, most).tolist(), strict=True)) == right == segments(table, most)


def test_sensitivities_by_both_weights() -> None:
    """w_j = 1, and 1 / (j - 1)^2: 1, 1/4, 1/9 over 49/36."""
    assert sensitivities(4, False, Fraction(1)) == (0, Fraction(1, 3), Fraction(2, 3), 1)
    assert sensitivities(4, True, Fraction(2)) == (0, Fraction(36, 49), Fraction(45, 49), 1)
    assert sensitivities(1, True, Fraction(2)) == (0,)
    half = sensitivities(3, True, Fraction(1, 2))
    assert half[0] == 0 and half[2] == 1 and abs(float(half[1]) - 1 / (1 + 2**-0.5)) < 1e-11


def test_given_levels_keep_their_place_when_no_row_has_them() -> None:
    """HIV is level 3 of 3, whether or not some row has it."""
    one = graded(known({"flu": 2, "fever": 1}), {"flu": Fraction(1), "fever": Fraction(2), "HIV": Fraction(3)})
    assert one.level.tolist() == [2, 1] and one.sensitivity == (0, Fraction(1, 2), 1) and one.scaled.tolist() == [0, 0, 1, 2]


def test_classes_across_batches_stay_whole() -> None:
    """Whatever the batches, a run holds whole classes, and all rows come in order."""
    rng = random.Random(2)
    for _ in range(200):
        sizes = [rng.randint(1, 9) for _ in range(rng.randint(1, 12))]
        keys = np.repeat(np.arange(len(sizes)), sizes)
        table = pa.table({"a": pa.array(keys // 3, pa.int64()), "b": pa.array(keys, pa.int64()), "v": pa.array(np.arange(len(keys)))})
        cuts = sorted({0, len(keys), *(rng.randint(0, len(keys)) for _ in range(6))})
        batches = [batch for a, b in pairwise(cuts) for batch in table.slice(a, b - a).to_batches()]
        batches.insert(rng.randint(0, len(batches)), pa.RecordBatch.from_pylist([], table.schema))
        most = rng.choice([1, 3, 8, 1000])
        runs = list(class_runs(batches, ["a", "b"], most))
        assert [v for run in runs for v in run["v"].to_pylist()] == list(range(len(keys)))
        held = [set(run["b"].to_pylist()) for run in runs]
        assert all(one.isdisjoint(other) for i, one in enumerate(held) for other in held[:i])
        assert all(run.num_rows <= most + 9 + max(b - a for a, b in pairwise(cuts)) for run in runs)
    assert list(class_runs([], ["a"], 3)) == []
