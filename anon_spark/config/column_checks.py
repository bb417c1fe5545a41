"""Checks across the columns, and of each column's keys against its role, its type and the job."""

from __future__ import annotations

from anon_spark.config.draft import ColumnDraft, Draft
from anon_spark.config.keys import ColumnKeys
from anon_spark.config.notes import Key, Notes
from anon_spark.domain.policy import (
    DateHierarchy,
    FlatHierarchy,
    HierarchySpec,
    IntervalHierarchy,
    MaskHierarchy,
)

OF_QUASI_IDENTIFIERS = ("type", "hierarchy", "weight", "min_level", "max_level", "trim")
DATES = ("date", "timestamp")


def check_columns(draft: Draft, notes: Notes, *, hierarchies_wanted: bool = True) -> None:
    """Note every fault of the columns that spans keys, and hierarchies that the job wants."""
    _names(draft, notes)
    _roles(draft, notes)
    for column in draft.columns:
        if column.piece.part and column.role is not None:
            _meaning(column, column.piece.part, notes)
            _levels(column, column.piece.part, draft, notes)
            _hierarchy(column, column.piece.part, notes)
    if hierarchies_wanted and draft.job is not None:
        _required(draft, draft.job, notes)


def _names(draft: Draft, notes: Notes) -> None:
    """Names that are equal, or equal but for capitals: Spark compares without case unless told otherwise."""
    seen: dict[str, tuple[int, str]] = {}
    for number, column in enumerate(draft.columns):
        if (name := column.name) is None:
            continue
        first = seen.setdefault(name.lower(), (number, name))
        if first[0] != number:
            how = "" if first[1] == name else f", {first[1]!r} but for capitals"
            notes.add(("columns", number, "name"), f"{name!r}, also columns.{first[0]}{how}", "every column once")


def _roles(draft: Draft, notes: Notes) -> None:
    for role in ("person", "label"):
        for column in draft.of_role(role)[1:]:
            notes.add((*column.piece.key, "role"), f"a second {role} column", "at most one")
    if draft.roles_known and not draft.of_role("quasi-identifier"):
        notes.add(("columns",), "no quasi-identifier", "at least one column with role quasi-identifier")


def _meaning(column: ColumnDraft, keys: ColumnKeys, notes: Notes) -> None:
    """Keys that the column's role has no meaning for."""
    if keys.role != "quasi-identifier":
        for name in OF_QUASI_IDENTIFIERS:
            # that a column is text is a word to the reader, whatever becomes of it
            if column.piece.gives(name) and not (name == "type" and keys.type == "string"):
                notes.add((*column.piece.key, name), f"{name} on role {keys.role}", "it on quasi-identifiers alone")
    if keys.role != "sensitive" and column.piece.gives("nulls"):
        notes.add((*column.piece.key, "nulls"), f"nulls on role {keys.role}", "it on sensitive columns alone")


def _levels(column: ColumnDraft, keys: ColumnKeys, draft: Draft, notes: Notes) -> None:
    if keys.role != "quasi-identifier":
        return
    given = [name for name in ("min_level", "max_level") if column.piece.gives(name)]
    job = draft.job or "lattice"
    if job != "lattice":
        for name in given:
            notes.add((*column.piece.key, name), f"{name} in job {job}", "it in job lattice alone")
        return
    if column.piece.sound("min_level", "max_level") and keys.max_level is not None and keys.min_level > keys.max_level:
        notes.add((*column.piece.key, "min_level"), f"{keys.min_level}", f"at most max_level, {keys.max_level}")
    height = _height(column.hierarchy)
    for name in given:
        if height is not None and getattr(keys, name) > height:
            notes.add((*column.piece.key, name), str(getattr(keys, name)), f"at most {height}, the level of the hierarchy's root")


def _height(hierarchy: HierarchySpec | None) -> int | None:
    """The root's level, where the configuration alone says it."""
    if isinstance(hierarchy, FlatHierarchy):
        return 1
    if isinstance(hierarchy, IntervalHierarchy):
        return len(hierarchy.widths) + 1
    if isinstance(hierarchy, DateHierarchy):
        return len(hierarchy.units) + 1
    if isinstance(hierarchy, MaskHierarchy) and hierarchy.steps is not None:
        return len(hierarchy.steps) + 1
    return None


def _hierarchy(column: ColumnDraft, keys: ColumnKeys, notes: Notes) -> None:
    """A hierarchy that the declared type has no meaning for; an undeclared type is the table's to say."""
    hierarchy, type_, key = column.hierarchy, keys.type, (*column.piece.key, "hierarchy")
    if type_ is None or hierarchy is None:
        return
    if isinstance(hierarchy, DateHierarchy):
        _units(hierarchy, type_, key, notes)
    elif isinstance(hierarchy, IntervalHierarchy):
        _points(hierarchy, type_, key, notes)
    elif isinstance(hierarchy, MaskHierarchy) and type_ in ("double", "boolean", *DATES):
        notes.add((*key, "mask"), f"mask on type {type_}", "it on text, integers and decimals")


def _units(hierarchy: DateHierarchy, type_: str, key: Key, notes: Notes) -> None:
    if type_ not in DATES:
        notes.add((*key, "date"), f"date units on type {type_}", "them on dates and timestamps", "write type: date")
    for number, unit in enumerate(hierarchy.units):
        if type_ == "date" and unit in ("hour", "day"):
            notes.add((*key, "date", number), f"{unit} on type date", "a unit coarser than a day")


def _points(hierarchy: IntervalHierarchy, type_: str, key: Key, notes: Notes) -> None:
    if type_ in ("string", "boolean"):
        expected = "them on numbers, dates and timestamps"
        notes.add((*key, "intervals"), f"intervals on type {type_}", expected, "write type: integer")
        return
    for name in ("origin", "lower", "upper"):
        value = getattr(hierarchy, name)
        if value is not None and isinstance(value, str) != (type_ in DATES):
            kind = "an ISO date" if type_ in DATES else "a number"
            notes.add((*key, name), "a date" if isinstance(value, str) else "a number", f"{kind}, as type {type_} wants")
    for number, width in enumerate(hierarchy.widths):
        if type_ == "date" and width.denominator != 1:
            notes.add((*key, "intervals", number), "a part of a day", "whole days on type date")


def _required(draft: Draft, job: str, notes: Notes) -> None:
    """Hierarchies that are missing; whether a column of no declared type holds numbers or dates is the table's to say."""
    expected = "a hierarchy: job lattice wants one of every quasi-identifier"
    for column in draft.of_role("quasi-identifier"):
        key = (*column.piece.key, "hierarchy")
        keys = column.piece.part
        if column.piece.gives("hierarchy") or not column.piece.sound("hierarchy") or keys is None:
            continue
        if job == "lattice":
            notes.add(key, "nothing", expected, "the least is hierarchy: flat")
        elif keys.type in ("string", "boolean") and column.piece.sound("type"):
            found = f"nothing, on type {keys.type}"
            notes.add(key, found, "a hierarchy: numbers and dates alone need none", "the least is hierarchy: flat")
