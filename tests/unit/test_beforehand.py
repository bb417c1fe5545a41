"""What is told before Spark is started: an input that is not there, an output that is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from commands import runner
from pyspark.sql import SparkSession

from anon_spark.cli import commands
from anon_spark.cli.main import cli
from anon_spark.domain.errors import PlatformError

STARTED = "Spark was to be started"
ELSEWHERE = (
    "PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_API_MODE", "HADOOP_CONF_DIR", "YARN_CONF_DIR",
    "SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands are called in, which start no Spark but say that they would."""

    def start(*asked: object) -> None:
        raise PlatformError(STARTED)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(commands, "spark_session", start)
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "people.csv").write_text("sex\nf\n")
    (tmp_path / "taken").mkdir()
    return tmp_path


def test_a_path_that_no_file_can_have(folder: Path) -> None:
    told = call("run", "p\0.csv")
    assert told.exit_code == 2 and "input.path: found 'p\\x00.csv'; expected a path without a NUL character" in told.stderr


def call(command: str, path: str = "people.csv", output: str = "new", report: str = "told", **source: Any) -> Result:
    settings = {
        "input": {"format": "csv", "path": path, **source}, "output": {"path": output}, "report": {"path": report},
        "columns": [{"name": "sex", "role": "quasi-identifier", "hierarchy": "flat"}],
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }  # fmt: skip
    Path("job.yaml").write_text(json.dumps(settings))
    return runner().invoke(cli, [command, "job.yaml", *(["--set", "privacy.0.k=2,3"] if command == "compare" else [])])


@pytest.mark.parametrize("command", ["run", "check", "risk", "compare"])
def test_an_input_that_is_not_there_is_told_at_once_with_its_place(folder: Path, command: str) -> None:
    found = call(command, "peple.csv")
    assert found.exit_code == 3 and found.stderr.strip() == (
        f"error: job.yaml: input.path: found nothing at peple.csv, which is {folder}/peple.csv; expected a file or directory that Spark "
        "can see; did you mean 'people.csv'? Else check its spelling; a relative path starts from the folder that you are in"
    )
    for path in (str(folder / "data/people.csv"), f"file:{folder}/data/people.csv"):
        found = call(command, path)
        assert found.exit_code == 3 and found.stderr.strip().endswith(f"check its spelling; there is no folder {folder}/data")
        assert "which is" not in found.stderr
    assert STARTED in call(command).stderr


def test_an_output_that_is_there_is_told_at_once_and_with_the_plan_of_a_dry_run(folder: Path) -> None:
    for output in ("taken", str(folder / "taken"), f"file:{folder}/taken/"):
        found = call("run", output=output)
        assert found.exit_code == 2 and f"found {output.rstrip('/')}, which exists already" in found.stderr
        assert STARTED in call("check", output=output).stderr


@pytest.mark.parametrize("command", ["run", "check", "risk", "compare"])
def test_a_folder_in_which_nothing_can_be_made_is_told_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Asked of the system, since the tests may be root's, who may write anywhere."""
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: real(path, mode) and (mode == os.R_OK or Path(path) != folder / "taken"))
    found = call(command, output="taken/a/new")
    told = f"error: job.yaml: output.path: nothing can be made in the folder {folder}/taken; choose another output.path"
    assert found.stderr.startswith(told) if command in ("run", "check") else STARTED in found.stderr
    assert found.exit_code == 7
    found = call(command, report="taken/report")
    assert found.exit_code == 7 and f"report.path: nothing can be made in the folder {folder}/taken; choose" in found.stderr


