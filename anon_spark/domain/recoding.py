"""What a decider returns: a recoding is data (DESIGN)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

Levels = tuple[int, ...]
"""A node of the full-domain lattice: a level a quasi-identifier, in the configured order."""


FATES = ("holds", "fails", "marked", "pruned")
"""Of a node: checked and holding, checked and failing, known to hold without a check, left out."""
Blocks = tuple[int, int, int, int]
"""How many blocks, and the combinations of the smallest, the median and the largest."""


@dataclass(frozen=True, kw_only=True)
class LatticePicture:
    """What became of the nodes. nodes: (level vector, fate) of each, in their order, empty for a large lattice; by_height: of each sum
    of levels, ``lowest`` first, how many nodes had each of FATES."""

    nodes: tuple[tuple[Levels, str], ...]
    lowest: int
    by_height: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class LatticeTrace:
    """How the search went. nodes = all full-QI nodes within min and max levels = checked + marked + pruned (by models or by loss bound).

    minimal: the holding nodes with no holding node below them, sorted; None where the search stopped before it knew them all.
    steps: sentences told by those who did the work, the checks of subsets included. picture: of the nodes, for the page.
    """

    nodes: int
    checked: int
    marked: int
    pruned: int
    subset_checks: int
    minimal: tuple[Levels, ...] | None
    steps: tuple[str, ...] = ()
    picture: LatticePicture | None = None


@dataclass(frozen=True, kw_only=True)
class FullDomainRecoding:
    """One level a quasi-identifier. suppressed_rows: rows of the classes that fail at these levels, which are not published.

    losses: every measure of METHODS 2.3-2.7 by its configuration name, exact; None where it has no meaning (c-avg without k).
    by_column: gcp's unweighted part of each quasi-identifier, in order. classes, smallest, largest, squares: of the published rows.
    """

    levels: Levels
    suppressed_rows: int
    classes: int
    smallest: int
    largest: int
    losses: Mapping[str, Fraction | None]
    by_column: tuple[Fraction, ...]
    trace: LatticeTrace = field(compare=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalRecoding:
    """Groups, each published as the tightest box of its rows; a cell's rows may be dealt to several groups.

    cell, group, held: (p,) int64: ``held`` rows of cell ``cell`` of the frequency set go to ``group``, sorted by (cell, group).
    lost_cell, lost: (q,) int64: cells, ascending, and their rows that are suppressed; a cell's rows add up to its count. star: whether
    the suppressed ones, with a group that prints the root everywhere, are a class that holds every model.
    low, high: (g, d) int32 smallest and largest leaf code of each group; size: (g,) int64 rows.
    Groups are numbered in the order of (low, high, first cell). loss: GCP, exact, suppressed rows included; by_column: its unweighted
    part of each column.
    steps: sentences told by those who did the work. strategy: how groups were made, in words; blocks: how many, and the combinations
    of the smallest, the median and the largest of them.
    """

    cell: np.ndarray
    group: np.ndarray
    held: np.ndarray
    low: np.ndarray
    high: np.ndarray
    size: np.ndarray
    loss: Fraction
    by_column: tuple[Fraction, ...]
    steps: tuple[str, ...] = ()
    strategy: str = ""
    blocks: Blocks = (0, 0, 0, 0)
    lost_cell: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    lost: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    star: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(a.nbytes for a in (self.cell, self.group, self.held, self.low, self.high, self.size))


@dataclass(frozen=True, kw_only=True)
class LocalSummary:
    """What a local recoding did to the table, wherever it was decided.

    losses: every measure of METHODS 2.3-2.7 by its configuration name, exact; None where it has no meaning (c-avg without k).
    by_column: gcp's unweighted part of each quasi-identifier, in order. classes, smallest, largest: of the published rows. blocks:
    how many blocks, then the fewest, the median and the most combinations of one. strategy: how groups were found, in words.
    """

    suppressed_rows: int
    classes: int
    smallest: int
    largest: int
    losses: Mapping[str, Fraction | None]
    by_column: tuple[Fraction, ...]
    steps: tuple[str, ...] = ()
    strategy: str = ""
    blocks: Blocks = (0, 0, 0, 0)


Recoding = FullDomainRecoding | LocalSummary
"""What the report of a run is told of its decision."""
