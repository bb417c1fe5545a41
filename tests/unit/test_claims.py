"""Who writes an output: one run at a time; what dead runs left is removed, never what a run that lives may need."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import pytest
from local_files import local

from anon_spark.domain.errors import OutputHeldError, PlatformError
from anon_spark.io import claims, local_files
from anon_spark.io.claims import Claim, held
from anon_spark.io.local_files import LocalFiles
from anon_spark.io.staging import inside, staging_of


def claim(folder: Path, run: str | None = None) -> Claim:
    return Claim(local(folder), str(folder / "release"), run or uuid4().hex, "job.yaml")


def left_by(folder: Path, **other: object) -> Path:
    """The file of another run: by default of a process that lives, on this machine."""
    path = Path(claim(folder).path)
    path.write_text(json.dumps({"run": uuid4().hex, **claims._self(), **other}))
    return path


def contents(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_a_run_holds_its_output_and_leaves_nothing(tmp_path: Path) -> None:
    own = Claim(local(tmp_path), str(tmp_path / "new/deep/release"), uuid4().hex, "job.yaml")
    with held(own):
        assert contents(tmp_path) == {"new", "new/deep", "new/deep/.anon-spark-release.held"}
        own.confirm()
    assert contents(tmp_path) == set()
    with held(own):
        (tmp_path / "new/deep/release").mkdir()
    assert contents(tmp_path) == {"new", "new/deep", "new/deep/release"}


def test_a_second_run_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    with held(claim(tmp_path)):
        staging = Path(staging_of(str(tmp_path / "release"), uuid4().hex))
        inside_staging = Path(inside(str(staging)))
        inside_staging.mkdir(parents=True)
        before = contents(tmp_path)
        told = rf"job\.yaml: output\.path: .*release is being written by another run \(process {os.getpid()} on .*\); wait for it"
        with pytest.raises(OutputHeldError, match=told) as refused, held(claim(tmp_path)):
            raise AssertionError("two runs hold it")
        assert refused.value.exit_code == 8 and "\n" not in str(refused.value)
        assert contents(tmp_path) == before


def test_what_a_dead_run_left_is_removed_and_the_old_release_comes_back(tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)
    left_by(tmp_path, process=int(dead.stdout), born="1")
    staging = Path(staging_of(str(tmp_path / "release"), uuid4().hex))
    (staging / "old").mkdir(parents=True)
    (staging / "old/part").write_text("old")
    others = [tmp_path / f".anon-spark-release-2-{uuid4().hex}", tmp_path / ".anon-spark-release-notes", tmp_path / "release-x"]
    for other in others:
        other.mkdir()
    with held(claim(tmp_path)):
        assert (tmp_path / "release/part").read_text() == "old" and not staging.exists()
    assert contents(tmp_path) == {"release", "release/part", *(other.name for other in others)}


@pytest.mark.parametrize(
    ("other", "age", "lives"),
    [
        ({}, 0, True),
        ({}, 2 * claims.DEAD, False),
        ({"place": "elsewhere", "process": 1}, 0, True),
        ({"place": "elsewhere", "process": 1}, claims.DEAD - 30, True),
        ({"place": "elsewhere", "process": 1}, claims.DEAD + 30, False),
        # the number of a process that died is another's now
        ({"born": "1"}, 0, False),
    ],
)
def test_a_run_lives_while_it_gives_signs_of_it(tmp_path: Path, other: dict, age: float, lives: bool) -> None:
    path = left_by(tmp_path, **other)
    os.utime(path, (time.time() - age,) * 2)
    text = path.read_text()
    if lives:
        with pytest.raises(OutputHeldError), held(claim(tmp_path)):
            raise AssertionError("two runs hold it")
        assert path.read_text() == text and contents(tmp_path) == {path.name}
    else:
        with held(claim(tmp_path)):
            assert path.read_text() != text
        assert contents(tmp_path) == set()


def test_a_file_that_is_being_written_is_a_run_that_lives(tmp_path: Path) -> None:
    Path(claim(tmp_path).path).write_text('{"run": "')
    with pytest.raises(OutputHeldError), held(claim(tmp_path)):
        raise AssertionError("two runs hold it")


def test_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "BEAT", 0.02)
    own = claim(tmp_path)
    with held(own):
        os.utime(own.path, (0, 0))
        for _ in range(200):
            if os.stat(own.path).st_mtime > 0:
                break
            time.sleep(0.02)
        assert os.stat(own.path).st_mtime > 0


def test_a_full_disk_takes_no_claim_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign of life that can't be written empties the file: the run holds it all the same, writes it again when it can, and leaves it."""
    monkeypatch.setattr(claims, "BEAT", 0.02)
    own, real, full, torn = claim(tmp_path), LocalFiles.write, threading.Event(), threading.Event()

    def write(self: LocalFiles, path: str, text: str) -> None:
        real(self, path, "" if full.is_set() else text)
        if full.is_set():
            torn.set()
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(LocalFiles, "write", write)
    full.set()
    with held(own):
        assert torn.wait(5) and own.torn.wait(5) and Path(own.path).read_text() == ""
        own.confirm()
        full.clear()
        for _ in range(200):
            if Path(own.path).read_text():
                break
            time.sleep(0.02)
        assert json.loads(Path(own.path).read_text())["run"] == own.release_id
        full.set()
        torn.clear()
        assert torn.wait(5)
    assert contents(tmp_path) == set()


def test_a_claim_that_could_not_be_written_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, text: Any) -> int:
            raise OSError(28, "No space left on device")

    def opened(file: str | int, mode: str) -> IO[bytes]:
        if isinstance(file, str):
            return open(file, mode)
        os.close(file)
        return Full()

    monkeypatch.setattr(local_files, "open", opened, raising=False)
    with pytest.raises(PlatformError, match="it could not be claimed"), held(claim(tmp_path)):
        raise AssertionError("it was claimed")
    assert contents(tmp_path) == set()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT])
def test_a_folder_that_takes_no_claim_is_named_with_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuses(path: str, *more: object) -> int:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(os, "open", refuses)
    told = f"output.path: it could not be claimed: nothing can be made in the folder {tmp_path} ({os.strerror(number)}); choose another "
    with pytest.raises(PlatformError, match=re.escape(told) + "output.path, or get the right"), held(claim(tmp_path)):
        raise AssertionError("it was claimed")


def test_a_claim_whose_making_was_not_confirmed_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = LocalFiles.create

    def create(self: LocalFiles, path: str, text: str) -> bool:
        real(self, path, text)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(LocalFiles, "create", create)
    with pytest.raises(PlatformError, match="it could not be claimed"), held(claim(tmp_path)):
        raise AssertionError("it was claimed")
    assert contents(tmp_path) == set()


def test_a_run_that_lost_its_claim_does_not_publish_and_leaves_the_others(tmp_path: Path) -> None:
    own = claim(tmp_path)
    with held(own):
        path = left_by(tmp_path)
        with pytest.raises(OutputHeldError):
            own.confirm()
    assert path.exists()


def test_of_many_runs_at_once_one_wins(tmp_path: Path) -> None:
    left_by(tmp_path, born="1")
    start, hold, won, lost = threading.Barrier(8), threading.Event(), [], []

    def run() -> None:
        own = claim(tmp_path)
        start.wait()
        try:
            with held(own):
                won.append(own.release_id)
                hold.wait(20)
        except OutputHeldError:
            lost.append(own.release_id)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    deadline = time.time() + 20
    while len(won) + len(lost) < 8 and time.time() < deadline:
        time.sleep(0.01)
    hold.set()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 7)
    assert contents(tmp_path) == set()
