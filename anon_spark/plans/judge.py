"""The models' verdict on classes that stay on Spark: each model's own arithmetic, on columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from anon_spark.kernels.arrow import class_runs, lines_of
from anon_spark.kernels.rollup import class_histograms
from anon_spark.models.base import Distinct, Judged, Largest, LargestPersons, Model, Persons, Size, Statistic
from anon_spark.models.histogram import HistogramModel
from anon_spark.plans.columns import HELPER
from anon_spark.plans.frequency import ROWS

WIDEST = 2**62
MOST_CELLS = 2**18
"""Cells that a worker takes up at a time, or one class of more."""


@dataclass(frozen=True)
class Judge:
    """What is asked of the classes: models, those of them that may prune, the sensitive columns that they read, each with its values
    by number and whether null is left out of its histogram; rows: of the whole table, above every statistic; person: the column that
    tells persons, null for rows that are persons of their own."""

    models: tuple[Model, ...]
    pruning: tuple[Model, ...]
    sensitive: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]
    ignores_null: tuple[bool, ...]
    rows: int
    person: str | None = None

    @property
    def held(self) -> int:
        """Columns of a set beside its nodes and rows."""
        return len(self.sensitive) + (self.person is not None)

    @property
    def names(self) -> dict[Statistic, str]:
        """The helper column that holds each statistic of a class."""
        reads = dict.fromkeys(s for m in self.models for s in m.reads)
        return {s: ROWS if isinstance(s, Size) else f"{HELPER}t{i}" for i, s in enumerate(reads)}

    def classes(self, cells: DataFrame) -> DataFrame:
        """One row a class: the words of ``cells``, rows, and a column a statistic (``names``).

        Grouped first by class and sensitive value, then by class; with several sensitive columns each is pooled on its own. What a
        model says of whole histograms is asked of it by workers, on cells that lie class by class.
        """
        keys = [name for name in cells.columns if name.startswith(f"{HELPER}w")]
        by_place: dict[int, list[Statistic]] = {}
        frames: list[DataFrame] = []
        for statistic in self.names:
            if isinstance(statistic, (Persons, LargestPersons)):
                frames.append(self._persons(cells, keys, statistic))
            elif not isinstance(statistic, Size):
                by_place.setdefault(self.sensitive.index(statistic.column), []).append(statistic)
        if not by_place and not frames:
            return cells.groupBy(*keys).agg(F.sum(ROWS).alias(ROWS))
        for place, wanted in by_place.items():
            value = f"{HELPER}s{place}"
            pooled = cells.groupBy(*keys, value).agg(F.sum(ROWS).alias(ROWS))
            counted = [self._statistic(s, place).alias(self.names[s]) for s in wanted if not isinstance(s, Judged)]
            if judged := [s for s in wanted if isinstance(s, Judged)]:
                frames.append(self._judged(pooled, keys, value, judged, place))
            if counted:
                frames.append(pooled.groupBy(*keys).agg(F.sum(ROWS).alias(ROWS), *counted))
        first, *others = frames
        return reduce(lambda left, right: left.join(right.drop(ROWS), keys), others, first)

    def _persons(self, cells: DataFrame, keys: list[str], statistic: Persons | LargestPersons) -> DataFrame:
        """Distinct persons of each class, or the most of them who share a value: told apart first, added up after."""
        name = self.names[statistic]
        persons = F.when(F.col(str(self.person)).isNull(), F.col(ROWS)).otherwise(F.lit(1).cast("long"))
        if isinstance(statistic, Persons):
            apart = cells.groupBy(*keys, str(self.person)).agg(F.sum(ROWS).alias(ROWS))
            return apart.groupBy(*keys).agg(F.sum(ROWS).alias(ROWS), F.sum(persons).alias(name))
        place = self.sensitive.index(statistic.column)
        value = f"{HELPER}s{place}"
        apart = cells.groupBy(*keys, value, str(self.person)).agg(F.sum(ROWS).alias(ROWS))
        held = apart.groupBy(*keys, value).agg(F.sum(ROWS).alias(ROWS), F.sum(persons).alias(name))
        most = F.coalesce(F.max(F.when(self._listed(place, statistic.values), F.col(name))), F.lit(0))
        return held.groupBy(*keys).agg(F.sum(ROWS).alias(ROWS), most.alias(name))

    def _judged(self, pooled: DataFrame, keys: list[str], value: str, judged: list[Judged], place: int) -> DataFrame:
        counted = np.array([not (text is None and self.ignores_null[place]) for text in self.values[place]], dtype=bool)
        names = [self.names[s] for s in judged]
        worker = partial(judge_classes, keys=keys, value=value, names=names, models=[s.model for s in judged], counted=counted)
        placed = pooled.select(*keys, value, ROWS).repartition(*keys).sortWithinPartitions(*keys, value)
        return placed.mapInArrow(worker, ", ".join(f"{name} long" for name in (*keys, ROWS, *names)))

    def _statistic(self, statistic: Statistic, place: int) -> Column:
        if isinstance(statistic, Distinct):
            return F.sum(self._listed(place, None).cast("long"))
        if isinstance(statistic, Largest):
            return F.coalesce(F.max(F.when(self._listed(place, statistic.values), F.col(ROWS))), F.lit(0))
        raise TypeError(f"{statistic} is not counted by value")

    def _listed(self, place: int, values: Sequence[str | None] | None) -> Column:
        """Whether a cell's value counts: one of those listed, or any that is not ignored."""
        value, texts = F.col(f"{HELPER}s{place}"), self.values[place]
        if values is not None:
            listed = [number for number, text in enumerate(texts) if text in values]
            return value.isin(listed) if listed else F.lit(False)
        ignored = [number for number, text in enumerate(texts) if text is None and self.ignores_null[place]]
        return ~value.isin(ignored) if ignored else F.lit(True)

    def holds(self, models: Sequence[Model]) -> Column:
        """Whether a row of ``classes`` holds these models, in whole numbers wide enough to be exact; never null."""
        verdict = F.lit(True)
        for model in models:
            wide = model.factor * max(self.rows, 1) >= WIDEST
            stats = {s: F.col(name).cast("decimal(20,0)") if wide else F.col(name) for s, name in self.names.items()}
            verdict = verdict & model.holds(stats)
        # an overflow is null where ANSI is off: what can't be proved does not hold
        return F.coalesce(verdict, F.lit(False))

    def verdicts(self) -> list[Column]:
        """Of a row of ``classes``: rows, kept (all models hold), prunable (those that may prune hold)."""
        return [F.col(ROWS), self.holds(self.models).alias("kept"), self.holds(self.pruning).alias("prunable")]

    def figures(self) -> list[Column]:
        """Sums over rows of ``verdicts``: rows, failing, failing_pruning, classes, smallest, largest, squares of kept classes."""
        size = F.col(ROWS)
        only = F.when(F.col("kept"), size)
        exact = only.cast("decimal(19,0)") if self.rows * self.rows >= WIDEST else only
        return [
            F.sum(size).alias("rows"),
            F.coalesce(F.sum(F.when(~F.col("kept"), size)), F.lit(0)).alias("failing"),
            F.coalesce(F.sum(F.when(~F.col("prunable"), size)), F.lit(0)).alias("failing_pruning"),
            F.coalesce(F.sum(F.col("kept").cast("long")), F.lit(0)).alias("classes"),
            F.coalesce(F.min(only), F.lit(0)).alias("smallest"),
            F.coalesce(F.max(only), F.lit(0)).alias("largest"),
            F.coalesce(F.sum(exact * exact), F.lit(0)).cast("decimal(38,0)").alias("squares"),
        ]


def judge_classes(
    batches: Iterable[pa.RecordBatch], keys: Sequence[str], value: str, names: Sequence[str], models: Sequence[HistogramModel],
    counted: np.ndarray,
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    """Of cells sorted by class and value, whole classes at a time: their keys, rows, and by name 1 a model that a class breaks.

    counted: (v,) bool values that count.
    """
    for run in class_runs(batches, keys, MOST_CELLS):
        lines, count = lines_of(run, keys, np.int64), lines_of(run, [ROWS], np.int64)[:, 0]
        number = lines_of(run, [value], np.int32)[:, 0]
        starts = np.flatnonzero(np.r_[True, (lines[1:] != lines[:-1]).any(axis=1)])
        found = class_histograms(number, count, starts, counted)
        broken = [(model.shortfall(found) > 0).astype(np.int64) for model in models]
        columns = [np.ascontiguousarray(line) for line in (*lines[starts].T, found.size, *broken)]
        yield pa.RecordBatch.from_arrays([pa.array(line, pa.int64()) for line in columns], names=[*keys, ROWS, *names])
