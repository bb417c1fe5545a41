"""Containment, against the deciders' own hierarchies: a label is over a value exactly where a node of the value prints it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as fn

from anon_spark.audit.containment import containment
from anon_spark.audit.labels import with_validity
from anon_spark.domain.bind import bind
from anon_spark.domain.errors import ConfigurationError, InternalError
from anon_spark.domain.policy import Column, DateHierarchy, FileHierarchy, FlatHierarchy, IntervalHierarchy, MaskHierarchy, Policy

pytestmark = pytest.mark.spark

ODD = "a.b `c` d"


@dataclass
class Case:
    name: str
    kind: str
    values: list[str | None]
    hierarchy: Any
    text: str = ""
    column: dict[str, Any] = field(default_factory=dict)
    wrong: list[tuple[str | None, str | None]] = field(default_factory=list)
    """Pairs of value and label that must be refused besides."""


F = Fraction
EDUCATION = "Bachelors;Undergraduate;Higher\nMasters;Graduate;Higher\nHS;School;Lower\n".replace("\n", ";*\n")
CASES = [
    Case(
        "integers",
        "integer",
        ["0", "7", "19", "20", "24", "25", "-1", "-13", "9223372036854775807", None],
        IntervalHierarchy(widths=(F(5), F(10), F(20))),
        wrong=[("19", "[20, 24]"), ("25", "[20, 24]"), ("7", "null"), ("7", "[7]")],
    ),
    Case(
        "integers, open ends",
        "integer",
        ["3", "17", "18", "23", "64", "65", "99", None],
        IntervalHierarchy(widths=(F(5), F(25)), origin=F(2), lower=F(18), upper=F(65)),
        wrong=[("18", "< 18"), ("65", "< 65"), ("64", ">= 65")],
    ),
    Case(
        "decimals",
        "decimal",
        ["0.05", "0.1", "0.15", "1.0E12", "-3.5", "20.0", "24.99", "25.0", "1.0E-5", "NaN", "Infinity", "-Infinity", None],
        IntervalHierarchy(widths=(F(1, 10), F(5))),
        wrong=[("NaN", "[20.0, 25.0)"), ("Infinity", "NaN"), ("25.0", "[20.0, 25.0)")],
    ),
    Case(
        "numbers as text",
        "text",
        ["007", "7", " 12", "+5", "30", "3e1", None, "n/a", ""],
        IntervalHierarchy(widths=(F(10), F(20)), others="root"),
        wrong=[("n/a", "[0.0, 10.0)"), ("", "[0.0, 10.0)")],
    ),
    Case(
        "whole numbers as text",
        "text",
        ["007", "7", "12", None, "x"],
        IntervalHierarchy(widths=(F(10),), others="root"),
        wrong=[("x", "y")],
    ),
    Case(
        "dates and moments as text",
        "text",
        ["2020-01-01", "2020-01-02 00:00:00", "2020-01-03T10:30", " 2020-02-01", "1582-10-20", None, "x"],
        DateHierarchy(units=("day", "month", "year"), others="root"),
        wrong=[("2020-01-01", "2020-01-02 00:00:00"), ("2020-01-03T10:30", "2020-01-03 10:31:00"), ("x", "y")],
    ),
    Case(
        "dates as text",
        "text",
        ["2020-01-01", "2020-01-02", " 1899-02-01", None],
        DateHierarchy(units=("month", "year")),
        wrong=[("2020-01-01", "2020-01-02"), ("2020-01-01", "x")],
    ),
    Case(
        "dates in intervals",
        "date",
        ["1965-05-01", "1970-01-01", "1969-12-31", "1899-02-03", "0001-01-01", "9999-12-31", None],
        IntervalHierarchy(widths=(F(7), F(28)), lower="1900-01-01", upper="2100-01-01"),
        wrong=[("1970-01-01", "1970-01-02")],
    ),
    Case(
        "dates as text in intervals",
        "text",
        ["1965-05-01", "1970-01-01", None],
        IntervalHierarchy(widths=(F(7),), origin="1965-01-01"),
    ),
    Case(
        "masks",
        "text",
        ["53711", "53712", "5371", "61", "", "537", None],
        MaskHierarchy(),
        wrong=[("53711", "53712*"), ("53711", "537*"), ("53711", "538**"), ("61", "6*1**"), ("61", "7****"), ("5371", "537")],
    ),
    Case(
        "masks from the left",
        "text",
        ["53711", "4x11", "", None],
        MaskHierarchy(side="left", character="#", steps=(2, 3)),
        wrong=[("53711", "##712")],
    ),
    Case("masks of numbers", "integer", ["53711", "53712", "1", None], MaskHierarchy(side="right", character="$")),
    Case(
        "periods",
        "date",
        ["1965-05-31", "1965-06-01", "1965-07-01", "1959-12-31", "2000-01-01", "0999-04-01", None],
        DateHierarchy(units=("month", "quarter", "half", "year", "decade", "century")),
        wrong=[("1965-05-31", "1965-5"), ("1965-05-31", "1965-Q1")],
    ),
    Case(
        "moments",
        "timestamp",
        ["1965-05-31 13:45:00", "1965-05-31 14:00:00.5", "1965-06-01 00:00:00", "1900-01-01 00:00:01", None],
        DateHierarchy(units=("hour", "day", "month", "year")),
        wrong=[("1965-05-31 13:45:00", "1965-05-31 14")],
    ),
    Case(
        "dates as text",
        "text",
        ["1965-05-31", "1965-06-01", "unknown", None],
        DateHierarchy(units=("month", "year"), others="root"),
        wrong=[("unknown", "1965")],
    ),
    Case(
        "flat",
        "text",
        ["a", "A", "", "null", " a", None],
        FlatHierarchy(),
        wrong=[("a", "A"), (None, ""), (None, "null"), ("null", None), ("", None)],
    ),
    Case("flat, trimmed", "text", ["a ", "a", " b", None], FlatHierarchy(), column={"trim": True}, wrong=[("a ", "b")]),
    Case(
        "flat numbers",
        "decimal",
        ["1.5", "1.50", "0.0", "1.0E12", "NaN", None],
        FlatHierarchy(),
        wrong=[("1.5", "1.6"), ("NaN", "0.0")],
    ),
    Case("flat booleans", "boolean", ["true", "false"], FlatHierarchy(), wrong=[("true", "false")]),
    Case(
        "file",
        "text",
        ["Bachelors", "Masters", "HS", None],
        "file",
        EDUCATION,
        wrong=[("HS", "Higher"), ("HS", "Bachelors"), ("HS", None), ("HS", "hs")],
    ),
    Case(
        "file with its own root, BOM, CRLF, quotes",
        "text",
        ["a;b", "c", 'say "x"', ""],
        "file",
        '\ufeff"a;b";ab;all\r\nc;all\r\n"say ""x""";ab;all\r\n;ab;all\r\n',
        wrong=[("c", "all"), ("c", "ab")],
    ),
    Case(
        "file of numbers",
        "integer",
        ["7", "12", "45"],
        "file",
        "007;0-9;0-49;*\n12;10-19;0-49;*\n45;40-49;0-49;*\n",
        wrong=[("7", "10-19"), ("7", "12")],
    ),
    Case(
        "file of decimals",
        "decimal",
        ["7.0", "12.50", "1.0E12"],
        "file",
        "7;low;*\n12.5;low;*\n1000000000000;high;*\n",
        wrong=[("7.0", "high")],
    ),
    Case(
        "file of implied numbers",
        "text",
        ["007", "7"],
        "file",
        "7;low;*\n8;high;*\n",
        column={"type": "integer"},
        wrong=[("7", "high"), ("007", "8")],
    ),
    Case(
        "file of decimals, each written otherwise",
        "decimal",
        ["10.0", "1.0", "2.0", "0.001", "1.5E-7", "-120.0", "0.0", "1.0E300", None],
        "file",
        "1e1;a;*\n+1;b;*\n02;c;*\n.1e-2;d;*\n15E-8;e;*\n-1.20e+2;f;*\n-0e5;g;*\n1E300;h;*\n",
        wrong=[("10.0", "b"), ("1.0", "a"), ("2.0", "a"), ("0.001", "e"), ("1.0E300", "1.0")],
    ),
    Case(
        "file of decimals as text",
        "text",
        ["1e1", "10", "+1", " 02 ", "1.E-3", None],
        "file",
        "10.0;a;*\n1;b;*\n2.;c;*\n0.001;d;*\n",
        column={"type": "double"},
        wrong=[("1e1", "b"), ("1.E-3", "b")],
    ),
    Case(
        "file of moments",
        "timestamp",
        ["2020-01-02 00:00:00", "2020-01-02 10:20:00", "2020-01-03 10:20:30.5", None],
        "file",
        "2020-01-02;a;*\n2020-01-02T10:20;b;*\n2020-01-03 10:20:30.500;c;*\n",
        wrong=[("2020-01-02 00:00:00", "b"), ("2020-01-03 10:20:30.5", "b")],
    ),
    Case(
        "file of moments as text",
        "text",
        ["2020-01-02", " 2020-01-02T10:20", "2020-01-03 10:20:30.50", None],
        "file",
        "2020-01-02 00:00;a;*\n2020-01-02 10:20:00;b;*\n2020-01-03 10:20:30.5;c;*\n",
        column={"type": "timestamp"},
        wrong=[("2020-01-02", "b")],
    ),
    Case(
        "masks of numbers as text",
        "text",
        ["007", "+12", "123", None],
        MaskHierarchy(),
        column={"type": "integer"},
        wrong=[("007", "1**"), ("123", "7**")],
    ),
    Case(
        "masks of decimals as text",
        "text",
        ["1e1", "+12.500", "07", None],
        MaskHierarchy(steps=(1, 2)),
        column={"type": "double"},
        wrong=[("1e1", "12.50*")],
    ),
    Case(
        "file where spelling counts",
        "text",
        ["007", "7"],
        "file",
        "7;low;*\n007;high;*\n",
        wrong=[("7", "high"), ("7", "007"), ("007", "7")],
    ),
    Case(
        "file of booleans",
        "boolean",
        ["true", "false"],
        "file",
        " TRUE;some;*\nFalse;*\n",
        wrong=[("true", "false"), ("false", "some")],
    ),
    Case(
        "file, others and inner",
        "text",
        ["Bachelors", "Martian", "Higher", "Undergraduate", None],
        FileHierarchy(path="", others="root", inner="accept"),
        EDUCATION,
        wrong=[("Martian", "Higher"), ("Higher", "Undergraduate"), ("Undergraduate", "Bachelors"), ("Undergraduate", "Lower")],
    ),
]


