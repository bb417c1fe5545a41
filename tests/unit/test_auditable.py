"""Values in intervals that the audit could not place exactly are refused before anything is decided."""

from __future__ import annotations

from fractions import Fraction

import pytest

from anon_spark.domain.policy import Column, IntervalHierarchy
from anon_spark.job.auditable import too_large


def column(width: int) -> Column:
    spec = IntervalHierarchy(widths=(Fraction(width),))
    return Column(name="x", role="quasi-identifier", hierarchy=spec)


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
