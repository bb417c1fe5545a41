"""Which sets of quasi-identifiers make people unique: the sets that are looked at, and what is told of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, prod

MOST_SUBSETS = 500
"""Sets looked at; whole sizes are left out beyond it: threes first (16 quasi-identifiers and more), then pairs (31 and more)."""
MOST_LINES = 2**23
"""Lines that large sets may send through the shuffle before they are counted in part."""
FEW_CLASSES = 20_000
FEW = 5
"""A row is nearly unique in a class of fewer rows than this."""
Subset = tuple[int, ...]


@dataclass(frozen=True)
class SubsetRisk:
    """columns: places of the quasi-identifiers; combinations: distinct ones; unique, below_5: shares of the rows that are alone, or in
    classes of fewer than 5 rows, when an attacker knows these columns alone; counted: the part of the set's classes that was counted, 1
    where the figures are exact, else they are estimates from that part."""

    columns: Subset
    combinations: int
    unique: Fraction
    below_5: Fraction
    counted: Fraction = Fraction(1)


def subsets_of(columns: int) -> tuple[tuple[Subset, ...], tuple[int, ...]]:
    """Sets of sizes 1, 2, 3, all but one and all, each in the order of the columns; and the sizes left out for their number."""
    wanted = {size for size in (1, 2, 3, columns - 1, columns) if 1 <= size <= columns}
    left_out = []
    for size in (3, 2):
        if size < columns - 1 and sum(comb(columns, s) for s in wanted) > MOST_SUBSETS:
            wanted.remove(size)
            left_out.append(size)
    return tuple(subset for size in sorted(wanted) for subset in combinations(range(columns), size)), tuple(sorted(left_out))


def most_identifying(found: Sequence[SubsetRisk]) -> tuple[SubsetRisk, ...]:
    """By size, then those that make most rows unique first; ties: more rows below 5, more combinations, the order of the columns."""
    return tuple(sorted(found, key=lambda s: (len(s.columns), -s.unique, -s.below_5, -s.combinations, s.columns)))


def shares_of_classes(subsets: Sequence[Subset], cells: int, distinct: Sequence[int]) -> tuple[int, ...]:
    """Of each set: 1 where all its classes are counted, else one in how many, a power of two.

    distinct: values of each column, about. Single columns and sets that can have no more than FEW_CLASSES are counted in full: workers
    add their classes up before they send them. The others are counted in part where they would come to more than MOST_LINES lines.
    """
    large = [len(subset) > 1 and prod(distinct[column] for column in subset) > FEW_CLASSES for subset in subsets]
    one_in = 1
    while cells * sum(large) > MOST_LINES * one_in:
        one_in *= 2
    return tuple(one_in if is_large else 1 for is_large in large)


def within_bounds(found: Sequence[SubsetRisk], whole: SubsetRisk) -> tuple[SubsetRisk, ...]:
    """Estimates brought within what is known for sure: a set tells apart no less than its parts do, and no more than all columns."""
    exact = [risk for risk in found if risk.counted == 1]

    def bounded(risk: SubsetRisk) -> SubsetRisk:
        if risk.counted == 1:
            return risk
        parts = [part for part in exact if set(part.columns) < set(risk.columns)]
        return SubsetRisk(
            risk.columns,
            min(max([risk.combinations, *(part.combinations for part in parts)]), whole.combinations),
            min(max([risk.unique, *(part.unique for part in parts)]), whole.unique),
            min(max([risk.below_5, *(part.below_5 for part in parts)]), whole.below_5),
            risk.counted,
        )

    return tuple(bounded(risk) for risk in found)
