"""Marked values through both jobs in both places, published and failing: what was printed, logged, written and left is searched."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sessions import JAVA, SMALL, submit_arguments

from jobs import quasi, tree

pytestmark = pytest.mark.spark

MARK = re.compile(rb"zq7[a-z]+|73101[0-9]{3}|88420[0-9]{3}")
"""What only raw values look like: words by what became of their column, numbers of a quasi-identifier, numbers that are dropped."""
TOLD = {b"zq7common", b"zq7usual", b"73101099", *(f"7310100{i}".encode() for i in range(6))}
"""Values of at least k rows, which the owner's terminal and page may show as examples beside their labels, and the end of a label."""
DRAWN = TOLD | {b"zq7illness"}
"""The page draws values of at least k rows of sensitive columns too."""
K = 5
PERSONS = {("lattice", 0), ("top-down", 64)}
"""Where names are of persons who are counted, for what it is worth: each has one row."""
DRIVER = """
import json, logging, sys
from anon_spark.algorithms import local_blocks
from anon_spark.audit.result import AuditResult, Finding
from anon_spark.cli.main import cli
from anon_spark.cli.session import spark_session
from anon_spark.job import run as job

# as if it stood in our own files: what a caller's function raises is another matter
exec(compile('''
def worker(batches, work):
    for batch in batches:
        raise ValueError("zq7worker " + str(batch.to_pylist()))
    yield from ()
'''.strip(), "anon_spark/worker.py", "exec"))
REAL = job.audit_release, local_blocks.first_pass
REFUSAL = AuditResult(False, (Finding("labels", "one"),), (), 1, 1, 1, 1, 1, 1, ())
codes = {}
with spark_session("tests"):
    for name, patch, arguments in json.load(open("runs.json")):
        job.audit_release, local_blocks.first_pass = REAL
        if patch == "audit":
            job.audit_release = lambda *given, **named: REFUSAL
        if patch == "worker":
            local_blocks.first_pass = worker
        print("==", name, flush=True)
        try:
            cli.main(args=arguments, standalone_mode=False)
        except SystemExit as end:
            codes[name] = end.code
json.dump(codes, open("codes.json", "w"))
"""


def rows() -> list[dict[str, Any]]:
    """60 rows in two towns and six ages, and two of their own: one far off, which may be left out, and one town of one row."""
    common = [
        {
            "name": f"zq7name{i}", "town": "zq7common" if i % 2 else "zq7usual", "age": 73101000 + i % 6, "code": 88420000 + i,
            "illness": f"zq7illness {i % 3}", "note": f"zq7note {i}",
        }
        for i in range(60)
    ]  # fmt: skip
    far = {"name": "zq7name", "town": "zq7rare", "age": 73101900, "code": 88420999, "illness": "zq7gone", "note": "zq7gone"}
    return [*common, far]


def configuration(folder: Path, job: str, place: int, out: str, **more: Any) -> dict[str, Any]:
    towns = tree(folder / "in", "towns", "zq7common;North;*", "zq7usual;North;*", "zq7rare;South;*", "zq7unused;South;*")
    role = "person" if (job, place) in PERSONS else "identifier"
    columns = [
        {"name": "name", "role": role}, quasi("town", towns), quasi("age", {"intervals": [2, 100]}),
        {"name": "illness", "role": "sensitive"}, {"name": "note", "role": "insensitive"},
    ]  # fmt: skip
    return {
        "job": job,
        "input": {"format": "parquet", "path": str(folder / "in/people")},
        "output": {"format": "parquet", "path": str(folder / "out" / out), "options": {"compression": "none"}},
        "report": {"path": str(folder / "reports" / out)},
        "columns": columns,
        "unlisted": "drop",
        "privacy": [{"model": "k-anonymity", "k": K}, {"model": "alpha-deassociation", "alpha": 0.8}],
        "suppression": {"limit": 0.05},
        "settings": {"driver_megabytes": place, "staging": str(folder / "staging")},
        **more,
    }


