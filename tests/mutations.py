"""Releases as rows beside their raw values, what may be done to them, and which models they break: all by brute force."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil
from random import Random
from typing import Any

from anon_spark.domain.policy import ModelSpec

Row = tuple[str, ...]
Cover = Mapping[str, frozenset[str]]
"""Each label that a quasi-identifier may print -> the values of the table that it is over."""


@dataclass(frozen=True)
class Published:
    """A row of a release beside its raw values; ``sick`` is published as it is."""

    raw: Row
    labels: Row
    sick: str


Rows = list[Published]


def of_paths(paths: Mapping[str, Sequence[str]]) -> Cover:
    """From each value's labels, itself to the root."""
    found: dict[str, set[str]] = defaultdict(set)
    for value, path in paths.items():
        for label in path:
            found[label].add(value)
    return {label: frozenset(values) for label, values in found.items()}


def of_ranges(values: Sequence[str]) -> Cover:
    """Every range of whole numbers that ends at values, and the values."""
    line = sorted(values, key=int)
    found = {value: frozenset({value}) for value in line} | {"*": frozenset(line)}
    for low, high in combinations(line, 2):
        if (low, high) != (line[0], line[-1]):
            found[f"[{low}, {high}]"] = frozenset(line[line.index(low) : line.index(high) + 1])
    return found


def printed(rows: Rows) -> Counter[tuple[Row, str]]:
    return Counter((row.labels, row.sick) for row in rows)


def mutations(covers: Sequence[Cover], rows: Rows, random: Random, each: int) -> Iterator[tuple[str, Rows]]:
    """(what was done, the release then), all of which print other rows. each: how many of a kind, and of a column where it has one."""
    before = printed(rows)
    for name, other in _all(covers, rows, random, each):
        if printed(other) != before:
            yield name, other


def _all(covers: Sequence[Cover], rows: Rows, random: Random, each: int) -> Iterator[tuple[str, Rows]]:
    classes: dict[Row, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        classes[row.labels].append(at)
    for place, cover in enumerate(covers):
        yield from _of_labels(place, cover, rows, random.choices(list(classes.values()), k=each), random)
    for at in random.sample(range(len(rows)), each):
        yield "a row dropped", rows[:at] + rows[at + 1 :]
        yield "a row doubled", [*rows, rows[at]]
    for _ in range(2 * each):
        at, other = random.sample(range(len(rows)), 2)
        if rows[at].sick != rows[other].sick and rows[at].labels != rows[other].labels:
            pair = {at: rows[other].sick, other: rows[at].sick}
            yield "sensitive values swapped", [Published(r.raw, r.labels, pair.get(n, r.sick)) for n, r in enumerate(rows)]


def _of_labels(place: int, cover: Cover, rows: Rows, classes: list[list[int]], random: Random) -> Iterator[tuple[str, Rows]]:
    for members in classes:
        now = cover[rows[members[0]].labels[place]]
        own = {rows[at].raw[place] for at in members}
        found = {
            "narrowed": [label for label, values in cover.items() if values < now and values & own],
            "widened": [label for label, values in cover.items() if values > now],
            "given a sibling": [label for label, values in cover.items() if not values & now],
        }
        for name, labels in found.items():
            if labels:
                label = random.choice(sorted(labels))
                yield f"a class {name}", _relabelled(rows, set(members), place, label)
                yield f"a row {name}", _relabelled(rows, {random.choice(members)}, place, label)
        others = found["widened"] + found["narrowed"]
        if others:
            yield "a class halved", _relabelled(rows, set(members[: len(members) // 2]), place, random.choice(sorted(others)))


def _relabelled(rows: Rows, whom: set[int], place: int, label: str) -> Rows:
    return [
        Published(row.raw, (*row.labels[:place], label, *row.labels[place + 1 :]), row.sick) if at in whom else row
        for at, row in enumerate(rows)
    ]


def breaks(rows: Rows, asked: Sequence[ModelSpec]) -> bool:
    """Whether some printed class breaks some model, by the definitions in whole numbers."""
    classes: dict[Row, Counter[str]] = defaultdict(Counter)
    for row in rows:
        classes[row.labels][row.sick] += 1
    return any(_breaks(counts, spec) for counts in classes.values() for spec in asked)


def _breaks(counts: Counter[str], spec: ModelSpec) -> bool:
    given: Mapping[str, Any] = spec.parameters
    size, most = counts.total(), max(counts.values())
    if spec.model == "k-anonymity":
        return size < given["k"]
    if spec.model == "l-diversity":
        return len(counts) < given["l"] if given.get("kind") == "distinct" else most * given["l"] > size
    share = Fraction(given["alpha"]) * size
    return most > (ceil(share) if given.get("refined") else share)


def is_outside(rows: Rows, covers: Sequence[Cover]) -> bool:
    """Whether some raw value is not under its label."""
    return any(raw not in cover[label] for row in rows for raw, label, cover in zip(row.raw, row.labels, covers, strict=True))
