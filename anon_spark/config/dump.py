"""A policy -> the plain mapping that would give it, for the report and for keeping: JSON's kinds only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction

from anon_spark.config.scalars import decimal
from anon_spark.domain.policy import (
    Column,
    DateHierarchy,
    FileHierarchy,
    FlatHierarchy,
    HierarchySpec,
    IntervalHierarchy,
    MaskHierarchy,
    ModelSpec,
    Policy,
    Settings,
    Sink,
    Source,
    Suppression,
)

_PARTS = (Policy, Source, Sink, Column, HierarchySpec, ModelSpec, Suppression, Settings)


def is_policy_part(value: object) -> bool:
    """Whether ``value`` is one of the frozen values that ``dumped`` takes."""
    return isinstance(value, _PARTS)


def dumped(part: object) -> object:
    """One frozen part of a policy as plain values, nothing masked; parsing gives it back."""
    if isinstance(part, Policy):
        return _policy(part)
    if isinstance(part, HierarchySpec):
        return _hierarchy(part)
    if isinstance(part, Column):
        keys = {name: _value(value) for name, value in _given(part).items()}
        return {"name": part.name, "role": part.role, **keys}
    if isinstance(part, ModelSpec):
        given = {"column": part.column, **part.parameters}
        return {"model": part.model, **{name: _value(value) for name, value in given.items() if value is not None}}
    if isinstance(part, Suppression):
        return {"limit": _value(part.limit), "show": part.show}
    if isinstance(part, (Source, Sink, Settings)):
        return {field.name: _value(value) for field in fields(part) if (value := getattr(part, field.name)) is not None}
    raise TypeError(f"no part of a policy: {type(part).__name__}")


def _policy(policy: Policy) -> dict[str, object]:
    made = {field.name: _value(getattr(policy, field.name)) for field in fields(policy) if field.name != "where"}
    return {**made, "report": None if policy.report is None else {"path": policy.report}}


def _given(column: Column) -> dict[str, object]:
    """What differs from the defaults, beside name and role: a key may be refused for the role that it has no meaning for."""
    found = {field.name: (getattr(column, field.name), field.default) for field in fields(column)}
    return {name: value for name, (value, default) in found.items() if name not in ("name", "role") and value != default}


def _hierarchy(spec: HierarchySpec) -> object:
    common = {name: value for name, value in (("others", spec.others), ("inner", spec.inner)) if value != "fail"}
    if isinstance(spec, FlatHierarchy):
        return "flat"
    if isinstance(spec, FileHierarchy):
        return {"path": spec.path, "sep": spec.sep, **common}
    if isinstance(spec, DateHierarchy):
        return {"date": list(spec.units), **common}
    if isinstance(spec, MaskHierarchy):
        steps = {} if spec.steps is None else {"steps": list(spec.steps)}
        return {"mask": spec.side, "character": spec.character, **steps, **common}
    if isinstance(spec, IntervalHierarchy):
        points = {name: getattr(spec, name) for name in ("origin", "lower", "upper")}
        given = {name: _value(value) for name, value in points.items() if value is not None}
        return {"intervals": [_value(width) for width in spec.widths], **given, **common}
    raise TypeError(f"no kind of hierarchy: {type(spec).__name__}")


def _value(value: object) -> object:
    if isinstance(value, Fraction):
        return number(value)
    if is_policy_part(value):
        return dumped(value)
    if isinstance(value, Mapping):
        return {name: _value(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(inner) for inner in value]
    return value


def number(value: Fraction) -> int | float | str:
    """A fraction as the JSON number that reads back as exactly it, else as text: its decimal, or "1/3"."""
    if value.denominator == 1:
        return int(value)
    try:
        near = float(value)
    except OverflowError:
        return decimal(value)
    return near if Fraction(repr(near)) == value else decimal(value)
