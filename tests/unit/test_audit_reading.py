"""The audit's own reading of hierarchy files and of numbers, its words, its arithmetic of rows."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from anon_spark.audit.files import by_value, read_hierarchy
from anon_spark.audit.rows import row_findings
from anon_spark.audit.spelling import spelled, spelled_moment
from anon_spark.audit.words import class_name, figure, printed
from anon_spark.domain.counting import counted
from anon_spark.domain.errors import ConfigurationError
from anon_spark.domain.policy import Column, FileHierarchy, Policy, Suppression

COLUMN = Column(name="edu", role="quasi-identifier")


def paths(folder: Path, text: str, sep: str = ";", column: Column = COLUMN) -> dict[str, tuple[str, ...]]:
    (folder / "tree.csv").write_bytes(text.encode("utf-8"))
    return read_hierarchy(FileHierarchy(path=str(folder / "tree.csv"), sep=sep), column, "job.yaml").paths


@pytest.mark.parametrize(
    ("text", "sep", "expected"),
    [
        ("a;x;*\nb;*\n", ";", {"a": ("a", "x"), "b": ("b",)}),
        ("a;x;*;*\nb;b;y;*\n", ";", {"a": ("a", "x"), "b": ("b", "b", "y")}),
        ("a;x;ANY\nb;ANY\n", ";", {"a": ("a", "x"), "b": ("b",)}),
        ("a;x\nb;y\n", ";", {"a": ("a", "x"), "b": ("b", "y")}),
        ('\ufeff"a;b";x;*\r\n"say ""c""";*\r\n\r\n;x;*', ";", {"a;b": ("a;b", "x"), 'say "c"': ('say "c"',), "": ("", "x")}),
        ("a,x,*\na,x,*\n", ",", {"a": ("a", "x")}),
        ("a||x||*\r\nb||*\n", "||", {"a": ("a", "x"), "b": ("b",)}),
        ("a\tx\t*\n a\t*\n", "\t", {"a": ("a", "x"), " a": (" a",)}),
    ],
)
def test_a_file_is_read_to_paths_without_the_root(
    tmp_path: Path, text: str, sep: str, expected: dict[str, tuple[str, ...]]
) -> None:
    assert paths(tmp_path, text, sep) == expected


def test_blanks_of_leaves_go_where_the_column_is_trimmed(tmp_path: Path) -> None:
    trimmed = Column(name="edu", role="quasi-identifier", trim=True)
    assert paths(tmp_path, " a ;x;*\n", column=trimmed) == {"a": ("a", "x")}


@pytest.mark.parametrize("text", ["a;x;*\na;y;*\n", "\xff"])
def test_a_leaf_with_two_lines_or_a_file_that_is_no_text_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tree.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigurationError, match=r"job\.yaml: columns\.edu\.hierarchy"):
        read_hierarchy(FileHierarchy(path=str(tmp_path / "tree.csv")), COLUMN, "job.yaml")


def test_a_file_that_is_not_there_is_a_configuration_fault() -> None:
    with pytest.raises(ConfigurationError, match="FileNotFoundError"):
        read_hierarchy(FileHierarchy(path="no such file"), COLUMN, "job.yaml")


