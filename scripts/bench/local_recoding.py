"""What local recoding loses on a real table, beside median cuts and the lower bound, and its time of one core.

    PYTHONPATH=. python scripts/bench/local_recoding.py DATA adult --k 5 10 50 100 [--block 1000] [--bound] [--median]

DATA is the folder that holds adult/, kdd_census_income/, diabetes130/. Seconds are CPU seconds of the deciding step, compiled before.
"""

from __future__ import annotations

import argparse
import resource
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from tables import table

from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.policy import ModelSpec
from anon_spark.domain.problem import Problem
from anon_spark.metrics.box_cost import box_loss, places
from anon_spark.metrics.lower_bound import gcp_lower_bound, sampled_lower_bound


def median_cuts(problem: Problem, frequency: FrequencySet, k: int) -> tuple[Fraction, int]:
    """GCP and groups of Mondrian (LeFevre 2006): median cuts by leaf code, the widest column first."""
    codes, inverse = np.unique(frequency.codes, axis=0, return_inverse=True)
    rows = np.bincount(inverse.ravel(), frequency.count).astype(np.int64)
    at = [places(h) if h.numeric else np.arange(len(h.leaves)) / max(len(h.leaves) - 1, 1) for h in problem.hierarchies]
    stack, low, high, size = [np.arange(len(codes))], [], [], []
    while stack:
        part = stack.pop()
        sides = _cut(codes[part], rows[part], at, k)
        if sides is None:
            low.append(codes[part].min(axis=0))
            high.append(codes[part].max(axis=0))
            size.append(rows[part].sum())
        else:
            stack += [part[sides], part[~sides]]
    loss, _ = box_loss(problem.hierarchies, problem.weights, np.array(low), np.array(high), np.array(size))
    return loss, len(size)


def _cut(codes: np.ndarray, rows: np.ndarray, at: list[np.ndarray], k: int) -> np.ndarray | None:
    low, high = codes.min(axis=0), codes.max(axis=0)
    for j in np.argsort([-min(at[j][high[j]] - at[j][low[j]], 1) for j in range(len(at))], kind="stable"):
        order = np.argsort(codes[:, j], kind="stable")
        middle = codes[order[np.searchsorted(np.cumsum(rows[order]), rows.sum() / 2)], j]
        for side in (codes[:, j] < middle, codes[:, j] <= middle):
            if min(rows[side].sum(), rows[~side].sum()) >= k:
                return side
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("name")
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 50, 100])
    parser.add_argument("--block", type=int)
    parser.add_argument("--bound", action="store_true")
    parser.add_argument("--median", action="store_true")
    parser.add_argument("--sensitive")
    parser.add_argument("--alpha")
    parser.add_argument("--refined", action="store_true")
    parser.add_argument("--l", type=int)
    parser.add_argument("--kind", default="distinct")
    asked = parser.parse_args()
    print("table k | GCP bound median | groups C_avg smallest | CPU s, peak MB | steps")
    for k in asked.k:
        _line(asked, k)


def _models(asked: argparse.Namespace, k: int) -> list[ModelSpec]:
    models = [ModelSpec(model="k-anonymity", parameters={"k": k})]
    if asked.alpha:
        given = {"alpha": Fraction(asked.alpha), "refined": asked.refined, "values": None}
        models.append(ModelSpec(model="alpha-deassociation", column=asked.sensitive, parameters=given))
    if asked.l:
        models.append(ModelSpec(model="l-diversity", column=asked.sensitive, parameters={"l": asked.l, "kind": asked.kind}))
    return models


def _line(asked: argparse.Namespace, k: int) -> None:
    problem, frequency = table(asked.name, asked.data, _models(asked, k), (asked.sensitive,) if asked.sensitive else ())
    some = FrequencySet(frequency.codes[:300], frequency.sensitive[:300], frequency.count[:300] + k)
    decide_local(_smaller(problem, some), some)
    start = time.process_time()
    found = decide_local(problem, frequency, asked.block)
    seconds = time.process_time() - start
    bound = _bound(problem, frequency) if asked.bound else None
    median = median_cuts(problem, frequency, k)[0] if asked.median else None
    shown = [f"{float(x):.5f}" if x is not None else "-" for x in (found.loss, bound, median)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    groups = len(found.size)
    print(asked.name, k, "|", *shown, "|", groups, f"{problem.rows / groups / k:.3f}", found.size.min(), "|", f"{seconds:.1f}", peak, "|",
          "; ".join(found.steps), flush=True)  # fmt: skip


def _bound(problem: Problem, frequency: FrequencySet) -> float | None:
    """Exact, or above some combinations estimated from a sample of rows."""
    exact = gcp_lower_bound(problem, frequency.codes, frequency.count)
    if exact is not None:
        return float(exact)
    sampled = sampled_lower_bound(problem, frequency.codes, frequency.count)
    return None if sampled is None else sampled.estimate


def _smaller(problem: Problem, some: FrequencySet) -> Problem:
    """The problem of a few cells under k-anonymity alone: enough to have every loop compiled."""
    leaf_rows = tuple(
        np.bincount(c, some.count, len(h.leaves)).astype(np.int64) for c, h in zip(some.codes.T, problem.hierarchies, strict=True)
    )
    return Problem(
        rows=some.rows, hierarchies=problem.hierarchies, weights=problem.weights, min_levels=problem.min_levels,
        max_levels=problem.max_levels, leaf_rows=leaf_rows, models=problem.models[:1], sensitive=problem.sensitive, values=problem.values,
        ignores_null=problem.ignores_null,
    )  # fmt: skip


if __name__ == "__main__":
    main()