ENDS = {
    "lattice-64": 0, "lattice-outside": 3, "lattice-infeasible": 4, "lattice-refused": 5, "lattice-0": 0, "top-down-64": 0,
    "top-down-0": 0, "top-down-outside": 3, "top-down-infeasible": 4, "top-down-refused": 5, "top-down-worker": 7,
}  # fmt: skip
"""The runs and the codes that they end with."""
AT_EVERY_COMMIT = frozenset(("lattice-64", "lattice-outside", "lattice-refused", "top-down-0", "top-down-infeasible", "top-down-worker"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, full: bool) -> Path:
    """Every run (but in the long run, some of them) in one process, which is over: its folder holds all that it wrote, its streams
    included."""
    folder = tmp_path_factory.mktemp("secrecy")
    for name in ("in", "out", "reports", "tmp", "local", "conf", "staging"):
        (folder / name).mkdir()
    (folder / "in/people").mkdir()
    pq.write_table(pa.Table.from_pylist(rows()), folder / "in/people/a.parquet")
    runs: list[tuple[str, str, list[str]]] = []

    def add(name: str, job: str, place: int, patch: str = "", **more: Any) -> None:
        if name not in ENDS or not (full or name in AT_EVERY_COMMIT):
            return
        conf = folder / "conf" / f"{name}.yaml"
        conf.write_text(json.dumps(configuration(folder, job, place, name, **more)))
        runs.append((name, patch, ["run", str(conf), "-v"]))

    short = tree(folder / "in", "short", "zq7common;North;*", "zq7usual;North;*")
    for job, place in (("lattice", 64), ("lattice", 0), ("top-down", 64), ("top-down", 0)):
        columns = configuration(folder, job, place, "")["columns"]
        add(f"{job}-{place}", job, place)
        if place == (64 if job == "lattice" else 0):
            add(f"{job}-outside", job, place, columns=[columns[0], quasi("town", short), *columns[2:]])
            add(f"{job}-infeasible", job, place, privacy=[{"model": "k-anonymity", "k": 1000}])
            add(f"{job}-refused", job, place, "audit")
    add("top-down-worker", "top-down", 0, "worker")
    (folder / "runs.json").write_text(json.dumps(runs))
    given = {
        "TMPDIR": str(folder / "tmp"), "SPARK_LOCAL_DIRS": str(folder / "local"), "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_SUBMIT_OPTS": f"-Djava.io.tmpdir={folder / 'tmp'} {JAVA}",
        "PYSPARK_SUBMIT_ARGS": submit_arguments(SMALL),
    }  # fmt: skip
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        command = [sys.executable, "-c", DRIVER]
        subprocess.run(command, cwd=folder, env={**os.environ, **given}, stdout=out, stderr=err, check=False, timeout=900)
    return folder


def marks(path: Path) -> set[bytes]:
    """Marked values in a file's bytes and in its name."""
    return {*MARK.findall(path.read_bytes()), *MARK.findall(path.name.encode())}


def written(folder: Path, *places: str) -> Iterator[Path]:
    for place in places:
        yield from (path for path in (folder / place).rglob("*") if path.is_file())


def test_every_run_ends_as_it_should(folder: Path, full: bool) -> None:
    assert (folder / "codes.json").exists(), (folder / "stderr").read_text()
    codes = json.loads((folder / "codes.json").read_text())
    assert codes == {name: code for name, code in ENDS.items() if full or name in AT_EVERY_COMMIT}


def test_what_is_printed_and_reported_holds_no_raw_value_but_examples(folder: Path, full: bool) -> None:
    streams = {*marks(folder / "stdout"), *marks(folder / "stderr")}
    assert streams <= TOLD
    reports = list(written(folder, "reports"))
    assert {path.parent.name for path in reports} == {
        name for name, code in ENDS.items() if code in (0, 5) and (full or name in AT_EVERY_COMMIT)
    }  # fmt: skip
    for path in reports:
        assert marks(path) <= (DRAWN if path.suffix == ".html" else set()), path


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in AT_EVERY_COMMIT else pytest.mark.long) for name, code in ENDS.items() if code == 0]
)
def test_a_release_holds_what_it_prints_and_nothing_else(folder: Path, name: str) -> None:
    files = list(written(folder, f"out/{name}"))
    table = pa.concat_tables([pq.read_table(path) for path in files if path.name.endswith(".parquet")])
    assert table.column_names == ["town", "age", "illness", "note"]
    shown = {str(value) for column in table.columns for value in column.to_pylist()}
    allowed = set(MARK.findall("\n".join(shown).encode()))
    for path in files:
        assert marks(path) <= allowed, path
    assert b"zq7name" not in allowed and not [mark for mark in allowed if mark.startswith(b"88420")]
    published = table.to_pylist()
    if len(published) == 60:
        assert not {b"zq7gone", b"zq7rare", b"73101900"} & allowed
    assert sorted(row["note"] for row in published) == sorted(row["note"] for row in rows()[: len(published)])
    assert {re.sub(r"part-\d{5}-[0-9a-f-]{36}([-.]c000)?", "part", path.name) for path in files} <= {
        "part.parquet", ".part.parquet.crc", "_SUCCESS", "._SUCCESS.crc", "_anon_spark_manifest.json",
    }  # fmt: skip


def test_nothing_is_left_behind(folder: Path, full: bool) -> None:
    assert {path.name for path in (folder / "out").iterdir()} == {
        name for name, code in ENDS.items() if code == 0 and (full or name in AT_EVERY_COMMIT)
    }
    assert {path.name for path in folder.iterdir()} <= {
        "in", "out", "reports", "tmp", "local", "conf", "staging", "runs.json", "codes.json", "stdout", "stderr", "spark-warehouse",
        "artifacts",
    }  # fmt: skip
    assert list(written(folder, "staging", "spark-warehouse", "artifacts")) == []
    # Java removes its own files when it ends, which is a moment after Python did
    until = time.monotonic() + 60
    while (left := [path for path in written(folder, "tmp", "local") if "hsperfdata" not in str(path)]) and time.monotonic() < until:
        time.sleep(0.2)
    assert left == []


def test_the_search_finds_what_it_looks_for(folder: Path) -> None:
    found = marks(folder / "in/people/a.parquet")
    assert {b"zq7name", b"zq7rare", b"zq7gone"} <= found
    assert MARK.findall(b"[73101001, 73101004] 88420000") == [b"73101001", b"73101004", b"88420000"]
