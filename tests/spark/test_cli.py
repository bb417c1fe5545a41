"""The command line: every outcome has its exit code, every fault one line, and nothing is published or left behind but on 0."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from commands import runner
from pyspark.sql import SparkSession

from anon_spark.audit.result import AuditResult, Finding
from anon_spark.cli.main import cli
from anon_spark.io import files
from anon_spark.job import run as job
from anon_spark.job.arguments import RETAINS
from jobs import quasi, tree

pytestmark = pytest.mark.spark

ROWS = [("f", "53711", "flu"), ("f", "53712", "cold"), ("m", "53711", "flu"), ("m", "53799", "cold")] * 2


class Door:
    """A folder with a small CSV and a configuration; ``out`` is the parent of the release, and nothing else is in it."""

    def __init__(self, folder: Path):
        self.folder, self.out, self.conf = folder, folder / "out", folder / "job.yaml"
        self.out.mkdir()
        (folder / "in.csv").write_text("sex,zip,illness\n" + "".join(",".join(row) + "\n" for row in ROWS))
        self.settings: dict[str, Any] = {
            "job": "lattice",
            "input": {"format": "csv", "path": str(folder / "in.csv"), "options": {"header": True}},
            "output": {"format": "parquet", "path": str(self.out / "release")},
            "report": {"path": str(folder / "report")},
            "columns": [quasi("sex"), quasi("zip", {"mask": "right"}), {"name": "illness", "role": "sensitive"}],
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }

    def call(self, command: str, *more: str, **settings: Any) -> Result:
        self.conf.write_text(json.dumps({**self.settings, **settings}))
        return runner().invoke(cli, [command, str(self.conf), *more])

    def left(self) -> set[str]:
        """Everything in the release's parent directory, hidden files included."""
        return {path.name for path in self.out.iterdir()}

    def content(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.out / "release").iterdir()}


@pytest.fixture
def door(spark: SparkSession, tmp_path: Path) -> Door:
    return Door(tmp_path)


def told(result: Result, code: int, *expected: str) -> list[str]:
    """The error lines, as many as expected, each holding its text; no trace of ours or of Java's anywhere."""
    assert result.exit_code == code, (result.exit_code, result.output, result.exception)
    lines = [line for line in result.stderr.splitlines() if not line.startswith("anon-spark: ")]
    assert [line for line in lines if line.startswith("error: ")] == lines
    assert len(lines) == len(expected), lines
    assert all(text in line for text, line in zip(expected, lines, strict=True)), lines
    for word in ("Traceback", "py4j", "Py4J", "org.apache"):
        assert word not in result.output
    return lines


def test_a_table_is_published_audited_and_never_overwritten_unasked(door: Door, spark: SparkSession) -> None:
    ran = door.call("run")
    told(ran, 0)
    assert "Published: 8 rows" in ran.stdout and str(door.out / "release") in ran.stdout
    assert door.left() == {"release"}
    report = json.loads((door.folder / "report/report.json").read_text())
    assert report["status"] == "published" and report["policy"]["privacy"][0]["k"] == 2
    assert {path.name for path in (door.folder / "report").iterdir() if path.suffix != ".crc"} == {"report.json", "report.html"}

    audited = door.call("audit")
    told(audited, 0)
    assert audited.stdout.startswith("The release holds what was asked.\nk-anonymity: holds (worst class: 2)")

    before = door.content()
    told(door.call("run"), 2, f"output.path: found {door.out / 'release'}, which exists already")
    dry = door.call("check")
    told(dry, 2, f"output.path: found {door.out / 'release'}, which exists already")
    assert "\nlattice     12 nodes" in dry.stdout and "\nrefused     " in dry.stdout
    assert door.content() == before and door.left() == {"release"}

    overwrite = {**door.settings["output"], "mode": "overwrite"}
    told(door.call("run", "--set", "privacy.0.k=9", output=overwrite), 4, "8 rows < k = 9")
    assert door.content() == before and door.left() == {"release"}
    told(door.call("run", "--set", "privacy.0.k=8", output=overwrite), 0)
    assert door.content() != before and door.left() == {"release"}
    assert spark.read.parquet(str(door.out / "release")).distinct().count() == 2

    stricter = door.call("audit", "--set", "privacy.0.k=9")
    told(stricter, 5, "audit: k-anonymity")
    verdict, why, fails = stricter.stdout.splitlines()[:3]
    assert verdict == "REFUSED: the release does not hold what this file asks for." and fails.startswith("k-anonymity: FAILS")
    assert why.endswith("made by job lattice, k-anonymity (k = 8); this file asks for job lattice, k-anonymity (k = 9)")
    told(door.call("audit", "--set", "job=top-down"), 2, "job: found top-down; expected lattice, which made this release")
    headless = ("output.format=csv", "output.options.header=false", "output.path=out/none")
    told(door.call("audit", *(part for text in headless for part in ("--set", text))), 2, "output.options.header: found false")

    (door.folder / "link").symlink_to(door.out / "release")
    itself = {"format": "parquet", "path": str(door.folder / "link")}
    for command in ("check", "run"):
        told(door.call(command, input=itself, output=overwrite), 2, "which holds the input")


