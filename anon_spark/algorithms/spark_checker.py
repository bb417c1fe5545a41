"""Checks nodes on Spark, a whole wave in one grouped aggregation; for frequency sets that the driver process can't hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.algorithms.checker import Verdict, pruning
from anon_spark.algorithms.driver_part import DriverPart
from anon_spark.algorithms.local_checker import LocalChecker
from anon_spark.algorithms.node_space import NodeSpace
from anon_spark.algorithms.single_columns import SingleColumns
from anon_spark.domain.errors import DataError, Fault
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels
from anon_spark.models.base import Model
from anon_spark.plans.fetch import fetch_arrow, fetch_row
from anon_spark.plans.judge import Judge
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.waves import (
    CANDIDATE,
    MOST_CANDIDATES,
    RolledSet,
    failing_nodes,
    fetched,
    gathered_alike,
    generalise,
    numbered,
    printed_as_root,
    rolled,
    sensitive_names,
    suppressed_leaves,
    verdicts,
    word_names,
)

WAVE_CELLS = 16_000_000
"""Cells that a wave had better not exceed, each counted once a node: some seconds of two cores."""
NARROWEST = 4
SORTED = 100_000
"""From this many cells on a set is sorted before it is kept, which halves what a wave costs; and cells of a partition of it."""
Kept = tuple[np.ndarray, ...]


class SparkChecker:
    """A ``Checker`` over ``cells``, the encoded frequency set (``plans.waves.encode``).

    width: most nodes a wave; every wave is one Spark job over one kept set. What comes to the driver: a row a node; when a node beside
    a suppression limit is costed, a row a leaf and node of its wave; the counts by value of single columns, which are checked here;
    and sets of at most ``most_cells`` cells, one at a time, from which what lies above them is checked here (``driver_part``).
    kept: keeps sets between waves; without it every wave computes ``cells`` again; called: what it keeps them under beside their names,
    where several checkers share it. combinations: how many cells there are, where that is known. Raises DataError where a wave does
    not see all rows of the problem: the input has changed.
    """

    def __init__(
        self, problem: Problem, models: Sequence[Model], cells: DataFrame, width: int = MOST_CANDIDATES,
        kept: Materialised | None = None, combinations: int | None = None, most_cells: int = 0,
        called: str = "",
    ):  # fmt: skip
        self.problem = problem
        self.jobs = 0
        self.waves = 0
        # a set that tells persons hardly shrinks as nodes grow: one that did not fit at level 0 seldom fits above
        self._most_cells = 0 if problem.tells_persons else most_cells
        self._most = min(width, MOST_CANDIDATES)
        self._models = tuple(models)
        self._cells = numbered(cells, problem.values, problem.held)
        self._kept = kept
        self._called = called
        self._size = combinations or problem.rows
        prunes = pruning(models, problem.may_suppress)
        names, values, ignored = problem.sensitive, problem.values, problem.ignores_null
        persons = sensitive_names(problem.held)[-1] if problem.tells_persons else None
        self._owed = _Owed(self._kept_of, self._most)
        self._judge = Judge(self._models, prunes, names, values, ignored, problem.rows, persons)

    @property
    def width(self) -> int:
        """Nodes that a wave is best made of: the fewer, the more cells there are."""
        return min(self._most, max(NARROWEST, WAVE_CELLS // max(self._base.cells, 1)))

    def next_of(self, unknown: np.ndarray, space: NodeSpace) -> tuple[np.ndarray, int]:
        part = self.part.of(unknown, space, fewest=self.width)
        return (part, LocalChecker.width) if part.any() else (unknown, self.width)

    def will_cost(self, nodes: Sequence[Levels]) -> None:
        self._owed.wanted = tuple(nodes)

    def told(self) -> str:
        """What was done, in a sentence."""
        sets = f"{self.part.sets} smaller sets fetched, {self.part.checked} nodes rolled up from them in the driver process"
        jobs = f"{self.jobs} Spark jobs: {self.waves} waves of at most {self.width} nodes"
        return f"{jobs}; {sets}" if self.part.sets else jobs

    def check(self, nodes: Sequence[Levels]) -> list[Verdict]:
        alone = self._singles.verdicts(nodes)
        found = dict(zip(alone, self._late(list(alone), list(alone.values())), strict=True))
        here = self.part.verdicts([node for node in dict.fromkeys(nodes) if node not in found])
        found.update(zip(here, self._late(list(here), list(here.values())), strict=True))
        rest = [node for node in dict.fromkeys(nodes) if node not in found]
        for start in range(0, len(rest), self._most):
            wave = rest[start : start + self._most]
            found.update(zip(wave, self._wave(wave), strict=True))
        return [found[node] for node in nodes]

    def failing(self, levels: Levels) -> DataFrame:
        """Node numbers __anon_g0.. of the classes that fail at a node: lazy, distinct."""
        return failing_nodes(self._source(levels), levels, self.problem.hierarchies, self._judge)

    def star_holds(self, levels: Levels) -> bool:
        """Whether the suppressed rows, with the rows that print the root everywhere, are together a class that holds every model."""
        star = printed_as_root(self._source(levels), levels, self.problem.hierarchies, self._judge)
        self.jobs += 1
        row = fetch_arrow(verdicts(self._judge.classes(star), self._judge)).to_pylist()
        return not row or int(row[0]["failing"]) == 0

    @cached_property
    def _leaves(self) -> RolledSet:
        """The whole set at level 0, kept from its first use on."""
        bottom = (0,) * len(self.problem.hierarchies)
        return self._keep(RolledSet(bottom, self._cells, self._size), "leaves")

    @cached_property
    def _base(self) -> RolledSet:
        """The set at the floors of single columns, below which no node is asked for (METHODS 3.1, step 1)."""
        floors = self._singles.floors(self._judge.pruning)
        if not any(floors):
            return self._leaves
        frame = rolled(self._leaves, floors, self.problem.hierarchies, self.problem.held)
        base = self._keep(RolledSet(floors, frame, self._size), "floors")
        if self._kept is None or self._size < SORTED:
            return base
        self.jobs += 1
        return replace(base, cells=int(fetch_row(base.frame.agg(F.count(F.lit(1)).alias("cells")))["cells"]))

    @cached_property
    def _singles(self) -> SingleColumns:
        def fetch(plan: DataFrame) -> Any:
            self.jobs += 1
            return fetch_arrow(plan)

        return SingleColumns(self.problem, self._models, self._leaves, fetch)

    @cached_property
    def part(self) -> DriverPart:
        """What is decided in this process."""
        return DriverPart(self.problem, self._models, self._most_cells, self._base.cells, self._fetch)

    def _fetch(self, levels: Levels) -> FrequencySet | None:
        self.jobs += 1
        sensitive = self.problem.held
        found = fetched(self._source(levels), levels, self.problem.hierarchies, sensitive, self._most_cells)
        if found is not None and found.rows != self.problem.rows:
            raise _changed()
        return found

    def _keep(self, held: RolledSet, name: str) -> RolledSet:
        if self._kept is None:
            return held
        frame = held.frame if held.cells < SORTED else gathered_alike(held, self.problem.hierarchies, -(-held.cells // SORTED))
        return replace(held, frame=self._kept.keep(frame, name + self._called))

    def _source(self, levels: Levels) -> RolledSet:
        base = self._base
        return base if all(a <= b for a, b in zip(base.levels, levels, strict=True)) else self._leaves

    def _classes(self, nodes: Sequence[Levels]) -> DataFrame:
        """The classes of a wave, its nodes numbered in order."""
        sets: dict[int, tuple[RolledSet, dict[int, Levels]]] = {}
        for place, node in enumerate(nodes):
            source = self._source(node)
            sets.setdefault(id(source), (source, {}))[1][place] = node
        return self._judge.classes(generalise(list(sets.values()), self.problem.hierarchies, self.problem.held))

    def _wave(self, nodes: list[Levels]) -> list[Verdict]:
        table = fetch_arrow(verdicts(self._classes(nodes), self._judge)).to_pylist()
        self.jobs += 1
        self.waves += 1
        rows = {row[CANDIDATE]: row for row in table}
        if len(rows) != len(nodes) or any(int(row["rows"]) != self.problem.rows for row in table):
            raise _changed()
        return self._late(nodes, [_verdict(rows[place]) for place in range(len(nodes))])

    def _late(self, nodes: Sequence[Levels], found: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts with the kept rows that they lack, counted when they are first asked for."""
        may = self.problem.may_suppress
        return [LateVerdict(v, self._owed, node) if 0 < v.failing <= may else v for node, v in zip(nodes, found, strict=True)]

    def _kept_of(self, nodes: Sequence[Levels]) -> list[Kept]:
        """Rows of each leaf outside the failing classes of each node."""
        judged = self._classes(nodes)
        failing = judged.where(~self._judge.holds(self._models)).select(*word_names(judged))
        lost = suppressed_leaves(self._leaves, dict(enumerate(nodes)), failing, self.problem.hierarchies)
        self.jobs += 1
        kept = [[rows.astype(np.int64) for rows in self.problem.leaf_rows] for _ in nodes]
        table = fetch_arrow(lost)
        for node, place, leaf, rows in zip(*(table.column(i).to_pylist() for i in range(4)), strict=True):
            kept[node][place][leaf] -= rows
        return [tuple(columns) for columns in kept]


