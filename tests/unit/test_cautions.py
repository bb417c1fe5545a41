"""What check warns of before a run."""

from __future__ import annotations

import pytest
from hierarchies import bind, model

from anon_spark.domain.bind import bind as bind_column
from anon_spark.domain.policy import Column, DateHierarchy, MaskHierarchy, Policy
from anon_spark.domain.unmapped import UnmappedError
from anon_spark.job.cautions import uneven_masks


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
