"""What a data owner asks for: the job configuration as frozen values. Knows no schema, no Spark, no YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

Job = Literal[
    "lattice", "top-down", "bottom-up", "alpha-k-top-down", "alpha-k-progressive", "ncp-clustering", "k-member", "kab", "milif",
    "anatomy", "bucketization", "tds", "pda", "marginals", "m-invariance",
]  # fmt: skip
Role = Literal["identifier", "person", "quasi-identifier", "sensitive", "insensitive", "label"]
ColumnType = Literal["string", "integer", "decimal", "double", "date", "timestamp", "boolean"]
Loss = Literal["gcp", "distortion", "glm", "discernibility", "c-avg"]
ROOT = "*"
"""The label of every hierarchy's root."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the table comes from: exactly one of path (with format), table and query; path may be absent for jdbc-like formats."""

    format: str | None = None
    path: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    table: str | None = None
    query: str | None = None
    snapshot: Literal["auto", "stage", "none"] = "auto"


@dataclass(frozen=True, kw_only=True)
class Sink:
    """Where the release goes: exactly one of path (with format), table, or jdbc by format and options."""

    format: str = "parquet"
    path: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    table: str | None = None
    mode: Literal["error", "overwrite"] = "error"
    partition_by: tuple[str, ...] = ()

    @property
    def place(self) -> str | None:
        """The directory or table by its name."""
        given = {name.lower(): value for name, value in self.options.items()}
        return self.path or self.table or given.get("dbtable")


@dataclass(frozen=True, kw_only=True)
class HierarchySpec:
    """Common to every kind. others: what becomes of values outside it; inner: what becomes of a value that is an inner node."""

    others: Literal["fail", "root"] = "fail"
    inner: Literal["fail", "accept"] = "fail"


@dataclass(frozen=True, kw_only=True)
class FileHierarchy(HierarchySpec):
    """A text file, one line a leaf: ``leaf<sep>parent<sep>...<sep>root``, no header, UTF-8; lines may be ragged."""

    path: str
    sep: str = ";"


@dataclass(frozen=True, kw_only=True)
class IntervalHierarchy(HierarchySpec):
    """Level i is the grid of widths[i - 1], the root comes last. Dates: widths in days, origin, lower and upper ISO dates.

    Values below ``lower`` form one open node ``< lower``, values from ``upper`` on one node ``>= upper``, at every level but 0.
    """

    widths: tuple[Fraction, ...]
    origin: Fraction | str | None = None
    lower: Fraction | str | None = None
    upper: Fraction | str | None = None


@dataclass(frozen=True, kw_only=True)
class MaskHierarchy(HierarchySpec):
    """Level i masks steps[i - 1] characters from ``side`` (default: one more a level, up to the longest value); the root is last."""

    side: Literal["left", "right"] = "right"
    character: str = "*"
    steps: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class DateHierarchy(HierarchySpec):
    """Level i is units[i - 1]: hour, day (timestamps only), month, quarter, half, year, decade, century; the root is last."""

    units: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FlatHierarchy(HierarchySpec):
    """The value, then the root."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the input. weight, hierarchy, type, levels and trim are for quasi-identifiers (type string for any column, which
    is then read as text); nulls for sensitive columns."""

    name: str
    role: Role
    type: ColumnType | None = None
    hierarchy: FileHierarchy | IntervalHierarchy | MaskHierarchy | DateHierarchy | FlatHierarchy | None = None
    weight: Fraction = Fraction(1)
    min_level: int = 0
    max_level: int | None = None
    trim: bool = False
    nulls: Literal["value", "ignore"] = "value"


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """A privacy model by name, with its parameters as exact values: int, Fraction, bool, str, tuple of str, dict of Fraction, None."""

    model: str
    column: str | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Suppression:
    """limit: the share of rows that may be suppressed, in [0, 1); show: dropped, or printed as ``*`` where that class holds every model."""

    limit: Fraction = Fraction(0)
    show: Literal["drop", "star"] = "drop"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """driver_megabytes: frequency sets up to this size are decided in one process. staging: a directory for intermediates."""

    driver_megabytes: int = 64
    block_combinations: int | Literal["auto"] = "auto"
    staging: str | None = None


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A whole job configuration, defaults filled in, consistent in itself. ``where`` names its file in messages."""

    job: Job = "lattice"
    input: Source | None = None
    output: Sink | None = None
    report: str | None = None
    columns: tuple[Column, ...] = ()
    unlisted: Literal["fail", "drop", "keep"] = "fail"
    nulls: Literal["value", "suppress", "fail"] = "value"
    privacy: tuple[ModelSpec, ...] = ()
    suppression: Suppression = Suppression()
    loss: Loss = "gcp"
    numeric: Literal["interval", "bounds"] = "interval"
    bounds: Literal["tight", "intervals"] = "tight"
    seed: int | None = None
    settings: Settings = Settings()
    where: str = "policy"

    def of_role(self, role: Role) -> tuple[Column, ...]:
        """The columns of one role, in the configured order."""
        return tuple(column for column in self.columns if column.role == role)

    @property
    def quasi_identifiers(self) -> tuple[Column, ...]:
        """The quasi-identifiers in the configured order: the order of every level vector."""
        return self.of_role("quasi-identifier")
