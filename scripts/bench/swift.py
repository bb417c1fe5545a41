"""CPU microseconds a combination of the swift kernel on the generated table, in one process without Spark, and what its groups lose.

    PYTHONPATH=. python scripts/bench/swift.py [--rows 200000] [--k 10] [--block 16000] [--blocks 8]

With more than ``--block`` combinations it runs on some drawn blocks, as workers see them; --block 0: on all at once. Compiled before.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import census
import numpy as np
import pyarrow as pa

from anon_spark import Policy
from anon_spark.domain.bind import bind
from anon_spark.domain.box_labels import as_published
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.kernels.local.cuts import axes_of
from anon_spark.kernels.local.swift import swift
from anon_spark.kernels.local.tree import grow, route
from anon_spark.metrics.box_cost import box_loss

SAMPLE = 200_000


def table(rows: int) -> tuple[tuple[Hierarchy, ...], np.ndarray, np.ndarray]:
    """Hierarchies, distinct combinations and the rows of each."""
    policy = Policy(job="top-down", columns=census.columns(local=True), privacy=[{"model": "k-anonymity", "k": 2}])
    people, hierarchies, codes = census.people(np.arange(rows)), [], []
    for column in (c for c in policy.columns if c.role == "quasi-identifier"):
        texts = people.column(column.name).cast(pa.string()).dictionary_encode()
        values, place = texts.dictionary.to_pylist(), texts.indices.to_numpy()
        counts = dict(zip(values, np.bincount(place, minlength=len(values)).tolist(), strict=True))
        bound = bind(column, "date" if column.name == "birth" else "text", counts, tree=None, where="bench")
        found = as_published(bound, column, policy.bounds)
        hierarchies.append(found)
        codes.append(np.array([found.codes[value] for value in values], np.int32)[place])
    cells, count = np.unique(np.stack(codes, axis=1), axis=0, return_counts=True)
    return tuple(hierarchies), cells, count.astype(np.int64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--block", type=int, default=16_000)
    parser.add_argument("--blocks", type=int, default=8)
    asked = parser.parse_args()
    hierarchies, codes, rows = table(asked.rows)
    weights, draw = (Fraction(1),) * len(hierarchies), np.random.default_rng(7)
    block = np.zeros(len(codes), np.int64)
    if 0 < asked.block < len(codes):
        some = np.sort(draw.choice(len(codes), min(len(codes), SAMPLE), replace=False))
        most = max(1, asked.block * len(some) // len(codes))
        block = route(grow(axes_of(hierarchies, weights), codes[some], rows[some], most, 2), codes)
    swift(hierarchies, weights, codes[:3000], rows[:3000], asked.k)
    many = int(block.max()) + 1
    seconds, held, lost, done, groups = 0.0, 0, 0.0, 0, 0
    for b in np.sort(draw.choice(many, min(asked.blocks, many), replace=False)):
        inside = np.flatnonzero(block == b)
        started = time.process_time()
        parts = swift(hierarchies, weights, codes[inside], rows[inside], asked.k)
        seconds += time.process_time() - started
        count = int(parts.group.max()) + 1
        low, high = np.full((count, codes.shape[1]), np.iinfo(np.int32).max), np.zeros((count, codes.shape[1]), np.int64)
        size = np.bincount(parts.group, parts.held).astype(np.int64)
        np.minimum.at(low, parts.group, codes[inside][parts.cell])
        np.maximum.at(high, parts.group, codes[inside][parts.cell])
        lost += float(box_loss(hierarchies, weights, low, high, size)[0]) * float(size.sum())
        held, done, groups = held + int(size.sum()), done + len(inside), groups + count
    print(f"{done:,} of {len(codes):,} combinations in {min(asked.blocks, many)} of {many} blocks, k = {asked.k}: "
          f"{seconds / done * 1e6:.1f} us each, GCP {lost / held:.6f}, C_avg {held / groups / asked.k:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
