"""A few values of each quasi-identifier with what they are published as, each the value of k rows at least; where all are rarer, the
labels alone, of k rows at least.

None where classes are counted in persons: k rows with a value may all be one person's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from pyspark.sql import DataFrame

from anon_spark.domain.box_labels import labels
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import FullDomainRecoding, LocalRecoding
from anon_spark.plans.box_examples import CODE, HIGH, LOW, PLACE, ROWS, WIDE, common_boxes
from anon_spark.plans.fetch import fetch_rows
from anon_spark.report.words import Example

A_COLUMN = 3
Box = tuple[int, int]
LOOKED_AT = 50
"""Of the commonest values of a column, how many are looked at for examples with labels that differ."""
LOOKED_AT_THERE = 8
"""The same where groups are on Spark."""


def examples(problem: Problem, recoding: FullDomainRecoding) -> tuple[Example, ...]:
    """Of a full-domain recoding: the commonest values."""
    shown: list[Example] = []
    for j, (h, level) in enumerate(zip(problem.hierarchies, recoding.levels, strict=True)):
        pairs = ((h.leaves[c], h.labels[level][int(h.nodes[level][c])]) for c in _common(problem, j))
        some = _some(h.column, pairs)
        shown += some
        if all(example.before is None for example in some):
            shown += [one for one in _of_rare(problem, j, level) if one.after not in [example.after for example in some]]
    return tuple(shown)


def _of_rare(problem: Problem, column: int, level: int) -> list[Example]:
    """The labels of most rows, where no value alone is of enough."""
    if problem.persons is not None:
        return []
    h = problem.hierarchies[column]
    rows = np.bincount(h.nodes[level], problem.leaf_rows[column], len(h.labels[level]))
    order = np.argsort(-rows, kind="stable")[:A_COLUMN]
    return [Example(h.column, None, h.labels[level][node], rare=True) for node in order if rows[node] >= _least(problem)]


def local_examples(problem: Problem, frequency: FrequencySet, recoding: LocalRecoding) -> tuple[Example, ...]:
    """Of a local recoding: the commonest value with the label that most of its rows print, then values with one that is wider."""
    shown: list[Example] = []
    for j, h in enumerate(problem.hierarchies):
        shown += _of_boxes(h, [(code, *_boxes(frequency, recoding, j, code)) for code in _common(problem, j)])
    return tuple(shown)


def examples_there(problem: Problem, boxes: DataFrame) -> tuple[Example, ...]:
    """The same of groups on Spark, by those that end at a value. One small job; at most two lines a value come to the driver."""
    common = [_common(problem, j)[:LOOKED_AT_THERE] for j in range(len(problem.hierarchies))]
    if not any(common):
        return ()
    found: dict[tuple[int, int], dict[bool, tuple[int, Box]]] = {}
    for line in fetch_rows(common_boxes(boxes, common)):
        found.setdefault((line[PLACE], line[CODE]), {})[line[WIDE]] = (line[ROWS], (line[LOW], line[HIGH]))
    shown: list[Example] = []
    for j, h in enumerate(problem.hierarchies):
        held = [(code, found[j, code]) for code in common[j] if (j, code) in found]
        most = [(code, max(ends.values())[1], ends[True][1] if True in ends else None) for code, ends in held]
        shown += _of_boxes(h, most)
    return tuple(shown)


def _of_boxes(h: Hierarchy, boxes: Sequence[tuple[int, Box, Box | None]]) -> list[Example]:
    """boxes: a value's code, the ends that most of its rows print, and those of several leaves that most print."""
    chosen = [(code, most) for code, most, _ in boxes[:1]]
    chosen += [(code, wide) for code, _, wide in boxes if wide is not None]
    chosen += [(code, most) for code, most, _ in boxes[1:]]
    ends = np.array([box for _, box in chosen], np.int64).reshape(-1, 2)
    after = labels(h, ends[:, 0], ends[:, 1])
    return _some(h.column, zip((h.leaves[code] for code, _ in chosen), after, strict=True))


def _boxes(frequency: FrequencySet, recoding: LocalRecoding, j: int, code: int) -> tuple[Box, Box | None]:
    """The ends that most rows of a value print, and those of several leaves that most print; None where all print the value."""
    own = frequency.codes[recoding.cell, j] == code
    group = recoding.group[own]
    ends = np.stack([recoding.low[group, j], recoding.high[group, j]], axis=1)
    boxes, place = np.unique(ends, axis=0, return_inverse=True)
    rows = np.bincount(place.ravel(), recoding.held[own], len(boxes))
    wide = np.where(boxes[:, 0] != boxes[:, 1], rows, 0)
    most, widest = int(rows.argmax()), int(wide.argmax())
    first = (int(boxes[most, 0]), int(boxes[most, 1]))
    return first, (int(boxes[widest, 0]), int(boxes[widest, 1])) if wide[widest] else None


def _common(problem: Problem, column: int) -> list[int]:
    """Codes of the commonest values, those of fewer rows than k left out, and all where rows are not persons."""
    if problem.persons is not None:
        return []
    rows, least = problem.leaf_rows[column], _least(problem)
    order = np.argsort(-rows, kind="stable")[:LOOKED_AT]
    codes = [int(code) for code in order if rows[code] >= least]
    # a missing value is the least telling example
    return sorted(codes, key=lambda code: problem.hierarchies[column].leaves[code] is None)


def _least(problem: Problem) -> int:
    """Rows that share what may be shown."""
    return max(problem.k or 2, 2)


def _some(column: str, pairs: Iterator[tuple[str | None, str | None]]) -> list[Example]:
    """The first few whose labels differ."""
    seen: list[Example] = []
    for before, after in pairs:
        if after not in [example.after for example in seen]:
            seen.append(Example(column, before, after))
        if len(seen) == A_COLUMN:
            break
    return seen
