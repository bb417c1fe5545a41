"""What the report of a job's newest run tells of the release that it published: what an owner holds against a release's files."""

from __future__ import annotations

import contextlib
import json
import posixpath
from dataclasses import dataclass

from pyspark.sql import SparkSession

from anon_spark.config.door import as_dict
from anon_spark.domain.errors import AnonError
from anon_spark.domain.policy import Policy
from anon_spark.io.files import FILE_ERRORS
from anon_spark.io.places import normal, opened
from anon_spark.report.document import Report


@dataclass(frozen=True)
class LastPublished:
    """A release by its id, the SHA-256 of its manifest, and the report that tells them."""

    release_id: str
    manifest_sha256: str
    report: str


def last_published(spark: SparkSession, policy: Policy) -> LastPublished | None:
    """The release of the run that the policy's report is of; None where there is no such report, or its run published nothing there."""
    if policy.report is None:
        return None
    path = posixpath.join(normal(policy.report), "report.json")
    with contextlib.suppress(AnonError, ValueError, *FILE_ERRORS):
        report = Report.from_dict(json.loads(opened(spark, path, policy.where, "report.path").read(path)))
        told = report.provenance.manifest_sha256 if report.provenance else None
        if report.published and report.release_id and told and _place(report.policy) == _place(as_dict(policy)):
            return LastPublished(report.release_id, told, path)
    return None


def _place(policy: object) -> tuple[object, object] | None:
    """Path and table of the output of a policy as a report keeps it."""
    output = policy.get("output") if isinstance(policy, dict) else None
    return (output.get("path"), output.get("table")) if isinstance(output, dict) else None
