"""How sensitive each value is: levels from the table's frequencies, or given, and what they weigh (Xie 2015; METHODS 1.16)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heapify, heappop, heappush
from math import lcm

import numpy as np

from anon_spark.models.base import exact
from anon_spark.models.histogram import Known


@dataclass(frozen=True, eq=False)
class Graded:
    """The values of a column by level.

    level: (v,) 1 for the commonest values to m for the most sensitive; 0 of an ignored null. sensitivity: D of levels 1 to m, ascending
    from 0 to 1.
    """

    known: Known
    level: np.ndarray
    sensitivity: tuple[Fraction, ...]

    @property
    def rows(self) -> int:
        """Of the table."""
        return self.known.rows

    @cached_property
    def unit(self) -> int:
        """What all sensitivities are whole numbers of."""
        return lcm(*(one.denominator for one in self.sensitivity))

    @cached_property
    def scaled(self) -> np.ndarray:
        """(m + 1,) sensitivities in units of 1 / ``unit`` by level; 0 of no level."""
        numbers = [0, *(int(one * self.unit) for one in self.sensitivity)]
        return np.array(numbers, np.int64 if self.unit < 2**62 else object)

    @cached_property
    def table(self) -> np.ndarray:
        """(m + 1,) rows of the table by level."""
        rows = np.zeros(len(self.sensitivity) + 1, np.int64)
        np.add.at(rows, self.level, self.known.totals)
        return rows


def graded(known: Known, asked: object, weights: object = None, power: object = None) -> Graded:
    """Levels as asked for: so many, found, or the level of each value by its text. A given value keeps its level if no row has it."""
    if isinstance(asked, Mapping):
        level = np.array([int(asked[text]) if text in asked else 0 for text in known.texts], np.int64)
        most = max(int(one) for one in asked.values())
    else:
        level = found_levels(known, int(str(asked)))
        most = int(level.max(initial=1))
    return Graded(known, level, sensitivities(most, weights == "height", exact(power) if power is not None else Fraction(1)))


def found_levels(known: Known, most: int) -> np.ndarray:
    """(v,) levels: values by table frequency, descending, each a segment; the adjacent pair of smallest range merges, the first of
    several, while there are more than ``most``."""
    counted = [number for number in range(len(known.texts)) if known.totals[number]]
    key = {number: (-int(known.totals[number]), known.texts[number] is None, known.texts[number] or "") for number in counted}
    order = sorted(counted, key=lambda number: key[number])
    rows = [int(known.totals[number]) for number in order]
    ends, before, alive = list(range(len(order))), list(range(-1, len(order) - 1)), [True] * len(order)
    left = len(order)
    pairs = [(rows[i] - rows[i + 1], i, i, i + 1) for i in range(left - 1)]
    heapify(pairs)
    while left > most:
        # a pair: its range, where it begins, where its first segment ends and its second does
        _, i, end, last = heappop(pairs)
        j = end + 1
        if not alive[i] or ends[i] != end or ends[j] != last:
            continue
        alive[j], ends[i], left = False, last, left - 1
        if last + 1 < len(order):
            before[last + 1] = i
            heappush(pairs, (rows[i] - rows[ends[last + 1]], i, last, ends[last + 1]))
        if before[i] >= 0:
            heappush(pairs, (rows[before[i]] - rows[last], before[i], i - 1, last))
    level = np.zeros(len(known.texts), np.int64)
    level[order] = np.cumsum(np.array(alive, np.int64))
    return level


def sensitivities(most: int, by_height: bool, power: Fraction) -> tuple[Fraction, ...]:
    """D of levels 1 to ``most``: 0, then the share of the weights up to it; weights 1, or 1 / (j - 1)^b, to 12 decimals where b is no
    whole number."""
    if most == 1:
        return (Fraction(0),)
    weights = [Fraction(1)] * (most - 1)
    if by_height and power.denominator == 1:
        weights = [Fraction(1, j ** int(power)) for j in range(1, most)]
    elif by_height:
        weights = [Fraction(f"{j ** -float(power):.12f}") for j in range(1, most)]
    total, found = sum(weights, Fraction(0)), [Fraction(0)]
    for weight in weights:
        found.append(found[-1] + weight / total)
    return tuple(found)