@pytest.mark.parametrize("path", ["no*.csv", "hdfs:/none.csv", "s3a://b/none.csv", "dbfs:/none.csv"])
def test_what_spark_alone_can_tell_is_left_to_it(folder: Path, path: str) -> None:
    assert STARTED in call("run", path).stderr
    assert STARTED in call("run", "none", format="com.x.excel").stderr


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_session_or_file_system_that_is_elsewhere_is_asked_itself(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (folder / "spark-defaults.conf").write_text("spark.hadoop.fs.defaultFS  hdfs://host/\n")
    args = "--properties-file x pyspark-shell"
    monkeypatch.setenv(name, {"SPARK_CONF_DIR": str(folder), "PYSPARK_SUBMIT_ARGS": args}.get(name, "x"))
    assert STARTED in call("run", "none.csv").stderr
    (folder / "spark-defaults.conf").write_text("spark.ui.enabled  false\n")
    if name == "SPARK_CONF_DIR":
        assert call("run", "none.csv").exit_code == 3


def faulty(columns: list[str], k: int = 0, **source: Any) -> list[str]:
    """The keys of the faults that are told of a job over these columns of people.csv."""
    settings = {
        "input": {"format": "csv", "path": "people.csv", "options": {"header": "true"}, **source}, "output": {"path": "new"},
        "columns": [{"name": name, "role": "quasi-identifier", "hierarchy": "flat"} for name in columns],
        "privacy": [{"model": "k-anonymity", "k": k}],
    }  # fmt: skip
    Path("job.yaml").write_text(json.dumps(settings))
    found = runner().invoke(cli, ["check", "job.yaml"])
    assert found.exit_code == (7 if k else 2)
    return [line.removeprefix("error: ").split(": ", 1)[-1] for line in found.stderr.strip().splitlines()]


def test_a_column_that_the_input_lacks_is_told_with_the_other_faults(folder: Path) -> None:
    (folder / "people.csv").write_bytes(b"\xef\xbb\xbf" b'sex;"ag""e";"zip, code"\r\nf;1;2\r\n')
    semicolons = {"header": "true", "sep": ";"}
    missing, other = faulty(["sex", 'ag"ee', "zip, code"], options=semicolons)
    assert missing == "columns.1.name: found 'ag\"ee', which the input lacks; expected a column of the input; did you mean 'ag\"e'?"
    assert other.startswith("privacy.0.k: found 0")
    # alone it is Spark that tells it
    assert STARTED in faulty(["sex", 'ag"ee'], k=2, options=semicolons)[0]
    for options in ({}, {**semicolons, "quote": "'"}, {"header": "true"}, {**semicolons, "encoding": "UTF-16", "multiLine": "true"}):
        assert len(faulty(["sex", "agee"], options=options)) == 1, options
    (folder / "people.csv").write_bytes(b"sex;sex;\nf;1;2\n")
    assert len(faulty(["sex", "agee"], options=semicolons)) == 1


def test_the_columns_of_a_folder_are_those_of_a_file_in_it(folder: Path) -> None:
    (folder / "people.csv").unlink()
    (folder / "people.csv").mkdir()
    assert len(faulty(["sex", "agee"])) == 1
    pq.write_table(pa.table({"sex": ["f"], "age": [1]}), folder / "people.csv" / "part-0.parquet")
    (folder / "people.csv" / "_SUCCESS").write_text("")
    assert [line.split(":")[0] for line in faulty(["sex", "agee"], format="parquet", options={})] == ["columns.1.name", "privacy.0.k"]
    (folder / "people.csv" / "year=2020").mkdir()
    assert len(faulty(["sex", "agee", "year"], format="parquet", options={})) == 1


@pytest.mark.parametrize(("command", "wanted"), [("run", ["input", "output"]), ("check", ["input"]), ("audit", ["output"])])
def test_an_absent_input_or_output_is_told_with_the_other_faults(folder: Path, command: str, wanted: list[str]) -> None:
    Path("job.yaml").write_text("columns: [{name: sex, role: quasi-identifier, hierarchy: flat}]\nprivacy: [{model: k-anonymity, k: 0}]\n")
    found = runner().invoke(cli, [command, "job.yaml"])
    assert found.exit_code == 2
    lines = found.stderr.strip().splitlines()
    assert sorted(line.split(": ")[2] for line in lines) == [*wanted, "privacy.0.k"], lines


def test_a_jvm_that_is_gone_is_told_as_such(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*asked: object) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(commands, "spark_session", gone)
    found = call("run")
    assert found.exit_code == 7
    assert found.stderr.startswith("error: anon-spark: Spark does not answer any more (Connection refused): killed, or out of memory")
