"""Groups of very many combinations in little time: small cells agglomerated, then improved twice, in cells with other borders."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.kernels.local.across import across
from anon_spark.kernels.local.agglomerate import agglomerate
from anon_spark.kernels.local.cuts import axes_of, cut_blocks
from anon_spark.kernels.local.improve import Parts, numbered, pooled, refine
from anon_spark.kernels.local.prepare import prepare

CELLS, GROUPS = 384, 8
"""Combinations, and groups of k rows, of which cells hold about one or the other, whichever are more."""
TURNS = ((0.4, 1.25), (0.25, 2))
"""A turn of improvement: the share of groups on either side of a cut, which draws other borders, and how much wider its cells are."""


def swift(
    hierarchies: tuple[Hierarchy, ...], weights: tuple[Fraction, ...], codes: np.ndarray, rows: np.ndarray, k: int
) -> Parts:
    """Groups of at least k rows of the combinations codes (m, d), sorted, with rows (m,), which hold k rows in all.

    Every cell scales its own leaves, so that what pairs of them cost fits into a small table, whatever the hierarchies.
    """

    def better(cells: np.ndarray, parts: Parts) -> Parts:
        costs, points = prepare(hierarchies, weights, codes[cells])
        return refine(costs, points, parts, k)

    axes = axes_of(hierarchies, weights)
    most = max(CELLS, int(GROUPS * k * len(codes) / max(int(rows.sum()), 1)))
    found = []
    for cell in cut_blocks(axes, codes, rows, most, k):
        costs, points = prepare(hierarchies, weights, codes[cell])
        parts = numbered(Parts(*agglomerate(costs, points, rows[cell], k, True)))
        found.append(Parts(cell[parts.cell], parts.group, parts.held))
    parts = pooled(found)
    for share, wider in TURNS:
        parts = across(axes, codes, parts, int(most * wider), k, share, better)
    return parts
