"""What a message says of the input's options where columns are not there and values can't be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from anon_spark import Policy
from anon_spark.domain.bind import bind
from anon_spark.domain.policy import Column, DateHierarchy, FileHierarchy, IntervalHierarchy
from anon_spark.domain.unmapped import UnmappedError
from anon_spark.domain.values import Kind
from anon_spark.job.reading_hints import misread_header, with_reading_hint

CSV: dict[str, Any] = {"format": "csv", "path": "people.csv"}
HEADER = "set header: true where the first line holds the names of the columns"


def policy(source: Mapping[str, Any] | None, *names: str) -> Policy:
    columns = [{"name": name, "role": "quasi-identifier", "hierarchy": "flat"} for name in names]
    return Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 2}], where="job.yaml", **({"input": source} if source else {}))


def hint(source: Mapping[str, Any] | None, column: Column, texts: list[str], kind: Kind = "text", tree: Any = None) -> str:
    """What is said beyond what the error says by itself."""
    with pytest.raises(UnmappedError) as caught:
        bind(column, kind, dict.fromkeys(texts, 1), tree=tree, where="job.yaml")
    first, *others = with_reading_hint(caught.value, column, policy(source, column.name))
    assert others == list(caught.value.faults[1:])
    return first.advice.removeprefix(caught.value.faults[0].advice).removeprefix("; ")


@pytest.mark.parametrize("mark", ["NA", "n/a", "NULL", "null", "-", "", "?", "None", "NaN", " N/A "])
def test_a_mark_of_missing_values_asks_for_null_value_and_is_not_repeated(mark: str) -> None:
    numbers = Column(name="age", role="quasi-identifier", type="integer", hierarchy=IntervalHierarchy(widths=(5,)))  # type: ignore[arg-type]
    if mark != "NaN":
        told = hint(CSV, numbers, ["1", mark, "x"])
        assert told.startswith("1 of them looks like a mark of a missing value") and told.endswith(": name it in input.options.nullValue")
        assert hint({"table": "t"}, numbers, ["1", mark, "x"]).endswith(": make it null in a query")
    listed = Column(name="sex", role="quasi-identifier", hierarchy=FileHierarchy(path="sex.csv"))
    assert hint(CSV, listed, ["f", mark], tree=[["f", "*"]]).endswith("name it in input.options.nullValue")
    told = hint(CSV, listed, ["f", mark, "nil"], tree=[["f", "*"]])
    assert told.startswith("2 of them look like marks")
    assert told.endswith("name one in input.options.nullValue, or make them null in a query")
    assert hint(CSV, listed, ["f", "m"], tree=[["f", "*"]]) == ""


@pytest.mark.parametrize(("kind", "option"), [("date", "dateFormat"), ("timestamp", "timestampFormat")])
def test_a_date_that_cannot_be_read_asks_for_its_pattern(kind: str, option: str) -> None:
    column = Column(name="born", role="quasi-identifier", type=kind, hierarchy=DateHierarchy(units=("year",)))  # type: ignore[arg-type]
    told = hint(CSV, column, ["31.12.1999", "NA"])
    assert f"name it in input.options.{option}, such as dd.MM.yyyy" in told and "nullValue" in told
    assert told.endswith("beside inferSchema: true")
    assert "Format" not in hint(CSV, column, ["1999-12-31", "NA"])
    assert f"in a query (to_{kind})" in hint({"format": "json", "path": "x"}, column, ["31.12.1999"])
    assert f"in a query (to_{kind})" in hint(None, column, ["31.12.1999"])


def test_a_decimal_comma_asks_for_a_point() -> None:
    numbers = Column(name="pay", role="quasi-identifier", hierarchy=IntervalHierarchy(widths=(5000,)))  # type: ignore[arg-type]
    told = hint(CSV, numbers, ["90135,50", "1.234,5", "-7,0", "x", "1,2,3"])
    assert told.startswith("3 of them look like numbers with a decimal comma: turn it into a point in a query")
    assert "comma" not in hint(CSV, numbers, ["1;5", "12:30", "-"])
    listed = Column(name="size", role="quasi-identifier", hierarchy=FileHierarchy(path="sizes.csv"))
    assert hint(CSV, listed, ["1,5", "2"], tree=[["2", "*"]]) == ""


@pytest.mark.parametrize("sep", [";", "\t", "|"])
def test_a_csv_that_is_read_as_one_column_asks_for_its_separator(sep: str) -> None:
    shown = repr(sep).replace("'", '"') if sep == "\t" else repr(sep)
    with_header = {**CSV, "options": {"header": True}}
    fault = misread_header([sep.join(("age", "sex", "zip"))], policy(with_header, "age", "sex"))
    assert fault is not None and str(fault) == (
        "job.yaml: input.options.sep: found a single column, with sep ','; expected the columns of the policy; set sep: " + shown
    )
    fault = misread_header(["_c0"], policy(CSV, "age", "sex"))
    assert fault is not None and fault.advice == f"set sep to what stands between two fields, and {HEADER.removeprefix('set ')}"
    given = {**CSV, "options": {"delimiter": ";", "HEADER": True}}
    fault = misread_header(["age,sex"], policy(given, "age", "sex"))
    assert fault is not None and (fault.found, fault.advice) == ("a single column, with sep ';'", "set sep: ','")


def test_a_csv_without_its_names_asks_for_a_header() -> None:
    fault = misread_header(["_c0", "_c1"], policy(CSV, "age", "sex"))
    assert fault is not None and (fault.key, fault.advice) == ("input.options.header", HEADER)
    with_header = {**CSV, "options": {"header": True}}
    for names, source, wanted in (
        (["_c0", "_c1"], with_header, ["age", "sex"]),
        (["_c0", "_c1"], CSV, ["_c0", "age"]),
        (["age", "sx"], with_header, ["age", "sex"]),
        (["agee"], with_header, ["age"]),
        (["age;sex"], {"table": "t"}, ["age", "sex"]),
        (["age;sex"], {"format": "json", "path": "x"}, ["age", "sex"]),
        (["age;sex"], None, ["age", "sex"]),
    ):
        assert misread_header(names, policy(source, *wanted)) is None
