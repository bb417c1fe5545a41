"""Values of the product -> plain JSON values: the one place where exact numbers become floats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from numbers import Integral, Real

SIGNIFICANT = 12
"""Significant digits of a float in a report: finer than any reader's tolerance, free of binary dust (0.30000000000000004)."""


def number(value: object) -> int | float | None:
    """A number fit for JSON: integers stay, all else is a float of 12 significant digits; NaN and infinities are None."""
    if isinstance(value, Integral):
        return int(value)
    # a configuration writes what no float reads back exactly as text: "1/3"
    as_float = float(value) if isinstance(value, Real) else float(Fraction(value) if isinstance(value, str) else str(value))
    return float(f"{as_float:.{SIGNIFICANT}g}") if math.isfinite(as_float) else None


def plain(value: object) -> object:
    """Any value of a report as JSON holds it: dataclasses and mappings as objects in their own order, sequences as lists."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(str(entry) for entry in value)
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "dtype") and value.dtype.kind == "b":
        return bool(value)
    if isinstance(value, Real) or type(value).__name__ == "Decimal":
        return number(value)
    return str(value)
