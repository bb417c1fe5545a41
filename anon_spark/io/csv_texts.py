"""Texts that a CSV of given options can't hold: those that would be read as null, and those that come back as another text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import DataError, Fault
from anon_spark.domain.policy import Sink
from anon_spark.io.input_options import encoding, folded, kind_of_format
from anon_spark.io.tables import read_options, write_options
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import count_where

_AS_TEXT = (T.StringType, T.BooleanType, T.IntegralType, T.FractionalType)
_QUOTED_EMPTY = '""'
_OWN = frozenset({"header", "multiline", "mode", "compression", "codec", "encoding", "charset", "linesep"})
"""Options that say nothing of a single field."""
_LATIN, _ASCII = "[^\\x00-\\xff]", "[^\\x00-\\x7f]"
_BEYOND: Mapping[str, str] = {"iso88591": _LATIN, "latin1": _LATIN, "usascii": _ASCII, "ascii": _ASCII}
"""What an encoding has no bytes for; of others than these only the audit can tell."""
_ADVICE = "or choose another format, such as parquet"


def lost_in_csv(schema: T.StructType, sink: Sink) -> list[Column]:
    """Aggregates ``null_0``, ``empty_0``, ... over a release: of each column the values that the CSV would give back as null, and the
    empty texts that it would give back as something else. None for other formats."""
    if kind_of_format(sink.format) != "csv":
        return []
    mark, empty = _marks(sink)
    found = []
    for place, field in enumerate(schema.fields):
        if isinstance(field.dataType, _AS_TEXT):
            text = named(field.name).cast("string")
            found.append(F.count(F.when(text == F.lit(mark), True)).alias(f"null_{place}"))
            if isinstance(field.dataType, T.StringType) and empty != _QUOTED_EMPTY and mark != "":
                found.append(F.count(F.when(text == F.lit(""), True)).alias(f"empty_{place}"))
    return found


def refuse_lost(seen: Mapping[str, object], schema: T.StructType, sink: Sink, where: str) -> None:
    """DataError with a fault a column that holds such values. seen: the aggregates' values."""
    mark, empty = _marks(sink)
    faults = []
    for place, field in enumerate(schema.fields):
        if rows := int(str(seen.get(f"null_{place}") or 0)):
            found = f"{mark!r} in {counted(rows, 'row')}, which is how this CSV writes null"
            advice = f"set nullValue in output.options to a text that no value is, {_ADVICE}"
            faults.append(Fault(where, f"column {field.name}", found, "values that can be told from null", advice))
        if rows := int(str(seen.get(f"empty_{place}") or 0)):
            found = f"the empty text in {counted(rows, 'row')}, which emptyValue: {empty!r} writes as another"
            advice = f"leave emptyValue out of output.options, {_ADVICE}"
            faults.append(Fault(where, f"column {field.name}", found, "texts that can be read back", advice))
    if faults:
        raise DataError(faults)


def refuse_changed(release: DataFrame, sink: Sink, where: str) -> None:
    """DataError where Spark's own CSV, asked by the same options, gives back other texts than a release has.

    One pass over the release with a CSV of each text: asked only where what was written came back changed.
    """
    texts = [field.name for field in release.schema.fields if isinstance(field.dataType, T.StringType)]
    if kind_of_format(sink.format) != "csv" or not texts:
        return
    changed = count_where(release, [_changes(named(name).cast("string"), sink) for name in texts])
    found = [
        Fault(
            where,
            f"column {name}",
            f"texts in {counted(rows, 'row')} that this CSV gives back as others",
            "texts that its options can hold",
            f"leave sep, quote, escape, lineSep and encoding out of output.options, {_ADVICE}",
        )
        for name, rows in zip(texts, changed, strict=True)
        if rows
    ]
    if found:
        raise DataError(found)


def _marks(sink: Sink) -> tuple[str, str]:
    """How null and the empty text are written."""
    given = folded(write_options(sink))
    return given.get("nullvalue", ""), given.get("emptyvalue", _QUOTED_EMPTY)


def _changes(text: Column, sink: Sink) -> Column:
    # a field before and one behind: a line of one field alone can be blank
    names = ("before", "text", "behind")
    between = F.struct(*[value.alias(name) for value, name in zip((F.lit("x"), text, F.lit("x")), names, strict=True)])
    written = F.to_csv(between, _of_fields(write_options(sink)))
    schema = ", ".join(f"{name} string" for name in names)
    back = F.from_csv(written, schema, {**_of_fields(read_options(sink)), "mode": "PERMISSIVE"})
    intact = (back["before"] == "x") & (back["behind"] == "x") & back["text"].eqNullSafe(text)
    # from_csv ends a record at these two
    unasked = text.rlike("[\\x00\\uffff]")
    return (~F.coalesce(intact, F.lit(False)) & ~F.coalesce(unasked, F.lit(False))) | _is_beyond(text, sink) | _is_broken(text, sink)


def _is_broken(text: Column, sink: Sink) -> Column:
    """Whether a line end in a text breaks its line or comes back as one of two signs; ``from_csv`` knows of no lines."""
    given = folded(write_options(sink))
    if given.get("quote") == "":
        return F.coalesce(text.rlike("[\r\n]"), F.lit(False))
    return F.coalesce(text.contains("\n"), F.lit(False)) if len(given.get("linesep", "")) > 1 else F.lit(False)


def _is_beyond(text: Column, sink: Sink) -> Column:
    name = re.sub(r"[-_]", "", encoding(folded(write_options(sink))).lower())
    return F.coalesce(text.rlike(_BEYOND[name]), F.lit(False)) if name in _BEYOND else F.lit(False)


def _of_fields(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if key.lower() not in _OWN}
