"""A policy bound to a schema: every column resolved, every fault listed, before any job runs."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.audit.fingerprint import unhashable
from anon_spark.domain.bind import ORDERED
from anon_spark.domain.counting import some_of
from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import Column, DateHierarchy, FlatHierarchy, IntervalHierarchy, ModelSpec, Policy
from anon_spark.domain.problem import GIVEN
from anon_spark.job.reading_hints import misread_header
from anon_spark.plans.columns import DECLARED, HELPER, RawColumn, kind_of, raw_column
from anon_spark.plans.persons import PERSON
from anon_spark.plans.publish import bounds_names

HIDDEN_ROLES = frozenset({"identifier", "person"})
"""Roles whose columns are never published."""


@dataclass(frozen=True)
class BoundSchema:
    """quasi_identifiers: raw columns in the configured order; counted: the sensitive columns that some model reads; output: the
    input's columns that are published, in its order; untouched: those of them that pass unchanged; in_bounds: the quasi-identifiers
    that are published as bounds, three columns each; ids: the column that tells persons, as the input has it; None where rows are
    persons; tells_persons: whether the frequency set tells them apart (else one row of each is marked, ``plans.persons``)."""

    quasi_identifiers: tuple[RawColumn, ...]
    counted: tuple[RawColumn, ...]
    output: tuple[str, ...]
    untouched: tuple[str, ...]
    in_bounds: frozenset[str]
    ids: RawColumn | None = None
    tells_persons: bool = False

    @property
    def grouped(self) -> tuple[RawColumn, ...]:
        """The columns of the frequency set beside the quasi-identifiers."""
        return (*self.counted, RawColumn(PERSON, "text", F.col(PERSON))) if self.tells_persons else self.counted

    @property
    def travelling(self) -> tuple[str, ...]:
        """Columns of the prepared table that are read of a row: those that are published, grouped, or told to the audit."""
        read = [raw.name for raw in (*self.quasi_identifiers, *self.counted)]
        return tuple(dict.fromkeys([*self.output, *read, *([PERSON] if self.ids else [])]))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return tuple(raw.name for raw in self.quasi_identifiers)

    @property
    def published(self) -> tuple[str, ...]:
        """Columns of the release, in its order."""
        return tuple(part for name in self.output for part in (bounds_names(name) if name in self.in_bounds else (name,)))

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns of the release that show the quasi-identifiers."""
        return tuple(part for name in self.names for part in (bounds_names(name) if name in self.in_bounds else (name,)))


def bind_schema(schema: T.StructType, policy: Policy, case_sensitive: bool) -> BoundSchema:
    """Resolve every column of the policy in the input's schema. Raises ConfigurationError with every fault at once."""
    faults = [*_name_faults(schema, policy, case_sensitive), *_type_faults(schema, policy), *unhashable(schema, policy)]
    if faults:
        raise ConfigurationError(faults)
    types = {field.name: field.dataType for field in schema.fields}
    raws = tuple(raw_column(c.name, types[c.name], c.type, c.trim) for c in policy.quasi_identifiers)
    read = {model.column for model in policy.privacy if model.column}
    listed = {column.name: column for column in policy.columns}
    kept = [
        n
        for n in types
        if (n in listed and listed[n].role not in HIDDEN_ROLES) or (n not in listed and policy.unlisted == "keep")
    ]
    quasi = {column.name for column in policy.quasi_identifiers}
    ids = next((raw_column(c.name, types[c.name]) for c in policy.of_role("person")), None)
    marks = (RawColumn(GIVEN, "text", F.col(GIVEN)),) if ids is not None and policy.job != "lattice" else ()
    bound = BoundSchema(
        raws,
        (*(raw_column(c.name, types[c.name]) for c in policy.of_role("sensitive") if c.name in read), *marks),
        tuple(kept),
        tuple(name for name in kept if name not in quasi),
        frozenset(_in_bounds(policy, raws)),
        ids,
        ids is not None and not marks,
    )
    _refuse_twice(bound, policy.where, case_sensitive)
    return bound


def _in_bounds(policy: Policy, raws: Sequence[RawColumn]) -> Iterator[str]:
    """Numbers and dates that print values or intervals; files, masks and periods have labels that are no range."""
    for column, raw in zip(policy.quasi_identifiers, raws, strict=True):
        ranged = column.hierarchy is None or isinstance(column.hierarchy, (IntervalHierarchy, FlatHierarchy))
        if policy.numeric == "bounds" and ranged and raw.kind in ORDERED:
            yield raw.name


