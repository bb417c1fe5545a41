"""Checking many nodes of the lattice in one grouped aggregation over a frequency set that stays on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import ROOT
from anon_spark.models.base import Distinct, Largest, Model, Size, Statistic
from anon_spark.plans.columns import HELPER
from anon_spark.plans.frequency import ROWS, cell_names
from anon_spark.plans.lookups import null_path, paths_of

CANDIDATE = HELPER + "candidate"
LEVELS = HELPER + "levels"
EXACT = "decimal(38,0)"


def encode(cells: DataFrame, hierarchies: Sequence[Hierarchy], sensitive: int) -> DataFrame:
    """Raw texts of a frequency set to paths: __anon_p0.. array<int> (node a level, then the leaf code), __anon_s0.., __anon_n."""
    keys, others = cell_names(len(hierarchies), sensitive)
    frame = cells
    for i, hierarchy in enumerate(hierarchies):
        key, path = f"{HELPER}key{i}", f"{HELPER}p{i}"
        frame = frame.join(paths_of(frame.sparkSession, hierarchy, key, path), F.col(keys[i]) == F.col(key), "left")
        frame = frame.withColumn(path, F.when(F.col(keys[i]).isNull(), null_path(hierarchy)).otherwise(F.col(path)))
        frame = frame.drop(key, keys[i])
    return frame.select(*[f"{HELPER}p{i}" for i in range(len(hierarchies))], *others, ROWS)


def generalise(cells: DataFrame, nodes: Sequence[Sequence[int]]) -> DataFrame:
    """Every cell once a candidate node: __anon_candidate, __anon_g0.. node numbers, and the columns of ``encode``."""
    d = len(nodes[0])
    wave = F.array(*[F.struct(F.lit(c).alias("c"), F.array(*map(F.lit, node)).alias("levels")) for c, node in enumerate(nodes)])
    pair = HELPER + "pair"
    exploded = cells.withColumn(pair, F.explode(wave))
    groups = [F.element_at(f"{HELPER}p{i}", F.col(f"{pair}.levels")[i] + 1).alias(f"{HELPER}g{i}") for i in range(d)]
    return exploded.select(F.col(f"{pair}.c").alias(CANDIDATE), *groups, *cells.columns)


def rolled(cells: DataFrame, levels: Sequence[int], sensitive: int) -> DataFrame:
    """The cells of ``encode`` pooled at a node: for candidates at or above it, fewer rows to explode. Leaf codes are lost."""
    paths = [f"{HELPER}p{i}" for i in range(len(levels))]
    others = [f"{HELPER}s{i}" for i in range(sensitive)]
    keys = [
        F.element_at(path, level + 1).alias(f"{HELPER}g{i}") for i, (path, level) in enumerate(zip(paths, levels, strict=True))
    ]
    grouped = cells.groupBy(*keys, *others)
    # any leaf of a node has the node's ancestors: which one is taken makes no difference at this level and above
    return grouped.agg(*[F.first(path).alias(path) for path in paths], F.sum(ROWS).alias(ROWS)).select(*paths, *others, ROWS)


def printed_as_root(
    generalised: DataFrame, failing: DataFrame, hierarchies: Sequence[Hierarchy], levels: Sequence[int]
) -> DataFrame:
    """Of a wave of one candidate, the cells of failing classes and of the class that prints the root everywhere, if there is one."""
    keys = [f"{HELPER}g{i}" for i in range(len(levels))]
    mark = HELPER + "failing"
    marked = generalised.join(failing.withColumn(mark, F.lit(True)), keys, "left")
    root = F.lit(True)
    for key, hierarchy, level in zip(keys, hierarchies, levels, strict=True):
        roots = [number for number, label in enumerate(hierarchy.labels[level]) if label == ROOT]
        root = root & (F.col(key).isin(roots) if roots else F.lit(False))
    return marked.where(F.col(mark).isNotNull() | root)


@dataclass(frozen=True)
class Judge:
    """What is asked of the classes: models, those of them that may prune, and the sensitive columns that they read."""

    models: tuple[Model, ...]
    pruning: tuple[Model, ...]
    sensitive: tuple[str, ...]
    ignores_null: tuple[bool, ...]

    @property
    def names(self) -> dict[Statistic, str]:
        """The helper column that holds each statistic of a class."""
        reads = dict.fromkeys(s for m in self.models for s in m.reads)
        return {s: ROWS if isinstance(s, Size) else f"{HELPER}t{i}" for i, s in enumerate(reads)}

    def holds(self, models: Sequence[Model]) -> Column:
        """Whether a row of ``classes`` holds these models: each model's own arithmetic, on exact decimals; never null."""
        stats = {s: F.col(name).cast("decimal(20,0)") for s, name in self.names.items()}
        verdict = reduce(lambda left, right: left & right, (model.holds(stats) for model in models), F.lit(True))
        # an overflow is null where ANSI is off: what can't be proved does not hold
        return F.coalesce(verdict, F.lit(False))


