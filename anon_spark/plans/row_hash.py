"""A row's content in a form that Spark hashes: what places rows and deals them, so that nothing of their order counts."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

_COMPLEX = (T.StructType, T.ArrayType, T.MapType)
_JSON = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "ignoreNullFields": "false"}


def hash_parts(column: Column, data_type: T.DataType) -> list[Column]:
    """Whether the value is null, which Spark's hash passes over, and the value; JSON text where Spark hashes no such type."""
    if isinstance(data_type, T.StringType):
        return [column.isNull(), column.cast("string")]
    if isinstance(data_type, _COMPLEX) or "variant" in data_type.simpleString():
        return [column.isNull(), F.to_json(F.struct(column.alias("v")), _JSON)]
    return [column.isNull(), column]
