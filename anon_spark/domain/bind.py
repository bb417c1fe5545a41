"""Binding a column's hierarchy to the values that the table holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anon_spark.domain.costs import categorical, heights, numeric
from anon_spark.domain.errors import ConfigurationError, Fault, InternalError
from anon_spark.domain.file_tree import FileTree, coverage, file_rungs, read_file_tree
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.intervals import interval_faults, interval_rungs
from anon_spark.domain.ladder import Ladder, Rung
from anon_spark.domain.masks import mask_faults, mask_rungs
from anon_spark.domain.outside import settle, unmapped
from anon_spark.domain.periods import period_faults, period_rungs
from anon_spark.domain.policy import ROOT, Column, DateHierarchy, FileHierarchy, FlatHierarchy, IntervalHierarchy, MaskHierarchy
from anon_spark.domain.reading import Reading, Spec, read
from anon_spark.domain.unmapped import UnmappedError
from anon_spark.domain.values import SPECIALS, Kind, places_of, print_value, scaled

__all__ = ["UnmappedError", "bind", "coverage"]

ORDERED = ("integer", "decimal", "date", "timestamp")
_FITTING = {
    "intervals": "numbers, dates or timestamps",
    "date": "dates or timestamps (set the column's type: date)",
    "mask": "text or numbers (for dates there is the hierarchy date)",
}


def bind(
    column: Column, kind: Kind, values: Mapping[str | None, int], *, tree: Sequence[Sequence[str]] | None = None, where: str
) -> Hierarchy:
    """The hierarchy of one quasi-identifier over the values of one table.

    No hierarchy in the column: a line of numbers or dates without nodes between the values and the root; other kinds are flat.

    kind: of the Spark column ("text" for strings; see ``reading.read_as`` for what a text column may hold). values: every
    distinct raw text, as Spark casts it to a string (None is null), with its rows. tree: the lines of the file of a
    FileHierarchy. where: the configuration file, for messages.
    Raises ConfigurationError with every fault of the hierarchy, UnmappedError for values that are outside of it.
    """
    spec = column.hierarchy or FlatHierarchy()
    reading = read(column, kind, spec, [text for text in values if text is not None])
    file_tree, faults = _checked(column, reading.kind, spec, tree, where)
    if faults:
        raise ConfigurationError(faults)
    if file_tree is not None:
        file_tree = settle(file_tree, reading, column, values, where)
    elif reading.outside and spec.others == "fail" and not isinstance(column.hierarchy, FlatHierarchy):
        raise unmapped(column, reading.outside, (), values, where, kind=reading.kind)
    return _assemble(column.name, _ladder(spec, reading, file_tree), reading, None in values)


def _checked(
    column: Column, kind: Kind, spec: Spec, tree: Sequence[Sequence[str]] | None, where: str
) -> tuple[FileTree | None, list[Fault]]:
    """The tree of a file, and everything wrong with a hierarchy for values of ``kind``."""
    key = f"column {column.name}: hierarchy"
    if isinstance(spec, FileHierarchy):
        if tree is None:
            raise InternalError(f"{column.name}: the lines of its hierarchy file were not handed over")
        return read_file_tree(tree, kind, spec.path, f"column {column.name}")
    if isinstance(spec, IntervalHierarchy):
        name, fits = "intervals", kind in ORDERED
        faults = interval_faults(spec, kind, where, key) if fits else []
    elif isinstance(spec, DateHierarchy):
        name, fits = "date", kind in ("date", "timestamp")
        faults = period_faults(spec, kind, where, key) if fits else []
    elif isinstance(spec, MaskHierarchy):
        name, fits = "mask", kind in ("text", "integer", "decimal")
        faults = mask_faults(spec, where, key)
    else:
        return None, []
    return None, faults if fits else [*faults, Fault(where, key, f"{name} on a column of kind {kind}", _FITTING[name])]


def _ladder(spec: Spec, reading: Reading, tree: FileTree | None) -> Ladder:
    kind, printed = reading.kind, reading.printed()
    if tree is not None:
        found, rungs = file_rungs(tree, kind)
        leaves = tuple(printed.get(value) or print_value(kind, value, tree.lines[value][0]) for value in found)
        return Ladder(leaves, {value: code for code, value in enumerate(found)}, rungs)
    if isinstance(spec, MaskHierarchy):
        texts, rungs = mask_rungs(spec, list(printed.values()))
        value_of = {text: value for value, text in printed.items()}
        return Ladder(tuple(texts), {value_of[text]: code for code, text in enumerate(texts)}, rungs)
    ordered = sorted(printed)
    extent: int | None = None
    rungs = ()
    if isinstance(spec, IntervalHierarchy):
        rungs, extent = interval_rungs(spec, kind, ordered)
    elif isinstance(spec, DateHierarchy):
        rungs, extent = period_rungs(spec, kind, ordered)
    elif kind in ORDERED:
        ends = scaled(ordered[:1] + ordered[-1:], places_of(ordered[:1] + ordered[-1:]))
        extent = ends[-1] - ends[0] if ends else 0
    return Ladder(tuple(printed[value] for value in ordered), {value: code for code, value in enumerate(ordered)}, rungs, extent)


def _assemble(name: str, ladder: Ladder, reading: Reading, has_null: bool) -> Hierarchy:
    """The hierarchy of the ladder's leaves and, after them, the root's own: values outside, infinities, NaN, null."""
    outside = sorted(set(reading.outside.values()))
    specials = [special for special in SPECIALS if special in reading.specials.values()]
    extras: list[str | None] = [*outside, *specials, *([None] if has_null else [])]
    code_of = {extra: len(ladder.leaves) + position for position, extra in enumerate(extras)}
    codes: dict[str | None, int] = {text: ladder.code_of[value] for text, value in reading.value_of.items()}
    codes.update((text, code_of[label]) for text, label in (*reading.outside.items(), *reading.specials.items()))
    if has_null:
        codes[None] = code_of[None]
    leaves = (*ladder.leaves, *extras)
    n = len(leaves)
    rungs = [*(_with_extras(rung, len(extras)) for rung in ladder.rungs), Rung(np.zeros(n, np.int32), (ROOT,))]
    paths = _paths(rungs)
    ncp, glm = categorical(paths)
    if ladder.extent is not None:
        spans = [rung.spans for rung in ladder.rungs if rung.spans is not None]
        ncp = glm = numeric(spans, ladder.extent, len(ladder.leaves), len(extras))
    nodes = (np.arange(n, dtype=np.int32), *(rung.nodes for rung in rungs))
    for array in nodes:
        array.setflags(write=False)
    labels = (leaves, *(rung.labels for rung in rungs))
    is_line = ladder.extent is not None
    return Hierarchy(name, leaves, codes, nodes, labels, ncp, glm, heights(paths), is_line, len(extras))


def _with_extras(rung: Rung, extras: int) -> Rung:
    """The level with the root's own leaves, which print the root from here on, after its leaves."""
    if not extras:
        return rung
    labels = rung.labels if ROOT in rung.labels else (*rung.labels, ROOT)
    return Rung(np.append(rung.nodes, np.full(extras, labels.index(ROOT), np.int32)), labels)


def _paths(rungs: Sequence[Rung]) -> list[np.ndarray]:
    """For each level from 1, the (n,) number of the label that each leaf prints; one label has one number at every level."""
    number: dict[str, int] = {}
    numbers = [[number.setdefault(label, len(number)) for label in rung.labels] for rung in rungs]
    return [np.array(known, np.int64)[rung.nodes] for known, rung in zip(numbers, rungs, strict=True)]
