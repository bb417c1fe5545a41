"""The command as a process of its own, with the streams, the signals and the JVM that a person's shell would give it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import quasi

pytestmark = pytest.mark.spark

SECRET = "SECRET-123"
OLD = {"release/part-0.parquet": "old"}
RUN = [sys.executable, "-c", "from anon_spark.cli.main import main; main()", "run"]


def environment(**more: str) -> dict[str, str]:
    """A local session as the tests' own; the warehouse and the like go where the process runs."""
    remote = os.environ.get("ANON_SPARK_REMOTE")
    given = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, **({"SPARK_REMOTE": remote} if remote else {})}
    return {**os.environ, **given, **more}


def start(folder: Path, source: dict[str, Any], columns: list[dict[str, Any]], **more: str) -> subprocess.Popen[bytes]:
    """``anon-spark run -v``, the leader of a process group of its own; its streams go to files."""
    (folder / "out").mkdir(exist_ok=True)
    settings = {
        "input": source,
        "output": {"path": str(folder / "out/release"), "mode": "overwrite" if (folder / "out/release").exists() else "error"},
        "report": {"path": str(folder / "report")},
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    (folder / "job.yaml").write_text(json.dumps(settings))
    command = [*RUN, str(folder / "job.yaml"), "-v"]
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        given = environment(SPARK_LOCAL_DIRS=str(folder / "local"), **more)
        return subprocess.Popen(command, cwd=folder, env=given, stdout=out, stderr=err, start_new_session=True)


def ended(process: subprocess.Popen[bytes], folder: Path, code: int, text: str) -> None:
    """The process ends with this code and one line, nothing is left of it, and it said nothing of the data."""
    assert process.wait(timeout=120) == code, (folder / "stderr").read_text()
    out, err = (folder / "stdout").read_text(), (folder / "stderr").read_text()
    (line,) = [line for line in err.splitlines() if line.startswith("error:")]
    assert text in line
    told = out + err
    assert [word for word in (SECRET, "Traceback", "py4j", "Py4J", "org.apache", "UserWarning") if word in told] == [], told
    left = {str(path.relative_to(folder / "out")): path.read_text() for path in (folder / "out").rglob("*") if path.is_file()}
    assert left in ({}, OLD) and {path.name for path in (folder / "out").iterdir()} <= {"release"} and not (folder / "report").exists()
    assert {path.name for path in folder.iterdir()} <= {"in.csv", "job.yaml", "local", "out", "stderr", "stdout"}
    for _ in range(600):
        # the JVM ends a moment after its client, on a busy machine a long one, and then takes its spill with it
        if not (folder / "local").exists() or not list((folder / "local").iterdir()):
            break
        time.sleep(0.1)
    else:
        raise AssertionError(f"left behind: {list((folder / 'local').iterdir())}")


def reading(folder: Path) -> bool:
    """Whether the search is over, and the second scan begins."""
    return "anon_spark.job.steps: lattice" in (folder / "stderr").read_text()


def writing(folder: Path) -> bool:
    """Whether the rows have been read again and shuffled, and files are being written."""
    return any((folder / "out").glob(".anon-spark-*/release/_temporary"))


@pytest.mark.parametrize(
    ("happens", "group", "sent", "old"),
    [
        (reading, False, signal.SIGTERM, False),
        pytest.param(writing, False, signal.SIGHUP, False, marks=pytest.mark.long),
        pytest.param(writing, False, signal.SIGTERM, False, marks=pytest.mark.long),
        pytest.param(writing, True, signal.SIGTERM, False, marks=pytest.mark.long),
        pytest.param(writing, True, signal.SIGINT, False, marks=pytest.mark.long),
        pytest.param(writing, True, signal.SIGTERM, True, marks=pytest.mark.long),
    ],
    ids=["reading", "hung up", "writing", "writing, the JVM too", "Ctrl-C", "over an old release"],
)
def test_a_terminated_run_leaves_nothing(
    tmp_path: Path, happens: Callable[[Path], bool], group: bool, sent: signal.Signals, old: bool
) -> None:
    # the first scan reads one column and is quick; the second one, which writes, takes longer than anybody waits below
    query = f"SELECT CAST(id % 2 AS string) AS a, concat('{SECRET}', id) AS n FROM range(0, 100000000, 1, 8)"
    if old:
        (tmp_path / "out/release").mkdir(parents=True)
        (tmp_path / "out/release/part-0.parquet").write_text("old")
    process = start(tmp_path, {"query": query}, [quasi("a"), {"name": "n", "role": "insensitive"}])
    for _ in range(6000):
        if happens(tmp_path) or process.poll() is not None:
            break
        time.sleep(0.1)
    time.sleep(1)
    assert process.poll() is None, (tmp_path / "stderr").read_text()
    if group:
        os.killpg(process.pid, sent)
    else:
        process.send_signal(sent)
    ended(process, tmp_path, 130, "interrupted: nothing was published")
    assert (tmp_path / "out/release").exists() == old and "stands in" not in (tmp_path / "stderr").read_text()


def test_malformed_lines_are_never_shown_on_any_stream(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(f"a,b\n1,2\n[{SECRET}]\n1,{SECRET},3\n")
    source = {"format": "csv", "path": str(tmp_path / "in.csv"), "options": {"header": True}}
    process = start(tmp_path, source, [quasi("a"), {"name": "b", "role": "sensitive"}])
    ended(process, tmp_path, 3, "input: found lines or files that can't be read")


def test_a_machine_without_java_is_told(tmp_path: Path) -> None:
    process = start(tmp_path, {"query": "SELECT 1 AS a"}, [quasi("a")], JAVA_HOME=str(tmp_path / "none"))
    ended(process, tmp_path, 7, "no Spark session could be started")
