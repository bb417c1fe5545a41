"""Timestamps in Parquet files of a session that writes them with milliseconds alone."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import Sink
from anon_spark.io.input_options import kind_of_format
from anon_spark.plans.settings import setting

_SETTING, _USUAL, _CUTTING = "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"


def refuse_cut_moments(release: DataFrame, sink: Sink, where: str) -> None:
    """ConfigurationError where Parquet may have cut the microseconds of a release; asked where what was written came back changed."""
    moments = [field.name for field in release.schema.fields if _holds_moments(field.dataType)]
    if kind_of_format(sink.format) != "parquet" or not moments or setting(release.sparkSession, _SETTING, _USUAL) != _CUTTING:
        return
    found, advice = f"timestamps in {moments[0]!r}, whose microseconds {_SETTING} = {_CUTTING} cuts", f"set it to {_USUAL}"
    raise ConfigurationError([Fault(where, "output", found, "timestamps that are written whole", advice)])


def _holds_moments(kind: T.DataType) -> bool:
    if isinstance(kind, T.ArrayType):
        return _holds_moments(kind.elementType)
    if isinstance(kind, T.MapType):
        return _holds_moments(kind.keyType) or _holds_moments(kind.valueType)
    if isinstance(kind, T.StructType):
        return any(_holds_moments(field.dataType) for field in kind.fields)
    return isinstance(kind, (T.TimestampType, T.TimestampNTZType))
