"""What the page draws, from what the driver holds already: rows of each value, the recoding, what it prints. At most two Spark jobs
where the decision was made there, none where it was made in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.domain.problem import GIVEN, Problem
from anon_spark.domain.recoding import FullDomainRecoding, Recoding
from anon_spark.job.gather import Gathered
from anon_spark.job.write import Plan
from anon_spark.metrics.lower_bound import gcp_lower_bound
from anon_spark.metrics.marginals import Bins, in_bins, leaf_bins, rebuilt, value_bins
from anon_spark.metrics.printed_boxes import PrintedBoxes, node_boxes
from anon_spark.metrics.size_histogram import SizeBin, size_histogram
from anon_spark.plans.box_marginals import BIN, ONE, PLACE, UNITS, spread_boxes
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import fetch_rows
from anon_spark.plans.frequency import ROWS
from anon_spark.plans.table_risk import class_sizes
from anon_spark.report.figures import Figures, Marginal

LEAST = 5
"""Rows that a bin of raw values stands for where no k is asked."""
MOST_COMPARED = 5_000
"""Values of a column up to which its bound is computed: it compares all pairs."""


def figures_of(
    gathered: Gathered, plan: Plan, boxes: PrintedBoxes | None, release: DataFrame, labels: Sequence[str]
) -> Figures:
    """boxes: what the release prints, where that is known in this process; labels: the release's columns of the quasi-identifiers."""
    problem, recoding = gathered.problem, plan.recoding
    least = max(problem.k or LEAST, 2)
    bins = [leaf_bins(h, rows, least) for h, rows in zip(problem.hierarchies, problem.leaf_rows, strict=True)]
    after = _after(problem, plan, boxes, bins)
    # how many persons have a value is not known here: many rows may be one person's
    drawn = [] if problem.persons is not None else [
        Marginal(h.column, "quasi-identifier", b.labels, tuple(b.rows.tolist()), None if a is None else tuple(a.tolist()), b.ordered)
        for h, b, a in zip(problem.hierarchies, bins, after, strict=True)
    ]
    return Figures(
        marginals=(*drawn, *_sensitive(gathered, recoding, boxes, least)),
        least=least,
        in_persons=problem.persons is not None,
        sizes=_sizes(boxes, release, labels),
        lattice=recoding.trace.picture if isinstance(recoding, FullDomainRecoding) else None,
        bounds=_bounds(problem),
        blocks=None if isinstance(recoding, FullDomainRecoding) else recoding.blocks,
    )


def _after(problem: Problem, plan: Plan, boxes: PrintedBoxes | None, bins: Sequence[Bins]) -> Sequence[np.ndarray | None]:
    """(b,) published rows of each column's bins as a reader would guess them; None where it is not known what each class prints."""
    recoding = plan.recoding
    if boxes is not None:
        return [in_bins(b, _by_boxes(boxes, j)) for j, b in enumerate(bins)]
    if plan.groups is not None:
        return _on_spark(problem, plan.groups, bins)
    if isinstance(recoding, FullDomainRecoding) and not recoding.suppressed_rows:
        return [in_bins(b, _by_level(problem, j, level)) for j, (b, level) in enumerate(zip(bins, recoding.levels, strict=True))]
    return [None] * len(bins)


def _on_spark(problem: Problem, groups: DataFrame, bins: Sequence[Bins]) -> list[np.ndarray | None]:
    """One small aggregation: a line a bin comes here."""
    found = [np.zeros(len(b.labels)) for b in bins]
    for row in fetch_rows(spread_boxes(groups, problem.hierarchies, [b.of for b in bins])):
        found[row[PLACE]][row[BIN]] = row[UNITS] / ONE
    return list(found)


def _by_boxes(boxes: PrintedBoxes, j: int) -> np.ndarray:
    """(m,) published rows of each leaf as a reader of the release would guess them."""
    leaves = int(boxes.leaves[j])
    rows = rebuilt(boxes.low[:, j], boxes.high[:, j], boxes.size, leaves)
    return rows + boxes.suppressed / leaves if boxes.printed else rows


def _by_level(problem: Problem, j: int, level: int) -> np.ndarray:
    """The same of a column all at one level, where nothing is suppressed: no class need be known."""
    h, rows = problem.hierarchies[j], problem.leaf_rows[j]
    nodes = np.arange(len(h.labels[level]))
    held = np.zeros(len(nodes), np.int64)
    np.add.at(held, h.nodes[level], rows)
    low, high = node_boxes([h], [level], nodes[:, None])
    return rebuilt(low[:, 0], high[:, 0], held, len(h.leaves))


def _sensitive(gathered: Gathered, recoding: Recoding, boxes: PrintedBoxes | None, least: int) -> list[Marginal]:
    """Of the sensitive columns that some model reads: the others pass as they are and are not counted."""
    problem = gathered.problem
    drawn = []
    for j, (column, values, totals) in enumerate(zip(problem.sensitive, problem.values, problem.totals, strict=True)):
        if column == GIVEN:
            continue
        bins = value_bins(values, totals, least)
        lost = np.zeros(len(values), np.int64) if _keeps_all(recoding, boxes) else _lost(gathered, boxes, j, len(values))
        after = None if lost is None else tuple(float(n) for n in in_bins(bins, totals - lost))
        drawn.append(Marginal(column, "sensitive", bins.labels, tuple(bins.rows.tolist()), after))
    return drawn


def _keeps_all(recoding: Recoding, boxes: PrintedBoxes | None) -> bool:
    return not recoding.suppressed_rows or (boxes is not None and boxes.printed)


def _lost(gathered: Gathered, boxes: PrintedBoxes | None, j: int, values: int) -> np.ndarray | None:
    """(values,) suppressed rows of each value; None where it is not known in this process which rows, or whose, they are."""
    if gathered.local is None or boxes is None or boxes.lost is None or gathered.problem.persons is not None:
        return None
    cells, rows = boxes.lost
    return np.bincount(gathered.local.sensitive[cells, j], rows, values).astype(np.int64)


def _sizes(boxes: PrintedBoxes | None, release: DataFrame, labels: Sequence[str]) -> tuple[SizeBin, ...]:
    """From the release, where the classes are not here: sizes alone come, at most about the root of twice the rows."""
    if boxes is not None:
        size = _with_stars(boxes) if boxes.printed else boxes.size
        return size_histogram(dict(zip(*(line.tolist() for line in np.unique(size, return_counts=True)), strict=True)))
    classes = release.groupBy(*[named(name) for name in labels]).agg(F.count(F.lit(1)).alias(ROWS))
    return size_histogram(class_sizes(classes))


def _with_stars(boxes: PrintedBoxes) -> np.ndarray:
    """Rows of each class, suppressed ones being of the class that prints nothing but the root."""
    root = np.flatnonzero(((boxes.low == 0) & (boxes.high == boxes.leaves - 1)).all(axis=1))
    size = np.append(boxes.size, boxes.suppressed)
    size[-1] += size[root].sum()
    return np.delete(size, root)


def _bounds(problem: Problem) -> dict[str, Fraction]:
    """Of each column what k alone takes of it, whatever is done to the others (METHODS 2.12 of that column)."""
    found = {}
    for h, rows in zip(problem.hierarchies, problem.leaf_rows, strict=True):
        codes = np.flatnonzero(rows)
        if len(codes) <= MOST_COMPARED:
            alone = replace(problem, hierarchies=(h,), weights=(Fraction(1),))
            bound = gcp_lower_bound(alone, codes[:, None].astype(np.int32), rows[codes])
            if bound is not None:
                found[h.column] = bound
    return found
