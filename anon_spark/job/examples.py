"""A few values of each quasi-identifier with what they are published as, each the value of k rows at least."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anon_spark.domain.box_labels import labels
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import FullDomainRecoding, LocalRecoding
from anon_spark.report.words import Example

A_COLUMN = 3
LOOKED_AT = 50
"""Of the commonest values of a column, how many are looked at for examples with labels that differ."""


def examples(problem: Problem, recoding: FullDomainRecoding) -> tuple[Example, ...]:
    """Of a full-domain recoding: the commonest values."""
    shown: list[Example] = []
    for j, (h, level) in enumerate(zip(problem.hierarchies, recoding.levels, strict=True)):
        pairs = ((h.leaves[c], h.labels[level][int(h.nodes[level][c])]) for c in _common(problem, j))
        shown += _some(h.column, pairs)
    return tuple(shown)


def local_examples(problem: Problem, frequency: FrequencySet, recoding: LocalRecoding) -> tuple[Example, ...]:
    """Of a local recoding: the commonest values, each with the label that most of its rows print."""
    shown: list[Example] = []
    for j, h in enumerate(problem.hierarchies):
        common = _common(problem, j)
        leaf, held = frequency.codes[recoding.cell, j], recoding.held
        low, high = recoding.low[recoding.group, j].astype(np.int64), recoding.high[recoding.group, j]
        ends = []
        for code in common:
            own = leaf == code
            boxes, place = np.unique(low[own] * len(h.leaves) + high[own], return_inverse=True)
            rows = np.bincount(place.ravel(), held[own], len(boxes))
            ends.append(divmod(int(boxes[rows.argmax()]), len(h.leaves)))
        after = labels(h, np.array([a for a, _ in ends], np.int32), np.array([b for _, b in ends], np.int32))
        shown += _some(h.column, zip((h.leaves[c] for c in common), after, strict=True))
    return tuple(shown)


def _common(problem: Problem, column: int) -> list[int]:
    """Codes of the commonest values, those of fewer rows than k left out."""
    rows, least = problem.leaf_rows[column], max(problem.k or 2, 2)
    order = np.argsort(-rows, kind="stable")[:LOOKED_AT]
    return [int(code) for code in order if rows[code] >= least]


def _some(column: str, pairs: Iterator[tuple[str | None, str | None]]) -> list[Example]:
    """The first few whose labels differ."""
    seen: dict[str | None, str | None] = {}
    for before, after in pairs:
        if after not in seen.values():
            seen[before] = after
        if len(seen) == A_COLUMN:
            break
    return [Example(column, before, after) for before, after in seen.items()]
