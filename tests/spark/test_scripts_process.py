"""What a person sees who runs the command, on machines that are set up for other work: a whole process each."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from jobs import quasi

pytestmark = pytest.mark.spark
ROOT = Path(__file__).resolve().parents[2]
STEPS = {
    "run": ["starting Spark", "reading the table", "finding each value", "searching", "writing", "auditing", "measuring", "publishing"],
    "check": ["starting Spark", "reading the table", "finding each value"],
    "audit": ["starting Spark", "auditing"],
}


def configuration(folder: Path) -> Path:
    (folder / "in.csv").write_text("sex,illness\n" + "f,flu\nm,cold\n" * 4)
    given = {
        "input": {"format": "csv", "path": str(folder / "in.csv"), "options": {"header": True}},
        "output": {"path": str(folder / "out"), "mode": "overwrite"},
        "report": {"path": str(folder / "report")},
        "columns": [quasi("sex"), {"name": "illness", "role": "sensitive"}],
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    (folder / "job.yaml").write_text(json.dumps(given))
    return folder / "job.yaml"


def bare() -> dict[str, str]:
    """The environment without what the scripts set for Spark: so it is where anon-spark was installed by pip."""
    ours = ("SPARK_", "PYSPARK_", "ANON_SPARK_", "PYTHONPATH")
    return {**{key: value for key, value in os.environ.items() if not key.startswith(ours)}, "PYTHONPATH": str(ROOT)}


def seen(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[str, list[str]]:
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=300)
    assert ran.returncode == 0, ran.stderr.decode()
    told = ran.stdout + ran.stderr
    assert [byte for byte in told if byte < 32 and byte != 10] == [], "a control character"
    return ran.stdout.decode(), ran.stderr.decode().splitlines()


@contextmanager
def port_4040_taken() -> Iterator[None]:
    """By us, or by whoever was quicker."""
    with socket.socket() as taken:
        with suppress(OSError):
            taken.bind(("", 4040))
            taken.listen()
        yield


def is_told(command: str, lines: list[str]) -> None:
    """One plain line a step, and nothing else."""
    assert len(lines) == len(STEPS[command]), lines
    for step, line in zip(STEPS[command], lines, strict=True):
        assert line.startswith(f"anon-spark: {step}") and line.endswith(" ..."), lines


@pytest.mark.parametrize(
    ("command", "remote"),
    [("run", ""), pytest.param("check", "", marks=pytest.mark.long), pytest.param("audit", "", marks=pytest.mark.long),
     pytest.param("run", "local[2]", marks=pytest.mark.long), pytest.param("check", "local[2]", marks=pytest.mark.long)],
)  # fmt: skip
def test_a_command_that_starts_spark_itself_shows_our_lines_alone(tmp_path: Path, command: str, remote: str) -> None:
    conf = configuration(tmp_path)
    python = [sys.executable, "-c", "from anon_spark.cli.main import main; main()"]
    environment = {**bare(), **({"SPARK_REMOTE": remote, "SPARK_TESTING": "1"} if remote else {})}
    if command == "audit":
        seen([*python, "run", str(conf)], tmp_path, environment)
    with port_4040_taken():
        out, err = seen([*python, command, str(conf)], tmp_path, environment)
    is_told(command, err)
    assert out.startswith({"run": "Published: 8 rows", "check": f"{conf}: job", "audit": "k-anonymity: holds"}[command])
    assert {path.name for path in tmp_path.iterdir()} <= {"in.csv", "job.yaml", "out", "report"}


def test_the_scripts_run_on_a_machine_that_is_set_up_for_other_work(tmp_path: Path) -> None:
    """Another Spark, another Python path, another Hadoop, a name that resolves nowhere, port 4040 taken."""
    conf = configuration(tmp_path)
    foreign = tmp_path / "foreign"
    (foreign / "pyspark").mkdir(parents=True)
    (foreign / "pyspark/__init__.py").write_text("raise ImportError('another PySpark')\n")
    (foreign / "core-site.xml").write_text("<configuration><property>")
    # as far as Java goes no name is known but this one
    (foreign / "hosts").write_text("127.0.0.1 localhost\n")
    others = dict.fromkeys(("SPARK_HOME", "PYTHONPATH", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR"), str(foreign))
    environment = {**os.environ, **others, "JAVA_TOOL_OPTIONS": f"-Djdk.net.hosts.file={foreign / 'hosts'}"}
    # the tests' own environment stands for .venv: a script would make one
    script = f"""
        . "{ROOT}/scripts/lib.sh"
        clean_environment
        export PYSPARK_PYTHON="{sys.executable}" PYSPARK_DRIVER_PYTHON="{sys.executable}" PYTHONPATH="{ROOT}"
        set_up_spark
        run_job "{sys.executable}" "{ROOT}/jobs/lattice.py" "{conf}"
    """
    with port_4040_taken():
        out, err = seen(["bash", "-c", script], tmp_path, environment)
    is_told("run", err)
    assert out.startswith("Published: 8 rows")
    assert {path.name for path in tmp_path.iterdir()} == {"in.csv", "job.yaml", "out", "report", "foreign"}