def _changed() -> DataError:
    advice = "let nothing write to it during a run, or copy it first"
    return DataError([Fault("input", "", "a table that changed between two scans", "the same rows twice", advice)])


def _verdict(row: Mapping[str, Any]) -> Verdict:
    return Verdict(
        failing=int(row["failing"]),
        failing_pruning=int(row["failing_pruning"]),
        classes=int(row["classes"]),
        smallest=int(row["smallest"]),
        largest=int(row["largest"]),
        squares=int(row["squares"]),
    )


class _Owed:
    """Counts the kept rows of a node when they are asked for, and with it those of up to ``most`` nodes in all that are wanted next."""

    def __init__(self, count: Callable[[Sequence[Levels]], list[Kept]], most: int):
        self.wanted: tuple[Levels, ...] = ()
        self._count = count
        self._most = most
        self._counted: dict[Levels, Kept] = {}

    def kept(self, node: Levels) -> Kept:
        """Once a node: who asks keeps it."""
        if node not in self._counted:
            nodes = [node, *(n for n in self.wanted if n != node and n not in self._counted)][: self._most]
            self._counted.update(zip(nodes, self._count(nodes), strict=True))
        return self._counted.pop(node)


class LateVerdict(Verdict):
    """A verdict that counts the kept rows of each leaf only when they are asked for: most nodes are never costed."""

    _owed: _Owed
    _node: Levels

    def __init__(self, found: Verdict, owed: _Owed, node: Levels):
        # frozen: the fields go past its __setattr__, and kept stays unset until the property below sets it
        self.__dict__.update({**vars(found), "_owed": owed, "_node": node})
        del self.__dict__["kept"]

    @cached_property
    def kept(self) -> Kept:
        return self._owed.kept(self._node)
