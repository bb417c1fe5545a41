"""The audit of a release: every model on the classes as printed, their labels, columns and rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.audit.bounds import bounds_names, bounds_text, is_ordered
from anon_spark.audit.check import Check, NotAuditableError
from anon_spark.audit.checks import check_of
from anon_spark.audit.classes import SIZE, Cells, classes_of, label_column, persons_of_value, published_text
from anon_spark.audit.forms import is_local, is_tight, levels_of, prints_ranges
from anon_spark.audit.labels import with_validity
from anon_spark.audit.result import AuditResult, Finding, ModelVerdict
from anon_spark.audit.rows import row_findings
from anon_spark.audit.structure import Structure, model_column, structure_of
from anon_spark.audit.table import Distribution, Known, may_lack_rows, own_distribution, unknown
from anon_spark.audit.words import class_name, printed
from anon_spark.domain.counting import counted
from anon_spark.domain.policy import ROOT, Column, MaskHierarchy, ModelSpec, Policy

_EXAMPLES = 5
_PERSON = "person"
_NO_PERSONS = "of how many persons the rows of a class are: a release does not tell; rows are counted, its run counted persons"
COMPARED = ("t-closeness", "delta-disclosure", "beta-likeness")
"""Models that compare classes with the table's distribution; others do where levels are found from its frequencies."""


def audit_release(
    published: DataFrame,
    policy: Policy,
    *,
    rows_of_input: int | None = None,
    suppressed: int | None = None,
    untouched: T.StructType | None = None,
    distribution: Mapping[str, Distribution] | None = None,
    persons: DataFrame | None = None,
) -> AuditResult:
    """Judge a release by its published columns alone (METHODS 1; classes by what is printed).

    rows_of_input: rows that could be published (those dropped by ``nulls: suppress`` not counted); suppressed: rows that the job
    says it suppressed; untouched: the input's schema, to compare types; distribution: rows of the input by value of each sensitive
    column, ignored nulls left out. None: not known, not checked; ``cannot_know`` says so. A model that compares classes with the
    table is then judged by the release's own distribution where no row can be missing, and else is not taken to hold.
    persons: the same rows with one column more, the last, of the person of each, null where it is nobody else's: models whose policy has
    a column of persons count these; without it they count rows, and are not taken to hold.
    One action where nothing is wrong; one more for each model or column of labels that is broken, to name a few classes.
    Raises ConfigurationError where a hierarchy file of the policy can't be read.
    """
    structure = structure_of(published.schema, policy, untouched)
    unsure = _cannot_know(policy, rows_of_input, untouched, distribution is not None, persons is not None)
    if not structure.groupable:
        verdicts = tuple(ModelVerdict(spec.model, spec.parameters, False, None) for spec in policy.privacy)
        return AuditResult(False, structure.findings, verdicts, None, None, None, None, None, None, unsure)
    plan = _plan(published, policy, structure, untouched, distribution, persons)
    figures = plan.figures()
    rows = figures["rows"] or 0
    findings = [*structure.findings, *plan.refused]
    findings += row_findings(policy, rows, figures["starred"] or 0, rows_of_input, suppressed)
    findings += plan.model_findings(figures) + plan.label_findings(figures)
    return AuditResult(
        not findings, tuple(findings), plan.verdicts(figures), rows, figures["classes"], figures["smallest"], figures["median"],
        rows / figures["classes"] if rows else None, figures["largest"], unsure,
    )  # fmt: skip


