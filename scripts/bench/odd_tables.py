"""Tables of odd shapes through local recoding in one process: no shape takes an order of magnitude longer a combination than the even one.

    PYTHONPATH=. python scripts/bench/odd_tables.py [--rows 40000] [--k 10]

Seconds are CPU seconds of the deciding step, compiled before. Tables are seeded.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.domain.bind import bind
from anon_spark.domain.box_labels import as_published
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.policy import Column, FlatHierarchy, MaskHierarchy, ModelSpec
from anon_spark.domain.problem import Problem

Shape = Callable[[np.random.Generator, int], list[np.ndarray]]


def even(draw: np.random.Generator, rows: int, columns: int = 8) -> list[np.ndarray]:
    """Numbers, masks and flat columns in turn; half of them follow another."""
    base = draw.integers(0, 1000, rows)
    found = [base % 90, 10_000 + base * 37 % 900, *(draw.integers(0, 3 + j, rows) for j in range(columns - 2))]
    return [np.where(draw.random(rows) < 0.5, found[j], found[max(j - 2, 0)] % (3 + j)) if j > 1 else found[j] for j in range(columns)]


def half_in_one(draw: np.random.Generator, rows: int) -> list[np.ndarray]:
    """One combination holds half of the rows."""
    found = even(draw, rows)
    return [np.where(np.arange(rows) < rows // 2, column[0], column) for column in found]


def many_leaves(draw: np.random.Generator, rows: int) -> list[np.ndarray]:
    """A mask of as many values as there are rows, nearly."""
    found = even(draw, rows)
    return [found[0], 100_000 + draw.permutation(rows), *found[2:]]


def distinct(draw: np.random.Generator, rows: int) -> list[np.ndarray]:
    """Two numbers, all rows distinct."""
    return [draw.permutation(rows), draw.permutation(rows)]


def equal(draw: np.random.Generator, rows: int) -> list[np.ndarray]:
    """One combination."""
    return [np.zeros(rows, np.int64)] * 8


SHAPES: dict[str, Shape] = {
    "even": even,
    "half of the rows in one": half_in_one,
    "a mask of as many leaves": many_leaves,
    "15 quasi-identifiers": lambda draw, rows: even(draw, rows, 15),
    "all distinct": distinct,
    "all equal": equal,
}


def bound(columns: Sequence[np.ndarray], k: int) -> tuple[Problem, FrequencySet]:
    """The first column is a number, the second a mask, others are flat; where there are two both are numbers."""
    numbers = len(columns) if len(columns) == 2 else 1
    hierarchies, codes = [], []
    for j, column in enumerate(columns):
        spec = None if j < numbers else MaskHierarchy(side="right") if j == 1 else FlatHierarchy()
        of = Column(name=f"c{j}", role="quasi-identifier", hierarchy=spec)
        values = Counter(map(str, column.tolist()))
        found = as_published(bind(of, "integer" if j < numbers else "text", values, tree=None, where="bench"), of, "tight")
        known = {int(text): found.codes[text] for text in values}
        hierarchies.append(found)
        codes.append(np.array([known[value] for value in column.tolist()]))
    cells, count = np.unique(np.stack(codes, axis=1).astype(np.int32), axis=0, return_counts=True)
    d, rows = len(columns), len(columns[0])
    problem = Problem(
        rows=rows, hierarchies=tuple(hierarchies), weights=(Fraction(1),) * d, min_levels=(0,) * d,
        max_levels=tuple(h.levels - 1 for h in hierarchies),
        leaf_rows=tuple(np.bincount(code, minlength=len(h.leaves)) for code, h in zip(codes, hierarchies, strict=True)),
        models=(ModelSpec(model="k-anonymity", parameters={"k": k}),), sensitive=(), values=(), ignores_null=(),
    )  # fmt: skip
    return problem, FrequencySet(cells, np.zeros((len(cells), 0), np.int32), count.astype(np.int64))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--k", type=int, default=10)
    asked = parser.parse_args()
    runs = [(name, asked.k, shape) for name, shape in SHAPES.items()] + [(f"even, k = {asked.rows * 2 // 5}", asked.rows * 2 // 5, even)]
    for shape in (even, distinct, SHAPES["15 quasi-identifiers"]):
        decide_local(*bound(shape(np.random.default_rng(1), 3000), asked.k))
    for name, k, shape in runs:
        problem, cells = bound(shape(np.random.default_rng(2), asked.rows), k)
        started = time.process_time()
        found = decide_local(problem, cells)
        seconds = time.process_time() - started
        count = len(cells.count)
        print(f"{name:26} {count:7,} combinations {seconds:7.1f} s {seconds / count * 1e6:9.0f} us each  GCP {float(found.loss):.5f}  "
              f"{len(found.size):,} groups of {found.size.min():,} to {found.size.max():,}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