def bound(case: Case, place: int, folder: Path) -> tuple[Column, Any]:
    """The case's column and the deciders' hierarchy over its values."""
    hierarchy, tree = case.hierarchy, None
    if case.text:
        path = folder / f"tree{place}.csv"
        path.write_bytes(case.text.encode("utf-8"))
        hierarchy = FileHierarchy(path=str(path)) if hierarchy == "file" else replace(hierarchy, path=str(path))
        lines = case.text.lstrip("\ufeff").splitlines()
        tree = [line.replace('"a;b"', "a\0b").replace('"say ""x"""', 'say "x"').split(";") for line in lines]
        tree = [[cell.replace("\0", ";") for cell in line] for line in tree]
    column = Column(name=f"{ODD}{place}", role="quasi-identifier", hierarchy=hierarchy, **case.column)
    return column, bind(column, case.kind, dict.fromkeys(case.values, 1), tree=tree, where="test")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def all_bound(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Column, Any]]:
    folder = tmp_path_factory.mktemp("trees")
    return [bound(case, place, folder) for place, case in enumerate(CASES)]


def pairs_of(case: Case, tree: Any) -> list[tuple[str | None, str | None, int]]:
    """Every value with every label, and 1 where none of the value's nodes prints the label."""
    labels = {label for level in tree.labels for label in level}
    printed = {value: {tree.labels[i][tree.nodes[i][tree.codes[value]]] for i in range(tree.levels)} for value in case.values}
    if isinstance(case.hierarchy, MaskHierarchy):
        # A shorter value can be masked whole below the root; such a label is over every text that is not longer.
        whole = {label for label in labels if label and set(label) == {case.hierarchy.character}}
        printed = {value: found | (whole if value is not None else set()) for value, found in printed.items()}
    pairs = [(value, label, int(label not in printed[value])) for value in case.values for label in labels]
    return pairs + [(value, label, 1) for value, label in case.wrong]