@dataclass(frozen=True)
class _Plan:
    """The table of classes, and what is asked of it. valid: one a quasi-identifier; checks: one a model, None where refused."""

    names: tuple[str, ...]
    classes: DataFrame
    valid: tuple[SparkColumn, ...]
    specs: tuple[ModelSpec, ...]
    checks: tuple[Check | None, ...]
    refused: tuple[Finding, ...]

    def figures(self) -> Row:
        """Every figure in one row, by one action."""
        size = F.col(SIZE)
        labels = [F.col(label_column(place)) for place in range(len(self.names))]
        starred = reduce(lambda all_, label: all_ & F.coalesce(label == ROOT, F.lit(False)), labels, F.lit(True))
        asked = [F.count(F.lit(1)).alias("classes"), F.sum(size).alias("rows"), F.min(size).alias("smallest")]
        asked += [F.max(size).alias("largest"), F.median(size).alias("median"), F.sum(F.when(starred, size)).alias("starred")]
        for place, check in enumerate(self.checks):
            if check is not None:
                asked += [*_tally(check.breaks, f"m{place}"), check.worst.alias(f"worst_m{place}")]
        for place, valid in enumerate(self.valid):
            asked += _tally(~valid, f"l{place}")
        return self.classes.agg(*asked).collect()[0]

    def verdicts(self, figures: Row) -> tuple[ModelVerdict, ...]:
        return tuple(
            ModelVerdict(spec.model, spec.parameters, False, None)
            if check is None
            else ModelVerdict(
                spec.model, check.parameters, not figures[f"classes_m{place}"], check.read(figures[f"worst_m{place}"])
            )
            for place, (spec, check) in enumerate(zip(self.specs, self.checks, strict=True))
        )

    def model_findings(self, figures: Row) -> list[Finding]:
        """One finding for each model that some class breaks; names the worst few classes."""
        return [
            Finding(
                check.spec.model, f"{check.title}: {self._broken(check, figures[f'classes_m{place}'], figures[f'rows_m{place}'])}"
            )
            for place, check in enumerate(self.checks)
            if check is not None and figures[f"classes_m{place}"]
        ]

    def label_findings(self, figures: Row) -> list[Finding]:
        """One finding for each quasi-identifier that prints labels foreign to its hierarchy; shows a few of them."""
        findings = []
        for place, name in enumerate(self.names):
            if rows := figures[f"rows_l{place}"]:
                label = label_column(place)
                some = self.classes.where(~self.valid[place]).select(label).distinct().orderBy(label).limit(_EXAMPLES).collect()
                shown = ", ".join(printed(row[0]) for row in some)
                where = f"{counted(rows, 'row')} in {counted(figures[f'classes_l{place}'], 'class', 'classes')}"
                findings.append(
                    Finding("labels", f"{name}: {where} with labels that its hierarchy does not print there: {shown}")
                )
        return findings

    def _broken(self, check: Check, classes: int, rows: int) -> str:
        keys = [label_column(place) for place in range(len(self.names))]
        worst = self.classes.where(check.breaks).orderBy(check.tightness, F.col(SIZE), *keys).limit(_EXAMPLES).collect()
        told = [
            (f"{counted(row[SIZE], 'row')}{check.told(row)}", class_name(self.names, (row[key] for key in keys))) for row in worst
        ]
        if classes == 1:
            return "1 class of " + ": ".join(told[0])
        listed = "; ".join(": ".join(part) for part in told)
        more = f"; and {classes - len(told):,} more" if classes > len(told) else ""
        return f"{classes:,} classes of together {rows:,} rows; {listed}{more}"


def _plan(
    published: DataFrame, policy: Policy, structure: Structure, untouched: T.StructType | None,
    distribution: Mapping[str, Distribution] | None, persons: DataFrame | None = None,
) -> _Plan:  # fmt: skip
    names = [f"c{place}" for place in range(len(published.columns))]
    release = published.toDF(*names) if persons is None else persons.toDF(*names, _PERSON)
    person = None if persons is None else F.col(_PERSON)
    columns = policy.quasi_identifiers
    labels = [_label(release, column, policy, structure) for column in columns]
    read = sorted({name for spec in policy.privacy if (name := _reads(spec, policy)) is not None})
    types = [field.dataType for field in published.schema.fields]
    values = [published_text(F.col(f"c{structure.places[name]}"), types[structure.places[name]]) for name in read]

    @cache
    def known(place: int) -> Known:
        name, value = read[place], values[place]
        if distribution is None and may_lack_rows(policy):
            return unknown()
        rows = own_distribution(release, value) if distribution is None else dict(distribution[name])
        if ignores_null(policy, name):
            rows.pop(None, None)
        return Known(published.sparkSession, place, rows, types[structure.places[name]])

    def counts(which: int) -> Callable[[Sequence[int], str], DataFrame] | None:
        return None if person is None else partial(persons_of_value, labels, release, person, values[which])

    checks, refused = _checks(published.sparkSession, policy, read, known, counts, persons is not None)
    statistics = {check.name: check.statistic for check in checks if check is not None and check.statistic is not None}
    prepare = [check.prepare for check in checks if check is not None and check.prepare is not None]
    classes = classes_of(labels, values, release, statistics, prepare, person)
    valid = []
    for place, column in enumerate(columns):
        ordered_type = _holds_order(column, structure, types, untouched)
        classes, is_valid = with_validity(classes, label_column(place), column, policy, ordered_type)
        valid.append(is_valid)
    return _Plan(tuple(column.name for column in columns), classes, tuple(valid), policy.privacy, tuple(checks), tuple(refused))


def _label(release: DataFrame, column: Column, policy: Policy, structure: Structure) -> SparkColumn:
    """The text of a quasi-identifier's label. Two labels are one where they print alike, whatever they mean: ``[24, 24]`` is not
    ``24``; bounds that hold one value are that value, and a negative zero among them is zero."""
    if column.name not in structure.bounds:
        return F.col(f"c{structure.places[column.name]}").cast("string")
    places = [structure.places[name] for name in bounds_names(column.name)]
    low, high, is_null = (F.col(f"c{place}") for place in places)
    return bounds_text(low, high, is_null, release.schema.fields[places[0]].dataType, column, policy)


