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
RUN = [sys.executable, "-c", "from anon_spark.cli.main import main; main()", "run"]


def environment(**more: str) -> dict[str, str]:
    """A local session as the tests' own; the warehouse and the like go where the process runs."""
    remote = os.environ.get("ANON_SPARK_REMOTE")
    given = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, **({"SPARK_REMOTE": remote} if remote else {})}
    return {**os.environ, **given, **more}


def start(folder: Path, source: dict[str, Any], columns: list[dict[str, Any]], **more: str) -> subprocess.Popen[str]:
    (folder / "out").mkdir()
    settings = {
        "input": source,
        "output": {"path": str(folder / "out/release")},
        "report": {"path": str(folder / "report")},
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    (folder / "job.yaml").write_text(json.dumps(settings))
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*RUN, str(folder / "job.yaml")], cwd=folder, env=environment(**more), **streams)


def ended(process: subprocess.Popen[str], folder: Path, code: int, text: str) -> None:
    """The process ends with this code and one line, nothing is left of it, and it said nothing of the data."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    (line,) = [line for line in err.splitlines() if line.startswith("error:")]
    assert text in line
    assert not any(word in out + err for word in (SECRET, "Traceback", "py4j", "Py4J", "org.apache"))
    assert list((folder / "out").iterdir()) == [] and not (folder / "report").exists()


def wait_for(happens: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    for _ in range(600):
        if happens() or process.poll() is not None:
            return
        time.sleep(0.1)


@pytest.mark.parametrize("group", [False, True], ids=["the client", "its process group"])
def test_a_terminated_run_leaves_nothing(tmp_path: Path, group: bool) -> None:
    # the column that takes its time is read by the second scan alone, which writes the release
    slow = f"concat('{SECRET}', id, reflect('java.util.concurrent.locks.LockSupport', 'parkNanos', 200000000L)) AS n"
    query = f"SELECT CAST(id % 2 AS string) AS a, {slow} FROM range(0, 60, 1, 2)"
    process = start(tmp_path, {"query": query}, [quasi("a"), {"name": "n", "role": "insensitive"}])
    wait_for(lambda: any((tmp_path / "out").glob(".anon-spark-*/release/_temporary")), process)
    assert process.poll() is None
    sent = time.monotonic()
    process.send_signal(signal.SIGTERM)
    ended(process, tmp_path, 130, "interrupted: nothing was published")
    print("ENDED AFTER", time.monotonic() - sent)


def test_malformed_lines_are_never_shown_on_any_stream(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(f"a,b\n1,2\n[{SECRET}]\n1,{SECRET},3\n")
    source = {"format": "csv", "path": str(tmp_path / "in.csv"), "options": {"header": True}}
    process = start(tmp_path, source, [quasi("a"), {"name": "b", "role": "sensitive"}])
    ended(process, tmp_path, 3, "input: found lines or files that can't be read")


def test_a_machine_without_java_is_told(tmp_path: Path) -> None:
    process = start(tmp_path, {"query": "SELECT 1 AS a"}, [quasi("a")], JAVA_HOME=str(tmp_path / "none"))
    ended(process, tmp_path, 7, "no Spark session could be started")