@pytest.mark.parametrize("few", [0, 1000], ids=["joined", "in literal sets"])
def test_a_label_is_over_a_value_exactly_where_a_node_of_the_value_prints_it(
    spark: Any, all_bound: list[tuple[Column, Any]], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anon_spark.audit.containment.FEW", few)
    names = [column.name for column, _ in all_bound]
    rows = []
    for place, (case, (_, tree)) in enumerate(zip(CASES, all_bound, strict=True)):
        for value, label, expected in pairs_of(case, tree):
            cells: list[str | None] = [None, "*"] * len(CASES)
            cells[2 * place : 2 * place + 2] = [value, label]
            rows.append((case.name, value, label, expected, *cells))
    columns = ", ".join(f"`raw.{place}` string, `la``bel{place}` string" for place in range(len(CASES)))
    frame = spark.createDataFrame(rows, f"case string, value string, label string, expected int, {columns}")
    policy = Policy(columns=tuple(column for column, _ in all_bound), where="test")
    raw = {name: f"raw.{place}" for place, name in enumerate(names)}
    label = {name: f"la`bel{place}" for place, name in enumerate(names)}
    kinds = {name: case.kind for name, case in zip(names, CASES, strict=True)}
    checked, outside = containment(frame, policy, raw, label, kinds)
    found = checked.select("case", "value", "label", "expected", outside.alias("found")).collect()
    assert len(found) == len(rows)
    assert {row["expected"] for row in found} == {0, 1}
    assert [tuple(row) for row in found if row["found"] != row["expected"]] == []


@pytest.mark.parametrize(("least", "few"), [(0, 1000), (1, 0)])
def test_every_label_that_a_hierarchy_prints_is_valid_at_its_level_and_up(
    spark: Any, all_bound: list[tuple[Column, Any]], least: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anon_spark.audit.labels.FEW", few)
    rows = []
    for place, (_, tree) in enumerate(all_bound):
        for level in range(least, tree.levels):
            rows += [(*["*"] * place, label, *["*"] * (len(CASES) - place - 1)) for label in tree.labels[level]]
    frame = spark.createDataFrame(rows, ", ".join(f"q{place} string" for place in range(len(CASES))))
    policy = Policy(columns=tuple(replace(column, min_level=least) for column, _ in all_bound), where="test")
    invalid = []
    for place, column in enumerate(policy.columns):
        frame, valid = with_validity(frame, f"q{place}", column, policy)
        invalid.append(fn.when(~valid, fn.concat(fn.lit(f"{CASES[place].name}: "), fn.coalesce(f"q{place}", fn.lit("null")))))
    found = frame.select(fn.coalesce(*invalid).alias("invalid"))
    assert found.count() == len(rows)
    assert [row[0] for row in found.where("invalid IS NOT NULL").collect()] == []


TYPED = [
    ("integer", IntervalHierarchy(widths=(F(10),)), "12", "[10, 19]"),
    ("integer", IntervalHierarchy(widths=(F(10),)), "9", "[0, 9]"),
    ("decimal", IntervalHierarchy(widths=(F(10),)), "cast('12.5' AS decimal(10, 7))", "[10.0, 20.0)"),
    ("decimal", IntervalHierarchy(widths=(F(10),)), "cast('1e-7' AS decimal(10, 7))", "[0.0, 10.0)"),
    ("decimal", FlatHierarchy(), "double(1e300)", "1" + "0" * 300 + ".0"),
    ("decimal", FlatHierarchy(), "float(0.1)", "0.1"),
    ("date", DateHierarchy(units=("month",)), "date'1965-05-31'", "1965-05"),
    ("timestamp", DateHierarchy(units=("hour",)), "timestamp'1965-05-31 01:00:00'", "1965-05-31 01"),
    ("boolean", FlatHierarchy(), "true", "true"),
]
UNTRUE = ["[10, no]", "[10, 19]", "[0.0, 12.5)", "[0.1, 10.0)", "Infinity", "0.2", "1965-06", "1965-05-31 02", "false"]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_typed_raw_columns_serve_as_well_with_ansi_on_and_off(spark: Any, ansi: str) -> None:
    places = range(len(TYPED))
    values = ", ".join(f"{sql} AS raw{i}" for i, (_, _, sql, _) in enumerate(TYPED))
    right, wrong = (
        ", ".join(f"'{label}' AS label{i}" for i, label in enumerate(labels)) for labels in ([t[3] for t in TYPED], UNTRUE)
    )
    policy = Policy(columns=tuple(Column(name=f"c{i}", role="quasi-identifier", hierarchy=TYPED[i][1]) for i in places))
    raw, label, kinds = (
        {f"c{i}": f"raw{i}" for i in places},
        {f"c{i}": f"label{i}" for i in places},
        {f"c{i}": TYPED[i][0] for i in places},
    )
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        frame = spark.sql(f"SELECT {values}, {right} UNION ALL SELECT {values}, {wrong}")
        checked, outside = containment(frame, policy, raw, label, kinds)
        assert sorted(row[0] for row in checked.select(outside).collect()) == [0, len(TYPED)]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


def test_misses_are_counted_a_quasi_identifier_each_and_stars_are_over_all(spark: Any) -> None:
    columns = tuple(Column(name=name, role="quasi-identifier", hierarchy=FlatHierarchy()) for name in "ab")
    frame = spark.createDataFrame(
        [("x", "y", "x", "y"), ("x", "y", "*", "*"), ("x", "y", "x", "x"), ("x", "y", "y", "x")],
        "a string, b string, c string, d string",
    )
    checked, outside = containment(
        frame, Policy(columns=columns), {"a": "a", "b": "b"}, {"a": "c", "b": "d"}, {"a": "text", "b": "text"}
    )
    assert [row[0] for row in checked.select(outside).collect()] == [0, 0, 1, 2]


def test_a_column_named_like_the_look_ups_is_refused(spark: Any) -> None:
    with pytest.raises(InternalError, match="__audit_"):
        containment(spark.sql("SELECT 1 AS __audit_key_0"), Policy(), {}, {}, {})


def test_a_value_with_two_lines_is_refused(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("7;low;*\n007;high;*\n")
    column = Column(name="a", role="quasi-identifier", hierarchy=FileHierarchy(path=str(tmp_path / "tree.csv")))
    with pytest.raises(ConfigurationError, match="two lines"):
        containment(
            spark.sql("SELECT 7 AS raw, 'low' AS label"),
            Policy(columns=(column,)),
            {"a": "raw"},
            {"a": "label"},
            {"a": "integer"},
        )
