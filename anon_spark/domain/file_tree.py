"""The tree that the lines of a hierarchy file describe: its faults, its leaves depth-first, what each prints at each level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import Fault
from anon_spark.domain.ladder import Rung, rung_of
from anon_spark.domain.policy import ROOT
from anon_spark.domain.values import Kind, Value, parse

Labels = tuple[str, ...]
SHOWN = 3
"""Faults of one sort that are told one by one; the rest is counted."""


@dataclass(frozen=True, eq=False)
class FileTree:
    """A tree without faults.

    lines: value of a leaf -> its text and its labels at levels 1 to the root's, all of one length, in file order.
    inner: inner label (the root's included, in the file and as it is published) -> the lowest level at which it stands, and the
        labels from there up.
    """

    lines: dict[Value, tuple[str, Labels]]
    inner: dict[str, tuple[int, Labels]]


def coverage(tree: Sequence[Sequence[str]], values: Iterable[str | None]) -> Fraction:
    """The share of the distinct values (null left out) that are leaves of the tree by their text; 0 where there are none."""
    distinct = {value for value in values if value is not None}
    leaves = {line[0] for line in tree if line}
    return Fraction(len(distinct & leaves), len(distinct)) if distinct else Fraction(0)


def read_file_tree(tree: Sequence[Sequence[str]], kind: Kind, where: str, key: str) -> tuple[FileTree | None, list[Fault]]:
    """The tree of the lines ``leaf, parent, ..., root``, or every fault of theirs.

    Lines align at the leaf; a shorter one is padded with the root, which is published as ``*`` whatever the file calls it. A
    line that is there twice is read once. Leaves of a column of numbers, dates or booleans are read as such. An empty leaf is the
    empty string.
    """
    lines = [tuple(line) for line in tree if line]
    if not lines:
        return None, [Fault(where, key, "a hierarchy without lines", "one line a leaf: leaf;parent;...;root")]
    found = _empty_labels(lines)
    root = _common_root(lines)
    if root is None:
        found.append(_differing_roots(lines))
    levels = max(2, *map(len, lines))
    paths = {line: _path(line, root, levels) for line in lines}
    if root not in (None, ROOT) and any(ROOT in line[1:] for line in lines):
        found.append(f"label '{ROOT}' below the root '{root}', which is itself published as '{ROOT}'")
    leaves, faults = _leaves(paths, kind)
    found += faults + _coarsening(paths.values(), levels) + _places(paths)
    if found:
        return None, [Fault(where, key, text, _EXPECTED) for text in found]
    return FileTree(leaves, _inner(paths.values(), root or ROOT)), []


_EXPECTED = "a tree: one line a leaf, every label under one parent, one common root last"


def _common_root(lines: Sequence[Labels]) -> str | None:
    roots = {line[-1] for line in lines}
    return roots.pop() if len(roots) == 1 and any(len(line) > 1 for line in lines) else None


def _path(line: Labels, root: str | None, levels: int) -> Labels:
    """Labels at levels 1 to levels - 1, the root named ``*``."""
    labels = tuple(ROOT if label == root else label for label in line[1:])
    return labels + (ROOT,) * (levels - 1 - len(labels))


def _some(sentences: list[str]) -> list[str]:
    """The first few, and how many more there are."""
    more = len(sentences) - SHOWN
    return sentences if more <= 0 else [*sentences[:SHOWN], f"{more} more of this sort"]


def _empty_labels(lines: Sequence[Labels]) -> list[str]:
    empty = [line for line in lines if "" in line[1:]]
    return _some([f"an empty label at level {line.index('', 1)} of the line of leaf '{line[0]}'" for line in empty])


def _differing_roots(lines: Sequence[Labels]) -> str:
    if all(len(line) == 1 for line in lines):
        return "lines of a single label (is sep right? do the lines end with the root?)"
    common = Counter(line[-1] for line in lines).most_common(SHOWN)
    return "lines that end in different roots: " + ", ".join(f"'{label}' ({counted(count, 'line')})" for label, count in common)


def _leaves(paths: dict[Labels, Labels], kind: Kind) -> tuple[dict[Value, tuple[str, Labels]], list[str]]:
    leaves: dict[Value, tuple[str, Labels]] = {}
    ambiguous, unread = [], []
    for line, path in paths.items():
        value = parse(kind, line[0])
        if value is None:
            unread.append(f"leaf '{line[0]}', which is not of the column's kind {kind}")
        elif leaves.setdefault(value, (line[0], path))[1] != path:
            ambiguous.append(f"an ambiguous leaf: '{line[0]}' is listed twice with different parents")
    return leaves, _some(unread) + _some(ambiguous)


def _coarsening(paths: Iterable[Labels], levels: int) -> list[str]:
    found = []
    for level in range(levels - 2):
        above: dict[str, str] = {}
        split = {}
        for path in paths:
            if above.setdefault(path[level], path[level + 1]) != path[level + 1]:
                split[path[level]] = f"'{path[level]}' goes to '{above[path[level]]}' and to '{path[level + 1]}'"
        found += _some([f"that level {level + 2} is not a coarsening of level {level + 1}: {text}" for text in split.values()])
    return found


def _places(paths: dict[Labels, Labels]) -> list[str]:
    """Labels at two places of the tree, however the levels may look; those that one level pair shows already are left to it."""
    parents: dict[str, dict[str, int]] = {}
    beside: dict[tuple[str, int], set[str]] = {}
    for path in paths.values():
        for level, (label, parent) in enumerate(pairwise(path), start=1):
            beside.setdefault((label, level), set()).add(parent)
            if label != parent:
                parents.setdefault(label, {}).setdefault(parent, level)
    shown = {label for (label, _), above in beside.items() if len(above) > 1}
    twice = [
        f"label '{label}' with two parents: "
        + " and ".join(f"'{parent}' at level {level + 1}" for parent, level in above.items())
        for label, above in parents.items()
        if len(above) > 1 and label not in shown
    ]
    under_itself = [f"the root '{ROOT}' below '{next(iter(parents[ROOT]))}'"] if ROOT in parents and ROOT not in shown else []
    groups = {label for path in paths.values() for label in path}
    apart = [
        f"label '{line[0]}' at two places: a leaf, and a group that this leaf is not in"
        for line, path in paths.items()
        if line[0] in groups and line[0] not in path
    ]
    return _some(twice) + under_itself + _some(apart)


def _inner(paths: Iterable[Labels], root: str) -> dict[str, tuple[int, Labels]]:
    inner: dict[str, tuple[int, Labels]] = {}
    for path in paths:
        for level, label in enumerate(path, start=1):
            if label not in inner or level < inner[label][0]:
                inner[label] = (level, path[level - 1 :])
    inner.setdefault(root, inner[ROOT])
    return inner


def with_inner(tree: FileTree, values: Iterable[tuple[Value, str]]) -> FileTree:
    """The tree with each value, whose text is an inner label, as one more leaf under its node.

    Its line repeats its own label up to the lowest level at which the node stands, so it goes with the node's other leaves from
    there.
    """
    lines = dict(tree.lines)
    for value, text in values:
        level, above = tree.inner[text]
        lines[value] = (text, (above[0],) * (level - 1) + above)
    return FileTree(lines, tree.inner)


def file_rungs(tree: FileTree, kind: Kind) -> tuple[list[Value], tuple[Rung, ...]]:
    """The leaves' values depth-first, and levels 1 and up without the root.

    Siblings stand in file order; those of numbers, dates and booleans by their smallest value.
    """
    values = list(tree.lines)
    if kind != "text":
        # NaN and infinities listed in the file are text here: they go last.
        values.sort(key=lambda value: (isinstance(value, str), value))
    rank: dict[str, int] = {}
    for position, value in enumerate(values):
        for label in tree.lines[value][1]:
            rank.setdefault(label, position)
    keys = {value: _descent(tree.lines[value][1], rank, position) for position, value in enumerate(values)}
    values.sort(key=keys.__getitem__)
    paths = [tree.lines[value][1] for value in values]
    return values, tuple(rung_of(labels) for labels in list(zip(*paths, strict=True))[:-1])


def _descent(path: Labels, rank: dict[str, int], position: int) -> tuple[int, ...]:
    """The way from the root to a leaf by the ranks of the siblings chosen."""
    way = [rank[label] for label, above in zip(path, (*path[1:], None), strict=True) if label != above]
    return (*reversed(way), position)
