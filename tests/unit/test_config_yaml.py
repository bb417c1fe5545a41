"""Configuration files as text: YAML's oddities, syntax errors with their line, files that are none."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from anon_spark.config.load import load
from anon_spark.config.notes import Notes
from anon_spark.config.yaml_text import read_yaml
from anon_spark.domain.errors import ConfigurationError
from anon_spark.domain.policy import (
    DateHierarchy,
    FileHierarchy,
    FlatHierarchy,
    IntervalHierarchy,
    MaskHierarchy,
    ModelSpec,
    Sink,
    Source,
)

SMALL = """\
columns:
  - {name: sex, role: quasi-identifier, hierarchy: flat}
  - {name: disease, role: sensitive}
privacy:
  - {model: k-anonymity, k: 2}
"""
DESIGN = """\
job: lattice                     # lattice | top-down
input:  {format: csv, path: data/adult.csv, options: {header: true, sep: ";"}}
output: {format: parquet, path: out/adult, mode: error, partition_by: []}
report: {path: out/adult-report}
columns:
  - {name: ssn, role: identifier}
  - {name: patient, role: person}
  - {name: age, role: quasi-identifier, weight: 1.0, hierarchy: {intervals: [5, 10, 20], origin: 0}}
  - {name: education, role: quasi-identifier, hierarchy: {path: conf/hierarchies/education.csv, sep: ";"}}
  - {name: zip, role: quasi-identifier, hierarchy: {mask: right}}
  - {name: birth, role: quasi-identifier, type: date, hierarchy: {date: [month, quarter, year, decade]}}
  - {name: sex, role: quasi-identifier, hierarchy: flat}
  - {name: occupation, role: sensitive}
  - {name: hours, role: insensitive}
  - {name: salary-class, role: label}
unlisted: fail
nulls: value
privacy:
  - {model: k-anonymity, k: 10}
  - {model: alpha-deassociation, column: occupation, values: [Armed-Forces], alpha: 0.5, refined: false}
