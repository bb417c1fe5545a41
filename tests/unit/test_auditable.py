"""Intervals that the audit could not place exactly are refused before anything is decided."""

from __future__ import annotations

from fractions import Fraction

import pytest

from anon_spark.domain.policy import Column, IntervalHierarchy
from anon_spark.job.auditable import too_fine_or_large, too_large


def column(*widths: object, **bounds: object) -> Column:
    spec = IntervalHierarchy(widths=tuple(Fraction(width) for width in widths), **bounds)  # type: ignore[arg-type]
    return Column(name="x", role="quasi-identifier", hierarchy=spec)


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        (column(5, 10), []),
        (column(Fraction(1, 10**10)), []),
        (column(10**19 - 1), []),
        (column(10, 10**30), ["intervals"]),
        (column("0.00000000001"), ["intervals"]),
        (column(5, origin=Fraction(10**30)), ["origin"]),
        (column(5, lower=Fraction(-(10**19)), upper=Fraction(1, 10**11)), ["lower", "upper"]),
        (column(5, origin="2020-01-01"), []),
        (Column(name="x", role="quasi-identifier"), []),
    ],
)
def test_widths_and_bounds(asked: Column, keys: list[str]) -> None:
    found = too_fine_or_large([asked], "job.yaml")
    assert [fault.key for fault in found] == [f"column x: hierarchy.{key}" for key in keys]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["1", "9999999999999999999", "-5", "x", None, "NaN", "1e18"], None),
        (["10000000000000000000", "5"], "1 distinct value of 10^19 or more in 3 rows"),
        (["1.0E30", "-1.0E25", "5"], "2 distinct values of 10^19 or more in 6 rows"),
    ],
)
def test_values(texts: list, told: str | None) -> None:
    found = too_large([column(5)], [dict.fromkeys(texts, 3)], "job.yaml")
    assert [fault.found for fault in found] == ([told] if told else [])
    assert too_large([Column(name="x", role="quasi-identifier")], [dict.fromkeys(texts, 3)], "job.yaml") == []
