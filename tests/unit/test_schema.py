"""A policy bound to a schema, before any job runs: every fault at once, a line each, and no quasi-identifier of a type it can't be."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import types as T

from anon_spark import Policy
from anon_spark.domain.errors import ConfigurationError
from anon_spark.job.check import types_of
from anon_spark.job.schema import bind_schema, nearest

INTERVALS, MONTHS = {"intervals": [5]}, {"date": ["month"]}


def column(name: str, role: str = "quasi-identifier", **more: Any) -> dict[str, Any]:
    return {"name": name, "role": role, **({"hierarchy": "flat"} if role == "quasi-identifier" else {}), **more}


def faults(types: dict[str, T.DataType], *columns: dict[str, Any], sensitive: bool = False, **more: Any) -> list[str]:
    schema = T.StructType([T.StructField(name, kind) for name, kind in types.items()])
    privacy = [{"model": "k-anonymity", "k": 2}]
    policy = Policy(columns=list(columns), privacy=more.pop("privacy", privacy), where="job.yaml", **more)
    with pytest.raises(ConfigurationError) as raised:
        bind_schema(schema, policy, sensitive)
    return str(raised.value).splitlines()


TEXT, WHOLE = T.StringType(), T.IntegerType()


def test_all_faults_come_at_once_and_name_what_is_near() -> None:
    types = {"age": WHOLE, "Zip": TEXT, "__anon_x": TEXT, "__audit_y": TEXT, "list": T.ArrayType(TEXT)}
    lines = faults(types, column("agee"), column("zip"), column("list"))
    assert len(lines) == 5
    assert "columns.0.name: found 'agee', which the input lacks" in lines[0] and "did you mean 'age'?" in lines[0]
    assert "did you mean 'Zip'?" in lines[1]
    assert "no role for '__anon_x', '__audit_y'" in lines[2] and "keep" not in lines[2]
    assert "columns named like our own: '__anon_x', '__audit_y'" in lines[3]
    assert "columns.2 (list): found type array<string>" in lines[4] and "explode it" in lines[4]
    assert all(line.startswith("job.yaml: ") for line in lines)


def test_a_wide_table_is_named_in_part() -> None:
    (line,) = faults({"q": TEXT, **{f"c{i}": TEXT for i in range(300)}}, column("q"))
    assert "'c19' and 280 more" in line and len(line) < 500
    assert (
        "its columns: 'q', 'c0'"
        in faults({"q": TEXT, **{f"c{i}": TEXT for i in range(300)}}, column("xyzzy"), unlisted="drop")[0]
    )


@pytest.mark.parametrize("names", [("Age", "age"), ("ÄÖ", "äö"), ("ſ", "s")])
def test_capitals_that_collide_are_a_fault_unless_the_session_tells_them_apart(names: tuple[str, str]) -> None:
    types: dict[str, T.DataType] = {names[0]: WHOLE, names[1]: WHOLE}
    told = f"columns {names[0]!r} and {names[1]!r}, which Spark takes for one"
    assert told in faults(types, column("q"), unlisted="drop")[1]
    assert told not in " ".join(faults(types, column("q"), unlisted="drop", sensitive=True))


def test_names_that_spark_tells_apart_do_not_collide() -> None:
    types: dict[str, T.DataType] = {"STRASSE": WHOLE, "straße": WHOLE}
    assert "takes for one" not in " ".join(faults(types, column("q"), unlisted="drop"))


UNFIT = [T.BinaryType(), T.ArrayType(WHOLE), T.MapType(TEXT, TEXT), T.StructType([T.StructField("a", TEXT)]), T.NullType()]


@pytest.mark.parametrize("kind", UNFIT, ids=lambda kind: kind.simpleString())
def test_types_that_cannot_be_grouped(kind: T.DataType) -> None:
    (line,) = faults({"q": kind}, column("q"))
    assert f"found type {kind.simpleString()}; expected text, boolean, number, date or timestamp" in line
    (line,) = faults({"q": TEXT, "s": kind}, column("q"), column("s", "sensitive"), privacy=[{"model": "l-diversity", "l": 2}])
    assert "(s)" in line and kind.simpleString() in line


@pytest.mark.parametrize(
    ("kind", "more", "text"),
    [
        (T.BooleanType(), {"hierarchy": INTERVALS}, "intervals, on type boolean"),
        (WHOLE, {"hierarchy": MONTHS}, "date, on type int"),
        (T.DateType(), {"type": "integer"}, "integer of a column of type date"),
        (T.DoubleType(), {"type": "integer"}, "integer of a column of type double"),
        (T.TimestampType(), {"type": "boolean"}, "boolean of a column of type timestamp"),
    ],
)
def test_a_type_or_hierarchy_that_does_not_fit_the_column(kind: T.DataType, more: dict[str, Any], text: str) -> None:
    (line,) = faults({"q": kind}, column("q", **more))
    assert text in line


def test_a_dry_run_tells_the_type_that_a_column_is_taken_for() -> None:
    kinds = {"day": T.TimestampType(), "zip": TEXT, "n": T.LongType(), "when": T.DateType(), "more": TEXT, "born": TEXT}
    schema = T.StructType([T.StructField(name, kind) for name, kind in kinds.items()])
    declared = {"day": "date", "zip": "string", "n": "integer", "when": None, "born": "date"}
    columns = [column(name, type=kind) for name, kind in declared.items()]
    told = types_of(schema, Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 2}]))
    assert list(told.values()) == ["date from timestamp", "string", "bigint", "date", "string", "date from string"]


def test_near_names() -> None:
    assert nearest("OCUPATION", ["age", "occupation"]) == "occupation"
    assert nearest("x", ["age"]) is None


@pytest.mark.parametrize(
    ("configured", "told"),
    [
        (["agee", "zip"], ["'agee', which the input lacks; expected a column of the input; did you mean 'age'?"]),
        (["agee", "zpi"], ["did you mean 'age'?", "did you mean 'zip'?"]),
        (["zip", "zips"], ["'zips', which the input lacks", "no role for 'age'"]),
        (["zip", "years"], ["its columns: 'age', 'zip'", "no role for 'age'"]),
        (["zip"], ["no role for 'age'"]),
    ],
)
def test_a_misspelt_column_is_one_fault_and_never_a_reason_to_keep_columns(configured: list[str], told: list[str]) -> None:
    lines = faults({"age": WHOLE, "zip": TEXT}, *map(column, configured))
    assert len(lines) == len(told) and all(part in line for part, line in zip(told, lines, strict=True))
    assert "keep" not in " ".join(lines)
