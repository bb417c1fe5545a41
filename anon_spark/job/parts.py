"""A local recoding of coded cells as parts of the raw cells that the rows know themselves by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_spark.domain.recoding import LocalRecoding
from anon_spark.job.gather import RawCells
from anon_spark.plans.block_lines import DEALT, FROM, GROUP, TO
from anon_spark.plans.frequency import ROWS
from anon_spark.plans.publish_local import NOWHERE


@dataclass(frozen=True)
class Parts:
    """table: as LocalRecodingTables wants it; deals: whether any raw cell has several parts."""

    table: pa.Table
    deals: bool


def parts_of(raw: RawCells, recoding: LocalRecoding) -> Parts:
    """Each raw cell's rows, numbered from 0, cut into ranges that each go to one group, or to ``NOWHERE`` where they are suppressed.

    Several raw cells may be one coded cell (007 and 7): they are laid end to end in the order of their texts, and that line is cut
    as the recoding says; so the parts depend on nothing but the cells.
    """
    texts, rows, place = _distinct(raw)
    order = np.argsort(place, kind="stable")
    start = np.empty(len(rows), np.int64)
    start[order] = _starts(place[order], rows[order])
    cell, group, held = _all_parts(recoding)
    cut = _starts(cell, held)
    line, number = _overlaps(place, start, rows, cell, cut)
    low = np.maximum(start[line], cut[number])
    high = np.minimum(start[line] + rows[line], cut[number] + held[number])
    several = np.bincount(line, minlength=len(rows))[line] > 1
    columns = {
        GROUP: pa.array(group[number], pa.int64()),
        FROM: pa.array(low - start[line], pa.int64()),
        TO: pa.array(high - start[line], pa.int64()),
        DEALT: pa.array(several, pa.bool_()),
    }
    table = texts.take(pa.array(line))
    for name, column in columns.items():
        table = table.append_column(name, column)
    return Parts(table, bool(several.any()))


def _all_parts(recoding: LocalRecoding) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(p,) cells, groups and rows of all parts, by cell, those suppressed last."""
    cell = np.append(recoding.cell, recoding.lost_cell)
    order = np.argsort(cell, kind="stable")
    group = np.append(recoding.group, np.full(len(recoding.lost), NOWHERE))
    return cell[order], group[order], np.append(recoding.held, recoding.lost)[order]


def _distinct(raw: RawCells) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """Cells told apart by their texts alone (values that differ may print alike), sorted by them; their rows and coded cells."""
    names = [name for name in raw.table.column_names if name != ROWS]
    # a column of nothing but nulls may have come without a type
    texts = {name: raw.table[name].cast(pa.string()) for name in names}
    placed = pa.table({**texts, "place": pa.array(raw.place, pa.int64()), ROWS: raw.table[ROWS]})
    pooled = placed.group_by([*names, "place"]).aggregate([(ROWS, "sum")])
    pooled = pooled.sort_by([(name, "ascending") for name in names])
    return pooled.select(names), pooled[f"{ROWS}_sum"].to_numpy().astype(np.int64), pooled["place"].to_numpy().astype(np.int64)


def _starts(key: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(n,) rows of the lines with the same key before each line; equal keys stand together."""
    before = np.cumsum(rows) - rows
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    return before - np.repeat(before[first], np.diff(np.r_[first, len(key)]))


def _overlaps(
    place: np.ndarray, start: np.ndarray, rows: np.ndarray, cell: np.ndarray, cut: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) raw cell and (n,) part of every pair of them that share rows, in order.  cell, cut: of the parts."""
    span = np.int64(max(int(rows.sum()), 1))
    of_part = cell * span + cut
    first = np.searchsorted(of_part, place * span + start, side="right") - 1
    last = np.searchsorted(of_part, place * span + start + rows, side="left") - 1
    count = last - first + 1
    line = np.repeat(np.arange(len(rows)), count)
    number = np.repeat(first, count) + np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count)
    return line, number