def test_labels_by_level_and_inner_labels(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("a;x;u;*\nb;x;u;*\nc;u;u;*\n")
    lines = read_hierarchy(FileHierarchy(path=str(tmp_path / "tree.csv")), COLUMN, "job.yaml")
    assert sorted(set(lines.at(1, 1))) == ["u", "x"] and sorted(set(lines.at(2, None))) == ["u"]
    assert lines.inner() == {"x": ("x", "u"), "u": ("u",)}


def test_values_of_numbers_and_truths_go_by_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("007;x;*\nTRUE;y;*\n")
    lines = read_hierarchy(FileHierarchy(path=str(tmp_path / "tree.csv")), COLUMN, "job.yaml")
    assert set(by_value(lines, COLUMN, "job.yaml", "integer")) == {"7", "TRUE"}
    assert set(by_value(lines, COLUMN, "job.yaml", "boolean")) == {"007", "true"}
    assert set(by_value(lines, COLUMN, "job.yaml", "text")) == {"007", "TRUE"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("007", "7"), ("+5", "5"), (" 12 ", "12"), ("1.50", "1.5"), ("1.0", "1"), ("5.", "5"), (".5", "0.5"), ("-.5", "-0.5")),
        *(("-0", "0"), ("-0.0", "0"), ("0", "0"), ("000", "0"), ("100", "100"), ("10.01", "10.01"), ("-007.10", "-7.1")),
        *(("1e3", "1000"), ("1.0E12", "1000000000000"), ("-1.23456789E7", "-12345678.9"), ("1.5E-4", "0.00015"), ("+.1e1", "1")),
        *(("12.34e1", "123.4"), ("1.e2", "100"), ("0e9", "0"), ("-0E-3", "0"), ("12e-2", "0.12"), ("1e400", "1" + "0" * 400)),
        *(("e5", "e5"), (".e5", ".e5"), ("1e", "1e"), ("1e1234", "1e1234"), ("a ", "a "), ("", ""), (".", "."), ("1.2.3", "1.2.3")),
    ],
)
def test_a_number_has_one_spelling(text: str, expected: str) -> None:
    assert spelled(text) == expected
    if re.fullmatch(r"[-+ 0-9.]*[0-9][-+ 0-9.eE]*(?<![eE])", text) and text.count(".") < 2:
        assert Fraction(spelled(text)) == Fraction(text.strip())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("2020-01-02", "2020-01-02 00:00:00"), (" 2020-01-02T10:20 ", "2020-01-02 10:20:00")),
        *(("2020-01-02 10:20:30.500", "2020-01-02 10:20:30.5"), ("2020-01-02 10:20:30.000", "2020-01-02 10:20:30")),
        *(("2020-01-02 10:20:30", "2020-01-02 10:20:30"), ("2020-01", "2020-01"), (" a.50", " a.50")),
    ],
)
def test_a_moment_has_one_spelling(text: str, expected: str) -> None:
    assert spelled_moment(text) == expected


def test_words() -> None:
    assert [figure(v) for v in (Fraction(1, 2), Fraction(1, 3), Fraction(5), Fraction(-1, 40), ("a", "b"), 7)] == [
        "0.5",
        "1/3",
        "5",
        "-0.025",
        "a, b",
        "7",
    ]
    assert [printed(v) for v in (None, "", "null", "NULL", " a", "a b", "'a'")] == [
        "null",
        "''",
        "'null'",
        "'NULL'",
        "' a'",
        "a b",
        "\"'a'\"",
    ]
    assert class_name(["age", "sex"], ["[20, 24]", "*"]) == "age = [20, 24], sex = *"
    assert [counted(1, "class", "classes"), counted(2, "class", "classes"), counted(0, "row")] == [
        "1 class",
        "2 classes",
        "0 rows",
    ]


def test_the_limit_of_suppression_is_exact() -> None:
    policy = Policy(suppression=Suppression(limit=Fraction("0.29")))
    assert row_findings(policy, 71, 0, 100, 29) == []  # C20: in floating point 0.29 * 100 is below 29
    assert [f.message for f in row_findings(policy, 70, 0, 100, 30)] == ["30 rows suppressed of 100; the limit of 0.29 allows 29"]
    assert row_findings(policy, 71, 0, None, None) == []


def test_starred_rows_count_as_suppressed() -> None:
    policy = Policy(suppression=Suppression(limit=Fraction("0.1"), show="star"))
    assert row_findings(policy, 100, 10, 100, 10) == []
    assert row_findings(policy, 90, 0, 100, 10) == []
    assert [f.message for f in row_findings(policy, 100, 9, 100, 10)] == [
        "100 published and 10 suppressed do not make up the input's 100 rows"
    ]
    assert [f.message for f in row_findings(policy, 100, 11, 100, 11)] == [
        "11 rows suppressed of 100; the limit of 0.1 allows 10"
    ]
    dropping = Policy(suppression=Suppression(limit=Fraction("0.1")))
    assert len(row_findings(dropping, 100, 10, 100, 10)) == 1
