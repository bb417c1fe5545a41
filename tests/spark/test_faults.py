"""A fault at every step, in every call of the file system, a full disk: the world sees the old release or the new one, whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fault_case
import pytest
from pyspark.sql import SparkSession

from anon_spark import Policy
from anon_spark.domain.errors import AnonError, PlatformError
from anon_spark.io.local_files import LocalFiles
from anon_spark.job.run import run
from jobs import policy, quasi

pytestmark = pytest.mark.spark
ROWS = [(20 + i * i % 37, "abc"[i % 3], f"s{i % 4}", i) for i in range(60)]
SCHEMA = "age int, town string, ill string, id int"
LONG = pytest.mark.long
OLD, NEW = 25, 2
"""k of the release that is there, and of the one that replaces it."""
CALLS = ("rename", "exchange", "delete", "write", "create")
"""What changes the file system."""
STEPS = {
    "lattice": ["frequency set", "encode", "lattice", "write", "audit", "measures", "publish"],
    "top-down": ["frequency set", "encode", "groups", "write", "audit", "measures", "publish"],
}
Files = dict[str, bytes]
TESTS = Path(__file__).resolve().parents[1]
CLUSTER = "local-cluster[2,1,1024]"


class Fault(Exception):
    """What is thrown in."""


def asked(folder: Path, k: int, job: str = "lattice", place: int = 64, out: Path | None = None) -> Policy:
    columns = [
        quasi("age", {"intervals": [5, 20]}), quasi("town"), {"name": "ill", "role": "sensitive"}, {"name": "id", "role": "insensitive"},
    ]  # fmt: skip
    output = {"path": str((out or folder / "out") / "release"), "mode": "overwrite"}
    settings = {"driver_megabytes": place}
    report = {"path": str(folder / "report")}
    return policy(columns, k=k, job=job, settings=settings, output=output, report=report, staging=folder / "staging")


def published(spark: SparkSession, given: Policy, on_start: Callable[[str], None] = lambda step: None) -> Counter[tuple]:
    found = run(spark, given, spark.createDataFrame(ROWS, SCHEMA), on_start)
    return Counter(tuple(row) for row in found.release.table.collect())


def files_in(place: Path) -> Files:
    return {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}


def whole(spark: SparkSession, place: Path) -> Counter[tuple]:
    """What anybody reads there."""
    return Counter(tuple(row) for row in spark.read.parquet(str(place)).collect())


@contextlib.contextmanager
def failing_at(number: int, done: bool) -> Iterator[list[str]]:
    """The call of this number that changes the file system fails, when it has been done or before; all are told."""
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            real = getattr(LocalFiles, name)

            def call(self: LocalFiles, *given: Any, name: str = name, real: Callable[..., Any] = real) -> Any:
                told.append(name)
                if len(told) == number and not done:
                    raise OSError(5, "Input/output error")
                answer = real(self, *given)
                if len(told) == number:
                    raise OSError(5, "Input/output error")
                return answer

            patch.setattr(LocalFiles, name, call)
        yield told


def leaves_one_release(
    spark: SparkSession, folder: Path, old: Files, before: Counter[tuple], after: Counter[tuple], ending: tuple[str, ...] = ()
) -> str:
    """Which release lies there, old or new, whole and with its manifest; nothing of the run lies beside it or in its staging place.
    ending: of what may lie there yet: claims that could not be removed stay until their process, which is that of the tests, has ended."""
    left = leaves_whole(spark, folder, old, before, after)
    beside = [path.name for place in ("out", "staging") if (folder / place).exists() for path in (folder / place).iterdir()]
    assert [name for name in beside if name != "release" and not name.endswith(ending)] == []
    return left


@pytest.mark.parametrize(
    ("job", "place"), [("lattice", 64), *(pytest.param(*case, marks=LONG) for case in (("lattice", 0), ("top-down", 64), ("top-down", 0)))]
)
def test_a_fault_as_a_step_begins(spark: SparkSession, tmp_path: Path, job: str, place: int) -> None:
    given, begun = asked(tmp_path, NEW, job, place), list[str]()
    before = published(spark, asked(tmp_path, OLD, job, place), begun.append)
    # the kernels may have to be compiled first
    assert [step.partition(",")[0] for step in begun] == STEPS[job]
    old = files_in(tmp_path / "out/release")

    for step in begun:

        def fail(name: str, step: str = step) -> None:
            if name == step:
                raise Fault(step)

        with pytest.raises(Fault):
            published(spark, given, fail)
        assert leaves_one_release(spark, tmp_path, old, before, Counter()) == "old"
    after = published(spark, given)
    assert leaves_one_release(spark, tmp_path, old, before, after) == "new" and after != before


@LONG
@pytest.mark.parametrize("done", [False, True], ids=["before it is done", "when it is done"])
def test_a_call_of_the_file_system_that_fails(spark: SparkSession, tmp_path: Path, done: bool) -> None:
    first, second = asked(tmp_path, OLD), asked(tmp_path, NEW)
    before, after = published(spark, first), published(spark, second)
    published(spark, first)
    with failing_at(0, done) as calls:
        published(spark, second)
    assert set(CALLS) == set(calls)
    seen = Counter[str]()
    for number in range(1, len(calls) + 1):
        published(spark, first)
        old = files_in(tmp_path / "out/release")
        with failing_at(number, done), contextlib.suppress(AnonError):
            published(spark, second)
        # the next run removes what could not be removed
        left = leaves_whole(spark, tmp_path, old, before, after)
        seen[left] += 1
        published(spark, second)
        assert leaves_one_release(spark, tmp_path, {}, before, after, (".held",)) == "new"
    assert seen["old"] >= 3 and seen["new"] >= 1


def leaves_whole(spark: SparkSession, folder: Path, old: Files, before: Counter[tuple], after: Counter[tuple]) -> str:
    """As ``leaves_one_release``, but for what a file system that fails did not let be removed."""
    place = folder / "out/release"
    held = files_in(place)
    shown = whole(spark, place)
    assert "_anon_spark_manifest.json" in held and (shown == before if held == old else shown == after)
    return "old" if held == old else "new"


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a megabyte; tests that use it carry the mark ``mount``."""
    place = tmp_path / "tiny"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.mount
