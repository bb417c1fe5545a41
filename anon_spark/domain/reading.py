"""The raw texts of a quasi-identifier's values, read as what its type and hierarchy say they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from anon_spark.domain.intervals import holds_dates, is_whole
from anon_spark.domain.policy import Column, DateHierarchy, FileHierarchy, FlatHierarchy, IntervalHierarchy, MaskHierarchy
from anon_spark.domain.values import Kind, Value, parse, parse_all, print_value

Spec = FileHierarchy | IntervalHierarchy | MaskHierarchy | DateHierarchy | FlatHierarchy


@dataclass(eq=False)
class Reading:
    """Raw texts (null left out) as values.

    value_of: text -> value; names: text -> the text less the blanks that ``trim`` takes off. Texts with no value of the kind are
    not in ``value_of`` but in ``outside`` (text -> name), NaN and infinities in ``specials`` (text -> which).
    """

    kind: Kind
    value_of: dict[str, Value]
    names: Mapping[str, str]
    outside: dict[str, str] = field(default_factory=dict)
    specials: dict[str, str] = field(default_factory=dict)

    def printed(self) -> dict[Value, str]:
        """Each value as it is published untouched; of several ways to write a number the shortest."""
        shown: dict[Value, str] = {}
        for text, value in self.value_of.items():
            here = print_value(self.kind, value, text)
            known = shown.setdefault(value, here)
            if known != here:
                shown[value] = min(known, here, key=lambda way: (len(way), way))
        return shown


def read(column: Column, kind: Kind, spec: Spec, texts: list[str]) -> Reading:
    """The texts of a column of Spark kind ``kind`` under ``spec``."""
    kind = read_as(column, kind, spec, texts)
    names = {text: text.strip(" ") for text in texts} if column.trim else dict(zip(texts, texts, strict=True))
    if kind == "text":
        return Reading(kind, dict(names), names)
    found = parse_all(kind, texts)
    value_of: dict[str, Value] = {}
    value_of.update((text, value) for text, value in found.items() if value is not None and not isinstance(value, str))
    if len(value_of) == len(texts):
        return Reading(kind, value_of, names)
    specials = {text: value for text, value in found.items() if isinstance(value, str)}
    return Reading(kind, value_of, names, {text: names[text] for text, value in found.items() if value is None}, specials)


def read_as(column: Column, kind: Kind, spec: Spec, texts: list[str]) -> Kind:
    """The kind by which values are read: a text column may say by its type, or its hierarchy may imply, that it holds others.

    Implied: integers where all numbers are written as such and widths and bounds are whole, else decimals; dates where no value
    has a time of day, else timestamps. Values that are neither don't count.
    """
    if column.type == "string":
        kind = "text"
    elif kind == "text" and column.type is not None:
        kind = cast(Kind, "decimal" if column.type == "double" else column.type)
    if kind != "text" or not isinstance(spec, IntervalHierarchy | DateHierarchy):
        return kind
    if isinstance(spec, DateHierarchy) or holds_dates(spec):
        return "timestamp" if any(_only(text, "timestamp", "date") for text in texts) else "date"
    return "integer" if is_whole(spec) and not any(_only(text, "decimal", "integer") for text in texts) else "decimal"


def _only(text: str, kind: Kind, narrower: Kind) -> bool:
    return parse(narrower, text) is None and parse(kind, text) is not None
