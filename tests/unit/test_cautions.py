"""What check warns of before a run."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest
from hierarchies import bind, flat, model
from pyspark.sql import types as T

from anon_spark.domain.bind import bind as bind_column
from anon_spark.domain.policy import Column, DateHierarchy, FlatHierarchy, IntervalHierarchy, MaskHierarchy, ModelSpec, Policy
from anon_spark.domain.recoding import FullDomainRecoding, LatticeTrace, LocalSummary
from anon_spark.domain.unmapped import UnmappedError
from anon_spark.job.cautions import (
    asks_nothing,
    changes_nothing,
    flat_to_root,
    nothing_left,
    numbers_as_text,
    uneven_masks,
    unprotected,
)


def masked(values: list[str]) -> tuple[str, ...]:
    column = Column(name="zip", role="quasi-identifier", hierarchy=MaskHierarchy())
    tree = bind_column(column, "text", {value: values.count(value) for value in values}, where="test")
    problem, _ = bind([(value,) for value in values], [tree], [model("k-anonymity", k=2)])
    return uneven_masks(problem, Policy(job="lattice", columns=(column,)))


def test_masks_of_values_that_differ_in_length() -> None:
    """12345 -> 12345*** at level 3 of 8: whoever chose level 3 hid nothing."""
    assert masked(["12345", "12346", "54321"]) == ()
    (told,) = masked(["12345", "12345", "54321", "SW1A 1AA"])
    assert told.startswith("zip: values of 5 to 8 characters.") and "padded with 3 characters" in told and "3 rows are shorter" in told


def test_a_text_that_is_no_date_is_told_as_such() -> None:
    """There is no list to which 31.12.1975 could be added."""
    column = Column(name="birth", role="quasi-identifier", type="date", hierarchy=DateHierarchy(units=("month", "year")))
    with pytest.raises(UnmappedError, match=r"expected every value to be one of kind date \(yyyy-MM-dd\); mend them") as raised:
        bind_column(column, "text", {"1975-12-31": 2, "31.12.1975": 1}, where="test")
    assert "add them to the hierarchy" not in str(raised.value) and "31.12" not in str(raised.value)


def test_numbers_that_are_declared_as_text_are_warned_of_whatever_their_role() -> None:
    """02169 was read as 2169, and no role makes its zero come back; what is not published is no matter."""
    kinds = {"zip": T.IntegerType(), "plan": T.DecimalType(5, 0), "visit": T.LongType(), "id": T.LongType(), "name": T.StringType()}
    schema = T.StructType([T.StructField(name, kind) for name, kind in kinds.items()])
    roles = {"zip": "quasi-identifier", "plan": "sensitive", "visit": "insensitive", "id": "identifier", "name": "label"}
    policy = Policy(job="lattice", columns=tuple(Column(name=name, role=role, type="string") for name, role in roles.items()))
    told = numbers_as_text(schema, policy)
    assert [text.partition(":")[0] for text in told] == ["zip", "plan", "visit"]
    assert "02169 is 2169, 21**" in told[0] and "the release has 2169 for 02169" in told[1]
    assert numbers_as_text(schema, Policy(job="lattice", columns=(Column(name="visit", role="insensitive"),))) == ()


@pytest.mark.parametrize(
    ("lost", "local", "told"),
    [
        ((1, 1), True, "Nothing is left of any quasi-identifier: every row prints *, or what all values"),
        ((1, 1), False, "Nothing is left of any quasi-identifier: every row prints *, or what all values"),
        ((Fraction(1, 2), 1), True, "b: nothing is left, every row prints *, or what all values of the table have in common. Ask for less"),
        ((Fraction(1, 2), 1), False, None),
        ((Fraction(1, 2), 0), True, None),
    ],
)
def test_a_release_that_says_nothing_is_warned_of(lost: tuple, local: bool, told: str | None) -> None:
    """A lattice shows the level of each column, a local recoding none."""
    policy = Policy(job="lattice", columns=tuple(Column(name=name, role="quasi-identifier") for name in "ab"))
    figures = {"suppressed_rows": 0, "classes": 1, "smallest": 5, "largest": 5, "losses": {}, "by_column": tuple(map(Fraction, lost))}
    trace = LatticeTrace(nodes=1, checked=1, marked=0, pruned=0, subset_checks=0, minimal=None)
    found = nothing_left(policy, LocalSummary(**figures) if local else FullDomainRecoding(**figures, levels=(1, 1), trace=trace))
    assert [text[: len(told or "")] for text in found] == ([told] if told else [])


@pytest.mark.parametrize(
    ("asked", "told"), [([("k-anonymity", {"k": 1})], 1), ([("k-anonymity", {"k": 2})], 0),
                        ([("k-anonymity", {"k": 1}), ("l-diversity", {"l": 2, "kind": "distinct"})], 0)],
)  # fmt: skip
def test_a_model_that_asks_for_nothing_is_warned_of(asked: list[tuple[str, dict]], told: int) -> None:
    found = asks_nothing(Policy(job="lattice", columns=(), privacy=tuple(ModelSpec(model=name, parameters=given) for name, given in asked)))
    assert len(found) == told and all(text.startswith("k = 1 asks for nothing") for text in found)


def test_bounds_of_intervals_without_intervals_are_warned_of() -> None:
    none, flat = (Column(name=name, role="quasi-identifier", hierarchy=tree) for name, tree in (("a", None), ("b", FlatHierarchy())))
    intervals = Column(name="c", role="quasi-identifier", hierarchy=IntervalHierarchy(widths=(Fraction(5),)))
    for columns, bounds, told in (((none, flat), "intervals", 1), ((none, intervals), "intervals", 0), ((none,), "tight", 0)):
        found = changes_nothing(Policy(job="top-down", columns=columns, bounds=bounds))
        assert len(found) == told and all(text.startswith("bounds: intervals changes nothing") for text in found)


def test_a_sensitive_column_that_no_model_reads_is_warned_of() -> None:
    columns = tuple(Column(name=name, role="sensitive") for name in ("ill", "wage"))
    k, alpha = ModelSpec(model="k-anonymity", parameters={"k": 2}), ModelSpec(model="alpha-deassociation", column="ill", parameters={})
    assert unprotected(Policy(job="lattice", columns=columns, privacy=(k,)))[0].startswith("ill, wage: sensitive, and no model reads them")
    (told,) = unprotected(Policy(job="lattice", columns=columns, privacy=(k, alpha)))
    assert told.startswith("wage: sensitive, and no model reads it") and "column: wage, alpha: 0.5" in told
    assert unprotected(Policy(job="lattice", columns=columns[:1], privacy=(k, alpha))) == ()


@pytest.mark.parametrize(("rare", "limit", "told"), [(2, 0, 1), (2, Fraction(1, 10), 1), (2, Fraction(1, 5), 0), (0, 0, 0)])
def test_a_flat_hierarchy_that_can_only_print_the_root_is_warned_of(rare: int, limit: Fraction, told: int) -> None:
    rows = [("a", "x")] * (10 - rare) + [(f"r{i}", "x") for i in range(rare)]
    problem, _ = bind(rows, [flat("q", sorted({row[0] for row in rows})), flat("b", ["x"])], [model("k-anonymity", k=2)])
    policy = Policy(job="lattice", columns=tuple(Column(name=n, role="quasi-identifier", hierarchy=FlatHierarchy()) for n in "qb"))
    found = flat_to_root(dataclasses.replace(problem, limit=Fraction(limit)), policy)
    assert len(found) == told and all(text.startswith("q: hierarchy flat can only print * here: 2 rows have") for text in found)
    assert flat_to_root(problem, dataclasses.replace(policy, job="top-down")) == ()
