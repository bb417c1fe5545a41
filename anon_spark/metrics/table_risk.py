"""Re-identification risk of a table, from nothing but the sizes of its classes (rows that are alike in all quasi-identifiers).

Prosecutor: the attacker knows that a person is in the table; journalist: the attacker knows only that the person is in the population that
the table was drawn from; marketer: the attacker links every row and counts the hits (El Emam & Dankar 2008; Dankar & El Emam 2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

BELOW = (2, 5, 10)
"""Class sizes below which the share of the rows is told whatever was asked."""


@dataclass(frozen=True)
class TableRisk:
    """Exact shares of a table of ``rows`` >= 1 rows in ``classes`` classes.

    unique: rows alone in their class; below: k -> rows in classes of fewer than k rows; prosecutor_max, prosecutor_mean: the largest
    1/|E| and its mean over the rows; marketer: expected share of the rows that a guess within each class links right.
    """

    rows: int
    classes: int
    unique: Fraction
    below: Mapping[int, Fraction]
    prosecutor_max: Fraction
    prosecutor_mean: Fraction
    marketer: Fraction


def table_risk(sizes: Mapping[int, int], ks: Iterable[int] = ()) -> TableRisk:
    """sizes: class size -> how many classes have it; ks: sizes told besides BELOW. The table has a row."""
    rows = sum(size * classes for size, classes in sizes.items())
    classes = sum(sizes.values())
    below = {k: Fraction(sum(size * n for size, n in sizes.items() if size < k), rows) for k in sorted({*BELOW, *ks})}
    # every class adds |E| times 1/|E|, and one right guess
    mean = Fraction(classes, rows)
    return TableRisk(rows, classes, Fraction(sizes.get(1, 0), rows), below, Fraction(1, min(sizes)), mean, mean)
