"""Whether printed labels belong to their hierarchies, asked of the classes, so once a printed combination."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.audit.columns import FEW, HELPER, look_up, named
from anon_spark.audit.files import read_hierarchy
from anon_spark.audit.forms import Range, is_local, is_tight, levels_of, prints_ranges
from anon_spark.audit.grid import with_grid
from anon_spark.audit.printed import ordered, with_ends
from anon_spark.audit.spelling import is_number, spelled, spelled_column, spelled_moment
from anon_spark.domain.policy import (
    ROOT,
    Column,
    DateHierarchy,
    FileHierarchy,
    FlatHierarchy,
    HierarchySpec,
    IntervalHierarchy,
    MaskHierarchy,
    Policy,
)

_NUMBER = r"\A-?[0-9]+([.][0-9]+)?(E-?[0-9]+)?\z"
_DAY = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_MOMENT = rf"\A{_DAY}( ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{{1,6}})?)?\z"
_SPECIALS = ("NaN", "Infinity", "-Infinity")
_PERIODS = {
    "hour": rf"\A{_DAY} ([01][0-9]|2[0-3])\z",
    "day": rf"\A{_DAY}\z",
    "month": r"\A[0-9]{4}-(0[1-9]|1[0-2])\z",
    "quarter": r"\A[0-9]{4}-Q[1-4]\z",
    "half": r"\A[0-9]{4}-H[12]\z",
    "year": r"\A[0-9]{4}\z",
    "decade": r"\A[0-9]{3}0s\z",
    "century": r"\A([0-9]{2})00-(?:\1)99\z",
}


def with_validity(
    classes: DataFrame, name: str, column: Column, policy: Policy, ordered_type: bool = False
) -> tuple[DataFrame, SparkColumn]:
    """(classes, whether the label in column ``name`` may be printed for the quasi-identifier): never null, rows as before.

    A null may be printed at level 0 where nulls are values; the root may always, for suppressed rows print it. ordered_type: the
    raw values are known to be of a type of numbers or dates, so that nothing else prints itself.
    """
    label, levels = named(name), levels_of(column, policy)
    hierarchy = column.hierarchy
    strict = ordered_type and is_local(policy) and not isinstance(hierarchy, (FileHierarchy, MaskHierarchy))
    if isinstance(hierarchy, FileHierarchy):
        classes, known = _in_file(classes, name, hierarchy, column, policy)
    elif prints_ranges(hierarchy, policy):
        classes, known = _in_ranges(classes, name, column, policy)
    elif isinstance(hierarchy, FlatHierarchy) and strict:
        known = _any(_themselves(label, levels))
    else:
        known = _by_shape(hierarchy, label, levels)
    if hierarchy is not None and hierarchy.others == "root" and levels.low == 0 and not strict:
        known = F.lit(True)
    nulls = F.lit(policy.nulls == "value" and levels.low == 0)
    return classes, F.when(label.isNull(), nulls).when(label == ROOT, True).otherwise(F.coalesce(known, F.lit(False)))


def _themselves(label: SparkColumn, levels: Range) -> list[SparkColumn]:
    # NaN and infinities stand beside all ranges, each a child of the root, so they print themselves at level 0 alone.
    return [label.rlike(_NUMBER), label.rlike(_MOMENT), label.isin(*_SPECIALS)] if levels.low == 0 else []


def _in_ranges(classes: DataFrame, name: str, column: Column, policy: Policy) -> tuple[DataFrame, SparkColumn]:
    label, levels, hierarchy = named(name), levels_of(column, policy), column.hierarchy
    classes, read = with_ends(classes, name, f"{HELPER}{name}")
    known = _themselves(label, levels)
    if is_tight(hierarchy, policy):
        known.append(F.expr(ordered(read)))
    if isinstance(hierarchy, IntervalHierarchy):
        classes, in_grid = with_grid(classes, read, hierarchy, levels.of(hierarchy.widths))
        known.append(in_grid)
    return classes, _any(known)


def _by_shape(hierarchy: HierarchySpec | None, label: SparkColumn, levels: Range) -> SparkColumn:
    if isinstance(hierarchy, DateHierarchy):
        patterns = [_PERIODS[unit] for unit in levels.of(hierarchy.units)] + ([_MOMENT] if levels.low == 0 else [])
        return _any(label.rlike(pattern) for pattern in patterns)
    if isinstance(hierarchy, MaskHierarchy) and levels.low > 0:
        return label.rlike(_masked(hierarchy, levels.low))
    return F.lit(levels.low == 0)


def _masked(spec: MaskHierarchy, level: int) -> str:
    fewest = level if spec.steps is None else spec.steps[min(level, len(spec.steps)) - 1]
    run = f"(?:{re.escape(spec.character)}){{{fewest},}}"
    return rf"\A{run}" if spec.side == "left" else rf"{run}\z"


def _in_file(classes: DataFrame, name: str, spec: FileHierarchy, column: Column, policy: Policy) -> tuple[DataFrame, SparkColumn]:
    lines, levels = read_hierarchy(spec, column, policy.where), levels_of(column, policy)
    # An inner label that is a value of the data prints itself below its own level.
    labels = set(lines.at(levels.low, None if spec.inner == "accept" else levels.high))
    labels |= {label.strip(" ") for label in labels} if column.trim else set()
    labels |= {bare.lower() for label in labels if (bare := label.strip(" ")).lower() in ("true", "false")}
    # moments are printed to the second
    labels |= {spelled_moment(label) for label in labels}
    # A leaf of a column of numbers is published as the number it shows, and the column's type is not known here.
    by_number = any(is_number(leaf) for leaf in lines.paths)
    labels |= {spelled(label) for label in labels} if by_number else set()
    text = spelled_column(named(name)) if by_number else named(name)
    if len(labels) <= FEW:
        return classes, text.isin(sorted(labels))
    key = f"{HELPER}key_{name}"
    lookup = look_up(classes.sparkSession, dict.fromkeys(sorted(labels), ()), key, f"{HELPER}known_{name}")
    return classes.join(lookup, text == F.col(key), "left"), F.col(key).isNotNull()


def _any(tests: Iterable[SparkColumn]) -> SparkColumn:
    found = F.lit(False)
    for test in tests:
        found = found | test
    return found
