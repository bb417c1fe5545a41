"""What is told before Spark is started: an input that is not there, an output that is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


def call(command: str, path: str = "people.csv", output: str = "new", **source: Any) -> Result:
    settings = {
        "input": {"format": "csv", "path": path, **source}, "output": {"path": output},
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
