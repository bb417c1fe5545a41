"""The keys of a configuration, section by section, as pydantic models: strict, nothing extra. What spans keys is elsewhere."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from anon_spark.config.notes import show
from anon_spark.config.scalars import (
    LARGEST,
    Flag,
    Level,
    Limit,
    Name,
    Positive,
    Refused,
    Text,
    Value,
    Whole,
    checked,
    choice,
)
from anon_spark.config.unbuilt import BUILT_JOBS
from anon_spark.domain.policy import ColumnType, Job, Loss, Role

Snapshot = Literal["auto", "stage", "none"]
Mode = Literal["error", "overwrite"]
Unlisted = Literal["fail", "drop", "keep"]
Nulls = Literal["value", "suppress", "fail"]
SensitiveNulls = Literal["value", "ignore"]
Show = Literal["drop", "star"]
Numeric = Literal["interval", "bounds"]
Bounds = Literal["tight", "intervals"]


class Keys(BaseModel):
    """Root of all sections. A key without a default must be given; its description says what is wanted."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    MEANT: ClassVar[str] = ""
    """The key that a lone value in place of the section most likely means."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The keys as they are written."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())


def _blocks(value: object) -> int | str:
    if isinstance(value, str):
        if value != "auto":
            raise Refused(show(value), "auto or an integer >= 1")
        return value
    return Whole(1)(value)


class TopKeys(Keys):
    """The top of the file; the sections are read on their own, so that one fault hides no other."""

    job: Annotated[Job, choice(get_args(Job), BUILT_JOBS)] = "lattice"
    input: Any = None
    output: Any = None
    report: Any = None
    columns: Any = None
    unlisted: Annotated[Unlisted, choice(get_args(Unlisted))] = "fail"
    nulls: Annotated[Nulls, choice(get_args(Nulls))] = "value"
    privacy: Any = None
    suppression: Any = None
    loss: Annotated[Loss, choice(get_args(Loss))] = "gcp"
    numeric: Annotated[Numeric, choice(get_args(Numeric))] = "interval"
    bounds: Annotated[Bounds, choice(get_args(Bounds))] = "tight"
    seed: Annotated[int | None, checked(Whole(-LARGEST))] = None
    settings: Any = None


class SourceKeys(Keys):
    """``input``."""

    MEANT = "path"

    format: Text | None = None
    path: Text | None = None
    options: dict[str, Value] = Field(default_factory=dict)
    table: Text | None = None
    query: Text | None = None
    snapshot: Annotated[Snapshot, choice(get_args(Snapshot))] = "auto"


class SinkKeys(Keys):
    """``output``."""

    MEANT = "path"

    format: Text = "parquet"
    path: Text | None = None
    options: dict[str, Value] = Field(default_factory=dict)
    table: Text | None = None
    mode: Annotated[Mode, choice(get_args(Mode))] = "error"
    partition_by: list[Name] = Field(default_factory=list)


class ReportKeys(Keys):
    """``report``."""

    MEANT = "path"

    path: Text = Field(description="a directory, apart from the output")


class ColumnKeys(Keys):
    """One entry of ``columns``; the hierarchy is read on its own."""

    name: Name = Field(description="the column's name in the input")
    role: Annotated[Role, choice(get_args(Role))] = Field(description="one of " + ", ".join(get_args(Role)))
    type: Annotated[ColumnType | None, choice(get_args(ColumnType))] = None
    hierarchy: Any = None
    weight: Positive | None = None
    min_level: Level = 0
    max_level: Level | None = None
    trim: Flag = False
    nulls: Annotated[SensitiveNulls, choice(get_args(SensitiveNulls))] = "value"


class SuppressionKeys(Keys):
    """``suppression``."""

    MEANT = "limit"

    limit: Limit | None = None
    show: Annotated[Show, choice(get_args(Show))] = "drop"


class SettingsKeys(Keys):
    """``settings``."""

    driver_megabytes: Level = 64
    block_combinations: Annotated[int | Literal["auto"], checked(_blocks)] = "auto"
    staging: Text | None = None


SECTIONS: dict[str, type[Keys]] = {
    "the top of the file": TopKeys,
    "input": SourceKeys,
    "output": SinkKeys,
    "a column": ColumnKeys,
    "suppression": SuppressionKeys,
    "settings": SettingsKeys,
}
"""Where the keys stand, in words."""


def places_of(name: str) -> list[str]:
    """Where a key of this name stands."""
    return [place for place, schema in SECTIONS.items() if name in schema.names()]
