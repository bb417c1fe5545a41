"""How well a classifier does that learnt from the release, on raw rows (METHODS 2.8): logistic regression of scikit-learn, an extra.

A value's features are its parts in bins of the column's leaves: one for a raw value; for an interval or a node, which is spread evenly
over its leaves, as much as lies in each bin. So one model can learn from generalized rows and be asked about raw ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy

NUMBER_BINS, VALUE_BINS = 12, 30
MOST_ENTRIES = 20_000_000
"""Lines times features that are held at once (160 MB); beyond it nothing is measured."""
MOST_CLASSES = 20
"""Class labels; a column of more is no class."""
ROUNDS = 500


@dataclass(frozen=True, eq=False)
class Lines:
    """low, high: (m, d) leaf codes, inclusive, of what a line prints; label: (m,) its class number; rows: (m,) how many rows print it."""

    low: np.ndarray
    high: np.ndarray
    label: np.ndarray
    rows: np.ndarray


def is_installed() -> bool:
    """Whether there is a scikit-learn."""
    return find_spec("sklearn") is not None


def accuracies(
    hierarchies: Sequence[Hierarchy], leaf_rows: Sequence[np.ndarray], raw: Lines, released: Lines
) -> dict[str, float] | None:
    """Share of the raw rows whose class is told right: ``released`` and ``raw`` by what each was learnt from, ``majority`` by always
    naming the commonest class. All three are asked about the rows of the raw table.

    leaf_rows: (m_i,) raw rows of each leaf. None where the lines are too many, or there is nothing to learn: no row, or one class.
    """
    bins = [_bins(h, rows) for h, rows in zip(hierarchies, leaf_rows, strict=True)]
    width = sum(int(of.max()) + 1 for of in bins)
    classes = np.unique(raw.label)
    too_many = max(len(raw.rows), len(released.rows), *(len(of) for of in bins)) * width > MOST_ENTRIES
    if too_many or len(released.rows) == 0 or not 2 <= len(classes) <= MOST_CLASSES:
        return None
    questions, total = _features(bins, raw), float(raw.rows.sum())
    found = {}
    for name, lines in (("released", released), ("raw", raw)):
        told = _told(_features(bins, lines), lines, questions)
        found[name] = float(raw.rows[told == raw.label].sum()) / total
    found["majority"] = float(np.bincount(raw.label, raw.rows).max()) / total
    return found


def _told(features: np.ndarray, lines: Lines, questions: np.ndarray) -> np.ndarray:
    """(questions,) class of each, by a model that learnt from the lines."""
    seen = np.unique(lines.label)
    if len(seen) == 1:
        return np.full(len(questions), seen[0])
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        # one that has not converged is as good as it will be
        warnings.simplefilter("ignore")
        model = LogisticRegression(max_iter=ROUNDS).fit(features, lines.label, sample_weight=lines.rows)
    told: np.ndarray = model.predict(questions)
    return told


def _bins(h: Hierarchy, rows: np.ndarray) -> np.ndarray:
    """(m,) the bin of each leaf: of numbers and dates ranges of about as many rows each, else the commonest values and one of the rest."""
    line = len(h.leaves) - h.beside
    if h.numeric and line > NUMBER_BINS:
        before = np.cumsum(rows[:line]) - rows[:line]
        of = (before * NUMBER_BINS // max(int(rows[:line].sum()), 1)).astype(np.int64)
        # leaves beside the line, such as null, are no numbers
        return np.unique(np.append(of, np.full(h.beside, NUMBER_BINS)), return_inverse=True)[1].ravel()
    of = np.full(len(rows), VALUE_BINS)
    common = np.argsort(-rows, kind="stable")[:VALUE_BINS]
    of[common] = np.arange(len(common))
    return np.unique(of, return_inverse=True)[1].ravel()


def _features(bins: Sequence[np.ndarray], lines: Lines) -> np.ndarray:
    """(m, f) parts of each line in each bin of each column."""
    parts = []
    for j, of in enumerate(bins):
        inside = np.zeros((len(of) + 1, int(of.max()) + 1))
        inside[np.arange(1, len(of) + 1), of] = 1
        until = np.cumsum(inside, axis=0)
        low, high = lines.low[:, j], lines.high[:, j]
        parts.append((until[high + 1] - until[low]) / (high - low + 1)[:, None])
    return np.concatenate(parts, axis=1)
