"""Where a table comes from and where a release goes, in a few words that hold no secret."""

from __future__ import annotations

import re

from anon_spark.domain.policy import Sink, Source

HIDDEN = "(hidden)"
_SECRET_PART = re.compile(r"([\w.-]*(?:pass|pwd|secret|token|sig|key)[\w.-]*=)[^&;\s]+", re.IGNORECASE)
# in Azure's file systems the part before the @ is a container
_USER_INFO = re.compile(r"(?<!abfs)(?<!abfss)(?<!wasb)(?<!wasbs)(://)[^/@\s]+@")


def without_secrets(text: str) -> str:
    """An address without the user, password or token in it."""
    return _SECRET_PART.sub(r"\1" + HIDDEN, _USER_INFO.sub(r"\1" + HIDDEN + "@", text))


def source_of(source: Source | None) -> str | None:
    """Where the table comes from, without the text of a query, which may hold values; None for none."""
    if source is None:
        return None
    if source.table is not None:
        return f"table {source.table}"
    if source.query is not None:
        return "a query"
    if source.path is not None:
        return without_secrets(source.path) + (f" ({source.format})" if source.format else "")
    return f"{source.format} {without_secrets(source.options.get('dbtable', ''))}".strip()


def target_of(sink: Sink | None) -> str | None:
    """Where a release goes; None for none."""
    if sink is None:
        return None
    if sink.table is not None:
        return f"table {sink.table}"
    if sink.path is not None:
        return f"{without_secrets(sink.path)} ({sink.format})"
    return f"{sink.format} {without_secrets(sink.options.get('dbtable', ''))}".strip()