def test_a_dry_run_writes_nothing(door: Door) -> None:
    checked = door.call("check")
    told(checked, 0)
    assert "sex" in checked.stdout and "k-anonymity" in checked.stdout
    assert door.left() == set() and not (door.folder / "report").exists()
    refused = door.call("check", "--set", "privacy.0.k=9")
    (line,) = told(refused, 4, f"{door.conf}: privacy.0: 8 rows < k = 9")
    assert line == told(door.call("run", "--set", "privacy.0.k=9"), 4, "8 rows < k = 9")[0]
    assert "tightest    k-anonymity" in refused.stdout and f"\nrefused     {line.removeprefix('error: ')}\n" in refused.stdout


def test_an_audit_refuses_a_release_that_was_tampered_with(door: Door, spark: SparkSession) -> None:
    told(door.call("run"), 0)
    path = str(door.out / "release")
    spark.createDataFrame([("f", "60000", "flu")], "sex string, zip string, illness string").write.mode("append").parquet(path)
    audited = door.call("audit")
    told(audited, 5, "audit: manifest: 2 data files that it does not name", "audit: k-anonymity")
    assert "k-anonymity: FAILS (worst class: 1)" in audited.stdout
    assert audited.stdout.startswith("REFUSED: the release is not as it was published, and does not hold what this file asks for.\n")
    told(door.call("audit", output={"path": str(door.out / "none")}), 3, "output.path: found nothing at")
    (line,) = told(door.call("audit", output={"path": str(door.conf)}), 3, "output: found ")
    written = "a release? A run of this file writes parquet files and _anon_spark_manifest.json there"
    assert f"is {door.conf} {written}" in line
    spark.range(2).write.parquet(str(door.out / "other"))
    other = door.call("audit", output={"path": str(door.out / "other")})
    assert other.exit_code == 5 and f"is {door.out / 'other'} {written}" in other.stdout and "None" not in other.stdout


def test_what_the_configuration_has_wrong_is_told_at_once(door: Door) -> None:
    told(door.call("run", "--set", "privacy.0.k=0", suppresion={}), 2, "suppresion", "privacy.0.k")
    told(runner().invoke(cli, ["run", str(door.folder / "none.yaml")]), 2, "no such file")
    columns = [quasi("sexx"), quasi("zip", "flat"), {"name": "illness", "role": "sensitive"}]
    (line,) = told(door.call("run", columns=columns), 2, "did you mean 'sex'?")
    assert "keep" not in line
    told(door.call("run", "--set", "output=null"), 2, "output: found nothing")
    told(door.call("audit", "--set", "output=null"), 2, "output: found nothing")
    told(door.call("run", "--set", "input=null"), 2, "input: found nothing")
    assert door.left() == set()


@pytest.mark.parametrize("command", ["run", "check", "risk", "compare", "audit"])
def test_a_session_whose_aggregates_lack_their_keys_is_refused(door: Door, spark: SparkSession, command: str) -> None:
    spark.conf.set(RETAINS, "false")
    try:
        more = ("--set", "privacy.0.k=2,3") if command == "compare" else ()
        told(door.call(command, *more), 2, f"session: found {RETAINS} = false; expected true")
    finally:
        spark.conf.unset(RETAINS)
    assert door.left() == set()


def test_values_outside_a_hierarchy_are_counted_and_named_only_when_asked(door: Door) -> None:
    known = tree(door.folder, "sex", "f;*")
    columns = [quasi("sex", known), quasi("zip", tree(door.folder, "zip", "53711;*")), {"name": "illness", "role": "sensitive"}]
    counted = ("column sex: 1 of 2 distinct values unmapped, 4 of 8 rows", "column zip: 2 of 3")
    lines = told(door.call("run", columns=columns), 3, *counted)
    assert all(line.count("--show-values") == 1 for line in lines)
    assert not any(value in line for value in ("'m'", "53712", "53799") for line in lines)
    for command in ("run", "check"):
        shown = door.call(command, "--show-values", columns=columns)
        assert shown.exit_code == 3
        lines = [line for line in shown.stderr.splitlines() if not line.startswith("anon-spark: ")]
        named = ["column sex: 'm' in 4 rows", "column zip: '53712' in 2 rows", "column zip: '53799' in 2 rows"]
        assert lines[:3] == named and len(lines) == 5 and "--show-values" not in shown.stderr
    assert door.left() == set()


