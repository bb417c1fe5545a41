"""Boxes of leaf codes that stay on Spark: what they print, and which of their ends few rows have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.domain.box_labels import bounds, covers_all, labels
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.kernels.shared import shared
from anon_spark.plans.block_lines import GROUP, high_names, low_names
from anon_spark.plans.columns import HELPER
from anon_spark.plans.publish import Printed

Batches = Iterable[pa.RecordBatch]
PLACE, END, CLASSES = (HELPER + name for name in ("place", "end", "classes"))


def group_columns(
    number: np.ndarray, low: np.ndarray, high: np.ndarray, hierarchies: Sequence[Hierarchy], printed: Sequence[Printed]
) -> pa.Table:
    """Groups as LocalRecodingTables wants them.  number: (g,) int64; low, high: (g, d) codes."""
    table = {GROUP: pa.array(number, pa.int64())}
    for j, (name, h) in enumerate(zip(printed, hierarchies, strict=True)):
        if isinstance(name, str):
            table[name] = pa.array(labels(h, low[:, j], high[:, j]), pa.string())
        else:
            ends = zip(name, bounds(h, low[:, j], high[:, j]), (pa.string(), pa.string(), pa.bool_()), strict=True)
            table |= {part: pa.array(column, kind) for part, column, kind in ends}
    return pa.table(table)


def printed_groups(boxes: DataFrame, hierarchies: Sequence[Hierarchy], printed: Sequence[Printed]) -> DataFrame:
    """The same of boxes on Spark (__anon_group, __anon_lo0.., __anon_hi0..)."""
    kinds = [f"{GROUP} long"]
    for name in printed:
        kinds += [f"{name} string"] if isinstance(name, str) else [f"{name[0]} string", f"{name[1]} string", f"{name[2]} boolean"]
    return _worked(boxes, shared(_printed, hierarchies=bare(hierarchies), printed=tuple(printed)), len(hierarchies), kinds)


def rare_ends(boxes: DataFrame, hierarchies: Sequence[Hierarchy], rare: Sequence[np.ndarray]) -> DataFrame:
    """Of each quasi-identifier (__anon_place int) that prints ranges, those that end at a rare leaf: __anon_classes, and how many such
    leaves there are: __anon_end.  rare: (m_i,) bool, a quasi-identifier each."""
    worker = shared(_rare, hierarchies=bare(hierarchies), rare=tuple(rare))
    ends = _worked(boxes, worker, len(hierarchies), [f"{PLACE} int", f"{END} int", f"{CLASSES} long"])
    of_end = ends.groupBy(PLACE, END).agg(F.sum(CLASSES).alias(CLASSES))
    return of_end.groupBy(PLACE).agg(F.sum((F.col(END) >= 0).cast("long")).alias(END), F.sum(CLASSES).alias(CLASSES))


def rare_codes(h: Hierarchy, rare: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, int]:
    """Distinct rare leaves among the printed ends of ranges, and the ranges that have one.  rare: (m,) bool; low, high: (g,) codes."""
    printed = (low != high) & ~covers_all(h, low, high)
    low, high = low[printed], high[printed]
    ends = np.concatenate([low[rare[low]], high[rare[high]]])
    return np.unique(ends), int((rare[low] | rare[high]).sum())


def _worked(boxes: DataFrame, worker: Callable[..., Iterator[pa.RecordBatch]], columns: int, kinds: Sequence[str]) -> DataFrame:
    chosen = boxes.select(GROUP, *low_names(columns), *high_names(columns))
    return chosen.mapInArrow(worker, ", ".join(kinds))


def bare(hierarchies: Sequence[Hierarchy]) -> tuple[Hierarchy, ...]:
    """Without raw values and costs, which no label needs: what travels to the workers is small."""
    return tuple(replace(h, codes={}, ncp=(), glm=(), height=()) for h in hierarchies)


def _printed(batches: Batches, hierarchies: Sequence[Hierarchy], printed: Sequence[Printed]) -> Iterator[pa.RecordBatch]:
    for number, low, high in _lines(batches, len(hierarchies)):
        yield from group_columns(number, low, high, hierarchies, printed).to_batches()


def _rare(batches: Batches, hierarchies: Sequence[Hierarchy], rare: Sequence[np.ndarray]) -> Iterator[pa.RecordBatch]:
    for _, low, high in _lines(batches, len(hierarchies)):
        for j, h in enumerate(hierarchies):
            if h.numeric:
                codes, classes = rare_codes(h, rare[j], low[:, j], high[:, j])
                columns = (np.full(len(codes) + 1, j), np.append(codes, -1), np.append(np.zeros(len(codes)), classes))
                kinds = (pa.int32(), pa.int32(), pa.int64())
                arrays = [pa.array(column.astype(np.int64), kind) for column, kind in zip(columns, kinds, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, [PLACE, END, CLASSES])


def _lines(batches: Batches, columns: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(g,) numbers and (g, d) ends of the boxes of each batch that has any."""
    for batch in batches:
        if batch.num_rows:
            arrays = [batch.column(i).to_numpy(zero_copy_only=False) for i in range(batch.num_columns)]
            yield arrays[0], np.stack(arrays[1 : columns + 1], axis=1), np.stack(arrays[columns + 1 :], axis=1)
