"""k-anonymity (Sweeney 2002, "k-anonymity: a model for protecting privacy"; METHODS 1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from anon_spark.domain.counting import counted
from anon_spark.models.base import Size, Statistic, Whole


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

    def infeasible(self, whole: Whole, may_suppress: int) -> str | None:
        """Suppression only takes rows away, so too few rows are too few at any limit."""
        return f"{counted(whole.rows, 'row')} < k = {self.k}" if whole.rows < self.k else None
