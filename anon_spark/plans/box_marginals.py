"""Boxes that stay on Spark, spread over bins of their leaves: a line a bin comes of it, however many boxes there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.kernels.arrow import lines_of
from anon_spark.kernels.shared import shared
from anon_spark.metrics.printed_boxes import group_boxes
from anon_spark.plans.block_lines import SIZE, high_names, low_names
from anon_spark.plans.box_tables import bare
from anon_spark.plans.columns import HELPER

PLACE, BIN, UNITS = (HELPER + name for name in ("place", "bin", "units"))
ONE = 2**20
"""Units of a row: whole numbers add up to the same in any order."""


def spread_boxes(boxes: DataFrame, hierarchies: Sequence[Hierarchy], bins: Sequence[np.ndarray]) -> DataFrame:
    """(__anon_place int, __anon_bin int, __anon_units long): rows, in units of 1/ONE, that each bin of each column has where every box
    is spread evenly over what it prints.

    boxes: __anon_lo0.., __anon_hi0.., __anon_size; hierarchies: ``as_published``; bins: (m_i,) the bin of each leaf.
    """
    d = len(hierarchies)
    worker = shared(_spread, hierarchies=bare(hierarchies), bins=tuple(bins))
    chosen = boxes.select(*low_names(d), *high_names(d), SIZE)
    lines = chosen.mapInArrow(worker, f"{PLACE} int, {BIN} int, {UNITS} long")
    return lines.groupBy(PLACE, BIN).agg(F.sum(UNITS).alias(UNITS))


def _spread(
    batches: Iterable[pa.RecordBatch], hierarchies: Sequence[Hierarchy], bins: Sequence[np.ndarray]
) -> Iterator[pa.RecordBatch]:
    d = len(hierarchies)
    totals = [np.zeros(int(of.max()) + 1, np.int64) for of in bins]
    for batch in batches:
        if batch.num_rows:
            low, high = (lines_of(batch, names(d), np.int32) for names in (low_names, high_names))
            low, high = group_boxes(hierarchies, low, high)
            size = lines_of(batch, [SIZE], np.int64)[:, 0]
            for j, of in enumerate(bins):
                np.add.at(totals[j], of, units_of_leaves(low[:, j], high[:, j], size, len(of)))
    for j, total in enumerate(totals):
        held = np.flatnonzero(total)
        columns = (np.full(len(held), j), held, total[held])
        arrays = [pa.array(column, kind) for column, kind in zip(columns, (pa.int32(), pa.int32(), pa.int64()), strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, [PLACE, BIN, UNITS])


def units_of_leaves(low: np.ndarray, high: np.ndarray, size: np.ndarray, leaves: int) -> np.ndarray:
    """(leaves,) int64 units of each leaf; each box's share is rounded down, by less than a unit a leaf."""
    share = size * ONE // (high - low + 1)
    edges = np.zeros(leaves + 1, np.int64)
    np.add.at(edges, low, share)
    np.subtract.at(edges, high + 1, share)
    return np.cumsum(edges)[:leaves]