def test_the_advice_on_a_strange_csv_leads_to_a_plan(door: Door) -> None:
    (door.folder / "in.csv").write_text("born;when;n\n" + "31.12.1999;31.12.1999 10:00;1\n30.11.1998;30.11.1998 11:00;NA\n" * 4)
    columns = [quasi(name, {"date": ["year"]}, type=kind) for name, kind in (("born", "date"), ("when", "timestamp"))]

    def check(code: int, *expected: str, **options: Any) -> None:
        source = {**door.settings["input"], "options": options}
        told(door.call("check", input=source, columns=[*columns, quasi("n", {"intervals": [5]})]), code, *expected)

    check(2, "input.options.sep: found a single column, with sep ','; expected the columns of the policy; set sep to what")
    check(2, "; set sep: ';'", header=True)
    check(2, "input.options.header: found no header", sep=";")
    check(3, "dateFormat, such as", "timestampFormat, such as", "name it in input.options.nullValue", header=True, sep=";")
    patterns = {"dateFormat": "dd.MM.yyyy", "timestampFormat": "dd.MM.yyyy HH:mm"}
    check(0, header=True, sep=";", inferSchema=True, nullValue="NA", **patterns)


@pytest.mark.parametrize(
    ("source", "code", "text"),
    [
        ({"format": "csv", "path": "{}/none.csv"}, 3, "input.path: found nothing at"),
        ({"format": "parquet", "path": "{}/nothing"}, 3, "input: found UNABLE_TO_INFER_SCHEMA"),
        ({"format": "csv", "path": "{}/empty.csv"}, 3, "input: found no column at all"),
        ({"format": "parkett", "path": "{}/in.csv"}, 2, "input.format: found 'parkett'; expected a format that Spark knows, such as csv"),
        ({"format": "avro", "path": "{}/in.csv"}, 2, "input.format: found 'avro'; expected a format that Spark knows, such as csv"),
        ({"table": "no.such_table"}, 3, "input: found TABLE_OR_VIEW_NOT_FOUND"),
        ({"query": "SELEC 1"}, 2, "input: found PARSE_SYNTAX_ERROR"),
        ({"query": "SELECT x FROM range(3)"}, 2, "input: found UNRESOLVED_COLUMN"),
        ({"query": "CREATE VIEW made AS SELECT 1 AS a"}, 2, "input: found PARSE_SYNTAX_ERROR"),
        ({"format": "csv", "path": "{}/in.csv", "options": {"mode": "PERMISSIVE"}}, 2, "input.options.mode"),
        ({"format": "csv", "path": "{}/in.csv", "options": {"sep": ""}}, 2, "input: found "),
        ({"format": "parquet", "path": "{}/in.csv"}, 3, "input: found lines or files that can't be read"),
        ({"format": "json", "path": "{}/in.csv"}, 3, "input: found lines or files that can't be read"),
    ],
    ids=lambda given: "-".join(map(str, given.values())) if isinstance(given, dict) else str(given)[:1],
)  # fmt: skip
def test_a_source_that_cannot_be_read_is_one_line(door: Door, source: dict[str, Any], code: int, text: str) -> None:
    (door.folder / "empty.csv").touch()
    (door.folder / "nothing").mkdir()
    placed = {key: value.format(door.folder) if isinstance(value, str) else value for key, value in source.items()}
    told(door.call("run", input=placed), code, text)
    assert door.left() == set()


def interrupting(before: Callable[[], Any]) -> Callable[..., Any]:
    """A stage that writes the release, as the real one does, and is interrupted then."""
    real = job.stage

    def stage(*arguments: Any) -> Any:
        real(*arguments)
        return before()

    return stage


def interrupted() -> None:
    raise KeyboardInterrupt