def _refuse_twice(bound: BoundSchema, where: str, case_sensitive: bool) -> None:
    """ConfigurationError where a column of bounds would be called like another column of the release."""
    for name in bound.in_bounds:
        taken = {other if case_sensitive else _folded(other): other for other in bound.output if other != name}
        taken |= {one if case_sensitive else _folded(one): one for one in bound.labels if one not in bounds_names(name)}
        for part in bounds_names(name):
            if other := taken.get(part if case_sensitive else _folded(part)):
                found = f"bounds, which would publish {part!r} beside the column {other!r}"
                raise ConfigurationError([Fault(where, "numeric", found, "names of their own", "rename that column in a query")])


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The most similar of the names; None where none is similar."""
    folded = {other.casefold(): other for other in names}
    found = difflib.get_close_matches(name.casefold(), folded, 1)
    return folded[found[0]] if found else None


def _name_faults(schema: T.StructType, policy: Policy, case_sensitive: bool) -> Iterator[Fault]:
    names = schema.names
    where = policy.where
    if fault := misread_header(names, policy):
        # what else is missing follows from it
        yield fault
        return
    listed = {column.name for column in policy.columns}
    unlisted = [name for name in names if name not in listed]
    for place, column in enumerate(policy.columns):
        if column.name not in names:
            meant = nearest(column.name, unlisted) or nearest(column.name, names)
            advice = f"did you mean {meant!r}?" if meant else f"its columns: {some_of(names)}"
            repeated = [name for at, name in enumerate(names) if name == f"{column.name}{at}"]
            if len(repeated) > 1:
                # what Spark makes of a header that repeats a name
                advice = f"its header has it {len(repeated)} times, so Spark calls them {some_of(repeated)}: name every column once"
            yield Fault(
                where, f"columns.{place}.name", f"{column.name!r}, which the input lacks", "a column of the input", advice
            )
            # what was misspelt is told already
            unlisted = [name for name in unlisted if name != meant]
    if unlisted and policy.unlisted == "fail":
        advice = "give each a role under columns (identifier: not published), or set unlisted: drop, which publishes none of them"
        yield Fault(where, "columns", f"no role for {some_of(unlisted)}", "a role for every column of the input", advice)
    # in any capitals, which Spark does not look at
    helpers = [name for name in names if name.lower().startswith((HELPER, "__audit_"))]
    if helpers:
        yield Fault(
            where, "input", f"columns named like our own: {some_of(helpers)}", f"no name that begins with {HELPER}", "rename them"
        )
    if not case_sensitive:
        yield from _colliding(names, where)


def _colliding(names: Sequence[str], where: str) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(_folded(name), name)
        if other != name or names.count(name) > 1:
            advice = "rename one of them, or set spark.sql.caseSensitive to true"
            yield Fault(
                where,
                "input",
                f"columns {other!r} and {name!r}, which Spark takes for one",
                "names that differ by more than capitals",
                advice,
            )
            return


def _folded(name: str) -> str:
    """The name as Spark compares it where capitals don't count: character by character, so that ß stays apart from SS."""
    upper = [one.upper() if len(one.upper()) == 1 else one for one in name]
    return "".join(one.lower() if len(one.lower()) == 1 else one for one in upper)


def is_ordered(spec: ModelSpec) -> bool:
    """Whether a model asks for the order of its column's values."""
    return spec.model == "t-closeness" and spec.parameters.get("distance") == "ordered"


def _type_faults(schema: T.StructType, policy: Policy) -> Iterator[Fault]:
    types = {field.name: field.dataType for field in schema.fields}
    read = {model.column for model in policy.privacy}
    in_order = {model.column: i for i, model in enumerate(policy.privacy) if is_ordered(model)}
    for place, column in enumerate(policy.columns):
        if column.name not in types:
            continue
        grouped = column.role in ("quasi-identifier", "person") or (column.role == "sensitive" and column.name in read)
        found = types[column.name]
        kind = kind_of(found)
        if grouped and kind is None:
            advice = (
                "explode it, or turn it into one text or number in a query"
                if isinstance(found, T.ArrayType)
                else "cast it in a query"
            )
            expected = "text, boolean, number, date or timestamp"
            yield Fault(policy.where, f"columns.{place} ({column.name})", f"type {found.simpleString()}", expected, advice)
        elif grouped and column.role != "quasi-identifier" and _joins_texts(found):
            # a reader of the release would count fewer values, or persons, than the model did
            expected, advice = "UTF8_BINARY, by which texts that differ are two values", "collate it in a query"
            yield Fault(policy.where, f"columns.{place} ({column.name})", f"type {found.simpleString()}", expected, advice)
        elif column.name in in_order and kind not in ORDERED:
            found_type = f"{column.name} of type {found.simpleString()}"
            advice = "cast it in a query, or use distance equal or hierarchical"
            yield Fault(policy.where, f"privacy.{in_order[column.name]}.distance", f"ordered, on {found_type}", "numbers or dates", advice)
        elif kind is not None and column.role == "quasi-identifier":
            yield from _kind_faults(policy.where, place, column, kind, found)


def _joins_texts(found: T.DataType) -> bool:
    """Whether a collation (Spark 4) may take two texts for one value."""
    return getattr(found, "collation", "UTF8_BINARY") != "UTF8_BINARY"


def _kind_faults(where: str, place: int, column: Column, kind: str, found: T.DataType) -> Iterator[Fault]:
    key = f"columns.{place} ({column.name})"
    target = DECLARED[column.type] if column.type else kind
    if target not in (kind, "text") and kind != "text" and (kind, target) not in {("timestamp", "date"), ("integer", "decimal")}:
        yield Fault(
            where,
            f"{key}.type",
            f"{column.type} of a column of type {found.simpleString()}",
            "its own type",
            "cast it in a query",
        )
        return
    tree = column.hierarchy
    if tree is None and target not in ORDERED:
        expected = "a hierarchy: numbers and dates alone need none"
        advice = "the least is hierarchy: flat; of text that holds numbers or dates, say its type"
        yield Fault(where, f"{key}.hierarchy", f"nothing, on type {found.simpleString()}", expected, advice)
    if isinstance(tree, DateHierarchy) and target not in {"text", "date", "timestamp"}:
        yield Fault(
            where,
            f"{key}.hierarchy",
            f"date, on type {found.simpleString()}",
            "a date or timestamp",
            "set its type or cast it in a query",
        )
    if isinstance(tree, IntervalHierarchy) and target not in {"text", "integer", "decimal", "date"}:
        yield Fault(
            where, f"{key}.hierarchy", f"intervals, on type {found.simpleString()}", "a number or a date", "use a date hierarchy"
        )
