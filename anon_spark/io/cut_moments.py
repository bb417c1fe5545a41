"""Dates and timestamps that files can't hold whole: Parquet of a session that writes milliseconds alone, text by a pattern too short."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import ConfigurationError, DataError, Fault
from anon_spark.domain.policy import Sink
from anon_spark.io.input_options import folded, kind_of_format
from anon_spark.io.tables import read_options, write_options
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import count_where
from anon_spark.plans.settings import setting

_SETTING, _USUAL, _CUTTING = "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"
_PATTERNS: Mapping[type[T.DataType], str] = {
    T.DateType: "dateFormat", T.TimestampType: "timestampFormat", T.TimestampNTZType: "timestampNTZFormat",
}  # fmt: skip


def refuse_cut_moments(release: DataFrame, sink: Sink, where: str) -> None:
    """ConfigurationError where Parquet may have cut the microseconds of a release; asked where what was written came back changed."""
    moments = [field.name for field in release.schema.fields if _holds_moments(field.dataType)]
    if kind_of_format(sink.format) != "parquet" or not moments or setting(release.sparkSession, _SETTING, _USUAL) != _CUTTING:
        return
    found, advice = f"timestamps in {moments[0]!r}, whose microseconds {_SETTING} = {_CUTTING} cuts", f"set it to {_USUAL}"
    raise ConfigurationError([Fault(where, "output", found, "timestamps that are written whole", advice)])


def refuse_patterns_too_short(release: DataFrame, sink: Sink, where: str) -> None:
    """DataError with every column whose dates or timestamps the output's own pattern gives back as others; one pass over the release,
    asked where what was written came back changed."""
    given = folded(sink.options)
    asked = {f.name: _PATTERNS[type(f.dataType)] for f in release.schema.fields if type(f.dataType) in _PATTERNS}
    asked = {name: option for name, option in asked.items() if option.lower() in given}
    if kind_of_format(sink.format) not in ("csv", "json") or not asked:
        return
    kinds = {field.name: field.dataType.simpleString() for field in release.schema.fields}
    changed = count_where(release, [_differs(named(name), kinds[name], sink) for name in asked])
    faults = [
        Fault(
            where,
            f"column {name}",
            f"values in {counted(rows, 'row')} that {option} {given[option.lower()]!r} gives back as others",
            "a pattern that holds all of a value",
            f"leave {option} out of output.options",
        )
        for (name, option), rows in zip(asked.items(), changed, strict=True)
        if rows
    ]
    if faults:
        raise DataError(faults)


def _differs(moment: Column, kind: str, sink: Sink) -> Column:
    written, read = (
        {key: value for key, value in options.items() if key.lower() in ("timezone", "locale", *map(str.lower, _PATTERNS.values()))}
        for options in (write_options(sink), read_options(sink))
    )
    # CSV and JSON write moments alike
    back = F.from_csv(F.to_csv(F.struct(moment.alias("v")), written), f"v {kind}", {**read, "mode": "PERMISSIVE"})
    return ~back["v"].eqNullSafe(moment)


def _holds_moments(kind: T.DataType) -> bool:
    if isinstance(kind, T.ArrayType):
        return _holds_moments(kind.elementType)
    if isinstance(kind, T.MapType):
        return _holds_moments(kind.keyType) or _holds_moments(kind.valueType)
    if isinstance(kind, T.StructType):
        return any(_holds_moments(field.dataType) for field in kind.fields)
    return isinstance(kind, (T.TimestampType, T.TimestampNTZType))
