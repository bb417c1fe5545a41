"""Putting a release in place: whatever fails, and whenever, one whole release is there, the old one or the new one."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from local_files import local, remote

from anon_spark.domain.errors import ConfigurationError, PlatformError
from anon_spark.domain.policy import Policy, Sink
from anon_spark.io.files import Files, file_faults
from anon_spark.io.local_files import LocalFiles
from anon_spark.io.staging import inside, put_in_place, refuse_existing, staging_of
from anon_spark.job import output as job
from anon_spark.job.output import Output, report_files


class Failing:
    """Files of which one call, counted from 0, fails before or after it has done its work. at_once: two directories can change places."""

    def __init__(self, files: Files, at: int, error: BaseException, after: bool, at_once: bool = False):
        self._files, self._left, self._error, self._after, self._at_once = files, at, error, after, at_once

    def _do(self, name: str, *arguments: str) -> bool:
        self._left -= 1
        if self._left == -1 and not self._after:
            raise self._error
        done = getattr(self._files, name)(*arguments)
        if self._left == -1:
            raise self._error
        return bool(done)

    def local(self, path: str) -> str | None:
        return self._files.local(path)

    def exists(self, path: str) -> bool:
        return self._do("exists", path)

    def rename(self, source: str, target: str) -> None:
        self._do("rename", source, target)

    def exchange(self, one: str, other: str) -> bool:
        return self._at_once and self._do("exchange", one, other)

    def delete(self, path: str) -> None:
        self._do("delete", path)

    def write(self, path: str, text: str) -> None:
        self._do("write", path, text)


def prepared(folder: Path, old: bool) -> Output:
    target = folder / "release"
    sink = Sink(path=str(target), mode="overwrite")
    staging = staging_of(sink.path or "", "id")
    files = local(folder)
    files.write(f"{inside(staging)}/part", "new")
    if old:
        files.write(f"{target}/part", "old")
    return Output(sink, staging, files, False, "job.yaml")


def held(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_staging_is_hidden_and_beside_its_target() -> None:
    assert staging_of("/a/b/", "id") == "/a/.anon-spark-b-id"
    assert staging_of("s3://bucket/a/b", "id") == "s3://bucket/a/.anon-spark-b-id"
    assert staging_of("b", "id") == ".anon-spark-b-id"


@pytest.mark.parametrize("old", [False, True])
def test_a_release_takes_its_place_and_nothing_else_is_left(tmp_path: Path, old: bool) -> None:
    prepared(tmp_path, old).publish()
    assert held(tmp_path) == {"release/part": "new"} and len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such step")
def test_two_directories_change_places_in_one_step(tmp_path: Path) -> None:
    files = local(tmp_path)
    for name in ("one", "other"):
        files.write(str(tmp_path / name / "part"), name)
    seen: list[dict[str, str]] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            with contextlib.suppress(FileNotFoundError):
                (tmp_path / "one/part").read_text()
                continue
            seen.append({})

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(201):
        assert files.exchange(str(tmp_path / "one"), f"file:{tmp_path}/other")
    stop.set()
    watcher.join()
    assert held(tmp_path) == {"one/part": "other", "other/part": "one"} and seen == []
    assert not files.exchange(str(tmp_path / "one"), str(tmp_path / "none")) and held(tmp_path)["one/part"] == "other"


def test_what_is_there_is_not_overwritten_unasked(tmp_path: Path) -> None:
    given = prepared(tmp_path, old=True)
    sink = Sink(path=given.sink.path, mode="error")
    for call in (
        lambda: refuse_existing(given.files, sink, "job.yaml"),
        lambda: put_in_place(given.files, given.staging, sink, "job.yaml"),
    ):
        with pytest.raises(ConfigurationError, match=r"job\.yaml: output\.path: found .* exists already"):
            call()
    given.remove()
    assert held(tmp_path) == {"release/part": "old"}


def attempts() -> Iterator[tuple[bool, int, BaseException, bool]]:
    for old in (False, True):
        for at in range(8):
            for error in (OSError(5, "Input/output error"), PlatformError("renaming failed"), KeyboardInterrupt()):
                for after in (False, True):
                    yield old, at, error, after


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(("old", "at", "error", "after"), list(attempts()))
def test_a_failure_at_any_call_leaves_one_whole_release(
    tmp_path: Path, old: bool, at: int, error: BaseException, after: bool, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "QUIET", 0)
    given = prepared(tmp_path, old)
    faulty = Output(given.sink, given.staging, Failing(given.files, at, error, after, at_once), False, "job.yaml")
    try:
        faulty.publish()
        published = True
    except (PlatformError, KeyboardInterrupt):
        published = False
        cancelled: list[int] = []
        faulty.withdraw(lambda: cancelled.append(1), isinstance(error, KeyboardInterrupt))
        assert cancelled
    content = held(tmp_path)
    if published:
        assert content.pop("release/part") == "new"
        # what could not be removed is the old release, hidden and whole
        assert set(content) <= {f".anon-spark-release-id/{'release' if at_once else 'old'}/part"}
    else:
        allowed = [{"release/part": "old"}] if old else [{}]
        # the call had done its work, or an interruption came when all was done but tidying: the new one is there, and whole
        late = after or isinstance(error, KeyboardInterrupt)
        assert content in [*allowed, {"release/part": "new"}] if late else content in allowed
        assert not (tmp_path / ".anon-spark-release-id").exists()


def test_an_old_release_that_cannot_be_moved_back_is_kept_and_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    given = prepared(tmp_path, old=True)
    given.files.rename(str(tmp_path / "release"), f"{given.staging}/old")

    class Stuck(Failing):
        def rename(self, source: str, target: str) -> None:
            raise PlatformError("no")

    stuck = Output(given.sink, given.staging, Stuck(given.files, 99, OSError(), False), False, "job.yaml")
    stuck.remove()
    assert held(tmp_path)[".anon-spark-release-id/old/part"] == "old"
    assert given.staging in caplog.text
    given.remove()
    assert held(tmp_path) == {"release/part": "old"}


def policy_with(report: Path) -> Policy:
    return Policy(report=str(report), where="job.yaml")


def test_a_report_is_renamed_after_the_release_and_withdrawn_with_it(tmp_path: Path) -> None:
    session = remote()
    texts = {"report.json": "{}", "report.html": "<p>"}
    with report_files(session, policy_with(tmp_path / "r"), "id", texts):
        assert set(held(tmp_path)) == {"r/.anon-spark-id-report.json", "r/.anon-spark-id-report.html"}
    assert held(tmp_path) == {"r/report.json": "{}", "r/report.html": "<p>"}
    with pytest.raises(KeyboardInterrupt), report_files(session, policy_with(tmp_path / "r"), "id2", {"report.json": "new"}):
        raise KeyboardInterrupt
    assert held(tmp_path) == {"r/report.json": "{}", "r/report.html": "<p>"}
    (tmp_path / "file").touch()
    refused = pytest.raises(PlatformError, match=r"job\.yaml: report\.path: the report could not be written")
    with refused, report_files(session, policy_with(tmp_path / "file"), "id", texts):
        raise AssertionError("published without its report")


def test_failures_of_file_systems_are_the_platforms() -> None:
    for error, text in ((OSError(28, "No space left on device"), "No space left"), (PlatformError("x: taken"), "x: taken")):
        with pytest.raises(PlatformError, match=f"a: b: it failed.*{text}"), file_faults("a", "b", "it failed"):
            raise error


@pytest.mark.parametrize("prefix", ["", "file:", "file://"])
def test_a_connect_client_opens_local_paths_as_they_are_written(tmp_path: Path, prefix: str) -> None:
    files, path = local(f"{prefix}{tmp_path}"), f"{prefix}{tmp_path}/a b%20c"
    files.write(f"{path}/x", "é")
    assert files.exists(path) and (tmp_path / "a b%20c/x").read_text() == "é"
    files.rename(path, f"{prefix}{tmp_path}/other")
    files.write(f"{path}/x", "2")
    with pytest.raises(PlatformError, match="appeared while"):
        files.rename(path, f"{prefix}{tmp_path}/other")
    for name in ("other", "a b%20c/x", "a b%20c", "missing"):
        files.delete(f"{prefix}{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


def test_a_relative_path_starts_where_sparks_do(tmp_path: Path) -> None:
    files = LocalFiles(str(tmp_path))
    files.write("a/x", "1")
    files.rename("a", "b")
    assert files.names("b") == ["x"] and files.local("b") == str(tmp_path / "b") and (tmp_path / "b/x").read_text() == "1"
    assert files.local("file:/c") == files.local("file:///c") == "/c"


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/x").touch()
    for name, target in (("link", "real"), ("nowhere", "gone")):
        (tmp_path / name).symlink_to(target)
        assert local(tmp_path).exists(str(tmp_path / name))
        local(tmp_path).delete(str(tmp_path / name))
    assert held(tmp_path) == {"real/x": ""} and len(list(tmp_path.iterdir())) == 1


class Dead(Failing):
    """A file system that nobody answers for but in removing, as after a signal to the whole process group."""

    def exists(self, path: str) -> bool:
        raise PlatformError("no answer")


def test_no_old_release_is_told_of_before_publication(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    given = prepared(tmp_path, old=True)
    Output(given.sink, given.staging, Dead(given.files, 99, OSError(), False), False, "job.yaml").remove()
    assert held(tmp_path) == {"release/part": "old"} and not Path(given.staging).exists()
    assert caplog.text == ""


def test_an_old_release_that_may_stand_aside_is_never_removed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    given = prepared(tmp_path, old=True)
    dead = Output(given.sink, given.staging, Dead(given.files, 99, OSError(), False), False, "job.yaml")
    with pytest.raises(PlatformError):
        dead.publish()
    given.files.rename(str(tmp_path / "release"), f"{given.staging}/old")
    dead.remove()
    assert held(tmp_path)[".anon-spark-release-id/old/part"] == "old" and given.staging in caplog.text


@pytest.mark.parametrize(
    ("late", "most", "left"),
    [([0.5, 1.8, 3.0], 10.0, False), ([], 10.0, False), ([number / 2 for number in range(40)], 4.0, True)],
)
def test_what_tasks_write_late_is_removed_until_they_are_quiet(
    tmp_path: Path, late: list[float], most: float, left: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, now = prepared(tmp_path, old=False), [0.0]
    due = list(late)

    def sleep(seconds: float) -> None:
        now[0] += seconds
        while due and due[0] <= now[0]:
            due.pop(0)
            given.files.write(f"{inside(given.staging)}/part", "late")

    monkeypatch.setattr(job, "LONGEST", most)
    monkeypatch.setattr(job.time, "sleep", sleep)
    monkeypatch.setattr(job.time, "monotonic", lambda: now[0])
    given.withdraw(lambda: None, interrupted=True)
    assert held(tmp_path) == {} and bool(due) == left
    assert now[0] == pytest.approx(most if left else (late or [0])[-1] + job.QUIET, abs=2 * job.PAUSE + 0.01)


@pytest.mark.parametrize("interrupted", [True, False])
def test_what_is_written_until_the_process_ends_goes_with_it(
    tmp_path: Path, interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_exit: list[Callable[[], None]] = []
    monkeypatch.setattr(job, "QUIET", 0)
    monkeypatch.setattr(job.atexit, "register", at_exit.append)
    given = prepared(tmp_path, old=True)
    given.withdraw(lambda: None, interrupted)
    given.files.write(f"{inside(given.staging)}/part", "late")
    for call in at_exit:
        call()
    assert (set(held(tmp_path)) == {"release/part"}) == interrupted
