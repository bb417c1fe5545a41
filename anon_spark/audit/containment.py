"""Whether each row's raw value lies under the label that is printed for it, read from values and labels alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.audit.bounds import bounds_text
from anon_spark.audit.columns import BETWEEN, FEW, HELPER, look_up, named
from anon_spark.audit.files import HierarchyLines, by_value, key_of, read_hierarchy
from anon_spark.audit.forms import prints_ranges
from anon_spark.audit.printed import (
    DAYS,
    NUMBERS,
    day_of,
    day_under,
    number_under,
    read_before,
    same_number,
    to_day,
    to_moment,
    with_ends,
    with_values,
)
from anon_spark.audit.spelling import plain_column, spelled_column, spelled_moment_column
from anon_spark.domain.errors import InternalError
from anon_spark.domain.policy import (
    ROOT,
    Column,
    DateHierarchy,
    FileHierarchy,
    MaskHierarchy,
    Policy,
)

_NUMBERS = ("integer", "decimal")
_DATES = ("date", "timestamp")
_DECLARED = {"string": "text", "double": "decimal"}


Printed = str | tuple[str, str, str]
"""Name of a label's column, or under ``numeric: bounds`` of those of its low end, its high end and whether it is null."""


def label_text(place: int) -> str:
    """The column of a quasi-identifier's label as text."""
    return f"{HELPER}label_{place}"


def read_labels(df: DataFrame, policy: Policy, label: Mapping[str, Printed], kinds: Mapping[str, str]) -> DataFrame:
    """df with columns ``__audit_...`` of what ``containment`` reads in its labels: for frames of classes, whose rows come later."""
    for place, column in enumerate(policy.quasi_identifiers):
        printed = label_text(place)
        df = df.withColumn(printed, _shown(df, label[column.name], column, policy))
        if prints_ranges(column.hierarchy, policy):
            df, read = with_ends(df, printed, printed)
            kind = _kind(column, kinds[column.name])
            df = with_values(df, read, NUMBERS if kind in _NUMBERS else DAYS if kind in _DATES else NUMBERS | DAYS)
        elif isinstance(column.hierarchy, MaskHierarchy):
            df = df.withColumn(f"{printed}_kept", _kept(column.hierarchy, F.col(printed)))
    return df


def containment(
    df: DataFrame, policy: Policy, raw: Mapping[str, str], label: Mapping[str, Printed], kinds: Mapping[str, str], read: bool = False
) -> tuple[DataFrame, SparkColumn]:
    """(df with columns ``__audit_...``, how many quasi-identifiers of a row have a raw value that is not under its label).

    raw, label: quasi-identifier -> name of its raw column (normalised, of any type that casts to its canonical text) and of its
    label; kinds: quasi-identifier -> text, integer, decimal, date, timestamp or boolean. Rows stay as they are: every
    look-up has one row a key. The count is never null; 0 says that all is right. A null lies under null or the root alone, NaN
    and infinities under themselves or the root; numbers and dates that print ranges, under every range that they lie in, whatever
    its width. read: whether df has the columns of ``read_labels``. Plain Spark SQL, no worker processes.
    Raises ConfigurationError where a hierarchy file can't be read, InternalError where df has columns of the look-ups' names.
    """
    if not read and any(name.startswith(HELPER) for name in df.columns):
        raise InternalError(f"a column that begins with {HELPER} is in the way of the audit")
    outside: SparkColumn = F.lit(0)
    for place, column in enumerate(policy.quasi_identifiers):
        value, printed = f"{HELPER}raw_{place}", label_text(place)
        shown = {} if read else {printed: _shown(df, label[column.name], column, policy)}
        df = df.withColumns({value: _text(named(raw[column.name]), column), **shown})
        df, under = _under(df, column, place, _kind(column, kinds[column.name]), policy, read)
        is_null, root = F.col(value).isNull(), F.col(printed) == ROOT
        right = F.when(is_null, F.col(printed).isNull() | root).otherwise(root | under)
        outside = outside + F.when(F.coalesce(right, F.lit(False)), 0).otherwise(1)
    return df, outside


def _text(raw: SparkColumn, column: Column) -> SparkColumn:
    text = raw.cast("string")
    return F.trim(text) if column.trim else text


def _shown(df: DataFrame, label: Printed, column: Column, policy: Policy) -> SparkColumn:
    if isinstance(label, str):
        return named(label).cast("string")
    low, high, is_null = label
    return bounds_text(named(low), named(high), named(is_null), df.select(named(low)).schema[0].dataType, column, policy)


def _kind(column: Column, kind: str) -> str:
    """What the values are: a text column may be declared to hold something else."""
    return _DECLARED.get(column.type, column.type) if column.type is not None else kind


def _under(
    df: DataFrame, column: Column, place: int, kind: str, policy: Policy, is_read: bool
) -> tuple[DataFrame, SparkColumn]:
    """(df, whether a value that is not null lies under a label that is not the root)."""
    value, printed = f"{HELPER}raw_{place}", label_text(place)
    hierarchy = column.hierarchy
    if prints_ranges(hierarchy, policy):
        df, read = (df, read_before(printed)) if is_read else with_ends(df, printed, printed)
        under = [] if kind in _DATES else [number_under(value, read, kind)]
        if kind not in _NUMBERS:
            # read once, where it would be read for each end
            df = df.withColumn(f"{value}_day", F.expr(day_of(value)))
            under.append(day_under(value, read, f"{value}_day"))
        return df, _same(value, printed, True) | F.expr(f"({' OR '.join(under)})")
    itself = _itself(value, printed, kind)
    if isinstance(hierarchy, FileHierarchy):
        df, among = _in_file(df, hierarchy, column, place, kind, policy.where)
        return df, itself | among
    if isinstance(hierarchy, MaskHierarchy):
        kept = F.col(f"{printed}_kept") if is_read else _kept(hierarchy, F.col(printed))
        for written in _written(F.col(value), kind):
            itself = itself | _masked(hierarchy, written, F.col(printed), kept)
        return df, itself
    if isinstance(hierarchy, DateHierarchy):
        if kind == "text":
            # read as moments where one has a time of day, and then printed as such: 2020-01-01 as 2020-01-01 00:00:00
            itself = itself | _itself(value, printed, "date") | _itself(value, printed, "timestamp")
        return df, itself | _in_period(hierarchy, value, printed)
    return df, itself


