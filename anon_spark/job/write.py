"""Write the release to a staging directory; what the write pass counts is compared with both scans and with what is read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.audit.columns import HELPER
from anon_spark.audit.containment import containment
from anon_spark.audit.fingerprint import fingerprint as conservation
from anon_spark.domain.counting import counted
from anon_spark.domain.errors import AuditError, ConfigurationError, DataError, Fault, InternalError
from anon_spark.domain.policy import Policy
from anon_spark.domain.recoding import Recoding
from anon_spark.io.csv_texts import lost_in_csv, refuse_changed, refuse_lost
from anon_spark.io.cut_moments import refuse_cut_moments, refuse_patterns_too_short
from anon_spark.io.spark_errors import SPARK_ERRORS, spark_faults, unreadable
from anon_spark.job.conservation import OWN, OWN_SUMS, PRINT, changed, own_sums, printed_hash, to_print, with_own
from anon_spark.job.directories import refuse_unfit, unfit
from anon_spark.job.gather import Gathered
from anon_spark.job.output import Output
from anon_spark.job.schema import BoundSchema
from anon_spark.job.staged_persons import beside_persons
from anon_spark.metrics.printed_boxes import PrintedBoxes
from anon_spark.plans.columns import HELPER as OURS
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import fetch_row
from anon_spark.plans.frequency import exact_sum, fingerprint, row_hash
from anon_spark.plans.persons import PERSON
from anon_spark.plans.profile import distinct_counts
from anon_spark.plans.publish import SUPPRESSED, Labelled, hide_order, published
from anon_spark.report.words import Example

UNKNOWN, OUTSIDE, CHANGED, SCANNED = (f"{OURS}{name}" for name in ("unknown", "outside", "changed", "scanned"))
"""Columns of what the write pass counts of a row."""
DROPPED = "The suppressed rows do not hold every model as a class: they are dropped, not printed."


@dataclass(frozen=True)
class Plan:
    """What was decided. label: puts its labels on the rows of the table; star: whether suppressed rows print the root; examples: a
    few values with their labels; warnings: of what the release will show; boxes: what it prints, where that is known in this process;
    groups: its boxes on Spark (``plans.box_marginals``), where a local recoding was decided there; raw_sizes: how many raw combinations
    have how many rows (size, classes), where those who decided counted them."""

    recoding: Recoding
    label: Callable[[DataFrame], Labelled]
    star: bool = False
    examples: tuple[Example, ...] = ()
    warnings: tuple[str, ...] = ()
    boxes: Callable[[], PrintedBoxes] | None = None
    groups: DataFrame | None = None
    raw_sizes: DataFrame | None = None


MOST_PROFILED, COLUMNS_PROFILED = 1_000_000, 64
"""Rows up to which nearly unique columns are looked for as a release is read back, and how many columns at most (check looks at all):
that pass takes longer by it, and each column's sketch is some fifty numbers wide."""


@dataclass(frozen=True)
class Staged:
    """A release as it was read back; rows_in: how many rows of the input became it, and the sums of their hashes (``own_sums``);
    distinct: column that passes unchanged -> about how many distinct values it has, where that was counted; persons: the same rows with
    the hash of each person, the last column, where persons are counted."""

    table: DataFrame
    rows_in: tuple[int, ...]
    distinct: Mapping[str, int]
    persons: DataFrame | None = None


def stage(
    table: DataFrame, policy: Policy, bound: BoundSchema, gathered: Gathered, plan: Plan, output: Output, place: str | None = None
) -> Staged:
    """Write the release to its staging place and read it back.

    Where persons are counted, it is first written with them to ``place``, and from there without them to be published.
    Raises DataError where the second scan saw another table than the first, AuditError where a row was lost, doubled or changed on
    its way, or its raw value is not under its printed label, ConfigurationError where the format can't hold the columns, DataError
    where a CSV can't hold their texts.
    """
    labelled = plan.label(with_own(table, bound))
    raws, labels = dict(zip(bound.names, labelled.raws, strict=True)), dict(zip(bound.names, labelled.labels, strict=True))
    kinds = {raw.name: raw.kind for raw in bound.quasi_identifiers}
    frame, outside = containment(labelled.frame, policy, raws, labels, kinds, labelled.read)
    texts = [*[F.col(raw) for raw in labelled.raws], *[raw.text for raw in bound.grouped]]
    found = {
        UNKNOWN: labelled.unknown.cast("long"),
        OUTSIDE: F.when(F.col(SUPPRESSED), F.lit(0)).otherwise(outside).cast("long"),
        CHANGED: changed(labelled, bound, table.schema).cast("long"),
        SCANNED: row_hash(texts),
        PRINT: printed_hash(labelled, bound, plan.star),
    }
    # what is counted is found first: the rows that are counted are then no wider than what is published
    shown = [part for label in labelled.labels for part in ((label,) if isinstance(label, str) else label)]
    kept = dict.fromkeys([*bound.untouched, *([PERSON] if bound.ids else []), *shown, SUPPRESSED, OWN])
    frame = frame.withColumns(found).select(*map(named, kept), *found)
    scan = Observation("anon-spark scan")
    labelled = replace(labelled, frame=frame)
    frame = frame.observe(
        scan,
        F.count(F.lit(1)).alias("rows"),
        F.sum(UNKNOWN).alias("unknown"),
        F.sum(OUTSIDE).alias("outside"),
        F.sum(F.col(SUPPRESSED).cast("long")).alias("suppressed"),
        F.sum(CHANGED).alias("changed"),
        exact_sum(F.col(SCANNED)).alias("fingerprint"),
        *own_sums(),
        *unfit(labelled, policy, bound),
        *to_print(plan.star),
    )
    columns = (*bound.output, *([PERSON] if bound.ids else []))
    release = without_metadata(published(replace(labelled, frame=frame), bound.names, columns, plan.star))
    persons = None
    if place is not None:
        with spark_faults(policy.where, "output", ConfigurationError):
            persons = beside_persons(release, place)
        release = without_metadata(persons.drop(PERSON))
    lost, to_write = Observation("anon-spark csv"), release
    if in_csv := lost_in_csv(release.schema, output.sink):
        to_write = release.observe(lost, *in_csv)
    with spark_faults(policy.where, "output", ConfigurationError):
        output.write(hide_order(to_write, output.sink.partition_by))
    seen = _observed(scan)
    _compare(seen, gathered, plan, policy, lambda: _is_as_scanned(table, bound, gathered))
    refuse_unfit(seen, policy)
    if in_csv:
        refuse_lost(_observed(lost), release.schema, output.sink, policy.where)
    back = output.staged_release(table.sparkSession, release.schema)
    to_print_sums = {key: value for key, value in seen.items() if key.startswith(HELPER)}
    if persons is not None and _figures(persons.drop(PERSON)) != to_print_sums:
        raise AuditError(f"{policy.where}: rows came back changed from where their persons are counted: it is our own fault")
    counted_too = bound.untouched[:COLUMNS_PROFILED] if gathered.problem.rows <= MOST_PROFILED else ()
    figures = _figures(back, distinct_counts(back.schema, counted_too))
    if {key: value for key, value in figures.items() if key.startswith(HELPER)} != to_print_sums:
        refuse_changed(release, output.sink, policy.where)
        refuse_cut_moments(release, output.sink, policy.where)
        refuse_patterns_too_short(release, output.sink, policy.where)
        raise AuditError(
            f"{policy.where}: output: rows came back changed from {output.sink.format}: this format or its options can't hold them, "
            "or it is our own fault"
        )
    distinct = {name: int(str(figures[f"d{place}"])) for place, name in enumerate(counted_too) if f"d{place}" in figures}
    return Staged(back, tuple(int(str(seen.get(name) or 0)) for name in OWN_SUMS), distinct, persons)