def terminated() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("happens", [interrupted, terminated])
def test_an_interrupted_run_leaves_nothing(door: Door, monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setattr(job, "stage", interrupting(happens))
    told(door.call("run"), 130, "interrupted: nothing was published")
    assert door.left() == set() and not (door.folder / "report").exists()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_a_signal_during_the_last_step_does_not_undo_it(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    real = job.Output.publish

    def publish(output: job.Output) -> None:
        terminated()
        real(output)

    monkeypatch.setattr(job.Output, "publish", publish)
    told(door.call("run"), 0)
    assert door.left() == {"release"}


def test_a_release_that_the_audit_refuses_is_not_published_but_reported(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = AuditResult(False, (Finding("labels", "sex: one"), Finding("labels", "zip: two")), (), 8, 4, 2, 2, 2, 2, ())
    monkeypatch.setattr(job, "audit_release", lambda *given, **named: refusal)
    told(door.call("run"), 5, "audit: sex: one", "audit: zip: two")
    assert door.left() == set()
    assert json.loads((door.folder / "report/report.json").read_text())["status"] == "refused"


def test_a_report_that_cannot_be_written_stops_the_release(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    for kind in ("_HadoopFiles", "_ArrowFiles", "LocalFiles"):
        monkeypatch.setattr(getattr(files, kind), "write", fails)
    told(door.call("run"), 7, "report.path: the report could not be written (No space left on device)")
    assert door.left() == set()


@pytest.mark.parametrize(
    ("step", "words"), [("checksums", "the staged files could not be read"), ("write_manifest", "the manifest could not be written")]
)
def test_a_release_without_its_manifest_is_not_published(door: Door, monkeypatch: pytest.MonkeyPatch, step: str, words: str) -> None:
    def fails(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(job, step, fails)
    told(door.call("run"), 7, f"output.path: {words} (No space left on device)")
    assert door.left() == set() and list((door.folder / "report").glob("*")) == []


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_a_report_where_a_file_stands_is_refused_before_anything_is_read(door: Door, command: str, scheme: str) -> None:
    held = door.conf.with_name("in.csv").read_bytes()
    none = {"format": "csv", "path": str(door.folder / "none.csv")}
    for path, found in ((door.folder / "in.csv", "which is a file"), (door.folder / "in.csv/a/b", "below the file")):
        told(door.call(command, report={"path": f"{scheme}{path}"}, input=none), 2, f"report.path: found {scheme}{path}, {found}")
    assert door.left() == set() and (door.folder / "in.csv").read_bytes() == held
    (door.folder / "report").mkdir()
    told(door.call(command, report={"path": f"{scheme}{door.folder}/report/deep/down"}), 0)


@pytest.mark.parametrize("rows", [1, 2])
def test_one_is_singular(door: Door, rows: int) -> None:
    (door.folder / "in.csv").write_text("sex,zip,illness\n" + "f,53711,flu\n" * rows)
    told(door.call("run", "--set", "privacy.0.k=3"), 4, f"{rows} row{'s' * (rows > 1)} < k = 3")
    told(door.call("run", "--set", f"privacy.0.k={rows}"), 0)
    checked = door.call("check", "--set", f"privacy.0.k={rows}", output={"path": str(door.out / "other")})
    for text in (checked.stdout, door.call("audit", "--set", f"privacy.0.k={rows}").stdout):
        assert not re.search(r"\b1 (rows|classes|nodes|columns|values|checks)\b", text), text


def test_an_output_that_cannot_be_written_is_one_line(door: Door) -> None:
    told(door.call("run", output={"path": str(door.conf / "release")}), 2, "job.yaml/release, below the file")
    told(door.call("run", output={"path": "out:x"}), 2, "output.path: found ")
    told(door.call("run", output={"path": "nosuch://x/y"}), 2, "output.path: found 'nosuch://x/y'; expected a path of a file system")
    assert door.left() == set()


@pytest.mark.parametrize(
    ("name", "advice"),
    [("exel", "parquet, text; add the package"), ("parqet", "did you mean 'parquet'?"), ("com.x.Y", "add the package"), ("avro", "add")],
)
def test_a_format_of_the_output_that_spark_does_not_know_is_told_before_anything_is_read(door: Door, name: str, advice: str) -> None:
    output = {"path": str(door.out / "x"), "format": name}
    for command in ("check", "run"):
        (line,) = told(door.call(command, output=output), 2, f"output.format: found {name!r}; expected a format")
        assert advice in line


def test_a_failure_of_ours_is_told_without_its_text(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise ValueError("SECRET")

    monkeypatch.setattr(job, "decide_levels", fails)
    (line,) = told(door.call("run"), 1, "internal: ValueError in fails")
    assert "SECRET" not in line and door.left() == set()
    debugged = door.call("run", "--debug")
    assert debugged.exit_code == 1 and "SECRET" in debugged.stderr


def test_a_lost_disk_or_connection_is_the_platforms(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise OSError(28, "No space left on device", "/some/SECRET")

    monkeypatch.setattr(job, "decide_levels", fails)
    (line,) = told(door.call("run"), 7, "No space left on device")
    assert "SECRET" not in line and door.left() == set()


def test_a_session_that_was_there_stays_and_one_that_cannot_start_is_told(
    door: Door, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(door.call("check"), 0)
    assert spark.range(3).count() == 3

    def fails(builder: object) -> None:
        raise RuntimeError("Java gateway process exited before sending its port number")

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(type(SparkSession.builder), "getOrCreate", fails)
    told(door.call("run"), 7, "no Spark session could be started (RuntimeError); is Java 17 on the PATH")
    assert door.left() == set()