def test_a_full_disk(spark: SparkSession, tmp_path: Path, tiny: Path) -> None:
    before = published(spark, asked(tmp_path, OLD, out=tiny))
    old = files_in(tiny / "release")
    filler = tiny / "filler"
    filler.write_bytes(os.urandom(free(tiny) - 2 * sum(map(len, old.values())) // 3))
    with pytest.raises(PlatformError, match=r"no space left on a disk|No space left on device"):
        published(spark, asked(tmp_path, NEW, out=tiny))
    assert files_in(tiny / "release") == old and whole(spark, tiny / "release") == before
    assert {path.name for path in tiny.iterdir()} == {"release", "filler"}
    filler.unlink()
    assert published(spark, asked(tmp_path, NEW, out=tiny)) == whole(spark, tiny / "release") != before


def free(place: Path) -> int:
    told = os.statvfs(place)
    return told.f_bavail * told.f_frsize


def case(folder: Path, master: str, job: str, k: int, what: str = "nothing", step: str = "-") -> subprocess.CompletedProcess[str]:
    (folder / "out").mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(TESTS / "fault_case.py"), str(folder), master, job, str(k), what, step]
    places = os.pathsep.join((str(TESTS.parent), os.environ.get("PYTHONPATH", "")))
    given = {**os.environ, "PYTHONPATH": places, "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, env=given, cwd=folder, capture_output=True, text=True, timeout=500)


def digest(spark: SparkSession, folder: Path) -> tuple[Any, ...]:
    """Of the release as a multiset."""
    told = ["count(*)", "sum(cast(xxhash64(age, town, ill, id) as decimal(38, 0)))", "count(distinct id)"]
    return tuple(spark.read.parquet(str(folder / "out/release")).selectExpr(*told).collect()[0])


@LONG
@pytest.mark.parametrize("step", ["lattice", "write", "audit", "publish", "rename", "exchange", "delete"])
def test_a_killed_driver(spark: SparkSession, tmp_path: Path, step: str) -> None:
    assert case(tmp_path, "local[2]", "lattice", 5000).returncode == 0
    old, before = files_in(tmp_path / "out/release"), digest(spark, tmp_path)
    assert case(tmp_path, "local[2]", "lattice", 20, "driver", step).returncode == -signal.SIGKILL
    if step == "rename":
        # where directories can't be exchanged the old one may just have been moved aside: the next run brings it back, or replaces it
        assert old in [files_in(place) for place in (tmp_path / "out").iterdir()]
    else:
        assert digest(spark, tmp_path) != before if step == "exchange" else files_in(tmp_path / "out/release") == old
    assert case(tmp_path, "local[2]", "lattice", 20).returncode == 0
    after = digest(spark, tmp_path)
    assert after[0] == after[2] == fault_case.ROWS and after != before
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["release"]


@LONG
@pytest.mark.parametrize(("job", "what", "step"), [
    ("lattice", "executor", "frequency set"), ("lattice", "executor", "write"), ("top-down", "executor", "groups"),
    ("top-down", "worker", "groups"), ("top-down", "executor", "audit"),
])  # fmt: skip
def test_a_killed_executor_changes_nothing(spark: SparkSession, tmp_path: Path, job: str, what: str, step: str) -> None:
    whole, disturbed = tmp_path / "whole", tmp_path / "disturbed"
    assert case(whole, CLUSTER, job, 20).returncode == 0
    told = case(disturbed, CLUSTER, job, 20, what, step)
    assert told.returncode == 0, told.stderr[-2000:]
    assert f"killed {what} " in told.stdout
    assert digest(spark, disturbed) == digest(spark, whole)
