"""Whether the files of a published release are those that were published with its manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from anon_spark.audit.files_published import file_findings
from anon_spark.audit.result import Finding
from anon_spark.domain.counting import counted
from anon_spark.domain.errors import AnonError, ConfigurationError, DataError, Fault
from anon_spark.domain.manifest import ManifestError
from anon_spark.domain.policy import Policy, Sink
from anon_spark.io.files import Files, file_faults, is_connect
from anon_spark.io.manifest import MANIFEST, digests, read_manifest, sizes, strangers
from anon_spark.io.places import normal, opened
from anon_spark.io.stored_tables import full_name, stored_table
from anon_spark.job.last_report import LastPublished
from anon_spark.job.provenance import models_of
from anon_spark.report import words


@dataclass(frozen=True)
class Verified:
    """What was found of a release's files. told: a sentence where they were compared; unknown: one where they could not be; job, models:
    those that its manifest says it was made by and for."""

    findings: tuple[Finding, ...] = ()
    told: str | None = None
    unknown: str | None = None
    job: str | None = None
    models: tuple[Mapping[str, object], ...] = ()


def verify_files(spark: SparkSession, sink: Sink, where: str, last: LastPublished | None = None) -> Verified:
    """Compare the files of a published release with its manifest, if it has one. last: the release that the owner's report says was
    published there: a manifest that is gone since, or is another by the same id, is a finding.

    Raises PlatformError where a file system fails that should answer; over Connect a server may see files that this process does not.
    """
    key = "output.path" if sink.table is None else "output.table"
    try:
        release = _place(spark, sink, where)
        if release is None:
            return Verified(unknown="whether its rows are those that were published: a table that is no directory has no manifest")
        files = opened(spark, release, where, key)
        with file_faults(where, key, "its manifest could not be compared with its files"):
            return _verified(files, normal(release), last)
    except AnonError:
        if not is_connect(spark):
            raise
        return Verified(unknown="whether its files are those that were published: they can't be seen from here")


def refuse_other_job(verified: Verified, policy: Policy) -> None:
    """ConfigurationError where another job made the release than the policy names: its labels are others, and would look wrong."""
    if verified.job not in (None, policy.job) and not verified.findings:
        expected = f"{verified.job}, which made this release, as its manifest says"
        raise ConfigurationError([Fault(policy.where, "job", policy.job, expected, f"add --set job={verified.job}")])


def otherwise_made(verified: Verified, findings: Sequence[Finding], policy: Policy) -> tuple[str, ...]:
    """A sentence for whoever reads what an audit found, where not the release but the policy may be the wrong one."""
    rules = {finding.rule for finding in findings}
    if verified.job is None:
        sink = policy.output
        doubted = sink is not None and sink.path is not None and "columns" in rules and not verified.findings
        return (_doubt(sink),) if sink is not None and doubted else ()
    made, asked = (verified.job, _told(verified.models)), (policy.job, _told(models_of(policy)))
    if made != asked:
        ours, theirs = (f"job {job}, {models or 'no model'}" for job, models in (asked, made))
        return (f"manifest: this release was made by {theirs}; this file asks for {ours}",)
    if verified.told and not rules.isdisjoint(("columns", "labels")):
        return ("manifest: its files are as they were published: was it made with other columns, hierarchies or bounds than this file's?",)
    return ()


def doubting_release(error: Exception, verified: Verified, sink: Sink) -> Exception:
    """The error of a directory that could not be read as a release, with what a release would hold and where that was looked for, if it
    has no manifest."""
    if not isinstance(error, DataError) or verified.job is not None or sink.path is None:
        return error
    return DataError([
        fault if fault.found.startswith("nothing") else replace(fault, advice="; ".join(filter(None, (fault.advice, _doubt(sink)))))
        for fault in error.faults
    ])  # fmt: skip


def _doubt(sink: Sink) -> str:
    return f"is {sink.path} a release? A run of this file writes {sink.format} files and {MANIFEST} there"


def _told(models: Sequence[Mapping[str, object]]) -> str:
    return ", ".join(words.model(str(given["model"]), {key: given[key] for key in sorted(given) if key != "model"}) for given in models)


def _place(spark: SparkSession, sink: Sink, where: str) -> str | None:
    """The directory of a published release; None where it has none, or there is no such table."""
    if sink.table is None:
        return sink.path
    stored = stored_table(spark, full_name(spark, sink.table, where), where)
    return None if stored is None else stored.location


def _verified(files: Files, release: str, last: LastPublished | None) -> Verified:
    try:
        manifest = read_manifest(files, release)
    except ManifestError as error:
        return Verified((Finding("files", f"manifest: it can't be read: {error}"),))
    if manifest is None and last is not None and files.exists(release):
        return Verified((Finding("files", f"manifest: it is gone: {last.report} tells that one was published"),))
    if manifest is None:
        return Verified(unknown="whether its files are those that were published: no manifest is seen beside them")
    found = file_findings(manifest.files, sizes(files, release), lambda paths: digests(files, release, paths), strangers(files, release))
    if last is not None and last.release_id == manifest.release_id:
        (sha256,) = digests(files, release, [MANIFEST])
        if sha256 != last.manifest_sha256:
            found.append(Finding("files", f"manifest: it was changed since publication: {last.report} tells another SHA-256 of it"))
    if not manifest.audited:
        found.append(Finding("files", "manifest: it says that the audit refused this release"))
    if found:
        return Verified(tuple(found), job=manifest.job, models=manifest.models)
    told = f"{counted(len(manifest.files), 'data file')} as published by release {manifest.release_id} of {manifest.created}"
    later = last is not None and last.release_id != manifest.release_id
    unknown = f"whether a later run made it than that of {last.report}, which tells another release" if last and later else None
    return Verified(told=told, unknown=unknown, job=manifest.job, models=manifest.models)
