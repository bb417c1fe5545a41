"""Which forms of label a job prints for a quasi-identifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from anon_spark.domain.policy import Column, HierarchySpec, IntervalHierarchy, Policy

Part = TypeVar("Part")


@dataclass(frozen=True)
class Range:
    """The levels whose labels may be printed: ``low`` to ``high`` (None = up to the root). The root always may."""

    low: int
    high: int | None

    def of(self, finer_first: tuple[Part, ...]) -> list[Part]:
        """Of what stands for levels 1 and up, that which may be printed."""
        return list(finer_first[max(self.low - 1, 0) : self.high])


def is_local(policy: Policy) -> bool:
    """Whether each class may have a label of its own; a lattice job has one level a column."""
    return policy.job != "lattice"


def levels_of(column: Column, policy: Policy) -> Range:
    """Only a lattice job has a level a column; other jobs may print any."""
    return Range(0, None) if is_local(policy) else Range(column.min_level, column.max_level)


def prints_ranges(hierarchy: HierarchySpec | None, policy: Policy) -> bool:
    """Whether numbers and dates are printed as ranges, of values or of a grid.

    Without a hierarchy local jobs alone do; a flat one asks for the value or nothing.
    """
    return isinstance(hierarchy, IntervalHierarchy) or (hierarchy is None and is_local(policy))


def is_tight(hierarchy: HierarchySpec | None, policy: Policy) -> bool:
    """Whether ranges end at observed values rather than on a grid; without intervals there is none to widen them to."""
    return is_local(policy) and (policy.bounds == "tight" or not isinstance(hierarchy, IntervalHierarchy))
