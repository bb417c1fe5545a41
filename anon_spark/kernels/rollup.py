"""Cells of a frequency set, rolled up to a more general node, and the statistics of their classes (LeFevre 2005; METHODS 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anon_spark.domain.frequency import FrequencySet
from anon_spark.models.base import Distinct, Judged, Largest, LargestPersons, Model, Persons, Size, Statistic
from anon_spark.models.histogram import ClassHistograms

WIDEST_KEY = 2**62
DENSE_SPAN = 2**16


@dataclass(frozen=True, eq=False)
class Cells:
    """m distinct combinations of d nodes and s sensitive values, sorted by node then value, so that classes lie together.

    nodes: (d, m) int32 node numbers, a line a column; sensitive: (s, m) int32, the persons last where they are told (``FrequencySet``);
    count: (m,) int64 rows;
    starts: (g,) first cell of each class. All read-only by convention.
    """

    nodes: np.ndarray
    sensitive: np.ndarray
    count: np.ndarray
    starts: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.nodes.nbytes + self.sensitive.nbytes + self.count.nbytes + self.starts.nbytes)

    def classes(self) -> np.ndarray:
        """(d, g) node numbers of each class."""
        return self.nodes[:, self.starts]


def roll_up(nodes: np.ndarray, sensitive: np.ndarray, count: np.ndarray, maps: Sequence[np.ndarray | None]) -> Cells:
    """Cells of the mapped nodes.  nodes: (d, m), sensitive: (s, m), count: (m,); maps: node -> node a column, None for itself."""
    mapped = [line if up is None else up[line] for line, up in zip(nodes, maps, strict=True)]
    outer, width = mixed_key(mapped)
    key, span = mixed_key([outer, *sensitive], (width,))
    first, summed = _group(key, span, count)
    grown = np.array([line[first] for line in mapped], dtype=np.int32).reshape(len(mapped), len(first))
    held = np.array([line[first] for line in sensitive], dtype=np.int32).reshape(len(sensitive), len(first))
    of_class = outer[first]
    starts = np.flatnonzero(np.r_[True, of_class[1:] != of_class[:-1]]) if len(first) else np.zeros(0, dtype=np.int64)
    return Cells(grown, held, summed, starts)


def mixed_key(lines: Sequence[np.ndarray], spans: Sequence[int] = ()) -> tuple[np.ndarray, int]:
    """(m,) int64 keys in the order of the lines taken together, the first weighing most, and a bound above every key.

    spans: a bound above each of the first lines where it is known. Where the next line would take the keys past 2**62, those so far
    are replaced by their ranks.
    """
    if not lines:
        raise ValueError("a key needs a column")
    key, span = np.zeros(len(lines[0]), dtype=np.int64), 1
    for i, line in enumerate(lines):
        width = spans[i] if i < len(spans) else int(line.max(initial=0)) + 1
        if span * width >= WIDEST_KEY:
            found, key = np.unique(key, return_inverse=True)
            key, span = key.ravel().astype(np.int64), len(found)
        if width > 1:
            key = key * width + line if span > 1 else line.astype(np.int64)
        span *= width
    return key, span


def _group(key: np.ndarray, span: int, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One place of each distinct key, in the order of the keys, and the counts added up."""
    if span <= max(4 * len(key), DENSE_SPAN) and int(count.sum()) < 2**53:
        place = np.full(span, -1, dtype=np.int64)
        place[key] = np.arange(len(key))
        held = np.flatnonzero(place >= 0)
        # bincount adds in float64: exact below 2**53.
        return place[held], np.bincount(key, weights=count, minlength=span)[held].astype(np.int64)
    order = np.argsort(key)
    ordered = key[order]
    heads = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(key) else np.zeros(0, dtype=np.int64)
    return order[heads], np.add.reduceat(count[order], heads) if len(key) else count


@dataclass(frozen=True, eq=False)
class Histograms:
    """How the numbers of ``Cells.sensitive`` read. columns: their names in order; values: their texts by number (None is null);
    ignores_null: whether a null is left out of the histogram (it still counts as a row of its class)."""

    columns: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]
    ignores_null: tuple[bool, ...]

    def counted(self, column: int, listed: tuple[str | None, ...] | None) -> np.ndarray:
        """(v,) bool: the numbers that count among the listed values (None: all that are not ignored)."""
        texts = self.values[column]
        if listed is not None:
            return np.array([text in listed for text in texts], dtype=bool)
        return np.array([not (text is None and self.ignores_null[column]) for text in texts], dtype=bool)


