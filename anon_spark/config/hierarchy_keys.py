"""The hierarchy of a column: ``flat``, or a mapping with exactly one kind (path, intervals, mask, date) and its options."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from anon_spark.config.keys import Keys
from anon_spark.config.notes import Key, Notes, did_you_mean, nearest, show
from anon_spark.config.pieces import read_piece
from anon_spark.config.scalars import (
    Count,
    Positive,
    Refused,
    Text,
    checked,
    choice,
    decimal,
    instant,
    one_character,
    point,
    separator,
)
from anon_spark.domain.intervals import is_exact
from anon_spark.domain.policy import (
    DateHierarchy,
    FileHierarchy,
    FlatHierarchy,
    HierarchySpec,
    IntervalHierarchy,
    MaskHierarchy,
)

Others = Literal["fail", "root"]
Inner = Literal["fail", "accept"]
Side = Literal["left", "right"]
UNITS = ("hour", "day", "month", "quarter", "half", "year", "decade", "century")
"""From fine to coarse; each unit holds whole units of every one before it."""
Point = Annotated[Fraction | str | None, checked(point)]


def _filled(values: list[Any]) -> list[Any]:
    if not values:
        raise Refused("an empty list", "at least one")
    return values


def _nested(widths: list[Fraction]) -> list[Fraction]:
    for narrow, wide in pairwise(_filled(widths)):
        if wide <= narrow:
            raise Refused(f"{decimal(wide)} after {decimal(narrow)}", "widths that grow")
        if wide % narrow:
            raise Refused(
                f"{decimal(wide)} after {decimal(narrow)}",
                "each width a multiple of the one before, so that each level coarsens the one below",
            )
    return widths


def _growing(steps: list[int]) -> list[int]:
    for few, more in pairwise(_filled(steps)):
        if more <= few:
            raise Refused(f"{more} after {few}", "numbers of masked characters that grow")
    return steps


def _coarser(units: list[str]) -> list[str]:
    for fine, coarse in pairwise(_filled(units)):
        if UNITS.index(coarse) <= UNITS.index(fine):
            raise Refused(f"{coarse} after {fine}", "units from fine to coarse: " + ", ".join(UNITS))
    return units


class HierarchyKeys(Keys):
    """What every kind takes."""

    others: Annotated[Others, choice(get_args(Others))] = "fail"
    inner: Annotated[Inner, choice(get_args(Inner))] = "fail"


class FileKeys(HierarchyKeys):
    """``{path, sep}``."""

    path: Text = Field(description="a hierarchy file")
    sep: Annotated[str, checked(separator)] = ";"


class IntervalKeys(HierarchyKeys):
    """``{intervals: [widths], origin, lower, upper}``."""

    intervals: Annotated[list[Positive], AfterValidator(_nested)] = Field(description="a list of widths")
    origin: Point = None
    lower: Point = None
    upper: Point = None


class MaskKeys(HierarchyKeys):
    """``{mask: left | right, character, steps}``."""

    mask: Annotated[Side, choice(get_args(Side))] = Field(description="left or right")
    character: Annotated[str, checked(one_character)] = "*"
    steps: Annotated[list[Count], AfterValidator(_growing)] | None = None


class DateKeys(HierarchyKeys):
    """``{date: [units]}``."""

    date: Annotated[list[Annotated[str, choice(UNITS)]], AfterValidator(_coarser)] = Field(description="a list of units")


KINDS: Mapping[str, type[HierarchyKeys]] = {"path": FileKeys, "intervals": IntervalKeys, "mask": MaskKeys, "date": DateKeys}


def read_hierarchy(raw: object, key: Key, notes: Notes) -> HierarchySpec | None:
    """The hierarchy at ``key``; None, with its faults noted, where it is faulty."""
    if isinstance(raw, str) and raw == "flat":
        return FlatHierarchy()
    expected = "flat, or a mapping with exactly one of " + ", ".join(KINDS)
    if not isinstance(raw, Mapping):
        notes.add(key, show(raw), expected, _advice(raw))
        return None
    kinds = [kind for kind in KINDS if raw.get(kind) is not None]
    if len(kinds) != 1:
        _unclear(raw, kinds, expected, key, notes)
        return None
    schema = KINDS[kinds[0]]
    piece = read_piece(schema, raw, key, notes, lambda name: _owner(name, kinds[0]))
    if piece.keys is None or piece.bad:
        return None
    keys: Any = piece.keys
    common = {"others": keys.others, "inner": keys.inner}
    if isinstance(keys, FileKeys):
        return FileHierarchy(path=keys.path, sep=keys.sep, **common)
    if isinstance(keys, IntervalKeys):
        return _intervals(keys, key, notes)
    if isinstance(keys, MaskKeys):
        steps = None if keys.steps is None else tuple(keys.steps)
        return MaskHierarchy(side=keys.mask, character=keys.character, steps=steps, **common)
    return DateHierarchy(units=tuple(keys.date), **common)


def _advice(raw: object) -> str:
    if not isinstance(raw, str):
        return ""
    if raw in get_args(Side):
        return f"write {{mask: {raw}}}"
    if raw in UNITS:
        return f"write {{date: [{raw}]}}"
    if "/" in raw or "." in raw:
        return f"write {{path: {raw}}}"
    return did_you_mean(raw, ["flat"])


def _unclear(raw: Mapping[str, object], kinds: list[str], expected: str, key: Key, notes: Notes) -> None:
    """Note that no kind, or more than one, is given."""
    if kinds:
        notes.add(key, " and ".join(kinds), expected)
        return
    options = {name for schema in KINDS.values() for name in schema.names()}
    wrong = [name for name in raw if name not in options]
    meant = next((found for name in wrong if (found := nearest(name, KINDS))), None)
    notes.add(key, "no kind of hierarchy", expected, f"did you mean {meant!r}?" if meant else "")


def _owner(name: str, kind: str) -> str:
    owners = [other for other, schema in KINDS.items() if other != kind and name in schema.names()]
    return f"{name} belongs to a hierarchy by {owners[0]}, this one is by {kind}" if owners else ""


def _intervals(keys: IntervalKeys, key: Key, notes: Notes) -> IntervalHierarchy | None:
    points = [(name, value) for name in ("origin", "lower", "upper") if (value := getattr(keys, name)) is not None]
    given: list[tuple[Key, Fraction | str]] = [(("intervals", number), width) for number, width in enumerate(keys.intervals)]
    beyond = [(part, value) for part, value in (*given, *(((name,), value) for name, value in points)) if _is_beyond(value)]
    for part, value in beyond:
        expected = "a number below 10^19, with at most 10 decimal places"
        notes.add((*key, *part), show(_shown(value)), expected, "the audit reads no others exactly")
    if beyond:
        return None
    if len({isinstance(value, str) for _, value in points}) > 1:
        notes.add(key, "numbers beside dates", "origin, lower and upper all numbers or all dates")
        return None
    if keys.lower is not None and keys.upper is not None and not _before(keys.lower, keys.upper):
        notes.add((*key, "upper"), f"{_shown(keys.upper)} beside lower {_shown(keys.lower)}", "lower < upper")
        return None
    return IntervalHierarchy(
        widths=tuple(keys.intervals),
        origin=keys.origin,
        lower=keys.lower,
        upper=keys.upper,
        others=keys.others,
        inner=keys.inner,
    )


def _is_beyond(value: Fraction | str) -> bool:
    return isinstance(value, Fraction) and not is_exact(value)


def _before(low: Fraction | str, high: Fraction | str) -> bool:
    if isinstance(low, str) or isinstance(high, str):
        first, second = instant(str(low)), instant(str(high))
        return first is not None and second is not None and first < second
    return low < high


def _shown(value: Fraction | str) -> str:
    return value if isinstance(value, str) else decimal(value)
