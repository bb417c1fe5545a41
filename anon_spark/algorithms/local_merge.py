"""The merge stage across blocks: classes that still break a model, and their nearest neighbours, known by box and histogram alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_spark.algorithms.local_groups import Dealt, looks
from anon_spark.algorithms.local_repair import RepairedGroups
from anon_spark.algorithms.local_tally import holding
from anon_spark.domain.errors import NoneFoundError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.kernels.arrow import lines_of
from anon_spark.kernels.local.boxes import union_costs
from anon_spark.kernels.local.scale import boxes_on, scale_of
from anon_spark.metrics.box_sums import BoxSums, box_sums
from anon_spark.models.base import Model
from anon_spark.plans.block_lines import GROUP, HELD, SIZE, high_names, look_names, low_names, value_names

NEAREST = "group long, other long, added double"
"""Schema of what ``nearest`` gives."""


@dataclass(frozen=True)
class Classes:
    """Classes in the order of their numbers, and what they hold.

    number, size: (g,); low, high: (g, d) codes; of: (h,) place of a line's class; values: (h, s); held: (h,) rows, in order.
    """

    number: np.ndarray
    low: np.ndarray
    high: np.ndarray
    size: np.ndarray
    of: np.ndarray
    values: np.ndarray
    held: np.ndarray


def classes_from(classes: pa.Table, histograms: pa.Table, columns: int, sensitive: int) -> Classes:
    """Classes as they come from Spark, in any order."""
    order = np.argsort(classes[GROUP].to_numpy())
    number = classes[GROUP].to_numpy()[order]
    low, high = (lines_of(classes, names(columns), np.int32)[order] for names in (low_names, high_names))
    of = np.searchsorted(number, histograms[GROUP].to_numpy())
    values = lines_of(histograms, value_names(sensitive), np.int32)
    by = np.lexsort((*values.T[::-1], of))
    held = histograms[HELD].to_numpy().astype(np.int64)
    return Classes(number, low, high, classes[SIZE].to_numpy()[order].astype(np.int64), of[by], values[by], held[by])


def breaking(problem: Problem, models: Sequence[Model], classes: Classes) -> np.ndarray:
    """(g,) bool: which classes break a model."""
    lines = np.arange(len(classes.of))
    return ~holding(problem, models, classes.values, Dealt(lines, lines, classes.of, classes.held))


def merge(problem: Problem, models: Sequence[Model], classes: Classes, broken: np.ndarray) -> dict[int, int]:
    """The classes that merges joined, each with the smallest number of its merge.

    Each broken class merges with its neighbour of least added loss, one with which the models hold first, until they hold, or until
    all of these classes are one: each merge leaves one class less. Refined alpha is mended under plain alpha.
    """
    groups = _as_cells(problem, models, classes)
    # None found: these classes as one still break a model, and the caller looks further away.
    with suppress(NoneFoundError):
        groups.mend(np.flatnonzero(broken).tolist(), [model.merged_under for model in models])
    moves: dict[int, int] = {}
    for g in np.flatnonzero(groups.alive):
        members = np.unique(groups.parts.group[groups.members[g]])
        if len(members) > 1:
            moves |= dict.fromkeys(classes.number[members].tolist(), int(classes.number[members[0]]))
    return moves


def _as_cells(problem: Problem, models: Sequence[Model], classes: Classes) -> RepairedGroups:
    """Classes as groups of cells with the same boxes and histograms: all rows at the box's smallest codes, but one at its largest."""
    g, last = len(classes.number), np.r_[np.flatnonzero(np.diff(classes.of)), len(classes.of) - 1]
    wide = (classes.low != classes.high).any(axis=1)
    held = classes.held.copy()
    held[last[wide]] -= 1
    of = np.r_[classes.of, np.flatnonzero(wide)]
    values = np.concatenate([classes.values, classes.values[last[wide]]])
    rows = np.r_[held, np.ones(int(wide.sum()), np.int64)]
    corner = np.r_[classes.of, np.flatnonzero(wide) + g]
    keep = rows > 0
    corner, values, rows, of = corner[keep], values[keep], rows[keep], of[keep]
    # A wide class has two rows or more, so one is left at its smallest codes.
    codes = np.concatenate([classes.low, classes.high])
    cells = FrequencySet(codes[corner], values, rows)
    return RepairedGroups(problem, models, cells, codes, Dealt(np.arange(len(of)), corner, of, rows))


def looked(batches: Iterable[pa.RecordBatch], problem: Problem) -> Iterator[pa.RecordBatch]:
    """Groups with the numbers that tell apart what they print."""
    d = len(problem.hierarchies)
    for batch in batches:
        low, high = (lines_of(batch, names(d), np.int32) for names in (low_names, high_names))
        found = looks(problem, low, high)
        table = pa.Table.from_batches([batch])
        for j, name in enumerate(look_names(d)):
            table = table.append_column(name, pa.array(found[:, j], pa.int64()))
        yield from table.to_batches()


def nearest(batches: Iterable[pa.RecordBatch], problem: Problem, sought: Classes, count: int) -> Iterator[pa.RecordBatch]:
    """Of each class sought the ``count`` other classes of this partition with which it adds least loss."""
    d, scale = len(problem.hierarchies), scale_of(problem.hierarchies, problem.weights)
    ours = boxes_on(scale, sought.low, sought.high)[0]
    best: list[list[tuple[float, int]]] = [[] for _ in sought.number]
    for batch in batches:
        others, price = boxes_on(scale, *(lines_of(batch, names(d), np.int32) for names in (low_names, high_names)))
        rows, number = (lines_of(batch, [name], np.int64)[:, 0] for name in (SIZE, GROUP))
        out = np.zeros(len(rows), np.float32)
        for f, (own, size) in enumerate(zip(sought.number, sought.size, strict=True)):
            union_costs(scale.costs, ours, f, others, len(rows), out)
            added = (size + rows) * out.astype(np.float64) - rows * price
            near = np.lexsort((number, added))[: count + 1]
            more = [(float(added[x]), int(number[x])) for x in near if number[x] != own]
            best[f] = sorted(best[f] + more)[:count]
    lines = [(int(own), other, added) for own, near in zip(sought.number, best, strict=True) for added, other in near]
    if lines:
        group, other, added = zip(*lines, strict=True)
        columns = [pa.array(group, pa.int64()), pa.array(other, pa.int64()), pa.array(added, pa.float64())]
        yield pa.RecordBatch.from_arrays(columns, names=["group", "other", "added"])


def summed(batches: Iterable[pa.RecordBatch], problem: Problem) -> Iterator[pa.RecordBatch]:
    """The figures of all classes of a partition as one text: whole numbers of any size."""
    d, total = len(problem.hierarchies), None
    for batch in batches:
        if batch.num_rows:
            low, high = (lines_of(batch, names(d), np.int32) for names in (low_names, high_names))
            found = box_sums(problem.hierarchies, low, high, lines_of(batch, [SIZE], np.int64)[:, 0])
            total = found if total is None else total.plus(found)
    if total is not None:
        yield pa.RecordBatch.from_arrays([pa.array([total.text()])], names=["figures"])


def all_summed(texts: Iterable[str]) -> BoxSums:
    """The figures of several partitions as one."""
    first, *others = [BoxSums.of_text(text) for text in texts]
    for other in others:
        first = first.plus(other)
    return first
