"""One column's distribution before and after, in a few bins that may be shown: no bin stands for fewer than ``least`` raw rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from math import floor, log10

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import ROOT
from anon_spark.domain.values import LAST_DAY, parse, print_day

MOST_BINS = 24
OTHERS = "others"
"""The bin of all that may not, or need not, be shown apart."""
STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, eq=False)
class Bins:
    """labels: of each bin, None for null; of: (m,) the bin of each leaf or value; rows: (b,) int64 raw rows; ordered: by value.

    Every bin has 0 or at least ``least`` raw rows, and so has every bin that a reader could work out from the total.
    """

    labels: tuple[str | None, ...]
    of: np.ndarray
    rows: np.ndarray
    ordered: bool


def leaf_bins(h: Hierarchy, rows: np.ndarray, least: int, most: int = MOST_BINS) -> Bins:
    """Bins of a quasi-identifier: its values where they are few, else the lowest level of its hierarchy with few nodes; numbers and
    dates that have no such level in ranges with round ends, which are no values of the table.  rows: (m,) rows of each leaf."""
    for level in range(h.levels - 1):
        if 1 < len(h.labels[level]) <= most:
            return _shown(h.labels[level], h.nodes[level], rows, least, most, h.numeric)
    if h.numeric and (ranges := _ranges(h, most)) is not None:
        return _shown(*ranges, rows, least, most, True)
    return value_bins(h.leaves, rows, least, most)


def value_bins(values: Sequence[str | None], rows: np.ndarray, least: int, most: int = MOST_BINS) -> Bins:
    """Bins of the commonest values, the most rows first."""
    return _shown(values, np.arange(len(values)), rows, least, most, False)


def rebuilt(low: np.ndarray, high: np.ndarray, size: np.ndarray, leaves: int) -> np.ndarray:
    """(m,) rows of each leaf where every class is spread evenly over what it prints.  low, high: (g,) leaf codes, size: (g,) rows."""
    share = size / (high - low + 1)
    edges = np.bincount(low, share, leaves + 1) - np.bincount(high + 1, share, leaves + 1)
    return np.maximum(np.cumsum(edges)[:leaves], 0.0)


def in_bins(bins: Bins, of_leaf: np.ndarray) -> np.ndarray:
    """(b,) the sum over each bin's leaves."""
    return np.bincount(bins.of, of_leaf, len(bins.labels))


def _shown(
    labels: Sequence[str | None], of: np.ndarray, rows: np.ndarray, least: int, most: int, ordered: bool
) -> Bins:
    """Of many bins those that may be shown, at most so many; all others in one."""
    held = np.zeros(len(labels), np.int64)
    np.add.at(held, of, rows)
    fits = (int(place) for place in np.argsort(-held, kind="stable") if held[place] >= least and labels[place] != ROOT)
    common = list(islice(fits, most))
    rest = int(held.sum()) - int(held[common].sum())
    while common and 0 < rest < least:
        # one value fewer is shown: else the total would tell what the few others hold
        rest += int(held[common.pop()])
    if ordered:
        common.sort()
    place_of = np.full(len(labels), len(common))
    place_of[common] = np.arange(len(common))
    names: tuple[str | None, ...] = tuple(labels[place] for place in common)
    counts, bin_of = np.append(held[common], rest).astype(np.int64), place_of[of]
    if (bin_of == len(common)).any():
        return Bins((*names, OTHERS), bin_of, counts, ordered)
    return Bins(names, bin_of, counts[:-1], ordered)


def _ranges(h: Hierarchy, most: int) -> tuple[list[str | None], np.ndarray] | None:
    """Labels and the bin of each leaf, on a grid of round ends; leaves beside the line have no range and share the last bin."""
    line = len(h.leaves) - h.beside
    texts = [str(text) for text in h.leaves[:line]]
    days = [parse("date", text) for text in (texts if texts and parse("date", texts[0]) is not None else ())]
    dated = bool(days) and None not in days
    try:
        values = np.array([float(day) for day in days if day is not None] if dated else [float(text) for text in texts])
    except ValueError:
        return None
    if not len(values) or not np.isfinite(values).all() or values[0] == values[-1]:
        return None
    step = _round_step((values[-1] - values[0]) / (most - 2), dated)
    place = np.floor(values / step).astype(np.int64)
    first = int(place[0])
    ends = [step * (first + i) for i in range(int(place[-1]) - first + 2)]
    told = [print_day(min(int(end), LAST_DAY)) for end in ends] if dated else [f"{end:.12g}" for end in ends]
    labels: list[str | None] = [f"[{a}, {b})" for a, b in pairwise(told)]
    of = np.concatenate([place - first, np.full(h.beside, len(labels))])
    return [*labels, ROOT] if h.beside else labels, of


def _round_step(least: float, whole: bool) -> float:
    power = 10.0 ** floor(log10(least))
    step = next(power * by for by in STEPS if power * by >= least * (1 - 1e-9))
    return max(step, 1.0) if whole else step
