"""Whether a release has the columns that its policy says, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import types as T

from anon_spark.audit.result import Finding
from anon_spark.domain.policy import Policy

_HIDDEN = ("identifier", "person")


@dataclass(frozen=True)
class Structure:
    """places: name of a policy's column -> its place in the release; findings: what is amiss; groupable: every quasi-identifier
    and every column that a model reads is there and of use."""

    places: dict[str, int]
    findings: tuple[Finding, ...]
    groupable: bool


def model_column(policy: Policy, column: str | None) -> str | None:
    """The sensitive column that a model reads: the one it names, or the only one; None where that is open."""
    sensitive = policy.of_role("sensitive")
    return column if column is not None else sensitive[0].name if len(sensitive) == 1 else None


def structure_of(schema: T.StructType, policy: Policy, untouched: T.StructType | None) -> Structure:
    """Compare a release's schema with its policy; untouched: the schema of the input, whose types pass unchanged."""
    names = [field.name for field in schema.fields]
    shown = [column.name for column in policy.columns if column.role not in _HIDDEN]
    found = {column.name: _place(column.name, names) for column in policy.columns}
    places = {name: place for name, place in found.items() if place is not None}
    findings = [
        *_missing(shown, places),
        *_extra(names, places, policy, untouched),
        *_wrong_types(schema, places, policy, untouched),
    ]
    needed = {column.name for column in policy.quasi_identifiers}
    texts = all(name in places and isinstance(schema.fields[places[name]].dataType, T.StringType) for name in needed)
    read = {model_column(policy, model.column) for model in policy.privacy if model.model != "k-anonymity"}
    return Structure(
        places, tuple(Finding("columns", text) for text in findings), texts and all(name in places for name in read if name)
    )


def _place(name: str, names: list[str]) -> int | None:
    """Exact, or the only one that differs by capitals alone: some catalogs keep no capitals."""
    same = [place for place, other in enumerate(names) if other == name]
    folded = [place for place, other in enumerate(names) if other.casefold() == name.casefold()]
    return same[0] if same else folded[0] if len(folded) == 1 else None


def _missing(shown: list[str], places: dict[str, int]) -> Iterator[str]:
    for name in shown:
        if name not in places:
            yield f"column {name} is missing"


def _extra(names: list[str], places: dict[str, int], policy: Policy, untouched: T.StructType | None) -> Iterator[str]:
    hidden = {places[column.name]: column.role for column in policy.columns if column.role in _HIDDEN and column.name in places}
    known = set(places.values())
    kept = None if untouched is None else set(untouched.names)
    for place, name in enumerate(names):
        if place in hidden:
            yield f"column {name} is published, though its role is {hidden[place]}"
        elif place not in known and (policy.unlisted != "keep" or (kept is not None and name not in kept)):
            yield f"column {name} is published, though the policy does not name it"
        elif name in names[:place]:
            yield f"column {name} is there twice"


def _wrong_types(schema: T.StructType, places: dict[str, int], policy: Policy, untouched: T.StructType | None) -> Iterator[str]:
    before = {} if untouched is None else {field.name: field.dataType for field in untouched.fields}
    for column in policy.columns:
        if column.name not in places:
            continue
        found = schema.fields[places[column.name]].dataType
        if column.role == "quasi-identifier":
            if not isinstance(found, T.StringType):
                yield f"column {column.name} is of type {found.simpleString()}; labels are text"
        elif column.role not in _HIDDEN and column.name in before and before[column.name].simpleString() != found.simpleString():
            yield f"column {column.name} is of type {found.simpleString()}; the input's is {before[column.name].simpleString()}"
