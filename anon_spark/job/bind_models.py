"""What privacy models must know of a table's sensitive values before the search: their order, and the trees over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from anon_spark.domain.bind import bind
from anon_spark.domain.counting import counted
from anon_spark.domain.errors import DataError, Fault
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Column, HierarchySpec, ModelSpec, Policy
from anon_spark.domain.problem import Problem
from anon_spark.domain.unmapped import OutsideError, UnmappedError
from anon_spark.domain.values import Kind, Value, parse
from anon_spark.job.reading_hints import with_reading_hint
from anon_spark.job.schema import BoundSchema, is_ordered

Trees = Mapping[str, Sequence[Sequence[str]]]
ENDS: Mapping[Value, float] = {"-Infinity": float("-inf"), "Infinity": float("inf")}


def model_tree(place: int) -> str:
    """The name among trees of the hierarchy of the policy's model number ``place``: no column's, which has no newline before it."""
    return f"\nprivacy.{place}"


def bind_models(policy: Policy, bound: BoundSchema, problem: Problem, trees: Trees) -> Problem:
    """The problem with the ranks and trees that its models ask for. Raises DataError, with the faults of all models at once, for values
    without a place in an order or a tree."""
    kinds = {raw.name: raw.kind for raw in bound.counted}
    faults: list[Fault] = []
    outside: list[UnmappedError] = []
    found: list[Hierarchy | None] = []
    ranks: dict[str, np.ndarray] = {}
    for place, spec in enumerate(problem.models):
        found.append(None)
        if spec.column is None:
            continue
        known = _known(problem, spec.column)
        if is_ordered(spec):
            unordered, line = _ranked(kinds[spec.column], problem.values[problem.sensitive.index(spec.column)], known)
            ranks[spec.column] = line
            faults += _refused(policy, place, spec, unordered)
        faults += _ungraded(policy, place, spec, known)
        tree = spec.parameters.get("hierarchy")
        if isinstance(tree, HierarchySpec):
            column = Column(name=spec.column, role="sensitive", hierarchy=tree)  # type: ignore[arg-type]
            try:
                found[-1] = bind(column, kinds[spec.column], known, tree=trees.get(model_tree(place)), where=policy.where)
            except UnmappedError as error:
                outside.append(error)
                faults += with_reading_hint(error, column, policy)
    if outside:
        raise OutsideError(faults, outside)
    if faults:
        raise DataError(faults)
    return replace(problem, trees=tuple(found), ranks=tuple(ranks.get(name) for name in problem.sensitive))


def _known(problem: Problem, column: str) -> dict[str | None, int]:
    """Counted values with their rows."""
    j = problem.sensitive.index(column)
    texts = zip(problem.values[j], problem.totals[j].tolist(), strict=True)
    return {text: rows for text, rows in texts if not (text is None and problem.ignores_null[j])}


def _ranked(kind: Kind, texts: Sequence[str | None], known: Mapping[str | None, int]) -> tuple[int, np.ndarray]:
    """Rows whose counted value has no place in an order, and the (v,) places of all others, -1 for none."""
    values = [None if text is None else _value(kind, text) for text in texts]
    line = {value: rank for rank, value in enumerate(sorted({value for value in values if value is not None}))}
    unordered = sum(rows for text, rows in known.items() if text is None or _value(kind, text) is None)
    return unordered, np.array([-1 if value is None else line[value] for value in values], np.int64)


def _value(kind: Kind, text: str) -> Value | float | None:
    value = parse(kind, text)
    return ENDS.get(value) if isinstance(value, str) else value


def _ungraded(policy: Policy, place: int, spec: ModelSpec, known: Mapping[str | None, int]) -> Iterator[Fault]:
    """Values that a given mapping of levels leaves out: none may pass without a level."""
    given = spec.parameters.get("levels")
    if isinstance(given, Mapping) and (missing := [text for text in known if text not in given]):
        rows = sum(known[text] for text in missing)
        found = f"{counted(len(missing), 'value')} of {spec.column} without a level, in {counted(rows, 'row')}"
        advice = "add them, set nulls: ignore on that column for nulls, or give a number of levels to be found"
        yield Fault(policy.where, f"privacy.{place}.levels", found, "a level for every value of the table", advice)


def _refused(policy: Policy, place: int, spec: ModelSpec, rows: int) -> Iterator[Fault]:
    if rows:
        advice = "clean the input, or set nulls: ignore on that column for nulls"
        found = f"no place in the order of {spec.column} for null or NaN in {counted(rows, 'row')}"
        yield Fault(policy.where, f"privacy.{place}.distance", found, "numbers or dates alone", advice)