def _holds_order(column: Column, structure: Structure, types: list[T.DataType], untouched: T.StructType | None) -> bool:
    """Whether the raw values are known to be of a type of numbers or dates."""
    if column.name in structure.bounds:
        return is_ordered(types[structure.places[bounds_names(column.name)[0]]])
    given = {} if untouched is None else {field.name: field.dataType for field in untouched.fields}
    return is_ordered(given.get(column.name))


def _reads(spec: ModelSpec, policy: Policy) -> str | None:
    return None if spec.model == "k-anonymity" else model_column(policy, spec.column)


def ignores_null(policy: Policy, name: str) -> bool:
    """Whether nulls of a column count for no model."""
    return any(column.name == name and column.nulls == "ignore" for column in policy.columns)


def _checks(
    spark: SparkSession, policy: Policy, read: Sequence[str], known: Callable[[int], Known],
    persons: Callable[[int], Callable[[Sequence[int], str], DataFrame] | None], are_known: bool,
) -> tuple[list[Check | None], list[Finding]]:  # fmt: skip
    checks: list[Check | None] = []
    refused = []
    for place, spec in enumerate(policy.privacy):
        column = _reads(spec, policy)
        cells = None
        if column is not None:
            which = read.index(column)
            cells = Cells(which, ignores_null(policy, column), spark, persons(which))
        table = unknown if cells is None else partial(known, cells.which)
        try:
            checks.append(check_of(spec, column, cells, f"s{place}", table, policy.where, _given(spec, policy)))
        except NotAuditableError as error:
            checks.append(None)
            refused.append(Finding(spec.model, f"{spec.model}: {error}"))
    if policy.of_role("person") and not are_known:
        refused.append(Finding("person", f"person: {_NO_PERSONS}; models over persons are not taken to hold"))
    return checks, refused


def _tally(wrong: SparkColumn, name: str) -> list[SparkColumn]:
    return [
        F.coalesce(F.sum(F.when(wrong, F.lit(1))), F.lit(0)).alias(f"classes_{name}"),
        F.coalesce(F.sum(F.when(wrong, F.col(SIZE))), F.lit(0)).alias(f"rows_{name}"),
    ]


def _given(spec: ModelSpec, policy: Policy) -> list[int] | None:
    """Places of the quasi-identifiers whose classes a model is asked of; None for all, as local recoding has it."""
    given = spec.parameters.get("given")
    if not isinstance(given, tuple) or is_local(policy):
        return None
    return [place for place, column in enumerate(policy.quasi_identifiers) if column.name in given]


def compares(spec: ModelSpec) -> bool:
    """Whether a model asks for the distribution of the input."""
    return spec.model in COMPARED or isinstance(spec.parameters.get("levels"), int)


def _cannot_know(
    policy: Policy, rows_of_input: int | None, untouched: T.StructType | None, told: bool, persons: bool
) -> tuple[str, ...]:
    unsure = ["whether each row's raw value lies under its label: that is counted when a release is written"]
    if rows_of_input is None:
        unsure.append("how many rows the input had: lost rows and the suppression limit were not checked")
        unsure.append("whether columns that are published as they are hold the input's values: that is counted when a release is written")
    if untouched is None:
        unsure.append("the types of the input's columns")
    if not policy.of_role("person"):
        unsure.append("whether several rows are of one person: rows are counted, not persons")
    elif not persons:
        unsure.append(_NO_PERSONS)
    if not told and any(compares(spec) for spec in policy.privacy):
        how = "its rows may not be all: such models are not taken to hold" if may_lack_rows(policy) else "the release's own was taken"
        unsure.append(f"the input's distribution of sensitive values, which some models compare classes with; {how}")
    if ranged := [column.name for column in policy.quasi_identifiers if _prints_any_range(column, policy)]:
        unsure.append(f"whether the ranges of {', '.join(ranged)} end at values of the input: any range in order may be printed")
    for column in policy.quasi_identifiers:
        if column.hierarchy is not None and column.hierarchy.others == "root":
            unsure.append(f"whether labels of {column.name} belong to its hierarchy: values outside it may print themselves")
        elif isinstance(column.hierarchy, MaskHierarchy) and levels_of(column, policy).low == 0:
            unsure.append(f"whether labels of {column.name} are masked as configured: any text may be a value")
    return tuple(unsure)


def _prints_any_range(column: Column, policy: Policy) -> bool:
    return prints_ranges(column.hierarchy, policy) and is_tight(column.hierarchy, policy)
