"""How models write numbers in a refusal: decimals for reading, never for deciding."""

from __future__ import annotations

from fractions import Fraction

from anon_spark.domain.counting import counted


def decimal(value: Fraction) -> str:
    """A short decimal: 1/5 is 0.2."""
    return f"{float(value):.12g}"


def share(value: Fraction, above: Fraction = Fraction(0)) -> str:
    """Three decimals, more where three would not show that the value lies above ``above``."""
    digits = 3
    while round(value, digits) <= above < value and digits < 15:
        digits += 1
    return f"{float(value):.{digits}f}"


def ceiling(value: Fraction, digits: int = 4) -> str:
    """The least decimal of so many digits that is not below the value: 1/3 is 0.3334."""
    scale = 10**digits
    return decimal(Fraction(-(-value.numerator * scale // value.denominator), scale))


def named(value: str | None) -> str:
    """A sensitive value's name in a sentence; null has none of its own."""
    return "null" if value is None else value


def left_over(may_suppress: int) -> str:
    """What a share was taken of, where rows may be suppressed."""
    return f" after suppressing {counted(may_suppress, 'row')}" if may_suppress else ""