def _is_as_scanned(table: DataFrame, bound: BoundSchema, gathered: Gathered) -> bool:
    """Whether the input, scanned once more, is what it was at first; asked only where the write pass saw something else."""
    texts = [raw.text for raw in (*bound.quasi_identifiers, *bound.grouped)]
    again = fetch_row(table.agg(F.count(F.lit(1)).alias("rows"), fingerprint(texts).alias("fingerprint")))
    return (again["rows"], int(again["fingerprint"] or 0)) == (gathered.problem.rows, gathered.fingerprint)


def _figures(back: DataFrame, more: Sequence[Column] = ()) -> Mapping[str, object]:
    """What the write pass observed, counted again in what was written, and ``more``; nothing where that can't be read."""
    try:
        return fetch_row(back.agg(*conservation(back.schema, back.columns), *more)).asDict()
    except SPARK_ERRORS as error:
        if not unreadable(error):
            raise
        return {}


def without_metadata(release: DataFrame) -> DataFrame:
    """The same columns without the input's comments and metadata, which can hold anything and would go into every file's footer."""
    bare = [(field.name, field.dataType, _bare(field.dataType)) for field in release.schema.fields]
    return release.select(
        *[(named(name) if ours == given else named(name).cast(ours)).alias(name, metadata={}) for name, given, ours in bare]
    )


def _bare(data_type: T.DataType) -> T.DataType:
    """The type without the metadata of fields inside it."""
    if isinstance(data_type, T.StructType):
        return T.StructType([T.StructField(field.name, _bare(field.dataType), field.nullable) for field in data_type.fields])
    if isinstance(data_type, T.ArrayType):
        return T.ArrayType(_bare(data_type.elementType), data_type.containsNull)
    if isinstance(data_type, T.MapType):
        return T.MapType(_bare(data_type.keyType), _bare(data_type.valueType), data_type.valueContainsNull)
    return data_type


def _observed(observation: Observation) -> Mapping[str, object]:
    """The figures of an observation; none where a scan found no row, and adaptive execution took the rest of the plan away."""
    try:
        return observation.get
    except SPARK_ERRORS as error:
        if "toPyRow" not in str(error):
            raise
        return {}


def _compare(
    scanned: Mapping[str, object], gathered: Gathered, plan: Plan, policy: Policy, is_as_scanned: Callable[[], bool]
) -> None:
    seen = {"rows": gathered.problem.rows, "unknown": 0, "fingerprint": gathered.fingerprint}
    if any(int(str(scanned.get(key) or 0)) != value for key, value in seen.items()):
        if is_as_scanned():
            raise AuditError(
                f"{policy.where}: of {counted(gathered.problem.rows, 'row')} of the input, {scanned.get('rows') or 0} were labelled, "
                f"{scanned.get('unknown') or 0} of their values unknown: nothing was published"
            )
        advice = "let nothing write to it during a run, or copy it first"
        raise DataError([Fault(policy.where, "input", "a table that changed between two scans", "the same rows twice", advice)])
    if int(str(scanned["changed"] or 0)):
        raise AuditError(f"{policy.where}: {scanned['changed']} rows hold other values than the input's: nothing was published")
    if int(str(scanned["outside"] or 0)):
        raise AuditError(
            f"{policy.where}: {scanned['outside']} raw values are not under their printed label: nothing was published"
        )
    if int(str(scanned["suppressed"] or 0)) != plan.recoding.suppressed_rows:
        raise InternalError("the rows suppressed are not those that were decided")
