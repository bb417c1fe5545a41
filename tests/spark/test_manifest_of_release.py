"""The manifest of a release as it is published, what the owner's report says besides, and the audit of files that are not those."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import runner
from pyspark.sql import SparkSession

from anon_spark import Policy, anonymize
from anon_spark.cli.main import cli
from anon_spark.io.files import _ArrowFiles, _HadoopFiles, is_connect
from anon_spark.io.local_files import LocalFiles
from anon_spark.io.manifest import MANIFEST, checksums
from anon_spark.job.provenance import input_fingerprint
from jobs import policy, quasi, tree

pytestmark = pytest.mark.spark

ROWS = [("f", "53711", "flu", 1), ("f", "53712", "cold", 2), ("m", "53711", "flu", 3), ("m", "53799", None, 4)] * 3
SCHEMA = "sex string, zip string, illness string, visits int"


def asked(folder: Path, **more: Any) -> Policy:
    others = [{"name": "illness", "role": "sensitive"}, {"name": "visits", "role": "insensitive"}]
    columns = [quasi("sex"), quasi("zip", {"mask": "right"}), *others]
    models = [{"model": "alpha-deassociation", "column": "illness", "values": ["flu"], "alpha": "1/2", "refined": True}]
    output = {"format": "parquet", "path": str(folder / "out"), "mode": "overwrite"}
    return policy(columns, k=3, models=models, output=output, report={"path": str(folder / "report")}, **more)


def published(spark: SparkSession, folder: Path, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The manifest and the report of a run."""
    anonymize(spark.createDataFrame(ROWS, SCHEMA), asked(folder, **more))
    return json.loads((folder / "out" / MANIFEST).read_text()), json.loads((folder / "report/report.json").read_text())


@pytest.mark.parametrize("job", ["lattice", "top-down"])
def test_what_is_published_and_what_the_owner_alone_is_told(spark: SparkSession, tmp_path: Path, job: str) -> None:
    manifest, report = published(spark, tmp_path, job=job)
    assert list(manifest) == ["schema_version", "release_id", "created", "job", "models", "audit", "files"]
    assert (manifest["schema_version"], manifest["release_id"], manifest["job"]) == (1, report["release_id"], job)
    assert manifest["created"] >= report["started"] and manifest["audit"] == {"ok": True}
    alpha = {"column": "illness", "values": ["flu"], "alpha": 0.5, "refined": True}
    assert manifest["models"] == [{"model": "k-anonymity", "k": 3}, {"model": "alpha-deassociation", **alpha}]
    data = sorted((tmp_path / "out").glob("part-*"))
    assert data and manifest["files"] == [
        {"path": path.name, "size": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()} for path in data
    ]
    own = report["provenance"]
    assert own["manifest_sha256"] == hashlib.sha256((tmp_path / "out" / MANIFEST).read_bytes()).hexdigest()
    assert {key: len(value) for key, value in own.items()} == dict.fromkeys(own, 64) and report["versions"]["spark"] == spark.version
    for path in (tmp_path / "out").iterdir():
        assert not [key for key in own if own[key].encode() in path.read_bytes()], path
    assert str(tmp_path) not in (tmp_path / "out" / MANIFEST).read_text()
    # readers see rows alone
    assert spark.read.parquet(str(tmp_path / "out")).columns == ["sex", "zip", "illness", "visits"]
    assert spark.read.parquet(str(tmp_path / "out")).count() == 12


def test_the_fingerprint_is_of_the_inputs_rows_in_any_order_and_of_its_key(spark: SparkSession, tmp_path: Path) -> None:
    own = published(spark, tmp_path)[1]["provenance"]
    key = own["fingerprint_key"]

    def of(rows: list[tuple], key: str = key) -> str:
        return input_fingerprint(spark.createDataFrame(rows, SCHEMA).repartition(3), asked(tmp_path), key)

    assert of(ROWS) == of(ROWS[::-1]) == own["input_fingerprint"]
    assert of([*ROWS[:-1], ("m", "53799", "", 4)]) != of(ROWS) != of(ROWS[1:]) != of([*ROWS, ROWS[0]])
    assert of(ROWS, "0" * 64) != of(ROWS)
    again = published(spark, tmp_path)[1]["provenance"]
    assert again["fingerprint_key"] != key and again["input_fingerprint"] != own["input_fingerprint"]
    other = published(spark, tmp_path, suppression={"limit": 0.1})[1]["provenance"]
    assert again["policy_sha256"] == own["policy_sha256"] != other["policy_sha256"]


def test_a_policys_hash_is_of_its_hierarchies_too(spark: SparkSession, tmp_path: Path) -> None:
    hashes = []
    for top in ("North", "South"):
        columns = [quasi("town", tree(tmp_path, "towns", f"a;{top};*", f"b;{top};*"))]
        with anonymize(spark.createDataFrame([("a",), ("b",)] * 2, "town string"), policy(columns, staging=tmp_path)) as release:
            assert release.report.provenance is not None and release.report.provenance.manifest_sha256 is None
            hashes.append(release.report.provenance.policy_sha256)
    assert hashes[0] != hashes[1]


