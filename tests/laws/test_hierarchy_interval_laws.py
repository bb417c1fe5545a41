"""Laws of interval labels: they parse back, hold their values, and cost what they print (METHODS 2.1)."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from anon_spark.domain.bind import bind
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Column, IntervalHierarchy
from anon_spark.domain.values import Kind, parse

TEXTS: dict[Kind, st.SearchStrategy[str]] = {
    "integer": st.integers(-60, 60).map(str),
    "decimal": st.decimals(-20, 20, places=2).map(str)
    | st.sampled_from(["1.0E12", "-0.0", "0.05", "0.15", "4.9E-324", "1.0E300"]),
    "date": st.dates(date(1890, 1, 1), date(1990, 1, 1)).map(date.isoformat) | st.sampled_from(["0001-01-01", "9999-12-31"]),
}


@st.composite
def bound(draw: st.DrawFn) -> tuple[Kind, Hierarchy]:
    kind = draw(st.sampled_from(list(TEXTS)))
    grid = [Fraction(draw(st.integers(1, 9)), 20 if kind == "decimal" else 1)]
    for factor in draw(st.lists(st.integers(1, 4), max_size=3)):
        grid.append(grid[-1] * factor)
    ends: list[Fraction | str | None] = [Fraction(-21), Fraction(17)]
    if kind == "date":
        ends = ["1900-05-05", "1980-05-05"]
    lower, upper = (draw(st.sampled_from([None, end])) for end in ends)
    spec = IntervalHierarchy(widths=tuple(grid), lower=lower, upper=upper)
    texts = draw(st.lists(TEXTS[kind], unique=True, min_size=1, max_size=12))
    column = Column(name="x", role="quasi-identifier", hierarchy=spec)
    return kind, bind(column, kind, dict.fromkeys(texts, 1), where="job.yaml")


def number(kind: Kind, text: str) -> Decimal:
    value = parse(kind, text)
    assert value is not None and not isinstance(value, str)
    return Decimal(value)


def ends_of(kind: Kind, label: str) -> tuple[Decimal | None, Decimal | None, bool]:
    """Lowest number, highest number (None: open), and whether the highest belongs to the node."""
    if label.startswith("< "):
        return None, number(kind, label[2:]), False
    if label.startswith(">= "):
        return number(kind, label[3:]), None, True
    low, _, high = label.strip("[)]").partition(", ")
    return number(kind, low), number(kind, high or low), not label.endswith(")")


@settings(max_examples=300)
@given(bound())
def test_labels_hold_their_values_and_cost_their_clipped_span(case: tuple[Kind, Hierarchy]) -> None:
    kind, hierarchy = case
    values = [number(kind, leaf) for leaf in hierarchy.leaves if leaf is not None]
    smallest, largest = min(values), max(values)
    for level in range(1, hierarchy.levels - 1):
        cost = hierarchy.ncp[level]
        for code, value in enumerate(values):
            label = hierarchy.labels[level][hierarchy.nodes[level][code]]
            assert label is not None and "E" not in label
            low, high, closed = ends_of(kind, label)
            assert (low is None or low <= value) and (high is None or value < high or (closed and value == high))
            if high is not None and label.startswith("< ") and kind != "decimal":
                high -= 1
            low, high = (smallest if low is None else low), (largest if high is None else high)
            span = Fraction(min(high, largest)) - Fraction(max(low, smallest))
            whole = Fraction(largest) - Fraction(smallest)
            assert Fraction(cost.numerators[code], cost.denominator) == (span / whole if whole else 0)
