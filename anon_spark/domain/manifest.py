"""What is published beside a release's rows: who made it, what it holds, and which bytes belong to it. Nothing of the input."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

SCHEMA_VERSION = 1
_SHA256 = re.compile(r"[0-9a-f]{64}")


class ManifestError(ValueError):
    """A text that is no manifest of this version; says why in a few words."""


@dataclass(frozen=True)
class FileSum:
    """A file's bytes: how many, and their SHA-256 in hexadecimal."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """created: ISO 8601 in UTC; models: each with ``model`` and its parameters as plain values; audited: the audit's verdict;
    files: path of a data file below the release -> its bytes."""

    release_id: str
    created: str
    job: str
    models: tuple[Mapping[str, object], ...]
    audited: bool
    files: Mapping[str, FileSum]

    def to_json(self) -> str:
        """The text of the manifest: the files by their paths, so that two of the same files read alike."""
        files = [{"path": path, "size": one.size, "sha256": one.sha256} for path, one in sorted(self.files.items())]
        document = {
            "schema_version": SCHEMA_VERSION, "release_id": self.release_id, "created": self.created, "job": self.job,
            "models": [dict(model) for model in self.models], "audit": {"ok": self.audited}, "files": files,
        }  # fmt: skip
        return json.dumps(document, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """The manifest that ``to_json`` wrote; keys that this version does not know are ignored. Raises ManifestError."""
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise ManifestError("it is no JSON text") from None
        version = document.get("schema_version") if isinstance(document, dict) else None
        if version != SCHEMA_VERSION or isinstance(version, bool):
            shown = version if isinstance(version, int) else "none"
            raise ManifestError(f"its schema_version is {shown}, and this version of anon-spark reads {SCHEMA_VERSION}")
        try:
            audited = document["audit"]["ok"]
            release_id, created, job = (str(document[key]) for key in ("release_id", "created", "job"))
            models = tuple(dict(model) for model in document["models"])
            return cls(release_id, created, job, models, audited is True, _files(document["files"]))
        except (KeyError, TypeError, ValueError):
            raise ManifestError("it lacks a key, or has a value of another kind") from None


def _files(entries: list[dict[str, object]]) -> dict[str, FileSum]:
    found: dict[str, FileSum] = {}
    for entry in entries:
        path, size, sha256 = entry["path"], entry["size"], entry["sha256"]
        known = isinstance(path, str) and path not in found and isinstance(size, int) and isinstance(sha256, str)
        if not known or not _SHA256.fullmatch(str(sha256)):
            raise ValueError("no file")
        found[str(path)] = FileSum(int(str(size)), str(sha256))
    return found
