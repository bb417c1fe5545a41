"""The audit's own reading of a hierarchy file: one line a leaf, from the leaf up to the root."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from anon_spark.audit.spelling import spelled, spelled_moment
from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import ROOT, Column, FileHierarchy


@dataclass(frozen=True)
class HierarchyLines:
    """paths: leaf -> its labels from level 0 up, each at its level's place; the root is left out and stands above the end."""

    paths: dict[str, tuple[str, ...]]

    def at(self, low: int, high: int | None) -> Iterator[str]:
        """Labels that stand at a level from ``low`` to ``high`` (None = no end), the root left out."""
        for path in self.paths.values():
            yield from path[low : None if high is None else high + 1]

    def inner(self) -> dict[str, tuple[str, ...]]:
        """Each label that is no leaf -> itself and what stands above it on every line that has it."""
        found: dict[str, tuple[str, ...]] = {}
        for path in self.paths.values():
            for place, label in enumerate(path[1:], start=1):
                if label not in self.paths:
                    above = path[place:]
                    found[label] = above if label not in found else tuple(one for one in found[label] if one in above)
        return found


def read_hierarchy(spec: FileHierarchy, column: Column, where: str) -> HierarchyLines:
    """Read the file of a quasi-identifier. Raises ConfigurationError: unreadable, or one leaf with two lines that differ.

    The last label of every line is the root, whatever its text, if it is the same on all; it is published as ``*``. Else ``*`` is
    put above all lines. Blanks around leaves go where the column is trimmed.
    """
    try:
        with open(_place(spec.path, where), encoding="utf-8-sig", newline="") as file:
            lines = [cells for cells in _lines(file, spec.sep) if cells]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise _fault(where, column, f"{type(error).__name__} in {spec.path}", "a hierarchy file in UTF-8") from None
    lasts = {cells[-1] for cells in lines}
    root = lasts.pop() if len(lasts) == 1 and all(len(cells) > 1 for cells in lines) else ROOT
    paths: dict[str, tuple[str, ...]] = {}
    for cells in lines:
        leaf = cells[0].strip(" ") if column.trim else cells[0]
        path = (leaf, *_without_root(cells[1:], root))
        if paths.setdefault(leaf, path) != path:
            raise _fault(where, column, f"two lines for one value in {spec.path}", "one line a value")
    return HierarchyLines(paths)


def _place(path: str, where: str) -> Path:
    """The file as it is named, beside the configuration, or by its last name, under which it travels with a job."""
    near = Path(where).parent
    places = (Path(path), near / path, near / Path(path).name, Path(Path(path).name))
    return next((place for place in places if place.is_file()), places[0])


def by_value(lines: HierarchyLines, column: Column, where: str, kind: str) -> dict[str, tuple[str, ...]]:
    """Key of a raw value -> labels it may print. Numbers and moments go by value, not by spelling; booleans whatever their capitals."""
    keyed: dict[str, tuple[str, ...]] = {}
    for leaf, path in lines.paths.items():
        if keyed.setdefault(key_of(leaf, kind), path)[1:] != path[1:]:
            raise _fault(where, column, "two lines for one value, spelled differently", "one line a value")
    return keyed


def key_of(text: str, kind: str) -> str:
    """The key under which a value of a kind is looked up."""
    if kind in ("integer", "decimal"):
        return spelled(text)
    if kind in ("date", "timestamp"):
        return spelled_moment(text)
    return text.strip(" ").lower() if kind == "boolean" else text


def _lines(file: Iterator[str], sep: str) -> Iterator[list[str]]:
    rows = csv.reader(file, delimiter=sep) if len(sep) == 1 else (line.rstrip("\r\n").split(sep) for line in file)
    for cells in rows:
        while len(cells) > 1 and not cells[-1]:
            cells.pop()
        yield cells


def _without_root(labels: list[str], root: str) -> list[str]:
    while labels and labels[-1] in (root, ROOT):
        labels = labels[:-1]
    return labels


def _fault(where: str, column: Column, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError([Fault(where, f"columns.{column.name}.hierarchy", found, expected)])
