"""A row's content in a form that Spark hashes: what places rows and deals them, so that nothing of their order counts."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.plans.columns import HELPER, named

DEALT_BY = (HELPER + "hash0", HELPER + "hash1")
"""long: the order in which the rows of a cell are dealt to its groups."""
_COMPLEX = (T.StructType, T.ArrayType, T.MapType)
_JSON = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "ignoreNullFields": "false"}


def hash_parts(column: Column, data_type: T.DataType) -> list[Column]:
    """Whether the value is null, which Spark's hash passes over, and the value; JSON text where Spark hashes no such type."""
    if isinstance(data_type, T.StringType):
        return [column.isNull(), column.cast("string")]
    if isinstance(data_type, _COMPLEX) or "variant" in data_type.simpleString():
        return [column.isNull(), F.to_json(F.struct(column.alias("v")), _JSON)]
    return [column.isNull(), column]


def dealt_by(others: Sequence[str], schema: T.StructType, seed: int) -> dict[str, Column]:
    """``DEALT_BY``: two hashes, keyed by the seed, of the columns ``others``; rows alike in both are interchangeable."""
    types = {field.name: field.dataType for field in schema.fields}
    parts = [part for name in others for part in hash_parts(named(name), types[name])]
    return dict(zip(DEALT_BY, (F.xxhash64(F.lit(seed), *parts), F.xxhash64(F.lit(seed), F.lit(1), *parts)), strict=True))
