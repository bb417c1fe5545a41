"""k-anonymity (Sweeney 2002, "k-anonymity: a model for protecting privacy"; METHODS 1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from anon_spark.domain.counting import counted
from anon_spark.models.base import Counted, Model, Size, Statistic, Whole


@dataclass(frozen=True)
class KAnonymity:
    """Every class has at least k rows, k >= 1."""

    k: int
    name: ClassVar[str] = "k-anonymity"
    union_closed: ClassVar[bool] = True
    survives_any_rows: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[Statistic, ...]:
        return (Size(),)

    @property
    def factor(self) -> int:
        return self.k

    def holds(self, stats: Mapping[Statistic, Any]) -> Any:
        return stats[Size()] >= self.k

    @property
    def counted(self) -> Counted | None:
        return None

    def excess(self, size: Any, counts: Any, numbers: Any) -> Any:
        """Rows that are missing."""
        return np.maximum(self.k - size, 0)

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Suppression only takes rows away, so too few rows are too few at any limit."""
        return f"{counted(whole.rows, 'row')} < k = {self.k:,}: ask for a smaller k" if whole.rows < self.k else None

    def tightest(self, whole: Whole) -> str:
        return f"k up to {whole.rows:,}"

    @property
    def merged_under(self) -> Model:
        return self
