"""Groups of a local recoding: rows dealt to them, groups that print alike joined, tight boxes, exact loss (DESIGN; METHODS 2.1-2.3)."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from anon_spark.domain.box_labels import covers_all
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.kept import kept
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Blocks, LocalRecoding
from anon_spark.kernels.local.improve import Parts
from anon_spark.metrics.box_cost import box_loss


class Dealt(NamedTuple):
    """``held`` rows of cell ``cell``, whose codes are line ``combination``, go to ``group``: (p,) int64 each."""

    cell: np.ndarray
    combination: np.ndarray
    group: np.ndarray
    held: np.ndarray


def deal(parts: Parts, combination: np.ndarray, count: np.ndarray) -> Dealt:
    """Parts of combinations as parts of their cells.  combination: (c,) of each cell, ascending; count: (c,) rows.

    A combination of several cells (one a sensitive value) gives each of its groups its values in about its own shares.
    """
    starts = np.searchsorted(combination, np.arange(combination[-1] + 2))
    order = np.lexsort((parts.group, parts.cell))
    of, group, held = parts.cell[order], parts.group[order], parts.held[order]
    simple = (np.bincount(of, minlength=len(starts) - 1) == 1)[of]
    cells = [np.arange(starts[c], starts[c + 1]) for c in of[simple]]
    found = [(np.concatenate(cells), np.repeat(group[simple], [len(x) for x in cells]))] if cells else []
    lines = [(cell, number, count[cell]) for cell, number in found]
    shared, first = np.unique(of[~simple], return_index=True)
    ends = np.append(first, len(of[~simple]))[1:]
    for c, a, b in zip(shared, first, ends, strict=True):
        lines.append(_mixed(np.arange(starts[c], starts[c + 1]), count, group[~simple][a:b], held[~simple][a:b]))
    cell, number, rows = (np.concatenate([line[x] for line in lines]) for x in range(3))
    return Dealt(cell, combination[cell], number, rows)


def _mixed(
    cells: np.ndarray, count: np.ndarray, group: np.ndarray, held: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of one combination's cells, spread evenly over a line that is cut by what each group holds."""
    if len(cells) == 1:
        return np.repeat(cells, len(group)), group, held
    rows = count[cells]
    of = np.repeat(np.arange(len(cells)), rows)
    within = np.arange(len(of)) - np.repeat(np.cumsum(rows) - rows, rows)
    line = of[np.lexsort((of, (2 * within + 1) / (2 * rows[of])))]
    table = np.zeros((len(cells), len(group)), np.int64)
    np.add.at(table, (line, np.repeat(np.arange(len(group)), held)), 1)
    x, y = np.nonzero(table)
    return cells[x], group[y], table[x, y]


def boxes_of(codes: np.ndarray, dealt: Dealt) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(g, d) smallest and largest code and (g,) rows of groups 0 to g - 1."""
    groups = int(dealt.group.max()) + 1
    order = np.argsort(dealt.group, kind="stable")
    starts = np.searchsorted(dealt.group[order], np.arange(groups))
    lines = codes[dealt.combination[order]]
    low, high = np.minimum.reduceat(lines, starts, axis=0), np.maximum.reduceat(lines, starts, axis=0)
    return low, high, np.add.reduceat(dealt.held[order], starts)


def join_alike(problem: Problem, codes: np.ndarray, dealt: Dealt) -> Dealt:
    """Groups whose boxes print alike become one: what is printed is what is checked."""
    low, high, _ = boxes_of(codes, dealt)
    number = np.unique(looks(problem, low, high), axis=0, return_inverse=True)[1].ravel()
    return _joined(Dealt(dealt.cell, dealt.combination, number[dealt.group], dealt.held))


def looks(problem: Problem, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(g, d) int64: equal lines where boxes print alike."""
    return np.stack([_looks(h, low[:, j], high[:, j]) for j, h in enumerate(problem.hierarchies)], axis=1)


def _joined(dealt: Dealt) -> Dealt:
    """Parts of one cell in one group become one part; sorted by cell, then group."""
    order = np.lexsort((dealt.group, dealt.cell))
    cell, group = dealt.cell[order], dealt.group[order]
    first = np.flatnonzero(np.r_[True, (cell[1:] != cell[:-1]) | (group[1:] != group[:-1])])
    held = np.add.reduceat(dealt.held[order], first)
    return Dealt(cell[first], dealt.combination[order][first], group[first], held)


def _looks(h: Hierarchy, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(g,) int64: equal where boxes of this column print alike."""
    if h.numeric:
        return np.where(covers_all(h, low, high), -1, low.astype(np.int64) * len(h.leaves) + high)
    look, left = np.zeros(len(low), np.int64), np.ones(len(low), bool)
    for level, ids in enumerate(_label_numbers(h)):
        a, b = h.nodes[level][low], h.nodes[level][high]
        found = left & (a == b)
        look[found] = ids[a[found]]
        left &= ~found
    return look


@kept
def _label_numbers(h: Hierarchy) -> list[np.ndarray]:
    """(nodes,) int64 number of each node's label, a level each; the same label has one number at all levels."""
    number: dict[str | None, int] = {}
    return [np.array([number.setdefault(label, len(number)) for label in labels], np.int64) for labels in h.labels]


def settle(
    problem: Problem, codes: np.ndarray, dealt: Dealt, steps: tuple[str, ...], strategy: str, blocks: Blocks
) -> LocalRecoding:
    """The recoding: groups numbered by their boxes, parts sorted, loss exact."""
    low, high, size = boxes_of(codes, dealt)
    order = np.lexsort((*high.T[::-1], *low.T[::-1]))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    final = _joined(Dealt(dealt.cell, dealt.combination, number[dealt.group], dealt.held))
    low, high, size = low[order], high[order], size[order]
    loss, by_column = box_loss(problem.hierarchies, problem.weights, low, high, size)
    published = Fraction(int(size.sum()), problem.rows)
    return LocalRecoding(
        cell=final.cell,
        group=final.group,
        held=final.held,
        low=low,
        high=high,
        size=size,
        # a row that is in no group is suppressed, and loses 1 a column
        loss=loss * published + 1 - published,
        by_column=tuple(part * published + 1 - published for part in by_column),
        steps=steps,
        strategy=strategy,
        blocks=blocks,
    )
