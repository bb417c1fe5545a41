"""What is kept for a hierarchy goes when the hierarchy goes: workers unpickle the same ones anew for every task."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

from hierarchies import flat

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.kept import kept


def test_it_is_found_once_for_each_hierarchy_and_argument() -> None:
    asked = []

    @kept
    def leaves_above(hierarchy: Hierarchy, level: int) -> int:
        asked.append((hierarchy, level))
        return len(hierarchy.labels[level])

    one, other = flat("x", list("abc")), flat("x", list("abcd"))
    assert [leaves_above(h, level) for h in (one, other, one) for level in (0, 1)] == [3, 1, 4, 1, 3, 1]
    assert asked == [(one, 0), (one, 1), (other, 0), (other, 1)]


def test_nothing_outlives_its_hierarchy() -> None:
    @kept
    def size(hierarchy: Hierarchy) -> int:
        return len(hierarchy.leaves)

    hierarchy = replace(flat("x", list("abc")))
    assert size(hierarchy) == 3
    gone = weakref.ref(hierarchy)
    del hierarchy
    gc.collect()
    assert gone() is None
