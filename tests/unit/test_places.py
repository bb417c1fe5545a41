"""Where an output may be: told before anything is computed, in one line, by its key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_files import local, remote

from anon_spark import Policy
from anon_spark.domain.errors import ConfigurationError
from anon_spark.io.claims import Claim
from anon_spark.io.places import normal, opened, target_of
from anon_spark.io.staging import staging_of
from anon_spark.job.output import Output, open_output

COLUMNS = [{"name": "a", "role": "quasi-identifier", "hierarchy": "flat"}]


def opening(path: object, mode: str = "error", **more: object) -> Output:
    given = {"columns": COLUMNS, "privacy": [{"model": "k-anonymity", "k": 2}], "where": "job.yaml", **more}
    return open_output(remote(), Policy(output={"path": str(path), "mode": mode}, **given), "id")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("new/.", "new"),
        ("out/sub/..", "out"),
        ("out//sub///", "out/sub"),
        ("./out", "out"),
        ("./a:b", "./a:b"),
        ("c/a:b", "c/a:b"),
        (".", "."),
        ("../..", "../.."),
        ("//a/./b", "/a/b"),
        ("/", "/"),
        ("file:/a/../b/", "file:/b"),
        ("file:///a/../b/", "file:///b"),
        ("s3a://bucket/a/./b/..", "s3a://bucket/a"),
        ("hdfs:///a//b", "hdfs:///a/b"),
        ("s3a://bucket", "s3a://bucket"),
    ],
)
def test_one_spelling(path: str, found: str) -> None:
    assert normal(path) == found


@given(st.lists(st.sampled_from(["a", "b:c", ".", "..", ""]), min_size=1).map("/".join), st.sampled_from(["", "/", "s3a://h/"]))
def test_a_spelling_is_found_once(path: str, head: str) -> None:
    made = normal(head + path)
    assert normal(made) == made and made.startswith(head) == (head + path).startswith(head)


def test_staging_lies_beside_the_output_however_it_is_spelled(tmp_path: Path) -> None:
    for path in (f"{tmp_path}/new/.", f"{tmp_path}/new/sub/..", f"{tmp_path}//new//"):
        output = opening(path)
        assert output.sink.path == f"{tmp_path}/new" and output.staging == f"{tmp_path}/.anon-spark-new-id"
    assert list(tmp_path.iterdir()) == []


def test_the_working_directory_is_known_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    assert target_of(local("."), ".", "") == f"{tmp_path}/work"
    assert target_of(local("."), "a/../..", "") == str(tmp_path)
    assert target_of(local("."), "a", "") == "a"


def test_a_link_to_a_directory_is_the_directory(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    output = opening(tmp_path / "link", "overwrite")
    with output.held():
        output.files.write(f"{output.staged}/part-0", "new")
        output.publish()
    assert (tmp_path / "link").is_symlink() and (tmp_path / "link/part-0").read_text() == "new"
    assert target_of(output.files, f"file://{tmp_path}/link", "") == f"file:{tmp_path}/real"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("file:x", "'file:x'; expected a path, or a URI"),
        ("nosuch://x/y", "'nosuch://x/y'; expected a path of a file system that Spark knows"),
        ("file://x/y", "'file://x/y'; expected file:/ and an absolute path"),
        ("/x/" + "n" * 201, "a name of 201 bytes; expected names of at most 200 bytes"),
        ("/x/" + "é" * 128 + "/y", "a name of 256 bytes; expected names of at most 255 bytes"),
    ],
)
def test_a_path_that_can_be_none(path: str, found: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        opening(path)
    assert str(refused.value).startswith(f"job.yaml: output.path: found {found}")
    assert len(str(refused.value).splitlines()) == 1
    if "201" not in found:
        with pytest.raises(ConfigurationError, match=r"^job\.yaml: report\.path: found "):
            opening("/nosuch/out", report={"path": path})
        with pytest.raises(ConfigurationError, match=r"^job\.yaml: settings\.staging: found "):
            opening("/nosuch/out", settings={"staging": path})


@pytest.mark.parametrize("path", ["out:x", ":x", "out:x/y"])
def test_a_colon_makes_a_scheme(path: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^job\.yaml: report\.path: found .*x.*; a name with a colon needs \./"):
        opened(remote(), path, "job.yaml", "report.path")


@pytest.mark.parametrize("path", ["/", "/a/..", "file:/", "file:///", "link"])
def test_a_root_can_not_be_replaced(path: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/")
    given = str(tmp_path / path) if path == "link" else path
    with pytest.raises(ConfigurationError, match=r"^job\.yaml: output\.path: found .*/, the root of a file system; expected"):
        opening(given, "overwrite")


@pytest.mark.parametrize("path", ["s3a://bucket", "s3a://bucket/", "hdfs:///", "hdfs://host:1/a/.."])
def test_a_root_elsewhere(path: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="the root of a file system"):
        target_of(local(tmp_path), path, "job.yaml")


@pytest.mark.parametrize("mode", ["error", "overwrite"])
def test_what_is_no_directory(tmp_path: Path, mode: str) -> None:
    (tmp_path / "nowhere").symlink_to("gone")
    with pytest.raises(ConfigurationError, match=r"output\.path: found .*nowhere, a link that leads nowhere; .* remove the link"):
        opening(tmp_path / "nowhere", mode)
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="exists already" if mode == "error" else "which is a file"):
        opening(tmp_path / "file", mode)
    with pytest.raises(ConfigurationError, match=r"output\.path: found .*file/a/b, below the file .*file;"):
        opening(tmp_path / "file/a/b", mode)
    for staging, told in ((tmp_path / "file", "file, which is a file"), ("/dev/null/x", "/dev/null/x, below the file /dev/null;")):
        with pytest.raises(ConfigurationError, match=f"^job.yaml: settings.staging: found .*{told}"):
            opening(tmp_path / "new", mode, settings={"staging": str(staging)})


def test_the_longest_name_has_room_for_what_is_put_beside_it(tmp_path: Path) -> None:
    target = str(tmp_path / ("n" * 200))
    claim = Claim(local(target), target, "0" * 32, "job.yaml")
    for path in (staging_of(target, "0" * 32), claim.path, f"{claim.path}-{'0' * 32}-dead"):
        local(target).write(path, "")
    assert len(list(tmp_path.iterdir())) == 3


class Classic:
    """A classic session whose JVM answers any path with one error."""

    def __init__(self, error: Exception):
        self._error = error

    @property
    def _jvm(self) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('UnsupportedFileSystemException: No FileSystem for scheme "x"', "ConfigurationError"),
        ("ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found", "ConfigurationError"),
        ("java.net.ConnectException: Connection refused", "PlatformError"),
        ("java.net.UnknownHostException: x", "PlatformError"),
    ],
)
def test_an_unknown_file_system_is_a_mistake_and_one_that_does_not_answer_is_not(text: str, kind: str) -> None:
    from anon_spark.plans.settings import Py4JError

    with pytest.raises(Exception, match=r"^job\.yaml: output\.path: ") as told:
        opened(Classic(Py4JError(text)), "x://a/b", "job.yaml", "output.path")  # type: ignore[arg-type]
    assert type(told.value).__name__ == kind
