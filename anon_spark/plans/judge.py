"""The models' verdict on classes that stay on Spark: each model's own arithmetic, on columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from anon_spark.models.base import Distinct, Largest, Model, Size, Statistic
from anon_spark.plans.columns import HELPER
from anon_spark.plans.frequency import ROWS

WIDEST = 2**62


@dataclass(frozen=True)
class Judge:
    """What is asked of the classes: models, those of them that may prune, the sensitive columns that they read, each with its values
    by number and whether null is left out of its histogram; rows: of the whole table, above every statistic."""

    models: tuple[Model, ...]
    pruning: tuple[Model, ...]
    sensitive: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]
    ignores_null: tuple[bool, ...]
    rows: int

    @property
    def names(self) -> dict[Statistic, str]:
        """The helper column that holds each statistic of a class."""
        reads = dict.fromkeys(s for m in self.models for s in m.reads)
        return {s: ROWS if isinstance(s, Size) else f"{HELPER}t{i}" for i, s in enumerate(reads)}

    def classes(self, cells: DataFrame) -> DataFrame:
        """One row a class: the words of ``cells``, rows, and a column a statistic (``names``).

        Grouped first by class and sensitive value, then by class; with several sensitive columns each is pooled on its own.
        """
        keys = [name for name in cells.columns if name.startswith(f"{HELPER}w")]
        by_place: dict[int, list[Statistic]] = {}
        for statistic in self.names:
            if isinstance(statistic, (Largest, Distinct)):
                by_place.setdefault(self.sensitive.index(statistic.column), []).append(statistic)
        if not by_place:
            return cells.groupBy(*keys).agg(F.sum(ROWS).alias(ROWS))
        frames: list[DataFrame] = []
        for place, wanted in by_place.items():
            value = f"{HELPER}s{place}"
            pooled = cells.groupBy(*keys, value).agg(F.sum(ROWS).alias(ROWS))
            counted = [self._statistic(s, place).alias(self.names[s]) for s in wanted]
            size = [] if frames else [F.sum(ROWS).alias(ROWS)]
            frames.append(pooled.groupBy(*keys).agg(*size, *counted))
        return reduce(lambda left, right: left.join(right, keys), frames)

    def _statistic(self, statistic: Statistic, place: int) -> Column:
        value = F.col(f"{HELPER}s{place}")
        texts = self.values[place]
        ignored = [number for number, text in enumerate(texts) if text is None and self.ignores_null[place]]
        counted = ~value.isin(ignored) if ignored else F.lit(True)
        if isinstance(statistic, Distinct):
            return F.sum(counted.cast("long"))
        if isinstance(statistic, Largest):
            if statistic.values is not None:
                listed = [number for number, text in enumerate(texts) if text in statistic.values]
                counted = value.isin(listed) if listed else F.lit(False)
            return F.coalesce(F.max(F.when(counted, F.col(ROWS))), F.lit(0))
        raise TypeError(f"{statistic} is not counted by value")

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
