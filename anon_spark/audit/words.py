"""How the audit writes figures and published values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from anon_spark.domain.policy import FileHierarchy


def figure(value: object) -> str:
    """A parameter as it was written: 1/2 is 0.5, 1/3 stays 1/3."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {figure(one)}" for key, one in value.items())
    if isinstance(value, FileHierarchy):
        return value.path
    if not isinstance(value, Fraction):
        return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return str(value)
    places = next(p for p in range(value.denominator.bit_length() + 1) if 10**p % value.denominator == 0)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{text}" if value < 0 else text


def printed(value: str | None) -> str:
    """A published value in a sentence; null, '' and the word 'null' stay three."""
    if value is None:
        return "null"
    plain = (
        value != "" and value.casefold() != "null" and value == value.strip() and value.isprintable() and value[0] not in "'\""
    )
    return value if plain else repr(value)


def class_name(names: Sequence[str], values: Iterable[str | None]) -> str:
    """A class by its published values."""
    return ", ".join(f"{name} = {printed(value)}" for name, value in zip(names, values, strict=True))
