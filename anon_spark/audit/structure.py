"""Whether a release has the columns that its policy says, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import types as T

from anon_spark.audit.bounds import bounds_names, may_have_bounds
from anon_spark.audit.result import Finding
from anon_spark.domain.policy import Column, Policy

_HIDDEN = ("identifier", "person")


@dataclass(frozen=True)
class Structure:
    """places: name of a column that the policy asks for -> its place in the release; bounds: the quasi-identifiers that stand
    there as three columns; findings: what is amiss; groupable: every quasi-identifier and every column that a model reads is
    there and of use."""

    places: dict[str, int]
    bounds: frozenset[str]
    findings: tuple[Finding, ...]
    groupable: bool


def model_column(policy: Policy, column: str | None) -> str | None:
    """The sensitive column that a model reads: the one it names, or the only one; None where that is open."""
    sensitive = policy.of_role("sensitive")
    return column if column is not None else sensitive[0].name if len(sensitive) == 1 else None


def structure_of(schema: T.StructType, policy: Policy, untouched: T.StructType | None) -> Structure:
    """Compare a release's schema with its policy; untouched: the schema of the input, whose types pass unchanged."""
    names = [field.name for field in schema.fields]
    types = {} if untouched is None else {field.name: field.dataType for field in untouched.fields}
    bounds = frozenset(c.name for c in policy.quasi_identifiers if _in_bounds(c, policy, names, types.get(c.name)))
    parts = {column.name: bounds_names(column.name) if column.name in bounds else (column.name,) for column in policy.columns}
    found = {name: _place(name, names) for several in parts.values() for name in several}
    places = {name: place for name, place in found.items() if place is not None}
    shown = [name for column in policy.columns if column.role not in _HIDDEN for name in parts[column.name]]
    kinds = {name: schema.fields[place].dataType for name, place in places.items()}
    faults = {}
    for column in policy.columns:
        mine = {part: kinds[part] for part in parts[column.name] if part in kinds}
        faults[column.name] = _faults(column, mine, types.get(column.name), column.name in bounds)
    findings = [
        *_missing(shown, places),
        *_extra(names, places, policy, bounds, untouched),
        *(text for several in faults.values() for text in several),
    ]
    needed = [column.name for column in policy.quasi_identifiers]
    whole = all(not faults[name] and all(part in places for part in parts[name]) for name in needed)
    read = {model_column(policy, model.column) for model in policy.privacy if model.model != "k-anonymity"}
    return Structure(
        places, bounds, tuple(Finding("columns", text) for text in findings), whole and all(n in places for n in read if n)
    )


def _in_bounds(column: Column, policy: Policy, names: list[str], given: T.DataType | None) -> bool:
    """Whether a quasi-identifier must be there as bounds: numbers must; where the type is not known, what is there counts."""
    if not may_have_bounds(column, policy):
        return False
    return isinstance(given, T.NumericType) or any(_place(part, names) is not None for part in bounds_names(column.name))


def _place(name: str, names: list[str]) -> int | None:
    """Exact, or the only one that differs by capitals alone: some catalogs keep no capitals."""
    same = [place for place, other in enumerate(names) if other == name]
    folded = [place for place, other in enumerate(names) if other.casefold() == name.casefold()]
    return same[0] if same else folded[0] if len(folded) == 1 else None


def _missing(shown: list[str], places: dict[str, int]) -> Iterator[str]:
    for name in shown:
        if name not in places:
            yield f"column {name} is missing"


def _extra(
    names: list[str], places: dict[str, int], policy: Policy, bounds: frozenset[str], untouched: T.StructType | None
) -> Iterator[str]:
    hidden = {places[column.name]: column.role for column in policy.columns if column.role in _HIDDEN and column.name in places}
    known = set(places.values())
    kept = None if untouched is None else set(untouched.names)
    raw = {name.casefold() for name in bounds}
    for place, name in enumerate(names):
        if place in hidden:
            yield f"column {name} is published, though its role is {hidden[place]}"
        elif place not in known and name.casefold() in raw:
            yield f"column {name} is published beside its bounds"
        elif place not in known and (policy.unlisted != "keep" or (kept is not None and name not in kept)):
            yield f"column {name} is published, though the policy does not name it"
        elif name in names[:place]:
            yield f"column {name} is there twice"


def _faults(column: Column, shown: dict[str, T.DataType], given: T.DataType | None, in_bounds: bool) -> list[str]:
    """What is wrong with the types of the columns that show one of the policy's. given: the input's type, None = not known."""
    if column.role in _HIDDEN:
        return []
    faults = []
    for name, kind in shown.items():
        expected = None
        if column.role == "quasi-identifier" and not in_bounds:
            expected = None if isinstance(kind, T.StringType) else "labels are text"
        elif in_bounds and name == bounds_names(column.name)[-1]:
            expected = None if isinstance(kind, T.BooleanType) else "it says true or false"
        elif given is not None and given.simpleString() != kind.simpleString():
            expected = f"the input's is {given.simpleString()}"
        if expected is not None:
            faults.append(f"column {name} is of type {kind.simpleString()}; {expected}")
    return faults
