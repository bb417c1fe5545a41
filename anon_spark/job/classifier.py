"""The classifier measure of a run: counted cells of the raw table and of the release, never rows, come to this process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.domain.box_labels import labels as box_labels
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import ROOT, Policy
from anon_spark.domain.recoding import FullDomainRecoding, Recoding
from anon_spark.job.cells import encode, ordered, values_in
from anon_spark.job.gather import Gathered
from anon_spark.job.schema import BoundSchema
from anon_spark.metrics.classifier import MOST_CLASSES, Lines, accuracies, is_installed
from anon_spark.metrics.printed_boxes import PrintedBoxes, node_boxes
from anon_spark.plans.columns import kind_of, named, raw_column
from anon_spark.plans.fetch import fetch_arrow
from anon_spark.plans.frequency import ROWS, cell_names, frequencies

MODEL = "logistic regression"
MOST_CELLS = 1_000_000
"""Combinations with a class label that may come to this process, as many as a frequency set of the driver's."""
Texts = dict[str | None, tuple[int, int]]
"""What a column prints -> the leaves under it, first and last."""


def classifier_of(
    policy: Policy, bound: BoundSchema, gathered: Gathered, recoding: Recoding, boxes: PrintedBoxes | None, release: DataFrame
) -> dict[str, object] | None:
    """The model and its accuracies (``metrics.classifier``); None without a class label or scikit-learn, where the decision was made
    on Spark, where numbers print as two columns, and where cells or classes are too many. One scan of the table, one of the release."""
    label = next(iter(policy.of_role("label")), None)
    if label is None or gathered.local is None or boxes is None or bound.in_bounds or not is_installed():
        return None
    data_type = gathered.table.schema[label.name].dataType if label.name in gathered.table.columns else None
    if data_type is None or kind_of(data_type) is None:
        return None
    hierarchies, d = gathered.problem.hierarchies, len(bound.quasi_identifiers)
    column = raw_column(label.name, data_type)
    raw_cells = _fetched(frequencies(gathered.table, bound.quasi_identifiers, (column,)))
    if raw_cells is None:
        return None
    codes, labels = cell_names(d, 1)
    values = ordered(values_in(raw_cells, labels, ROWS)[0])
    if len(values) > MOST_CLASSES:
        return None
    raw, _ = encode(raw_cells, codes, hierarchies, labels, [values], ROWS)
    printed = [named(name).cast("string").alias(key) for name, key in zip(bound.labels, codes, strict=True)]
    classes = release.select(*printed, raw_column(label.name, release.schema[label.name].dataType).text.alias(labels[0]))
    of_release = _fetched(classes.groupBy(*codes, *labels).agg(F.count(F.lit(1)).alias(ROWS)))
    if of_release is None:
        return None
    spans = [_spans(h, j, recoding, boxes) for j, h in enumerate(hierarchies)]
    learnt = _lines(of_release, codes, labels[0], spans, values)
    asked = Lines(raw.codes, raw.codes, raw.sensitive[:, 0].astype(np.int64), raw.count)
    found = None if learnt is None else accuracies(hierarchies, gathered.problem.leaf_rows, asked, learnt)
    return None if found is None else {"model": MODEL, "accuracy": found}


def _fetched(cells: DataFrame) -> pa.Table | None:
    """At most MOST_CELLS lines; None where there are more."""
    found = fetch_arrow(cells.limit(MOST_CELLS + 1))
    return None if len(found) > MOST_CELLS else found


def _spans(h: Hierarchy, j: int, recoding: Recoding, boxes: PrintedBoxes) -> Texts:
    """Of each text that the column prints."""
    if isinstance(recoding, FullDomainRecoding):
        level = recoding.levels[j]
        low, high = node_boxes([h], [level], np.arange(len(h.labels[level]))[:, None])
        texts: Sequence[str | None] = h.labels[level]
    else:
        low, high = boxes.low[:, [j]], boxes.high[:, [j]]
        texts = box_labels(h, low[:, 0], high[:, 0])
    spans: Texts = {ROOT: (0, len(h.leaves) - 1)}
    spans.update((text, (int(a), int(b))) for text, a, b in zip(texts, low[:, 0], high[:, 0], strict=True))
    return spans


def _lines(
    table: pa.Table, names: Sequence[str], label: str, spans: Sequence[Texts], values: Sequence[str | None]
) -> Lines | None:
    """The counted cells of the release as boxes, in an order of their own; None where a text is none that the decision prints."""
    number = {text: i for i, text in enumerate(values)}
    columns = [[known.get(text) for text in table[name].to_pylist()] for name, known in zip(names, spans, strict=True)]
    labels = [number.get(text) for text in table[label].to_pylist()]
    if None in labels or any(None in column for column in columns):
        return None
    sides = [np.array(column, np.int64).reshape(-1, 2) for column in columns]
    held = np.column_stack([*(side[:, 0] for side in sides), *(side[:, 1] for side in sides), np.array(labels, np.int64)])
    order = np.lexsort(held.T[::-1])
    held, d = held[order], len(sides)
    return Lines(held[:, :d], held[:, d : 2 * d], held[:, -1], table[ROWS].to_numpy().astype(np.int64)[order])
