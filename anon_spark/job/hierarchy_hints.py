"""Which column a hierarchy file was meant for, where its own column's values are not in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from anon_spark.domain.errors import Fault
from anon_spark.domain.file_tree import coverage
from anon_spark.domain.policy import Column
from anon_spark.job.bind_models import Trees
from anon_spark.job.cells import Values


def with_hierarchy_hint(fault: Fault, column: Column, values: Mapping[str, Values], trees: Trees) -> Fault:
    """Name another column whose hierarchy file covers these values better, or whose values this one's file fits better."""
    own = coverage(trees[column.name], values[column.name]) if column.name in trees else Fraction(1)
    others = [name for name in values if name != column.name]
    covering = {name: coverage(trees[name], values[column.name]) for name in others if name in trees}
    fitted = {name: coverage(trees[column.name], values[name]) for name in others if column.name in trees}
    if best := _best(covering, own):
        hint = f"the hierarchy of {best!r} would cover {float(covering[best]):.0%} of its distinct values"
    elif best := _best(fitted, own):
        hint = f"its hierarchy fits column {best!r}, {float(fitted[best]):.0%} of whose distinct values it covers"
    else:
        return fault
    return replace(fault, advice=f"{fault.advice}; {hint}" if fault.advice else hint)


def _best(shares: Mapping[str, Fraction], own: Fraction) -> str | None:
    """The first name of the largest share that is larger than ``own``."""
    return max((name for name in shares if shares[name] > own), key=shares.__getitem__, default=None)