class Published:
    """A release of several files with its configuration, to be spoilt."""

    def __init__(self, spark: SparkSession, folder: Path, kind: str):
        self.out, self.conf = folder / "out", folder / "job.yaml"
        made = asked(folder).to_dict()
        made["output"]["format"] = kind
        made["output"]["partition_by"] = []
        made["input"] = {"format": "parquet", "path": str(folder / "gone")}
        self.conf.write_text(json.dumps({key: value for key, value in made.items() if value is not None}))
        anonymize(spark.createDataFrame(ROWS, SCHEMA), Policy.from_yaml(self.conf))
        (self.data,) = self.out.glob("part-*")
        self.bytes = self.data.read_bytes()

    def audited(self, code: int, *lines: str) -> str:
        """What the command prints; its error lines are as many as expected, each with its text."""
        for crc in self.out.glob(".*.crc"):
            crc.unlink()
        found = runner().invoke(cli, ["audit", str(self.conf)])
        assert found.exit_code == code, (found.output, found.exception)
        told = [line for line in found.stderr.splitlines() if not line.startswith("anon-spark: ")]
        assert len(told) == len(lines) and all(text in line for text, line in zip(lines, told, strict=True)), told
        assert "Traceback" not in found.output and "org.apache" not in found.output
        return found.stdout


@pytest.mark.parametrize("kind", [pytest.param("parquet", marks=pytest.mark.parity), "csv"])
def test_the_audit_verifies_the_manifest(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    release = Published(spark, tmp_path, kind)
    manifest = release.out / MANIFEST
    name, text = release.data.name, manifest.read_text()
    assert f"manifest: 1 data file as published by release {json.loads(text)['release_id']}" in release.audited(0)

    def spoilt(data: bytes) -> None:
        release.data.write_bytes(data)

    spoilt(release.bytes[:-9])
    release.audited(5, f"manifest: 1 data file cut: {name!r}")
    spoilt(b"")
    release.audited(5, f"manifest: 1 data file cut: {name!r} (0 of ")
    # one bit of one byte, which no reader need notice
    at = release.bytes.index(b"flu")
    spoilt(release.bytes[:at] + bytes([release.bytes[at] ^ 1]) + release.bytes[at + 1 :])
    release.audited(5, "manifest: 1 data file changed since publication")
    spoilt(release.bytes)
    shutil.copy(release.data, release.out / f"part-1{release.data.suffix}")
    release.audited(5, f"manifest: 1 data file that it does not name: 'part-1{release.data.suffix}'")
    release.data.unlink()
    release.audited(5, f"manifest: 1 data file missing: {name!r}", "that it does not name")
    (release.out / f"part-1{release.data.suffix}").unlink()
    spoilt(release.bytes)
    manifest.write_text("{}")
    release.audited(5, "manifest: it can't be read: its schema_version is none, and this version of anon-spark reads 1")
    manifest.write_text(text[:100])
    release.audited(5, "manifest: it can't be read: it is no JSON text")
    manifest.unlink()
    release.audited(5, f"manifest: it is gone: {tmp_path}/report/report.json tells that one was published")
    shutil.rmtree(tmp_path / "report")
    assert "not known: whether its files are those that were published: no manifest is seen beside them" in release.audited(0)


def test_what_the_audit_cant_know_without_the_input_is_said(spark: SparkSession, tmp_path: Path) -> None:
    told = Published(spark, tmp_path, "parquet").audited(0).partition("not known without the input:\n")[2]
    for words in (
        "how many rows the input had", "raw value lies under its label", "published as they are hold the input's values",
        "several rows are of one person", "types of the input's columns",
    ):  # fmt: skip
        assert sum(line.startswith("  ") and words in line for line in told.splitlines()) == 1, words


def test_every_file_system_takes_the_same_checksums(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name, data in (("part-0", b"abc"), ("sex=%2A/é part-1", b"x" * 2_500_000), ("_SUCCESS", b"")):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(data)
    ours = checksums(LocalFiles("/"), str(out))
    assert {path: one.size for path, one in ours.items()} == {"part-0": 3, "sex=%2A/é part-1": 2_500_000}
    assert checksums(_ArrowFiles(f"file://{out}"), f"file://{out}") == ours
    if not is_connect(spark):
        jvm: Any = spark._jvm
        configuration = spark._jsparkSession.sessionState().newHadoopConf()
        hadoop = _HadoopFiles(jvm, jvm.org.apache.hadoop.fs.Path(str(out)).getFileSystem(configuration))
        assert checksums(hadoop, str(out)) == checksums(hadoop, f"file:{out}") == ours
