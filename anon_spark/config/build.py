"""A sound draft -> the frozen policy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction

from anon_spark.config.column_checks import check_columns
from anon_spark.config.draft import ColumnDraft, Draft, ModelDraft, read_draft
from anon_spark.config.endpoint_checks import check_endpoints
from anon_spark.config.hierarchy_keys import read_hierarchy
from anon_spark.config.job_checks import check_job
from anon_spark.config.keys import ColumnKeys, TopKeys
from anon_spark.config.model_checks import check_models, column_of
from anon_spark.config.notes import Notes, did_you_mean, show
from anon_spark.config.unbuilt import NOT_BUILT, NOT_IN_RISKS, check_built
from anon_spark.domain.errors import Fault, InternalError
from anon_spark.domain.policy import Column, FileHierarchy, ModelSpec, Policy, Settings, Sink, Source, Suppression

Look = Callable[[FileHierarchy], Iterable[Fault]]
"""Looks at a hierarchy's file: what is wrong with it."""
Names = Callable[[Source], Sequence[str] | None]
"""Looks at an input: the names of its columns, None where they can't be told yet."""


def build(
    raw: object,
    notes: Notes,
    look: Look | None = None,
    names: Names | None = None,
    *,
    wanted: Collection[str] = (),
    roles_alone: bool = False,
) -> Policy:
    """The policy that a plain configuration asks for. look: at hierarchy files, where their faults are to be told with the rest.
    names: of the input's columns, looked at where there are faults to be told, so that a name it lacks is told with them. wanted: which
    of ``input`` and ``output`` the caller can't do without.
    roles_alone: for those who read the input and its columns' roles, and anonymize nothing: privacy and hierarchies may be absent, and
    jobs and models may be ones that are not built yet.

    Raises ConfigurationError with every fault: of single keys, across keys, of hierarchy files, and of what is not built yet.
    """
    draft = read_draft(raw, notes, models_wanted=not roles_alone)
    _want(draft, wanted, notes)
    check_endpoints(draft, notes)
    check_columns(draft, notes, hierarchies_wanted=not roles_alone)
    check_models(draft, notes)
    if look is not None:
        _look(draft, look, notes)
    if not roles_alone:
        check_job(draft, notes)
    check_built(raw, notes, NOT_IN_RISKS if roles_alone else NOT_BUILT)
    if names is not None and notes.found:
        _look_for_columns(draft, names, notes)
    notes.stop()
    if draft.top.keys is None:
        raise InternalError("a configuration without faults could not be read")
    return _policy(draft, draft.top.keys, notes.where)


def _want(draft: Draft, wanted: Collection[str], notes: Notes) -> None:
    if "input" in wanted and draft.input is None:
        notes.add(("input",), "nothing", "a path, a table or a query", "add the key input")
    if "output" in wanted and draft.output is None:
        notes.add(("output",), "nothing", "the path or table of the release", "add the key output: {path: ...}")


def _look(draft: Draft, look: Look, notes: Notes) -> None:
    trees = [(column.piece.key, column.hierarchy) for column in draft.columns if column.role in (None, "quasi-identifier")]
    for model in draft.privacy:
        given = getattr(model.piece.part, "hierarchy", None)
        trees.append((model.piece.key, None if given is None else read_hierarchy(given, (), Notes(""))))
    for key, tree in trees:
        if isinstance(tree, FileHierarchy):
            for fault in look(tree):
                notes.add((*key, "hierarchy"), f"{fault.where}: {fault.found}", fault.expected, fault.advice)


def _look_for_columns(draft: Draft, names: Names, notes: Notes) -> None:
    source = None if notes.bad(("input",)) else _source(draft)
    known = None if source is None else names(source)
    given = [(column.piece.key, column.name) for column in draft.columns if column.name is not None]
    if known is None or not any(name in known for _, name in given):
        # a header that has none of them is read with a wrong option, which is told when the rest is mended
        return
    for key, name in given:
        if name not in known:
            notes.add((*key, "name"), f"{show(name)}, which the input lacks", "a column of the input", did_you_mean(name, known))


def _policy(draft: Draft, top: TopKeys, where: str) -> Policy:
    suppression = draft.suppression.keys if draft.suppression else None
    settings = draft.settings.keys if draft.settings else None
    return Policy(
        job=top.job,
        input=_source(draft),
        output=_sink(draft),
        report=draft.report.keys.path if draft.report and draft.report.keys else None,
        columns=tuple(_column(column, column.keys) for column in draft.columns if column.keys),
        unlisted=top.unlisted,
        nulls=top.nulls,
        privacy=tuple(_model(model, draft) for model in draft.privacy),
        suppression=Suppression(limit=suppression.limit or Fraction(0), show=suppression.show) if suppression else Suppression(),
        loss=top.loss,
        numeric=top.numeric,
        bounds=top.bounds,
        seed=top.seed,
        settings=Settings(**dict(settings)) if settings else Settings(),
        where=where,
    )


def _source(draft: Draft) -> Source | None:
    return Source(**dict(draft.input.keys)) if draft.input and draft.input.keys else None


def _sink(draft: Draft) -> Sink | None:
    if not draft.output or not draft.output.keys:
        return None
    keys = dict(draft.output.keys)
    return Sink(**{**keys, "partition_by": tuple(keys["partition_by"])})


def _column(column: ColumnDraft, keys: ColumnKeys) -> Column:
    weight = Fraction(1) if keys.weight is None else keys.weight
    return Column(**{**dict(keys), "weight": weight, "hierarchy": column.hierarchy})


def _model(model: ModelDraft, draft: Draft) -> ModelSpec:
    if model.piece.keys is None:
        raise InternalError("a model without faults could not be read")
    parameters = {name: _frozen(name, value) for name, value in model.parameters.items()}
    return ModelSpec(model=model.piece.keys.model, column=column_of(model, draft), parameters=parameters)


def _frozen(name: str, value: object) -> object:
    if name == "hierarchy" and value is not None:
        return read_hierarchy(value, (), Notes(""))
    if isinstance(value, list):
        return tuple(value)
    return dict(value) if isinstance(value, Mapping) else value
