"""What the owner should know of a decision before the release is handed out."""

from __future__ import annotations

import numpy as np

from anon_spark.domain.box_labels import covers_all
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import FullDomainRecoding, LocalRecoding


def few_suppressed(recoding: FullDomainRecoding, k: int | None) -> tuple[str, ...]:
    """A warning where the rows left out are a group smaller than k: the table's total less the published rows tells its size."""
    lost = recoding.suppressed_rows
    if not k or not 0 < lost < k:
        return ()
    return (
        f"Suppressed rows: {lost}, fewer than k = {k}. Do not publish the table's total: less the published rows it discloses "
        "that so small a group was left out.",
    )


def rare_bounds(problem: Problem, recoding: LocalRecoding) -> tuple[str, ...]:
    """A warning a column whose printed ranges end in values that fewer than k rows of the table have: a bound may tell of one person."""
    if problem.k is None:
        return ()
    found = []
    for j, (h, rows) in enumerate(zip(problem.hierarchies, problem.leaf_rows, strict=True)):
        bounds, classes = _rare(h, rows < problem.k, recoding.low[:, j], recoding.high[:, j]) if h.numeric else (0, 0)
        if bounds:
            values = "1 value" if bounds == 1 else f"{bounds:,} values"
            where = "1 class" if classes == 1 else f"{classes:,} classes"
            found.append(
                f"{h.column}: {values} that fewer than k = {problem.k} rows of the table have are printed as a bound of {where}: who "
                "knows such a value may know whose it is. With a hierarchy of intervals and bounds: intervals no value is a bound."
            )
    return tuple(found)


def _rare(h: Hierarchy, is_rare: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[int, int]:
    """Distinct rare values among the printed ends of ranges, and the ranges with one."""
    printed = (low != high) & ~covers_all(h, low, high)
    low, high = low[printed], high[printed]
    ends = np.concatenate([low[is_rare[low]], high[is_rare[high]]])
    return len(np.unique(ends)), int((is_rare[low] | is_rare[high]).sum())
