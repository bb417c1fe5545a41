"""What the page draws besides report.json's figures: distributions in bins, sizes, the lattice's nodes. No raw row, no rare value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from anon_spark.domain.recoding import LatticePicture
from anon_spark.metrics.size_histogram import SizeBin
from anon_spark.report.parts import Number


@dataclass(frozen=True)
class Marginal:
    """One column's rows in bins, of which none stands for fewer raw rows than may be shown (``metrics.marginals``).

    before: raw rows; after: rows of the release, a class spread evenly over the values that it may stand for, None where it was not
    counted. ordered: whether bins lie by value.
    """

    column: str
    role: str
    labels: tuple[str | None, ...]
    before: tuple[int, ...]
    after: tuple[float, ...] | None
    ordered: bool = False

    def shares(self) -> list[tuple[float, float | None]]:
        """Of each bin its share of the raw rows and of the published ones."""
        raw = sum(self.before) or 1
        after = self.after if self.after is not None else (None,) * len(self.before)
        published = sum(value or 0.0 for value in after) or 1.0
        return [(b / raw, None if a is None else a / published) for b, a in zip(self.before, after, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """sizes: of the published classes; lattice: what became of its nodes; bounds: column -> share of its information that k alone
    takes; in_persons: whether marginals count persons, each of whom may have several rows; blocks: how many the table was cut into for
    a local recoding, and the combinations of the smallest, the median, the largest."""

    marginals: tuple[Marginal, ...] = ()
    least: int = 0
    in_persons: bool = False
    sizes: tuple[SizeBin, ...] = ()
    lattice: LatticePicture | None = None
    bounds: Mapping[str, Number] = field(default_factory=dict)
    blocks: tuple[int, int, int, int] | None = None
