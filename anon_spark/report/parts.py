"""The parts of a report, each one object of report.json. Numbers may be exact (Fraction); None: it has no meaning here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from anon_spark.domain.recoding import FullDomainRecoding, Recoding
from anon_spark.metrics.table_risk import TableRisk

Number = int | float | Fraction


@dataclass(frozen=True)
class Step:
    """One step in the words of those who did it. seconds: wall time, None for a remark that took none of its own."""

    step: str
    seconds: Number | None
    text: str = ""


@dataclass(frozen=True)
class Input:
    """The table as read: all rows, those that ``nulls: suppress`` drops included; columns: how many it has."""

    rows: int
    columns: int


@dataclass(frozen=True)
class ClassSize:
    """Rows of a published class."""

    min: int
    median: Number
    mean: Number
    max: int


@dataclass(frozen=True)
class Output:
    """The release: rows published, and its classes by their printed labels. class_size: None where no row is published."""

    rows: int
    classes: int
    class_size: ClassSize | None


@dataclass(frozen=True)
class Suppressed:
    """rows, share: what is charged to the suppression limit, and its share; null_rows: dropped by ``nulls: suppress``, apart."""

    rows: int
    share: Number
    null_rows: int = 0


@dataclass(frozen=True)
class ModelFinding:
    """A privacy model as asked, whether the release holds it, and the worst class's value of it (for k the smallest class)."""

    model: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    holds: bool | None = None
    worst: Number | str | None = None


@dataclass(frozen=True)
class LossFigures:
    """METHODS 2.3-2.7 and 2.12 of the release. by_column: the unweighted part of gcp of each quasi-identifier, in [0, 1]."""

    gcp: Number | None = None
    gcp_lower_bound: Number | None = None
    distortion: Number | None = None
    glm: Number | None = None
    discernibility: int | None = None
    c_avg: Number | None = None
    by_column: Mapping[str, Number] = field(default_factory=dict)

    @classmethod
    def of(cls, recoding: Recoding, columns: Sequence[str], gcp_lower_bound: Number | None = None) -> LossFigures:
        """The figures of a recoding; columns: the quasi-identifiers in the configured order."""
        losses = recoding.losses
        squares = losses.get("discernibility")
        return cls(
            gcp=losses.get("gcp"),
            gcp_lower_bound=gcp_lower_bound,
            distortion=losses.get("distortion"),
            glm=losses.get("glm"),
            discernibility=None if squares is None else int(squares),
            c_avg=losses.get("c-avg"),
            by_column=dict(zip(columns, recoding.by_column, strict=True)),
        )


@dataclass(frozen=True)
class LatticeFigures:
    """The node chosen, how the full-QI lattice was searched. minimal: level vectors, ordered as ``levels``; None: not known."""

    levels: Mapping[str, int]
    nodes: int
    checked: int
    marked: int
    pruned: int
    minimal: tuple[tuple[int, ...], ...] | None = None

    @classmethod
    def of(cls, recoding: FullDomainRecoding, columns: Sequence[str]) -> LatticeFigures:
        """The figures of a full-domain recoding; columns: the quasi-identifiers in the configured order."""
        trace = recoding.trace
        levels = dict(zip(columns, recoding.levels, strict=True))
        return cls(levels, trace.nodes, trace.checked, trace.marked, trace.pruned, trace.minimal)


@dataclass(frozen=True)
class Finding:
    """One check of the audit: its name, whether the staged release passed it, the figures in a sentence without raw values."""

    check: str
    ok: bool
    text: str = ""


@dataclass(frozen=True)
class AuditFindings:
    """The audit's verdict; ``ok`` holds only if every finding does."""

    ok: bool
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Risk:
    """Re-identification risk in [0, 1], of the release and, ``_before``, of the raw rows; None where nothing is published or known.

    below_k_before: share of the raw rows in raw classes below k; None without a k. journalist_max: equal to the prosecutor's where the
    table is the whole population, an upper bound where it is a sample. marketer: expected share of rows linked right. unique_after:
    share of the published rows that are alone in their class.
    """

    prosecutor_max: Number | None
    prosecutor_mean: Number | None
    below_k_before: Number | None = None
    journalist_max: Number | None = None
    marketer: Number | None = None
    unique_after: Number | None = None
    prosecutor_max_before: Number | None = None
    prosecutor_mean_before: Number | None = None
    marketer_before: Number | None = None
    unique_before: Number | None = None

    @classmethod
    def of(
        cls, *, smallest: int, classes: int, rows: int, below_k_before: Number | None = None, before: TableRisk | None = None,
        unique: int | None = None,
    ) -> Risk:  # fmt: skip
        """The risks of a release: 1 / smallest class and classes / rows.  before: of the raw rows; unique: rows alone in their class,
        where it is known (none are where the smallest class has two)."""
        worst = Fraction(1, smallest) if smallest else None
        mean = Fraction(classes, rows) if rows else None
        alone = 0 if smallest > 1 else unique
        return cls(
            worst,
            mean,
            below_k_before,
            journalist_max=worst,
            marketer=mean,
            unique_after=None if alone is None or not rows else Fraction(alone, rows),
            prosecutor_max_before=None if before is None else before.prosecutor_max,
            prosecutor_mean_before=None if before is None else before.prosecutor_mean,
            marketer_before=None if before is None else before.marketer,
            unique_before=None if before is None else before.unique,
        )


@dataclass(frozen=True)
class Provenance:
    """Which policy made a release of which rows, for the owner alone.

    policy_sha256: of the policy and the lines of its hierarchy files; input_fingerprint: HMAC-SHA256, under ``fingerprint_key`` (new in
    each run), of the input's rows in any order; manifest_sha256: of the manifest's text, None where nothing was published.
    """

    policy_sha256: str
    input_fingerprint: str
    fingerprint_key: str
    manifest_sha256: str | None = None
