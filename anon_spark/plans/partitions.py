"""Rows in directories ``column=value``: what such a name can say of a value, and an order of rows that it leaves as it is."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.plans.columns import named

NULL = "__HIVE_DEFAULT_PARTITION__"
"""What Spark calls the directory of null, and that of the empty text."""
MOST_BYTES = 255
"""Of a directory's name on nearly every file system."""
TYPES = (T.BooleanType, T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.DateType)
"""Types beside plain text whose values come back from their names as they were."""
_PLAIN = r"[^\x01-\x1f\x7f\"#%'*/:=?\\{\[\]^]"
"""What is no character that Spark writes as ``%`` and two digits."""


def is_ambiguous(text: Column) -> Column:
    """Whether a text would come back as null; never null."""
    return F.coalesce(text.isin("", NULL), F.lit(False))


def is_unnameable(name: str, text: Column) -> Column:
    """Whether no directory of column ``name`` can be called by this text; never null."""
    written = F.octet_length(text) + 2 * F.length(F.regexp_replace(text, _PLAIN, ""))
    most = MOST_BYTES - 3 * len(name.encode()) - len("=")
    return F.coalesce((written > most) | text.contains("\0"), F.lit(False))


def nameable(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """The same rows, the texts that name directories never null: Spark would sort rows anew to make null of the empty text, and the
    order that was given would be lost. What no directory can say becomes null: the caller must refuse to publish it."""
    texts = {field.name for field in frame.schema.fields if isinstance(field.dataType, T.StringType)}
    shown = {name: _shown(name) for name in names if name in texts}
    return frame.withColumns(shown) if shown else frame


def _shown(name: str) -> Column:
    text = named(name)
    said = F.when(is_ambiguous(text) | is_unnameable(name, text), F.lit(NULL)).otherwise(text)
    return F.coalesce(said, F.lit(NULL))
