"""report.json: the whole account of one run, frozen, with every key of DESIGN always there (null where it has no meaning)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from anon_spark.domain.errors import DataError, Fault, InternalError
from anon_spark.report.parts import (
    AuditFindings,
    ClassSize,
    Finding,
    Input,
    LatticeFigures,
    LossFigures,
    ModelFinding,
    Number,
    Output,
    Provenance,
    Risk,
    Step,
    Suppressed,
)
from anon_spark.report.plain import number, plain

SCHEMA_VERSION = 1
STATUS_OF_EXIT: Mapping[int, str] = {
    0: "published", 1: "internal-error", 2: "configuration-error", 3: "data-error", 4: "infeasible", 5: "refused",
    6: "none-found", 7: "environment-failed", 8: "output-held", 130: "interrupted",
}  # fmt: skip
"""Exit code -> status. A release handed to the caller and written nowhere has the status RETURNED."""
RETURNED = "returned"
SUCCESSES = (STATUS_OF_EXIT[0], RETURNED)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What one run was asked, did and found; holds no row and no raw value of a quasi-identifier.

    status: one of STATUS_OF_EXIT or RETURNED; started: ISO 8601 with its zone; seconds: wall time of the run. An object that a
    job has no meaning for is None. policy: the configuration as plain values, without secrets.
    """

    job: str
    status: str
    started: str
    release_id: str | None = None
    seconds: Number | None = None
    steps: tuple[Step, ...] = ()
    input: Input | None = None
    output: Output | None = None
    suppressed: Suppressed | None = None
    models: tuple[ModelFinding, ...] = ()
    loss: LossFigures | None = None
    lattice: LatticeFigures | None = None
    audit: AuditFindings | None = None
    risk: Risk | None = None
    utility: Mapping[str, object] | None = None
    warnings: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    policy: Mapping[str, object] = field(default_factory=dict)
    provenance: Provenance | None = None
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        if self.status not in (*STATUS_OF_EXIT.values(), RETURNED):
            raise InternalError(
                f"a report's status must be one of {', '.join((*STATUS_OF_EXIT.values(), RETURNED))}, got {self.status}"
            )
        if self.status in SUCCESSES and self.audit is not None and not self.audit.ok:
            raise InternalError(f"a report cannot be {self.status} when the audit refused the release")

    @property
    def published(self) -> bool:
        """Whether the run ended with a release that may be used."""
        return self.status in SUCCESSES

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, keys in DESIGN's order; floats of 12 significant digits, times in milliseconds, never NaN."""
        out = {key: plain(getattr(self, key)) for key in KEYS}
        out["seconds"] = _seconds(self.seconds)
        out["steps"] = [{"step": s.step, "seconds": _seconds(s.seconds), "text": s.text} for s in self.steps]
        return out

    def to_json(self) -> str:
        """The text of report.json: UTF-8 as it is, two blanks of indent, a newline at the end."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], where: str = "report.json") -> Report:
        """The report that ``to_dict`` wrote; keys that this version does not know are ignored.

        Raises DataError when a key is missing or the document is of another schema version.
        """
        _refuse_unreadable(document, where)
        try:
            values: dict[str, Any] = {key: _read(key, document[key]) for key in KEYS}
            return cls(**values)
        except (TypeError, KeyError, AttributeError, ValueError, InternalError) as error:
            fault = Fault(where, "", "a document that is no report", advice="write it again by running the job")
            raise DataError([fault]) from error


KEYS = (
    "schema_version", "job", "status", "release_id", "started", "seconds", "steps", "input", "output", "suppressed", "models",
    "loss", "lattice", "audit", "risk", "utility", "warnings", "versions", "policy", "provenance",
)  # fmt: skip
"""The keys of report.json, in DESIGN's order, then what came later."""

Part = TypeVar("Part")


def _read(key: str, value: Any) -> Any:
    """The value of one key of the document, null as None."""
    return value if value is None or key not in _READERS else _READERS[key](value)


def _seconds(value: Number | None) -> float | None:
    known = None if value is None else number(value)
    return None if known is None else round(float(known), 3)


def _part(kind: type[Part], entry: Mapping[str, Any]) -> Part:
    """A part from its JSON object, unknown keys left out."""
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    return kind(**{key: value for key, value in entry.items() if key in known})


def _parts(kind: type[Part]) -> Callable[[Sequence[Mapping[str, Any]]], tuple[Part, ...]]:
    return lambda entries: tuple(_part(kind, entry) for entry in entries)


def _output(entry: Mapping[str, Any]) -> Output:
    sizes = entry["class_size"]
    return Output(entry["rows"], entry["classes"], None if sizes is None else _part(ClassSize, sizes))


def _lattice(entry: Mapping[str, Any]) -> LatticeFigures:
    minimal = entry["minimal"]
    return _part(LatticeFigures, {**entry, "minimal": None if minimal is None else tuple(tuple(node) for node in minimal)})


def _audit(entry: Mapping[str, Any]) -> AuditFindings:
    return AuditFindings(entry["ok"], _parts(Finding)(entry["findings"]))


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "steps": _parts(Step),
    "input": lambda entry: _part(Input, entry),
    "output": _output,
    "suppressed": lambda entry: _part(Suppressed, entry),
    "models": _parts(ModelFinding),
    "loss": lambda entry: _part(LossFigures, entry),
    "lattice": _lattice,
    "audit": _audit,
    "risk": lambda entry: _part(Risk, entry),
    "warnings": tuple,
    "provenance": lambda entry: _part(Provenance, entry),
}


def _refuse_unreadable(document: Mapping[str, Any], where: str) -> None:
    """Raise DataError for a document of another schema version or without one of the keys."""
    version = document.get("schema_version") if isinstance(document, Mapping) else None
    if version != SCHEMA_VERSION:
        expected = str(SCHEMA_VERSION)
        raise DataError(
            [Fault(where, "schema_version", repr(version), expected, "read it with the version of anon-spark that wrote it")]
        )
    if missing := [key for key in KEYS if key not in document]:
        raise DataError([Fault(where, key, "nothing", "a key, null where it has no meaning") for key in missing])
