"""What is kept for a hierarchy goes when the hierarchy goes: workers unpickle the same ones anew for every task."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

from hierarchies import bind, flat, model

from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.kept import kept
from anon_spark.models.registry import models_of


def test_it_is_found_once_for_each_hierarchy_and_argument() -> None:
    asked = []

    @kept
    def leaves_above(hierarchy: Hierarchy, level: int) -> int:
        asked.append((hierarchy, level))
        return len(hierarchy.labels[level])

    one, other = flat("x", list("abc")), flat("x", list("abcd"))
    assert [leaves_above(h, level) for h in (one, other, one) for level in (0, 1)] == [3, 1, 4, 1, 3, 1]
    assert asked == [(one, 0), (one, 1), (other, 0), (other, 1)]


def test_the_models_of_a_problem_are_made_once_and_go_with_it() -> None:
    problem, _ = bind([["a", "x"], ["b", "y"]], (flat("q", ["a", "b"]),), [model("l-diversity", "s", kind="entropy", l=2)], ["s"])
    (made,) = models_of(problem)
    assert models_of(problem)[0] is made and models_of(replace(problem))[0] is not made
    gone = weakref.ref(problem)
    del problem
    gc.collect()
    assert gone() is None


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
