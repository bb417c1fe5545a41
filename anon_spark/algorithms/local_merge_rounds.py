"""Rounds of the merge stage on Spark: which classes break a model, who is near, what merged, until all hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from anon_spark.algorithms.local_merge import NEAREST, Classes, breaking, classes_from, looked, merge, nearest
from anon_spark.algorithms.local_repair import none_found
from anon_spark.domain.errors import NoneFoundError
from anon_spark.domain.problem import Problem
from anon_spark.kernels.shared import shared
from anon_spark.models.base import Model
from anon_spark.models.registry import models_of
from anon_spark.plans import blocks as plans
from anon_spark.plans.block_lines import BROKEN, GROUP, MEMBERS
from anon_spark.plans.fetch import fetch_arrow, fetch_row
from anon_spark.plans.local import local_table
from anon_spark.plans.materialise import Materialised

FIRST_NEAREST = 16
"""Neighbours of a breaking class that are looked at in the first round; twice as many in each further one."""
BYTES_A_CLASS = 4_000
"""What a class may take in this process: its box, its histogram as counters, its part of the work space."""


@dataclass(frozen=True)
class Merged:
    """classes: as ``plans.classes_of`` gives them, each holding every model. moves: group to class where they differ, None for none.
    told: what was done, in sentences."""

    classes: DataFrame
    moves: DataFrame | None
    told: tuple[str, ...]

    def lines(self, last: DataFrame) -> DataFrame:
        """Lines of the last pass with their classes."""
        return last if self.moves is None else plans.renamed(last, self.moves)


def merge_across(problem: Problem, groups: DataFrame, last: DataFrame, kept: Materialised, driver_bytes: int) -> Merged:
    """Groups of the last pass as classes that all hold.

    groups: as ``plans.groups_of`` gives them; last: __anon_group, __anon_v0.., __anon_held of their rows.

    Raises NoneFoundError where all classes as one still break what merges were to mend, or where more classes would have to be looked
    at than ``driver_bytes`` allow.
    """
    stage = _Stage(problem, groups, last, kept, driver_bytes)
    told: list[str] = []
    count = FIRST_NEAREST
    while True:
        broken = stage.broken()
        if broken is None or not len(broken.number):
            return Merged(stage.classes, stage.moves, tuple(told))
        moves = stage.mended(broken, count)
        told.append(f"{len(broken.number)} groups broke a model in their blocks: {len(moves)} groups merged across blocks")
        stage.apply(moves)
        count *= 2


class _Stage:
    """Classes and the map from groups to them, as of a round."""

    def __init__(self, problem: Problem, groups: DataFrame, last: DataFrame, kept: Materialised, driver_bytes: int):
        self.problem, self.last, self.kept = problem, last, kept
        self.columns, self.sensitive = len(problem.hierarchies), len(problem.sensitive)
        self.models: Sequence[Model] = models_of(problem)
        self.most = max(driver_bytes // BYTES_A_CLASS, 2)
        self.moves: DataFrame | None = None
        self._take(groups)

    def broken(self) -> Classes | None:
        """The classes that break a model; None where none needs looking at."""
        if not self.doubted:
            return None
        found = self._fetched(self.classes.where(self._doubt()).select(GROUP), self.doubted)
        return _only(found, breaking(self.problem, self.models, found))

    def _doubt(self) -> Column:
        """Whether a class must be looked at: its block left it broken, or unions do not keep a model and it is one."""
        united = F.size(MEMBERS) > 1
        return F.col(BROKEN) if all(model.union_closed for model in self.models) else F.col(BROKEN) | united

    def mended(self, broken: Classes, count: int) -> dict[int, int]:
        """Merges of breaking classes with some of their nearest ``count`` each."""
        search = shared(nearest, problem=self.problem, sought=broken, count=count)
        frame = self.classes.drop(MEMBERS).mapInArrow(search, NEAREST)
        near = F.slice(F.sort_array(F.collect_list(F.struct("added", "other"))), 1, count)
        others = frame.groupBy("group").agg(near.alias("near")).select(F.explode("near.other").alias("other")).distinct()
        numbers = np.union1d(broken.number, fetch_arrow(others)["other"].to_numpy().astype(np.int64))
        if len(numbers) == len(broken.number) == 1:
            raise none_found(self.problem)
        chosen = local_table(self.last.sparkSession, pa.table({GROUP: pa.array(numbers, pa.int64())}))
        found = self._fetched(chosen, len(numbers))
        return merge(self.problem, self.models, found, np.isin(found.number, broken.number))

    def apply(self, moves: dict[int, int]) -> None:
        """Classes after these merges, those that print alike then joined."""
        table = pa.table({GROUP: pa.array(list(moves), pa.int64()), plans.CLASS: pa.array(list(moves.values()), pa.int64())})
        moved = local_table(self.last.sparkSession, table)
        self._move(moved.where(F.col(GROUP) != F.col(plans.CLASS)))
        self._take(plans.merged(self.classes, moved, self.columns))

    def _take(self, groups: DataFrame) -> None:
        worker = shared(looked, problem=self.problem)
        self.classes = self.kept.keep(plans.classes_of(groups, worker, self.columns), "classes")
        united, doubted = (F.count(F.when(test, 1)) for test in (F.size(MEMBERS) > 1, self._doubt()))
        counts = fetch_row(self.classes.agg(united.alias("united"), doubted.alias("doubted")))
        self.doubted = int(counts["doubted"])
        if counts["united"]:
            self._move(plans.members_of(self.classes))

    def _move(self, moves: DataFrame) -> None:
        """Compose the map so far with further moves."""
        if self.moves is None:
            self.moves = moves
            return
        further = moves.select(F.col(GROUP).alias(plans.CLASS), F.col(plans.CLASS).alias("further"))
        moved = self.moves.join(further, plans.CLASS, "left")
        moved = moved.select(GROUP, F.coalesce("further", plans.CLASS).alias(plans.CLASS))
        fresh = moves.join(self.moves, GROUP, "left_anti")
        self.moves = self.kept.keep(moved.unionByName(fresh), "moves")

    def _fetched(self, chosen: DataFrame, count: int) -> Classes:
        """These classes with their histograms."""
        if count > self.most:
            raise NoneFoundError(
                f"{count} groups would have to be merged across blocks, and settings.driver_megabytes leaves room for {self.most}; "
                "raise it, or settings.block_combinations, or ask for less"
            )
        frame = self.classes.drop(MEMBERS).join(F.broadcast(chosen), GROUP, "left_semi")
        lines = self.last if self.moves is None else plans.renamed(self.last, self.moves)
        held = fetch_arrow(plans.histograms(lines, chosen, self.sensitive))
        return classes_from(fetch_arrow(frame), held, self.columns, self.sensitive)


def _only(classes: Classes, chosen: np.ndarray) -> Classes:
    """Some classes alone, without their histograms."""
    none = np.zeros(0, np.int64)
    return Classes(
        classes.number[chosen], classes.low[chosen], classes.high[chosen], classes.size[chosen], none, none.reshape(0, 1), none
    )
