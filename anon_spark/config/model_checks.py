"""Checks of the privacy models against the columns, the loss, and their own parameters' interplay."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from anon_spark.config.draft import Draft, ModelDraft
from anon_spark.config.hierarchy_keys import read_hierarchy
from anon_spark.config.model_keys import (
    ConfidenceBound,
    EpsilonKSensitivity,
    LAlphaDiversity,
    LambdaAlphaK,
    LDiversity,
    ModelKeys,
    OneColumnKeys,
    TCloseness,
)
from anon_spark.config.notes import Key, Notes, did_you_mean, show
from anon_spark.config.pieces import Piece
from anon_spark.config.scalars import decimal
from anon_spark.domain.policy import FileHierarchy

MOST_LEVELS = 1000
"""Levels that a lambda is looked for."""


def check_models(draft: Draft, notes: Notes) -> None:
    """Note every fault of the models that spans keys, whatever else is wrong with the same model."""
    for model in draft.privacy:
        piece, keys = model.piece, model.piece.part
        if isinstance(keys, OneColumnKeys) and piece.sound("column"):
            _column(keys, piece.key, draft, notes)
        if isinstance(keys, LDiversity):
            _diversity(keys, piece, notes)
        elif isinstance(keys, TCloseness):
            _closeness(keys, piece, notes)
        elif isinstance(keys, EpsilonKSensitivity):
            if piece.sound("b", "weights") and keys.b is not None and keys.weights != "height":
                notes.add((*piece.key, "b"), "b beside weights uniform", "b with weights: height alone")
        elif isinstance(keys, ConfidenceBound) and piece.sound("given"):
            _given(keys, piece.key, draft, notes)
        if isinstance(keys, (EpsilonKSensitivity, LAlphaDiversity, LambdaAlphaK)) and piece.sound("levels"):
            _levels(keys, piece, notes)
    _persons(draft, notes)
    if draft.top.keys and draft.top.keys.loss == "c-avg" and draft.privacy and "k-anonymity" not in draft.asked:
        notes.add(("loss",), "c-avg without k-anonymity", "a model k-anonymity under privacy, or another loss")


OF_PERSONS = ("k-anonymity", "alpha-deassociation", "lambda-alpha-k", "confidence-bound")
"""Models that count rows, and so can count persons; l-diversity by frequency is one more."""


def _persons(draft: Draft, notes: Notes) -> None:
    """Models beside a column of persons: those that compare counts of a class (METHODS 1.17)."""
    if not draft.of_role("person"):
        return
    for model in draft.privacy:
        keys, key = model.piece.part, model.piece.key
        if keys is None or not model.piece.sound("kind"):
            continue
        by_frequency = isinstance(keys, LDiversity) and keys.kind == "frequency"
        if keys.model not in OF_PERSONS and not by_frequency:
            kind = f" of kind {keys.kind}" if isinstance(keys, LDiversity) else ""
            expected = f"one of {', '.join(OF_PERSONS)}, l-diversity of kind frequency"
            advice = "histograms of persons, of whom one may have several values, are not what this model is defined on"
            notes.add((*key, "model"), f"{keys.model}{kind} beside role person", expected, advice)


def column_of(model: ModelDraft, draft: Draft) -> str | None:
    """The sensitive column that a model reads, the only one where the model names none; None for k-anonymity."""
    keys = model.piece.keys
    if not isinstance(keys, OneColumnKeys):
        return None
    return keys.column if keys.column is not None else draft.names("sensitive")[0]


def _column(keys: OneColumnKeys, model: Key, draft: Draft, notes: Notes) -> None:
    key, sensitive = (*model, "column"), draft.names("sensitive")
    if not draft.roles_known:
        _undeclared(keys.column, key, draft, notes)
    elif not sensitive:
        notes.add(key, show(keys.column) if keys.column else "nothing", "a column with role sensitive; there is none")
    elif keys.column is None:
        if len(sensitive) > 1:
            notes.add(key, "nothing", "one of the sensitive columns " + ", ".join(sensitive))
    elif keys.column not in sensitive:
        other = next((column.role for column in draft.columns if column.keys and column.keys.name == keys.column), None)
        found = f"{keys.column!r}" + (f", whose role is {other}" if other else ", which is no column")
        notes.add(key, found, "a sensitive column: " + ", ".join(sensitive), did_you_mean(keys.column, sensitive))


def _undeclared(name: str | None, key: Key, draft: Draft, notes: Notes) -> None:
    """Note what is sure while some column's role can't be read: that none is called so, or that its own role is another."""
    role = next((column.role for column in draft.columns if name is not None and column.name == name), None)
    if name is not None and (draft.lacks(name) or role not in (None, "sensitive")):
        names = [column.name for column in draft.columns if column.name is not None]
        found = f"{name!r}, " + (f"whose role is {role}" if role else "which is no column")
        notes.add(key, found, "a sensitive column", "" if role else did_you_mean(name, names))


def _diversity(keys: LDiversity, piece: Piece[ModelKeys], notes: Notes) -> None:
    if not piece.sound("kind"):
        return
    if piece.sound("l") and keys.kind in ("distinct", "recursive") and keys.l.denominator != 1:
        notes.add((*piece.key, "l"), decimal(keys.l), f"an integer >= 1 for kind {keys.kind}")
    if piece.sound("c") and keys.kind == "recursive" and keys.c is None:
        notes.add((*piece.key, "c"), "nothing", "c, a number > 0, for kind recursive")
    if piece.sound("c") and keys.kind != "recursive" and keys.c is not None:
        notes.add((*piece.key, "c"), f"c beside kind {keys.kind}", "c with kind recursive alone")


def _closeness(keys: TCloseness, piece: Piece[ModelKeys], notes: Notes) -> None:
    key = piece.key
    if keys.hierarchy is not None:
        tree = read_hierarchy(keys.hierarchy, (*key, "hierarchy"), notes)
        if tree is not None and not isinstance(tree, FileHierarchy):
            notes.add((*key, "hierarchy"), show(keys.hierarchy), "a hierarchy file: {path: ...}", "for numbers there is distance ordered")
        elif tree is not None and (tree.others != "fail" or tree.inner != "fail"):
            notes.add((*key, "hierarchy"), "others or inner", "path and sep alone", "every value must be a leaf of it")
    if not piece.sound("distance", "hierarchy"):
        return
    if keys.distance == "hierarchical" and keys.hierarchy is None:
        notes.add((*key, "hierarchy"), "nothing", "a hierarchy for distance hierarchical")
    if keys.distance != "hierarchical" and keys.hierarchy is not None:
        notes.add((*key, "hierarchy"), f"a hierarchy beside distance {keys.distance}", "it with distance hierarchical alone")


def _levels(keys: EpsilonKSensitivity | LAlphaDiversity | LambdaAlphaK, piece: Piece[ModelKeys], notes: Notes) -> None:
    levels, key = keys.levels, piece.key
    given = set(levels.values()) if isinstance(levels, Mapping) else {Fraction(level) for level in range(1, min(levels, MOST_LEVELS) + 1)}
    if isinstance(levels, Mapping) and not levels:
        notes.add((*key, "levels"), "an empty mapping", "a level for each value")
    for level in sorted(given):
        if level.denominator != 1:
            notes.add((*key, "levels"), decimal(level), "levels that are integers >= 1")
    if isinstance(keys, LambdaAlphaK) and piece.sound("lambda"):
        missing = [decimal(level) for level in sorted(given) if level.denominator == 1 and decimal(level) not in keys.lambda_]
        if missing:
            notes.add((*key, "lambda"), "nothing for level " + ", ".join(missing[:5]), "a number for every level")


def _given(keys: ConfidenceBound, key: Key, draft: Draft, notes: Notes) -> None:
    known = draft.names("quasi-identifier")
    limit = draft.suppression.keys.limit if draft.suppression and draft.suppression.keys else None
    if draft.job == "lattice" and draft.roles_known and limit and set(known) - set(keys.given):
        found = f"{len(keys.given)} of {len(known)} quasi-identifiers beside suppression.limit {decimal(limit)}"
        advice = "rows suppressed for one class change every other class of the given columns, so that no search is known to be exact"
        notes.add((*key, "given"), found, "all quasi-identifiers, or suppression.limit 0", advice)
    for number, name in enumerate(keys.given):
        if draft.lacks(name) or (draft.roles_known and name not in known):
            notes.add((*key, "given", number), repr(name), "quasi-identifiers: " + ", ".join(known), did_you_mean(name, known))
