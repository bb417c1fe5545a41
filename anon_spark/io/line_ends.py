"""Line ends inside the quoted fields of a CSV with multiLine: where lines end in CR LF, Spark makes LF of those in values too."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.errors import DataError, Fault
from anon_spark.io.input_options import Options, folded, keeps_ascii
from anon_spark.io.input_options import encoding as encoding_of
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import fetch_row

_NOT_OF_TEXT = frozenset(
    {"inferschema", "enforceschema", "nullvalue", "emptyvalue", "prefersdate", "mode", "columnpruning", "header",
     "unescapedquotehandling"}
)  # fmt: skip


def refuse_changed_line_ends(spark: SparkSession, path: str, options: Options, columns: Sequence[str], where: str) -> None:
    """DataError where a value would lose a CR. columns: those that stand in the files.

    Told that lines end in LF, Spark leaves every CR where it is, at the end of the last field where lines end in CR LF: those apart,
    both ways of reading must find as many. Headers count as values do; files whose lines end in CR alone are refused. One pass more;
    two where values hold any.
    """
    given = folded(options)
    if given.get("multiline", "").lower() != "true" or "linesep" in given or not keeps_ascii(encoding_of(given)):
        return
    plain = {key: value for key, value in options.items() if key.lower() not in _NOT_OF_TEXT}
    as_is = _returns(spark, path, {**plain, "lineSep": "\n"}, columns)
    if not as_is:
        return
    as_read = _returns(spark, path, plain, columns)
    if as_read < as_is:
        found = f"{as_is - as_read:,} ends of line CR LF or CR in fields, of which Spark makes LF"
        raise DataError([Fault(where, "input", found, "values that are read as they are", "end all lines of the files in LF alone")])


def _returns(spark: SparkSession, path: str, options: Options, columns: Sequence[str]) -> int:
    """How many CRs values hold, but for one at the end of the last of each record."""
    schema = T.StructType([T.StructField(name, T.StringType()) for name in columns])
    # what is malformed is told by the read itself
    lenient = {"mode": "PERMISSIVE", "columnPruning": "false", "header": "false", "unescapedQuoteHandling": "STOP_AT_DELIMITER"}
    table = spark.read.format("csv").options(**options, **lenient).schema(schema).load(path)
    texts = [*map(named, columns[:-1]), F.regexp_replace(named(columns[-1]), r"\r\z", "")]
    held = sum((F.coalesce(F.length(text) - F.length(F.translate(text, "\r", "")), F.lit(0)) for text in texts), F.lit(0))
    return int(fetch_row(table.agg(F.sum(held).alias("n")))["n"] or 0)
