"""What a release can still answer, where its frequency set is in this process: utility measures of METHODS 2.8-2.10 for the report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame

from anon_spark.algorithms.lattice import failing_classes
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.policy import Policy
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels, LocalRecoding
from anon_spark.job.gather import Gathered
from anon_spark.kernels.rollup import mixed_key
from anon_spark.metrics.divergence import divergence, projected_divergence
from anon_spark.metrics.printed_boxes import PrintedBoxes, group_boxes, node_boxes
from anon_spark.metrics.query_error import QUERIES, query_errors
from anon_spark.plans.class_labels import majorities
from anon_spark.plans.fetch import fetch_row


def boxes_of_levels(problem: Problem, frequency: FrequencySet, levels: Levels, suppresses: bool) -> PrintedBoxes:
    """What a full-domain release prints.  suppresses: whether classes that fail the models are left out of it."""
    failing = failing_classes(problem, frequency, levels) if suppresses else np.zeros((0, len(levels)), np.int32)
    chosen = [h.nodes[level] for h, level in zip(problem.hierarchies, levels, strict=True)]
    nodes = np.stack([node[frequency.codes[:, j]] for j, node in enumerate(chosen)], axis=1)
    every = np.concatenate([nodes, failing.astype(nodes.dtype)])
    key, _ = mixed_key(list(np.ascontiguousarray(every.T)))
    _, first, of_line = np.unique(key, return_index=True, return_inverse=True)
    of_line = of_line.ravel()
    lost = np.zeros(len(first), bool)
    lost[of_line[len(nodes) :]] = True
    size = np.zeros(len(first), np.int64)
    np.add.at(size, of_line[: len(nodes)], frequency.count)
    number = np.where(lost, -1, np.cumsum(~lost) - 1)
    low, high = node_boxes(problem.hierarchies, levels, every[first[~lost]])
    own = number[of_line[: len(nodes)]]
    gone = np.flatnonzero(own < 0)
    left_out = gone, frequency.count[gone]
    return PrintedBoxes(low, high, size[~lost], _leaves(problem), int(size[lost].sum()), own=own, lost=left_out)


def boxes_of_groups(problem: Problem, recoding: LocalRecoding) -> PrintedBoxes:
    """What a local release prints."""
    low, high = group_boxes(problem.hierarchies, recoding.low, recoding.high)
    left_out = recoding.lost_cell, recoding.lost
    return PrintedBoxes(low, high, recoding.size, _leaves(problem), int(recoding.lost.sum()), lost=left_out)


def utility_of(
    policy: Policy, gathered: Gathered, boxes: PrintedBoxes | None, release: DataFrame, labels: Sequence[str]
) -> dict[str, object]:
    """The measures by name, None where the job has no means for one.

    boxes: None where the decision was made on Spark. labels: the release's columns that show the quasi-identifiers.
    """
    return {
        "classification_metric": _classification(policy, gathered.problem.rows, release, labels),
        **measured_here(policy, gathered, boxes),
    }


def measured_here(policy: Policy, gathered: Gathered, boxes: PrintedBoxes | None) -> dict[str, object]:
    """The measures that the frequency set and the boxes tell: no release is needed."""
    if gathered.local is None or boxes is None:
        return {"query_error": None, "kl_divergence": None, "kl_divergence_pairs": None}
    codes, count = gathered.local.codes, gathered.local.count
    seed = policy.seed or 0
    return {
        "query_error": {"seed": seed, "queries": QUERIES, "kinds": list(query_errors(codes, count, boxes, seed))},
        "kl_divergence": divergence(codes, count, boxes),
        "kl_divergence_pairs": projected_divergence(codes, count, boxes),
    }


def _classification(policy: Policy, rows: int, release: DataFrame, labels: Sequence[str]) -> float | None:
    """Iyengar's classification metric (KDD 2002): the share of the rows that are suppressed, or whose class label is not the commonest
    one of their class; suppressed rows that are printed are a class. One aggregation of the staged release; None without a label."""
    of_role = policy.of_role("label")
    if not of_role or not rows:
        return None
    return 1 - int(fetch_row(majorities(release, labels, of_role[0].name))["rows"]) / rows


def _leaves(problem: Problem) -> np.ndarray:
    return np.array([len(h.leaves) for h in problem.hierarchies], np.int64)
