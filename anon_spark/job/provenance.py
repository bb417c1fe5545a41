"""Where a release comes from: the manifest that is published with it, and what its owner's report alone says of input and policy."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from pyspark.sql import DataFrame

from anon_spark.audit.result import AuditResult
from anon_spark.config.door import as_dict
from anon_spark.domain.manifest import FileSum, Manifest
from anon_spark.domain.policy import Policy
from anon_spark.job.conservation import own_sums, with_own
from anon_spark.job.gather import without_null_rows
from anon_spark.job.schema import bind_schema
from anon_spark.plans.fetch import fetch_row
from anon_spark.report.parts import Provenance
from anon_spark.report.plain import plain

_KEY_BYTES = 32


def manifest_of(release_id: str, policy: Policy, audit: AuditResult, files: Mapping[str, FileSum]) -> Manifest:
    """The manifest of a release that is about to be published; says what was asked and found of it, nothing of its input."""
    created = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return Manifest(release_id, created, policy.job, models_of(policy), audit.ok, files)


def models_of(policy: Policy) -> tuple[dict[str, object], ...]:
    """The models of a policy as a manifest names them."""
    return tuple({"model": spec.model, **_asked(spec.column, spec.parameters)} for spec in policy.privacy)


def _asked(column: str | None, parameters: Mapping[str, object]) -> dict[str, object]:
    given = {**({"column": column} if column else {}), **parameters}
    return {name: plain(value) for name, value in given.items() if value is not None}


def provenance_of(policy: Policy, trees: Mapping[str, Sequence[Sequence[str]]], rows_in: Sequence[int], manifest: str | None) -> Provenance:
    """What the report keeps, its key drawn anew. trees: the lines of the policy's hierarchy files; manifest: its text, if any."""
    key = secrets.token_hex(_KEY_BYTES)
    asked = json.dumps({"policy": as_dict(policy), "hierarchies": dict(trees)}, sort_keys=True).encode()
    told = None if manifest is None else hashlib.sha256(manifest.encode()).hexdigest()
    return Provenance(hashlib.sha256(asked).hexdigest(), _keyed(key, rows_in), key, told)


def input_fingerprint(table: DataFrame, policy: Policy, key: str) -> str:
    """The fingerprint that a report holds if its release was made of these very rows, whatever their order (one scan).

    key: ``fingerprint_key`` of that report. Only columns that the policy publishes count.
    """
    bound = bind_schema(table.schema, policy, case_sensitive=True)
    return _keyed(key, [int(value or 0) for value in fetch_row(with_own(without_null_rows(table, policy), bound).agg(*own_sums()))])


def _keyed(key: str, rows_in: Sequence[int]) -> str:
    return hmac.new(bytes.fromhex(key), " ".join(map(str, rows_in)).encode(), hashlib.sha256).hexdigest()
