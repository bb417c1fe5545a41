"""What it costs to publish two leaves of one quasi-identifier together, at best (METHODS 2.1, 2.2)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timezone
from fractions import Fraction
from itertools import count
from math import lcm

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy

OFF_THE_LINE = (None, "NaN", "Infinity", "-Infinity")
"""Leaves of a numeric column that have no place among its numbers: only the root holds them beside another value."""


class PairCost:
    """NCP of the box of any two of the (u,) observed leaf codes of one quasi-identifier.

    A number's or date's box costs its width over the observed range; all else costs the node of the lowest level that both share.
    A text that cannot be read as a number costs nothing beside others, so that a bound made of these stays one.
    """

    def __init__(self, hierarchy: Hierarchy, leaves: np.ndarray):
        self.hierarchy = hierarchy
        self.leaves = leaves
        line = len(hierarchy.leaves) - hierarchy.beside
        texts = [hierarchy.leaves[code] if code < line else None for code in leaves] if hierarchy.numeric else []
        places = [_place(text) for text in texts]
        self.unread = [i for i, text in enumerate(texts) if places[i] is None and text not in OFF_THE_LINE]
        self.known = [i for i, place in enumerate(places) if place is not None]
        values = [place for place in places if place is not None]
        spread = max(values) - min(values) if values else Fraction(0)
        self.places = [(value - min(values)) / spread if spread else Fraction(0) for value in values]

    def denominator(self) -> int:
        """The least common denominator of the costs."""
        return lcm(*(cost.denominator for cost in self.hierarchy.ncp), *(place.denominator for place in self.places))

    def table(self, scale: int) -> np.ndarray:
        """(u, u) int64, 0 on the diagonal: scale * cost, exact where ``denominator`` divides the scale, else never above it."""
        table = np.full((len(self.leaves), len(self.leaves)), scale, dtype=np.int64)
        for level in reversed(range(self.hierarchy.levels)):
            nodes, cost = self.hierarchy.nodes[level][self.leaves], self.hierarchy.ncp[level]
            floors = np.array([cost.numerators[code] * scale // cost.denominator for code in self.leaves], dtype=np.int64)
            table = np.where(nodes[:, None] == nodes[None, :], floors[:, None], table)
        if self.known:
            table[np.ix_(self.known, self.known)] = self._widths(scale)
        table[self.unread, :] = 0
        table[:, self.unread] = 0
        np.fill_diagonal(table, 0)
        return table

    def _widths(self, scale: int) -> np.ndarray:
        places = np.array([int(place * scale) for place in self.places], dtype=np.int64)
        widths = np.abs(places[:, None] - places[None, :])
        # Places are rounded down, so that their difference may be one too large.
        return widths if all(scale % place.denominator == 0 for place in self.places) else np.maximum(widths - 1, 0)


def exact_places(hierarchy: Hierarchy) -> tuple[Fraction, ...]:
    """Place of each leaf of a numeric column in [0, 1], exact; leaves off the line lie 1 or more beyond the numbers and each other."""
    line = len(hierarchy.leaves) - hierarchy.beside
    found = [None if text in OFF_THE_LINE else _place(text) for text in hierarchy.leaves[:line]] + [None] * hierarchy.beside
    known = [place for place in found if place is not None]
    low = min(known, default=Fraction(0))
    spread = max(known, default=low) - low or Fraction(1)
    beyond = count(2)
    return tuple(Fraction(next(beyond)) if place is None else (place - low) / spread for place in found)


def _place(text: str | None) -> Fraction | None:
    """A finite number, or the moment of an ISO date or timestamp in seconds; None for what is neither."""
    readers: tuple[Callable[[str], Fraction], ...] = (Fraction, _day, _moment)
    for reader in readers:
        try:
            return None if text is None else reader(text)
        except (ValueError, ZeroDivisionError):
            continue
    return None


def _day(text: str) -> Fraction:
    return Fraction(date.fromisoformat(text).toordinal() * 86400)


def _moment(text: str) -> Fraction:
    moment = datetime.fromisoformat(text)
    gap = (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)) - datetime(1, 1, 1, tzinfo=timezone.utc)
    return Fraction(gap.days * 86400 + gap.seconds) + Fraction(gap.microseconds, 10**6)
