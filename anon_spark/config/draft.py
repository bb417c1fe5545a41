"""The whole configuration read section by section: what of it is sound stands ready for the checks across sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anon_spark.config.hierarchy_keys import read_hierarchy
from anon_spark.config.keys import (
    ColumnKeys,
    ReportKeys,
    SettingsKeys,
    SinkKeys,
    SourceKeys,
    SuppressionKeys,
    TopKeys,
)
from anon_spark.config.model_keys import MODELS, ModelKeys
from anon_spark.config.notes import Key, Notes, did_you_mean, show
from anon_spark.config.pieces import Piece, read_piece
from anon_spark.domain.policy import HierarchySpec


@dataclass(frozen=True)
class ColumnDraft:
    """One column; hierarchy is None where none is given or a faulty one is; name: None where it can't be read."""

    piece: Piece[ColumnKeys]
    hierarchy: HierarchySpec | None = None
    name: str | None = None

    @property
    def keys(self) -> ColumnKeys | None:
        """What could be read of it."""
        return self.piece.keys

    @property
    def role(self) -> str | None:
        """Its role; None where it could not be read."""
        return self.piece.part.role if self.piece.part and self.piece.sound("role") else None


@dataclass(frozen=True)
class ModelDraft:
    """One privacy model; parameters as they were read, without ``model`` and ``column``."""

    piece: Piece[ModelKeys]

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameter name, as it is written -> value, defaults included."""
        fields = type(self.piece.keys).model_fields.items() if self.piece.keys else ()
        return {alias.alias or name: getattr(self.piece.keys, name) for name, alias in fields if name not in ("model", "column")}


@dataclass(frozen=True)
class Draft:
    """A configuration before the checks across its keys. asked: the models named, sound or not."""

    top: Piece[TopKeys]
    input: Piece[SourceKeys] | None = None
    output: Piece[SinkKeys] | None = None
    report: Piece[ReportKeys] | None = None
    suppression: Piece[SuppressionKeys] | None = None
    settings: Piece[SettingsKeys] | None = None
    columns: list[ColumnDraft] = field(default_factory=list)
    privacy: list[ModelDraft] = field(default_factory=list)
    asked: frozenset[str] = frozenset()

    @property
    def job(self) -> str | None:
        """The job that is asked for; None where that could not be read."""
        return self.top.keys.job if self.top.keys and "job" not in self.top.bad else None

    @property
    def roles_known(self) -> bool:
        """Whether every column could be read, so that what is missing is really missing."""
        return bool(self.columns) and all(column.keys is not None and column.role is not None for column in self.columns)

    def lacks(self, name: str) -> bool:
        """Whether no column is called so, though the roles of some may not be known."""
        names = [column.name for column in self.columns]
        return bool(names) and None not in names and name not in names

    def of_role(self, role: str) -> list[ColumnDraft]:
        """The columns of one role."""
        return [column for column in self.columns if column.role == role]

    def names(self, *roles: str) -> list[str]:
        """The names of the columns of these roles (of all, if none is given)."""
        return [column.keys.name for column in self.columns if column.keys and (not roles or column.role in roles)]


def read_draft(raw: object, notes: Notes, *, models_wanted: bool = True) -> Draft:
    """Read every section of a plain configuration, noting every fault within one key, and that no model is asked for."""
    if not isinstance(raw, Mapping):
        notes.add((), "nothing" if raw is None else show(raw), "a mapping with keys of " + ", ".join(TopKeys.names()))
        return Draft(Piece((), None))
    top = read_piece(TopKeys, raw, (), notes)
    given = {name: value for name, value in raw.items() if value is not None}

    def section(schema: type[Any], name: str) -> Any:
        return read_piece(schema, given[name], (name,), notes) if name in given else None

    columns = _items(given, "columns", "one entry a column", notes)
    privacy = _items(given, "privacy", "one entry a model", notes) if models_wanted or given.get("privacy", []) != [] else []
    return Draft(
        top=top,
        input=section(SourceKeys, "input"),
        output=section(SinkKeys, "output"),
        report=section(ReportKeys, "report"),
        suppression=section(SuppressionKeys, "suppression"),
        settings=section(SettingsKeys, "settings"),
        columns=[_column(column, ("columns", number), notes) for number, column in enumerate(columns)],
        privacy=[_model(model, ("privacy", number), notes) for number, model in enumerate(privacy)],
        asked=frozenset(name for model in privacy if isinstance(model, Mapping) and isinstance(name := model.get("model"), str)),
    )


def _items(given: Mapping[str, object], name: str, meaning: str, notes: Notes) -> list[object]:
    value = given.get(name)
    if isinstance(value, list) and value:
        return value
    found = "nothing" if value is None else "text" if isinstance(value, str) else show(value)
    notes.add((name,), "an empty list" if isinstance(value, list) else found, f"a list with {meaning}")
    return []


def _column(raw: object, key: Key, notes: Notes) -> ColumnDraft:
    piece = read_piece(ColumnKeys, raw, key, notes)
    given = raw if isinstance(raw, Mapping) else {}
    name = piece.keys.name if piece.keys else given.get("name") if "name" not in piece.bad else None
    hierarchy = given.get("hierarchy") if "hierarchy" not in piece.bad else None
    tree = None if hierarchy is None else read_hierarchy(hierarchy, (*key, "hierarchy"), notes)
    return ColumnDraft(piece, tree, name if isinstance(name, str) else None)


def _model(raw: object, key: Key, notes: Notes) -> ModelDraft:
    if not isinstance(raw, Mapping):
        notes.add(key, show(raw), "a mapping with keys of model and its parameters")
        return ModelDraft(Piece(key, None))
    asked = raw.get("model")
    schema = MODELS.get(asked) if isinstance(asked, str) else None
    if schema is None:
        found = "nothing" if asked is None else show(asked)
        notes.add((*key, "model"), found, "one of " + ", ".join(MODELS), did_you_mean(asked, MODELS))
        return ModelDraft(Piece(key, None))
    return ModelDraft(read_piece(schema, raw, key, notes))
