"""The manifest: its text and its way back, what of a release counts, and what is said of files that are not those published."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_files import local, remote

from anon_spark.audit.files_published import file_findings
from anon_spark.audit.result import Finding
from anon_spark.domain.errors import PlatformError
from anon_spark.domain.manifest import FileSum, Manifest, ManifestError
from anon_spark.domain.policy import Column, ModelSpec, Policy, Sink
from anon_spark.io.manifest import MANIFEST, checksums, is_data, read_manifest, write_manifest
from anon_spark.job.last_report import LastPublished
from anon_spark.job.verify import Verified, otherwise_made, verify_files

MADE = Manifest(
    "f" * 32, "2026-01-02T03:04:05+00:00", "lattice", ({"model": "k-anonymity", "k": 5},), True,
    {"b=2/part-1": FileSum(3, "0" * 64), "a=é/part-0": FileSum(0, "1" * 64)},
)  # fmt: skip


def test_a_manifest_comes_back_and_its_keys_are_told() -> None:
    assert Manifest.from_json(MADE.to_json()) == MADE
    document = json.loads(MADE.to_json())
    assert document == {
        "schema_version": 1, "release_id": "f" * 32, "created": "2026-01-02T03:04:05+00:00", "job": "lattice",
        "models": [{"model": "k-anonymity", "k": 5}], "audit": {"ok": True},
        "files": [{"path": "a=é/part-0", "size": 0, "sha256": "1" * 64}, {"path": "b=2/part-1", "size": 3, "sha256": "0" * 64}],
    }  # fmt: skip
    assert Manifest.from_json(json.dumps({**document, "more": 1})) == MADE


@given(st.dictionaries(st.text(), st.builds(FileSum, st.integers(0), st.text("0123456789abcdef", min_size=64, max_size=64)), max_size=4))
def test_any_name_of_a_file_comes_back(files: dict[str, FileSum]) -> None:
    made = Manifest("id", "now", "lattice", (), False, files)
    assert Manifest.from_json(made.to_json()) == made


GOOD = json.loads(MADE.to_json())
FILE = GOOD["files"][0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON text"), ("{", "no JSON text"), ("[" * 100_000, "no JSON text"), ("[]", "schema_version is none"),
        ("null", "schema_version is none"), ("{}", "schema_version is none"),
        (json.dumps({**GOOD, "schema_version": 2}), "schema_version is 2, and this version of anon-spark reads 1"),
        (json.dumps({**GOOD, "schema_version": "1"}), "schema_version is none"),
        (json.dumps({**GOOD, "schema_version": True}), "schema_version is"),
        (json.dumps({key: value for key, value in GOOD.items() if key != "files"}), "lacks a key"),
        (json.dumps({**GOOD, "files": 3}), "another kind"), (json.dumps({**GOOD, "files": ["x"]}), "another kind"),
        (json.dumps({**GOOD, "files": [FILE, FILE]}), "another kind"), (json.dumps({**GOOD, "audit": []}), "another kind"),
        (json.dumps({**GOOD, "files": [{**FILE, "size": "3"}]}), "another kind"),
        (json.dumps({**GOOD, "files": [{**FILE, "sha256": "A" * 64}]}), "another kind"),
        (json.dumps({**GOOD, "models": [3]}), "another kind"),
    ],
)  # fmt: skip
def test_what_is_no_manifest_says_why(text: str, why: str) -> None:
    with pytest.raises(ManifestError, match=why):
        Manifest.from_json(text)


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("part-0.parquet", True), ("sex=f/part-0.parquet", True), ("_x=1/part-0", True), ("_a=b.parquet", True), ("_metadata", True),
        ("_delta_log/00.json", True), (".hoodie/x", True), ("_SUCCESS", False), (MANIFEST, False), (".part-0.crc", False),
        ("sex=f/.part-0.crc", False), ("_temporary/0/part-0", False), (".x=1/part-0", False), ("sub/part-0", True),
    ],
)  # fmt: skip
def test_the_files_that_readers_read(path: str, counts: bool) -> None:
    assert is_data(path) is counts


def release(folder: Path) -> Path:
    out = folder / "out"
    for name, data in (("part-0", b"abc"), ("part-1", b"x" * 3_000_000), ("sex=f/part-0", b""), ("_SUCCESS", b""), (".part-0.crc", b"1")):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(data)
    files = local(out)
    found = checksums(files, str(out))
    write_manifest(files, str(out), Manifest("id", "now", "lattice", (), True, found).to_json())
    return out


def test_checksums_are_those_of_the_bytes(tmp_path: Path) -> None:
    out = release(tmp_path)
    manifest = read_manifest(local(out), str(out))
    assert manifest is not None and manifest.files == {
        name: FileSum(len(data), hashlib.sha256(data).hexdigest())
        for name, data in (("part-0", b"abc"), ("part-1", b"x" * 3_000_000), ("sex=f/part-0", b""))
    }


def found(out: Path, last: LastPublished | None = None) -> list[str]:
    return [finding.message for finding in verify_files(remote(), Sink(path=str(out)), "job.yaml", last).findings]


def test_each_fault_of_files_is_a_line(tmp_path: Path) -> None:
    out = release(tmp_path)
    sound = verify_files(remote(), Sink(path=f"{out}/"), "job.yaml")
    assert sound.findings == () and sound.told == "3 data files as published by release id of now" and sound.unknown is None
    (out / "part-1").write_bytes(b"x" * 2_999_999)
    assert found(out) == ["manifest: 1 data file cut: 'part-1' (2,999,999 of 3,000,000 bytes)"]
    (out / "part-1").write_bytes(b"x" * 2_999_999 + b"y")
    assert found(out) == ["manifest: 1 data file changed since publication: 'part-1'"]
    (out / "part-1").unlink()
    (out / "sex=f/part-0").write_bytes(b"1")
    (out / "sex=f/part-2").touch()
    (out / ".hidden").touch()
    assert found(out) == [
        "manifest: 1 data file missing: 'part-1'",
        "manifest: 1 data file longer than published: 'sex=f/part-0' (1 for 0 bytes)",
        "manifest: 1 data file that it does not name: 'sex=f/part-2'",
        "manifest: 1 file that it does not name, which readers pass over: '.hidden'",
    ]


def test_files_that_readers_pass_over_are_told_but_for_marks_and_checksums(tmp_path: Path) -> None:
    out = release(tmp_path)
    marks = ("_committed_12", "_started_12", "_committed_vacuum12", "sex=f/_SUCCESS")
    for name in (*marks, "._SUCCESS.crc", f".{MANIFEST}.crc", "sex=f/.part-0.crc"):
        (out / name).touch()
    assert found(out) == []
    for name in ("_committed_rows", "_rows.csv", "_more/part-0", ".part-9.crc", "sex=f/_x", f"sex=f/{MANIFEST}"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).touch()
    told = f"'.part-9.crc', '_committed_rows', '_more/part-0', '_rows.csv', 'sex=f/{MANIFEST}' and 1 more"
    assert found(out) == [f"manifest: 6 files that it does not name, which readers pass over: {told}"]


def test_the_owners_report_tells_of_a_manifest_that_is_gone_or_was_changed(tmp_path: Path) -> None:
    out = release(tmp_path)
    text = (out / MANIFEST).read_text()
    last = LastPublished("id", hashlib.sha256(text.encode()).hexdigest(), "report/report.json")
    assert found(out, last) == []
    (out / MANIFEST).write_text(text.replace("now", "then"))
    assert found(out, last) == ["manifest: it was changed since publication: report/report.json tells another SHA-256 of it"]
    (out / MANIFEST).write_text(text.replace('"id"', '"later"'))
    later = verify_files(remote(), Sink(path=str(out)), "job.yaml", last)
    assert later.findings == () and "whether a later run made it than that of report/report.json" in str(later.unknown)
    (out / MANIFEST).unlink()
    assert found(out, last) == ["manifest: it is gone: report/report.json tells that one was published"]
    # where there is no release at all, its reader says so
    assert found(tmp_path / "none", last) == []


def test_many_files_are_a_line_too() -> None:
    (told,) = file_findings({f"p{i}": FileSum(1, "0" * 64) for i in range(9)}, {}, lambda paths: [])
    assert told.message == "manifest: 9 data files missing: 'p0', 'p1', 'p2', 'p3', 'p4' and 4 more"


def test_a_manifest_that_is_none_or_is_not_there(tmp_path: Path) -> None:
    out = release(tmp_path)
    wrong = ((b"\xff", "it is no UTF-8 text"), (b'{"schema_version": 9}', "its schema_version is 9"), (b"{", "it is no JSON text"))
    for text, why in wrong:
        (out / MANIFEST).write_bytes(text)
        (line,) = found(out)
        assert line.startswith(f"manifest: it can't be read: {why}")
    (out / MANIFEST).write_text(Manifest("id", "now", "lattice", (), False, checksums(local(out), str(out))).to_json())
    assert found(out) == ["manifest: it says that the audit refused this release"]
    (out / MANIFEST).unlink()
    none = verify_files(remote(), Sink(path=str(out)), "job.yaml")
    assert none.findings == () and none.told is None and "no manifest is seen beside them" in str(none.unknown)
    (out / MANIFEST).mkdir()
    assert found(out) == ["manifest: it can't be read: it is a directory"]


def test_a_file_system_that_fails_is_not_taken_for_a_sound_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = release(tmp_path)

    def fails(*given: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("anon_spark.io.local_files.LocalFiles.digest", fails)
    # over Connect the server may see what this process does not
    assert "can't be seen from here" in str(verify_files(remote(), Sink(path=str(out)), "job.yaml").unknown)
    monkeypatch.setattr("anon_spark.job.verify.is_connect", lambda spark: False)
    with pytest.raises(PlatformError, match=r"job\.yaml: output\.path: its manifest could not be compared.*Permission denied"):
        verify_files(remote(), Sink(path=str(out)), "job.yaml")


FILES = (Finding("files", "manifest: 1 data file cut"),)
KNOWN = Verified(told="1 data file as published", job="lattice", models=({"model": "k-anonymity", "k": 5},))


@pytest.mark.parametrize(
    ("verified", "k", "rule", "told"),
    [
        (KNOWN, 5, "k-anonymity", None),
        (KNOWN, 9, "k-anonymity", "made by job lattice, k-anonymity (k = 5); this file asks for job lattice, k-anonymity (k = 9)"),
        (Verified(FILES, job="top-down", models=KNOWN.models), 5, "labels", "by job top-down, k-anonymity (k = 5); this file asks for"),
        (Verified(FILES, job="lattice", models=KNOWN.models), 5, "labels", None),
        (KNOWN, 5, "labels", "was it made with other columns, hierarchies or bounds than this file's?"),
        (Verified(unknown="no manifest"), 5, "columns", f"is out/r a release? A run of this file writes csv files and {MANIFEST} there"),
        (Verified(unknown="no manifest"), 5, "k-anonymity", None),
        (Verified(FILES), 5, "columns", None),
    ],
)
def test_another_policy_is_told_from_a_release_that_was_changed(verified: Verified, k: int, rule: str, told: str | None) -> None:
    columns = (Column(name="zip", role="quasi-identifier"),)
    models = (ModelSpec(model="k-anonymity", parameters={"k": k}),)
    policy = Policy(job="lattice", columns=columns, privacy=models, output=Sink(path="out/r", format="csv"))
    found = otherwise_made(verified, [Finding(rule, "something")], policy)
    assert len(found) == (told is not None) and all(str(told) in line for line in found)
