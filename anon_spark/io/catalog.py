"""Tables, views and queries by name: what Spark's catalogue and its plans tell of the files behind them."""

from __future__ import annotations

import re

from pyspark.sql import SparkSession

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import Source
from anon_spark.io.described import described
from anon_spark.io.input_options import folded
from anon_spark.io.spark_errors import SPARK_ERRORS
from anon_spark.io.table_names import parts_of, quoted
from anon_spark.plans.settings import is_true

SKIPS = ("spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles")
"""Settings of a session under which files are left out in silence; an input by path is read without them in any case."""
_OPTION = re.compile(r"(?:^|, )(\w[\w.]*)=(.*?)(?=, \w[\w.]*=|$)", re.DOTALL)
_LENIENT = re.compile(r"\b(?:FileScan|BatchScan|Scan) (csv|json|xml)\b|\bScan hive\b", re.IGNORECASE)


def refuse_session(spark: SparkSession, where: str) -> None:
    """ConfigurationError where the session would leave files out of a table, a query or a DataFrame.

    Where it does not tell, nobody could set it, and its default is to fail (plans/settings.py).
    """
    set_ = [name for name in SKIPS if is_true(spark, name)]
    if set_:
        raise ConfigurationError(
            [Fault(where, "session", f"{name} = true", "false", "files would be left out in silence") for name in set_]
        )


def stored_source(spark: SparkSession, source: Source) -> Source | None:
    """The format, location and options of a table of files, those of ``source`` over its own; None for a view, or where the
    catalogue does not tell."""
    parts = parts_of(str(source.table))
    if parts is None:
        return None
    try:
        about = described(spark, *parts).about
    except SPARK_ERRORS:
        return None
    if "Provider" not in about or "Location" not in about:
        return None
    own = dict(_OPTION.findall(about.get("Storage Properties", "").removeprefix("[").removesuffix("]")))
    given = folded(source.options)
    options = {**{key: value for key, value in own.items() if key.lower() not in given}, **source.options}
    return Source(format=about["Provider"], path=about["Location"], options=options)


def unseen(spark: SparkSession, source: Source | None) -> tuple[str, ...]:
    """A warning where a view or a query reads text files in ways that can't be seen from here: malformed lines may be emptied."""
    if source is None or source.path is not None or (source.table is None and source.query is None):
        return ()
    if source.table is not None and stored_source(spark, source) is not None:
        return ()
    name = parts_of(str(source.table)) or (str(source.table),)
    asked = source.query.strip().rstrip(";") if source.query is not None else f"SELECT * FROM {quoted(*name)}"
    try:
        plan = str(spark.sql(f"EXPLAIN FORMATTED {asked}").collect()[0][0])
    except SPARK_ERRORS:
        return ()
    found = _LENIENT.search(plan)
    if not found:
        return ()
    kind = (found[1] or "text").upper()
    return (
        f"The input's {'query' if source.query is not None else 'view'} reads {kind} files as Spark was told when they were named: "
        "unless that was mode FAILFAST, malformed lines are emptied in silence. Name the files by input.path to have them checked.",
    )