def classes(generalised: DataFrame, d: int, judge: Judge) -> DataFrame:
    """One row a class of each candidate: candidate, node numbers, rows, and a column a statistic (``Judge.names``).

    Grouped first by class and sensitive value, then by class; with several sensitive columns each is pooled on its own.
    """
    keys = [CANDIDATE, *[f"{HELPER}g{i}" for i in range(d)]]
    by_place: dict[int, list[Statistic]] = {}
    for statistic in judge.names:
        if isinstance(statistic, (Largest, Distinct)):
            by_place.setdefault(judge.sensitive.index(statistic.column), []).append(statistic)
    if not by_place:
        return generalised.groupBy(*keys).agg(F.sum(ROWS).alias(ROWS))
    frames: list[DataFrame] = []
    for place, wanted in by_place.items():
        value = f"{HELPER}s{place}"
        pooled = generalised.groupBy(*keys, value).agg(F.sum(ROWS).alias(ROWS))
        counted = [_statistic(s, value, judge.ignores_null[place]).alias(judge.names[s]) for s in wanted]
        size = [] if frames else [F.sum(ROWS).alias(ROWS)]
        frames.append(pooled.groupBy(*keys).agg(*size, *counted))
    return reduce(lambda left, right: left.join(right, keys), frames)


def _statistic(statistic: Statistic, value: str, ignores_null: bool) -> Column:
    counted = F.col(value).isNotNull() if ignores_null else F.lit(True)
    if isinstance(statistic, Distinct):
        return F.sum(counted.cast("long"))
    if isinstance(statistic, Largest):
        listed = counted if statistic.values is None else F.col(value).isin(list(statistic.values))
        return F.coalesce(F.max(F.when(listed, F.col(ROWS))), F.lit(0))
    raise TypeError(f"{statistic} is not counted by value")


def verdicts(classes_: DataFrame, judge: Judge) -> DataFrame:
    """One row a candidate: failing, failing_pruning, classes, smallest, largest, squares (decimal) of the classes that hold."""
    kept = judge.holds(judge.models)
    size = F.col(ROWS)
    judged = classes_.select(CANDIDATE, size.alias(ROWS), kept.alias("kept"), judge.holds(judge.pruning).alias("prunable"))
    only = F.when(F.col("kept"), size)
    return judged.groupBy(CANDIDATE).agg(
        F.coalesce(F.sum(F.when(~F.col("kept"), size)), F.lit(0)).alias("failing"),
        F.coalesce(F.sum(F.when(~F.col("prunable"), size)), F.lit(0)).alias("failing_pruning"),
        F.coalesce(F.sum(F.col("kept").cast("long")), F.lit(0)).alias("classes"),
        F.coalesce(F.min(only), F.lit(0)).alias("smallest"),
        F.coalesce(F.max(only), F.lit(0)).alias("largest"),
        F.coalesce(F.sum(only.cast("decimal(19,0)") * only.cast("decimal(19,0)")), F.lit(0)).cast(EXACT).alias("squares"),
    )


def suppressed_leaves(generalised: DataFrame, classes_: DataFrame, d: int, judge: Judge) -> DataFrame:
    """Rows of failing classes by candidate, place of the quasi-identifier and leaf code: (candidate, place, leaf, rows).

    At most candidates x leaves rows: what the driver needs to cost a node exactly beside a suppression limit.
    """
    keys = [CANDIDATE, *[f"{HELPER}g{i}" for i in range(d)]]
    failing = classes_.where(~judge.holds(judge.models)).select(*keys)
    cells = generalised.join(failing, keys)
    leaves = F.array(*[F.struct(F.lit(i).alias("place"), F.element_at(f"{HELPER}p{i}", -1).alias("leaf")) for i in range(d)])
    exploded = cells.select(CANDIDATE, F.explode(leaves).alias("at"), ROWS)
    return exploded.groupBy(CANDIDATE, "at.place", "at.leaf").agg(F.sum(ROWS).alias("rows"))


def failing_nodes(classes_: DataFrame, d: int, judge: Judge) -> DataFrame:
    """Node numbers __anon_g0.. of the classes that fail, of a wave of one candidate."""
    return classes_.where(~judge.holds(judge.models)).select(*[f"{HELPER}g{i}" for i in range(d)])