suppression: {limit: 0.0, show: drop}
loss: gcp
numeric: interval
bounds: tight
seed: null
settings: {driver_megabytes: 64, block_combinations: auto, staging: null}
"""


@pytest.fixture
def write(tmp_path: Path):
    def written(text: str | bytes, name: str = "job.yaml") -> str:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return written


def read(text: str) -> object:
    notes = Notes("job.yaml")
    value = read_yaml(text, notes)
    notes.stop()
    return value


def refused(text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    return str(caught.value)


def test_the_whole_example(write):
    path = write(DESIGN)
    policy = load(path)
    assert [column.name for column in policy.of_role("person")] == ["patient"]
    assert policy.input == Source(format="csv", path="data/adult.csv", options={"header": "true", "sep": ";"})
    assert policy.output == Sink(format="parquet", path="out/adult")
    assert policy.report == "out/adult-report"
    assert [column.name for column in policy.quasi_identifiers] == ["age", "education", "zip", "birth", "sex"]
    assert [column.hierarchy for column in policy.quasi_identifiers] == [
        IntervalHierarchy(widths=(Fraction(5), Fraction(10), Fraction(20)), origin=Fraction(0)),
        FileHierarchy(path="conf/hierarchies/education.csv", sep=";"),
        MaskHierarchy(side="right"),
        DateHierarchy(units=("month", "quarter", "year", "decade")),
        FlatHierarchy(),
    ]
    assert policy.privacy == (
        ModelSpec(model="k-anonymity", parameters={"k": 10}),
        ModelSpec(
            model="alpha-deassociation",
            column="occupation",
            parameters={"values": ("Armed-Forces",), "alpha": Fraction(1, 2), "refined": False},
        ),
    )
    assert policy.seed is None and policy.where == path and policy.suppression.limit == 0


AS_WRITTEN = ["no", "on", "yes", "Off", "007", "010", "+5", "1_000", "12:30", "1e5", "1E5", ".5", "0x1F", "0o7"]


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_what_yaml_1_1_would_change_stays_as_it_is_written(text):
    assert read(f"a: {text}") == {"a": text}
    assert read(f"{text}: a") == {text: "a"}


@pytest.mark.parametrize("text", ["2020-01-31", "2020-01-31 12:00:00", "=", "1.5.2", "-", "1.", ".inf", ".nan"])
def test_dates_and_signs_are_text(text):
    assert read(f"a: [{text}]" if text != "-" else "a: ['-']") == {"a": [text]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("5", 5),
        ("-5", -5),
        ("0", 0),
        ("0.10", Decimal("0.10")),
        ("-0.5", Decimal("-0.5")),
        ("0.30000000000000000001", Decimal("0.30000000000000000001")),
        ("~", None),
        ("null", None),
        ("", None),
        ("'null'", "null"),
        ("''", ""),
        ("'5'", "5"),
    ],
)
def test_scalars(text, value):
    found = read(f"a: {text}")
    assert found == {"a": value} and type(found["a"]) is type(value)


def test_a_decimal_keeps_its_digits_as_text():
    assert str(read("a: 0.50")["a"]) == "0.50"


def test_anchors_aliases_and_merges():
    text = "base: &base {role: x, weight: 2}\nitems:\n  - {<<: *base, role: y}\n  - *base\n  - {<<: [{a: 1}, {a: 2, b: 3}]}\n"
    assert read(text)["items"] == [{"role": "y", "weight": 2}, {"role": "x", "weight": 2}, {"a": 1, "b": 3}]


def test_every_duplicate_key_with_both_lines():
    found = refused("a: 1\nb: {c: 1, d: 2, c: 3}\na: 2\n").split("\n")
    assert found == [
        "job.yaml:1: a: found the key twice, on lines 1 and 3; expected every key once",
        "job.yaml:2: b.c: found the key twice, on lines 2 and 2; expected every key once",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: [1, 2\n", 3),
        ("a: 1\nb: c: d\n", 2),
        ("a:\n\t- 1\n", 2),
        ("a: 1\n'b\n", 3),
        ("a: *nothing\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: 1\nb: \x00\n", 2),
        ("a: 1\n}\n", 2),
    ],
)
def test_a_syntax_error_gives_file_and_line(text, line):
    assert refused(text).startswith(f"job.yaml:{line}: found a YAML syntax error: ")


def test_a_syntax_error_never_quotes_the_line():
    assert "hunter2" not in refused("password: hunter2: x\n")


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system ['true']",
        "a: !!python/name:os.system",
        "a: !mine 5",
        "a: !!binary aGk=",
        "a: !!set {x}",
        "a: !!int x",
        "a: !!float abc",
        "a: !!timestamp x",
        "!!omap [a: 1]",
    ],
)
def test_tags_are_refused_and_nothing_runs(text):
    assert "plain YAML without tags" in refused(text)


@pytest.mark.parametrize("text", ["? [a, b]\n: 1", "null: 1", "a: {~: 1}", "? {a: 1}\n: 2"])
def test_keys_are_text(text):
    assert "a key on line 1 that is null or no text" in refused(text)


def test_values_that_hold_themselves_or_swell_are_refused_at_once():
    bomb = "a: &a [1, 1]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(24))
    for text in ("a: &a [*a]", "a: &a {<<: *a}", "a: &a {b: *a}", bomb, "[" * 200 + "]" * 200, "[" * 20000):
        with pytest.raises(ConfigurationError):
            read(text)


@pytest.mark.parametrize(
    ("held", "found"),
    [
        (b"", "nothing: the file is empty"),
        (b"# only a comment\n", "nothing: the file is empty"),
        (b"- a\n- b\n", "a list; expected a mapping"),
        (b"just text\n", "a text that is no YAML mapping; expected a mapping"),
        (b"a: 1\nb: \xff\n", "bytes that are not UTF-8 on line 2"),
        ("a: 1".encode("utf-16"), "bytes that are not UTF-8 on line 1"),
    ],
)
def test_files_that_are_no_configuration(write, held, found):
    path = write(held)
    with pytest.raises(ConfigurationError) as caught:
        load(path)
    message = str(caught.value)
    assert found in message and message.startswith(path) and "\n" not in message


def test_no_file_a_directory_a_name_that_is_none(tmp_path, write):
    write(SMALL, "adult.yaml")
    for path, found in (
        (tmp_path / "adlt.yaml", "no such file; expected a YAML file; did you mean 'adult.yaml'?"),
        (tmp_path / "none" / "adult.yaml", "there is no directory"),
        (tmp_path, "a directory"),
        ("a\0b", "cannot be read"),
    ):
        with pytest.raises(ConfigurationError, match="found") as caught:
            load(path)
        assert found in str(caught.value)


def test_a_file_that_may_not_be_read(write, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ConfigurationError, match=r"job\.yaml: found a file that cannot be read: Permission denied"):
        load("job.yaml")


def test_a_byte_order_mark_and_windows_line_ends_are_fine(write):
    assert load(write(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())).privacy == load(write(SMALL)).privacy


def test_names_and_values_that_look_like_something_else(write):
    model = "  - {model: alpha-deassociation, alpha: 0.5, values: [1, true, no, 007, 0.50]}\n"
    policy = load(write(SMALL.replace("name: sex", "name: no") + model))
    assert policy.columns[0].name == "no"
    assert policy.privacy[1].parameters["values"] == ("1", "true", "no", "007", "0.50")


def test_a_listed_null_is_refused_with_advice(write):
    with pytest.raises(ConfigurationError, match=r'privacy.1.values.0: found null; expected text; write "null" in quotes'):
        load(write(SMALL + "  - {model: alpha-deassociation, alpha: 0.5, values: [NULL]}\n"))


def test_every_fault_of_a_file_in_its_order_with_its_line(write):
    path = write(
        "job: latice\ncolumns:\n  - name: sex\n    role: quasi-identifier\n    hierarchy: flat\n    wieght: 2\n"
        "privacy:\n  - model: k-anonymity\n    k: 0\nsuppression:\n  limit: 5\n"
    )
    with pytest.raises(ConfigurationError) as caught:
        load(path)
    assert [(fault.where.removeprefix(path), fault.key) for fault in caught.value.faults] == [
        (":1", "job"),
        (":6", "columns.0.wieght"),
        (":9", "privacy.0.k"),
        (":11", "suppression.limit"),
    ]


def test_a_value_with_a_tag_is_not_missing_besides(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(SMALL.replace("k: 2", "k: !!set {a}") + "report: {path: !mine x}\n")
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path / "job.yaml")
    assert [fault.key for fault in caught.value.faults] == ["privacy.0.k", "report.path"]