def _itself(value: str, printed: str, kind: str) -> SparkColumn:
    """Whether the label is the value itself: the same text, number, date, moment or truth."""
    same = _same(value, printed, kind in _NUMBERS)
    if kind in _NUMBERS:
        return same | F.expr(same_number(value, printed))
    if kind == "boolean":
        return same | (F.lower(F.trim(F.col(value))) == F.col(printed))
    if kind in _DATES:
        read = to_day if kind == "date" else to_moment
        return same | F.coalesce(F.expr(f"{read(f'trim({value})')} = {read(printed)}"), F.lit(False))
    return same


def _same(value: str, printed: str, is_read: bool) -> SparkColumn:
    """Whether both are the same text; where it is read as a number or a date (NaN and infinities too), but for blanks around the value."""
    same = F.col(value) == F.col(printed)
    return same | (F.trim(F.col(value)) == F.col(printed)) if is_read else same


def _written(value: SparkColumn, kind: str) -> list[SparkColumn]:
    """The spellings of a value that a mask may have been laid over: a number is printed in plain notation, and as it is shortest."""
    if kind not in _NUMBERS:
        return [value]
    shortest = spelled_column(value)
    return [value, plain_column(value), shortest, F.concat(shortest, F.lit(".0"))]


def _kept(spec: MaskHierarchy, printed: SparkColumn) -> SparkColumn:
    """What is left of the label without its mask."""
    run = f"(?:{re.escape(spec.character)})+"
    return F.regexp_replace(printed, rf"{run}\z" if spec.side == "right" else rf"\A{run}", "")


def _masked(spec: MaskHierarchy, value: SparkColumn, printed: SparkColumn, kept: SparkColumn) -> SparkColumn:
    """What is left of the label without its mask begins (masked on the left: ends) the value, which is no longer than the label.

    A value shorter than the longest is padded on the masked side; what is left of a label never ends in the mask's character, so
    it is part of the value itself.
    """
    fits = value.startswith(kept) if spec.side == "right" else value.endswith(kept)
    return (F.length(kept) < F.length(printed)) & (F.length(value) <= F.length(printed)) & fits


def _in_period(spec: DateHierarchy, value: str, printed: str) -> SparkColumn:
    day = F.expr(to_day(f"substring(trim({value}), 1, 10)"))
    year = F.lpad(F.year(day).cast("string"), 4, "0")
    month = F.month(day)
    periods = {
        "hour": F.concat(day.cast("string"), F.lit(" "), F.expr(f"substring(trim({value}), 12, 2)")),
        "day": day.cast("string"),
        "month": F.concat(year, F.lit("-"), F.lpad(month.cast("string"), 2, "0")),
        "quarter": F.concat(year, F.lit("-Q"), F.quarter(day).cast("string")),
        "half": F.concat(year, F.lit("-H"), F.when(month <= 6, "1").otherwise("2")),
        "year": year,
        "decade": F.concat(F.substring(year, 1, 3), F.lit("0s")),
        "century": F.concat(F.substring(year, 1, 2), F.lit("00-"), F.substring(year, 1, 2), F.lit("99")),
    }
    found = F.lit(False)
    for unit in spec.units:
        found = found | F.coalesce(periods[unit] == F.col(printed), F.lit(False))
    return found


def _in_file(
    df: DataFrame, spec: FileHierarchy, column: Column, place: int, kind: str, where: str
) -> tuple[DataFrame, SparkColumn]:
    """Look the value up; its line must have the label."""
    lines = read_hierarchy(spec, column, where)
    labels = by_value(lines, column, where, kind)
    if spec.inner == "accept":
        labels = {**_inner(lines, kind), **labels}
    value, printed = _key(F.col(f"{HELPER}raw_{place}"), kind), F.col(f"{HELPER}label_{place}")
    pairs = [f"{text}{BETWEEN}{label}" for text, path in labels.items() for label in path]
    if len(pairs) <= FEW and all(pair.count(BETWEEN) == 1 for pair in pairs):
        return df, F.coalesce(F.concat(value, F.lit(BETWEEN), printed).isin(pairs), F.lit(False))
    key, known = f"{HELPER}key_{place}", f"{HELPER}known_{place}"
    lookup = look_up(df.sparkSession, labels, key, known)
    return df.join(lookup, value == F.col(key), "left"), F.coalesce(F.array_contains(F.col(known), printed), F.lit(False))


def _inner(lines: HierarchyLines, kind: str) -> dict[str, tuple[str, ...]]:
    return {key_of(text, kind): path for text, path in lines.inner().items()}


def _key(value: SparkColumn, kind: str) -> SparkColumn:
    if kind in _NUMBERS:
        return spelled_column(value)
    if kind in _DATES:
        return spelled_moment_column(value)
    return F.lower(F.trim(value)) if kind == "boolean" else value
