"""Hierarchies and problems for tests, made from label paths without the code that binds a configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.hierarchy import Hierarchy, LevelCost
from anon_spark.domain.policy import ModelSpec
from anon_spark.domain.problem import Problem


def hierarchy(column: str, paths: Sequence[Sequence[str | None]], numbers: Mapping[str, int] | None = None) -> Hierarchy:
    """paths: leaf .. root, a leaf each; shorter ones are padded with the root.  numbers: places of numeric leaves (METHODS 2.1)."""
    longest = max(len(path) for path in paths)
    padded = [tuple(path) + (path[-1],) * (longest - len(path)) for path in paths]
    first = {part: place for place, path in reversed(list(enumerate(padded))) for part in tails(path)}
    ordered = sorted(padded, key=lambda path: [first[part] for part in reversed(tails(path))])
    leaves = tuple(path[0] for path in ordered)
    nodes, labels, ncp, glm, height = [], [], [], [], []
    for level in range(longest):
        tail = [path[level:] for path in ordered]
        seen = {part: number for number, part in enumerate(dict.fromkeys(tail))}
        number = np.array([seen[part] for part in tail], dtype=np.int32)
        nodes.append(number)
        labels.append(tuple(part[0] for part in seen))
        # Leaves that are at the root already do not share its node's number with all others, but its cost.
        under = dict(Counter(tail)) | {t: len(ordered) for t in tail if set(t) == {"*"}}
        shares = [Fraction(0 if under[t] == 1 else under[t], len(ordered)) for t in tail]
        less_one = [Fraction(under[t] - 1, max(len(ordered) - 1, 1)) for t in tail]
        if numbers is not None:
            shares = less_one = [_width(leaves, tail, t, numbers) for t in tail]
        ncp.append(cost(shares))
        glm.append(cost(less_one))
        height.append(cost([Fraction(len(set(path[: level + 1])) - 1) for path in ordered]))
    return Hierarchy(
        column, leaves, {leaf: code for code, leaf in enumerate(leaves)}, tuple(nodes), tuple(labels),
        tuple(ncp), tuple(glm), tuple(height), numbers is not None, leaves.count(None) if leaves[-1] is None else 0,
    )  # fmt: skip


def tails(path: Sequence[str | None]) -> list[tuple[str | None, ...]]:
    """The nodes that a leaf lies under, itself first: a node is told by its own label and all above it."""
    return [tuple(path[level:]) for level in range(len(path))]


def _width(leaves: Sequence[str | None], tail: Sequence, own: tuple, numbers: Mapping[str, int]) -> Fraction:
    root = set(own) == {"*"}
    if root and None in leaves:
        return Fraction(1)
    held = [numbers[leaf] for leaf, t in zip(leaves, tail, strict=True) if leaf is not None and (root or t == own)]
    spread = max(numbers.values()) - min(numbers.values())
    return Fraction(max(held) - min(held), spread) if held and spread else Fraction(0)


def cost(values: Sequence[Fraction]) -> LevelCost:
    scale = int(np.lcm.reduce([value.denominator for value in values]))
    return LevelCost(tuple(int(value * scale) for value in values), scale)


def flat(column: str, values: Sequence[str | None]) -> Hierarchy:
    return hierarchy(column, [(value, "*") for value in values])


def model(name: str, column: str | None = None, **parameters: object) -> ModelSpec:
    return ModelSpec(model=name, column=column, parameters=parameters)


def bind(
    rows: Sequence[Sequence[str | None]],
    hierarchies: Sequence[Hierarchy],
    models: Sequence[ModelSpec],
    sensitive: Sequence[str] = (),
    **more: object,
) -> tuple[Problem, FrequencySet]:
    """A problem and its frequency set.  rows: quasi-identifier values, then sensitive values; more: further fields of Problem."""
    d = len(hierarchies)
    values = tuple(tuple(sorted({row[d + j] for row in rows}, key=lambda v: (v is None, v))) for j in range(len(sensitive)))
    cells = Counter(
        (*(h.codes[row[i]] for i, h in enumerate(hierarchies)), *(values[j].index(row[d + j]) for j in range(len(sensitive))))
        for row in rows
    )
    table = np.array(sorted(cells), dtype=np.int32).reshape(len(cells), d + len(sensitive))
    count = np.array([cells[key] for key in sorted(cells)], dtype=np.int64)
    leaf_rows = tuple(
        np.bincount(table[:, i], weights=count, minlength=len(h.leaves)).astype(np.int64) for i, h in enumerate(hierarchies)
    )
    given: dict[str, object] = {
        "weights": (Fraction(1),) * d,
        "min_levels": (0,) * d,
        "max_levels": tuple(h.levels - 1 for h in hierarchies),
        "ignores_null": (False,) * len(sensitive),
        "totals": tuple(np.bincount(table[:, d + j], weights=count).astype(np.int64) for j in range(len(sensitive))),
    }
    problem = Problem(
        rows=len(rows), hierarchies=tuple(hierarchies), leaf_rows=leaf_rows, models=tuple(models), sensitive=tuple(sensitive),
        values=values, **(given | more),  # type: ignore[arg-type]
    )  # fmt: skip
    return problem, FrequencySet(table[:, :d], table[:, d:], count)
