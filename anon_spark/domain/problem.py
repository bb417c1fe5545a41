"""What a decider is given besides the frequency set: the policy bound to one table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Loss, ModelSpec

GIVEN = "__anon_given"
"""The column that marks one row of each person, beside all other columns that models count (METHODS 1.17)."""
COUNTED_TEXT = "1"
"""What it holds in the row that is counted."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A policy bound to a table of ``rows`` rows (those dropped by ``nulls: suppress`` not counted).

    hierarchies, weights, min_levels, max_levels: one a quasi-identifier, in the configured order; weights as configured, max_levels
    resolved (at most levels - 1). leaf_rows: (m_i,) int64 rows of each leaf, a quasi-identifier each. sensitive: columns some model
    reads, in the order of FrequencySet.sensitive; values: their value texts by number (None is null); ignores_null: whether a null
    of that column is left out of histograms; totals: (v,) int64 rows of each value by number, a sensitive column each; ranks: (v,)
    int64 place of each value among the column's numbers or dates, None where it has no order. models: as configured, column filled in;
    trees: of each model the hierarchy over its column's values, None where it asks for none.
    persons: how many there are, where models count persons and not rows; totals are persons then, and the frequency set tells them apart
    (``FrequencySet``), or marks one row of each in the column ``GIVEN``.
    """

    rows: int
    hierarchies: tuple[Hierarchy, ...]
    weights: tuple[Fraction, ...]
    min_levels: tuple[int, ...]
    max_levels: tuple[int, ...]
    leaf_rows: tuple[np.ndarray, ...]
    models: tuple[ModelSpec, ...]
    sensitive: tuple[str, ...] = ()
    values: tuple[tuple[str | None, ...], ...] = ()
    ignores_null: tuple[bool, ...] = ()
    totals: tuple[np.ndarray, ...] = ()
    ranks: tuple[np.ndarray | None, ...] = ()
    trees: tuple[Hierarchy | None, ...] = ()
    limit: Fraction = Fraction(0)
    loss: Loss = "gcp"
    persons: int | None = None

    @property
    def tells_persons(self) -> bool:
        """Whether the frequency set has a column of persons."""
        return self.persons is not None and GIVEN not in self.sensitive

    @property
    def held(self) -> int:
        """Columns of the frequency set beside the quasi-identifiers."""
        return len(self.sensitive) + self.tells_persons

    @property
    def k(self) -> int | None:
        """The largest k asked for, by k-anonymity or by a model that includes it; None where none is."""
        asked = [int(str(m.parameters["k"])) for m in self.models if "k" in m.parameters]
        return max(asked) if asked else None

    @property
    def may_suppress(self) -> int:
        """Rows that may be suppressed: floor(limit * rows), exact."""
        return int(self.limit * self.rows)