def statistics(cells: Cells, wanted: Sequence[Statistic], histograms: Histograms) -> dict[Statistic, np.ndarray]:
    """(g,) int64 of each statistic, a class each."""
    found: dict[Statistic, np.ndarray] = {}
    pooled: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    for statistic in dict.fromkeys(wanted):
        if isinstance(statistic, Size):
            found[statistic] = _per_class(np.add, cells.count, cells.starts)
            continue
        if isinstance(statistic, Persons):
            person, count, starts = _histogram(cells, len(histograms.columns))
            found[statistic] = _per_class(np.add, _persons(person, count), starts)
            continue
        column = histograms.columns.index(statistic.column)
        if isinstance(statistic, LargestPersons):
            number, persons, starts = _persons_by_value(cells, column, len(histograms.columns))
            listed = histograms.counted(column, statistic.values)[number]
            found[statistic] = _per_class(np.maximum, np.where(listed, persons, 0), starts)
            continue
        if column not in pooled:
            pooled[column] = _histogram(cells, column)
        number, count, starts = pooled[column]
        if isinstance(statistic, Judged):
            judged = class_histograms(number, count, starts, histograms.counted(column, None))
            found[statistic] = (statistic.model.shortfall(judged) > 0).astype(np.int64)
            continue
        counts = histograms.counted(column, statistic.values if isinstance(statistic, Largest) else None)[number]
        if isinstance(statistic, Distinct):
            found[statistic] = _per_class(np.add, counts.astype(np.int64), starts)
        else:
            found[statistic] = _per_class(np.maximum, np.where(counts, count, 0), starts)
    return found


def _histogram(cells: Cells, column: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers and counts of one column's values class by class, and where each class starts."""
    if len(cells.sensitive) == 1:
        return cells.sensitive[0], cells.count, cells.starts
    pooled = _by_class(cells, [column])
    return pooled.sensitive[0], pooled.count, pooled.starts


def _by_class(cells: Cells, columns: Sequence[int]) -> Cells:
    """Classes with some of their columns of values alone."""
    of_class = np.zeros(len(cells.count), dtype=np.int64)
    of_class[cells.starts[1:]] = 1
    return roll_up(np.cumsum(of_class)[None, :], cells.sensitive[columns], cells.count, [None])


def _persons(person: np.ndarray, count: np.ndarray) -> np.ndarray:
    """(m,) persons of cells that each have one: one, or as many as rows where they have no id."""
    return np.where(person > 0, 1, count)


def _persons_by_value(cells: Cells, column: int, person: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of one column's values class by class, the persons who have each, and where each class starts."""
    pooled = cells if len(cells.sensitive) == 2 else _by_class(cells, [column, person])
    values = pooled.sensitive[0]
    new = np.zeros(len(values), bool)
    new[pooled.starts] = True
    heads = np.flatnonzero(new | np.r_[True, values[1:] != values[:-1]]) if len(values) else np.zeros(0, np.int64)
    persons = _per_class(np.add, _persons(pooled.sensitive[1], pooled.count), heads)
    return values[heads], persons, np.flatnonzero(new[heads])


def persons_of(frequency: FrequencySet) -> int:
    """Distinct persons of a frequency set that tells them."""
    person = frequency.sensitive[:, -1]
    return len(np.unique(person[person > 0])) + int(frequency.count[person == 0].sum())


def persons_by_value(frequency: FrequencySet, column: int, values: int) -> np.ndarray:
    """(values,) distinct persons who have each value of a column, in a frequency set that tells them."""
    held = np.ascontiguousarray(frequency.sensitive[:, [column, -1]].T)
    one = roll_up(np.zeros((1, len(frequency.count)), np.int32), held, frequency.count, [None])
    number, persons, _ = _persons_by_value(one, 0, 1)
    found = np.zeros(values, np.int64)
    found[number] = persons
    return found


def class_histograms(number: np.ndarray, count: np.ndarray, starts: np.ndarray, counted: np.ndarray) -> ClassHistograms:
    """Values and rows of cells that lie class by class, as models judge them.  starts: (g,) first cell of each class; counted: (v,) bool
    values that count."""
    of = np.zeros(len(count), np.int64)
    of[starts[1:]] = 1
    of, size = np.cumsum(of), _per_class(np.add, count, starts)
    if not counted.all():
        kept = counted[number]
        of, number, count = of[kept], number[kept], count[kept]
    return ClassHistograms(size, of, number, count)


def _per_class(function: np.ufunc, line: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return function.reduceat(line, starts) if len(starts) else np.zeros(0, dtype=np.int64)


def holds_all(models: Sequence[Model], found: Mapping[Statistic, np.ndarray], classes: int, rows: int) -> np.ndarray:
    """(g,) bool: the classes that hold every model.  rows: of the whole table, above every statistic."""
    verdict = np.ones(classes, dtype=bool)
    for model in models:
        # A product that int64 cannot hold would wrap in silence: such models are decided in Python's whole numbers.
        wide = model.factor * max(rows, 1) >= WIDEST_KEY
        given = {s: found[s].astype(object) if wide else found[s] for s in model.reads}
        verdict &= np.asarray(model.holds(given), dtype=bool)
    return verdict
