"""Telling the user's mistakes from the platform's failures in what Spark raises, without a word of the data in any message."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

from pyspark.errors import AnalysisException, IllegalArgumentException

from anon_spark.domain.errors import (
    AnonError,
    ConfigurationError,
    DataError,
    Fault,
    FaultsError,
    InfeasibleError,
    InternalError,
    NoneFoundError,
    PlatformError,
)
from anon_spark.plans.settings import SPARK_ERRORS as SPARK_ERRORS
from anon_spark.plans.settings import Py4JError

UNREADABLE = frozenset(
    (
        "CANNOT_PARSE_DECIMAL", "CANNOT_READ_FILE_FOOTER", "EMPTY_JSON_FIELD_VALUE", "FAILED_READ_FILE",
        "INVALID_JSON_RECORD_TYPE", "JSON_CONVERSION_FAILED", "MALFORMED_CSV_RECORD", "MALFORMED_RECORD_IN_PARSING",
        "PARQUET_COLUMN_DATA_TYPE_MISMATCH", "PATH_NOT_FOUND", "SCHEMA_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND",
        "UNABLE_TO_INFER_SCHEMA",
    )
)  # fmt: skip
"""Spark's names for data that can't be read, or is no longer there."""
FAILING = frozenset(
    (
        "ARITHMETIC_OVERFLOW", "BINARY_ARITHMETIC_OVERFLOW", "CANNOT_DECODE_URL", "CANNOT_PARSE_DATE", "CANNOT_PARSE_TIME",
        "CANNOT_PARSE_TIMESTAMP", "CAST_INVALID_INPUT", "CAST_OVERFLOW", "COMPARATOR_RETURNS_NULL", "CONVERSION_INVALID_INPUT",
        "DATETIME_FIELD_OUT_OF_BOUNDS", "DATETIME_OVERFLOW", "DIVIDE_BY_ZERO", "DUPLICATED_MAP_KEY",
        "INTERVAL_ARITHMETIC_OVERFLOW", "INTERVAL_DIVIDED_BY_ZERO", "INVALID_ARRAY_INDEX", "INVALID_ARRAY_INDEX_IN_ELEMENT_AT",
        "INVALID_BITMAP_POSITION", "INVALID_CONVERSION", "INVALID_FRACTION_OF_SECOND", "INVALID_INDEX_OF_ZERO", "INVALID_REGEXP_REPLACE",
        "INVALID_UTF8_STRING", "INVALID_VARIANT_CAST", "MALFORMED_CHARACTER_CODING", "MALFORMED_VARIANT", "NOT_NULL_ASSERT_VIOLATION",
        "NULL_MAP_KEY", "NUMERIC_OUT_OF_SUPPORTED_RANGE", "NUMERIC_VALUE_OUT_OF_RANGE", "REMAINDER_BY_ZERO",
        "SCALAR_SUBQUERY_TOO_MANY_ROWS", "USER_RAISED_EXCEPTION",
    )
)  # fmt: skip
"""Spark's names for an expression that fails on the rows it is given: one of the owner's query, view or DataFrame."""
MISTAKES = frozenset(
    (
        "AVRO_DATA_SOURCE_NOT_ENABLED", "CODEC_NOT_AVAILABLE", "CONFLICTING_DIRECTORY_STRUCTURES", "DATA_SOURCE_NOT_FOUND",
        "MISSING_AGGREGATION",
        "PARSE_EMPTY_STATEMENT", "PARSE_SYNTAX_ERROR", "UNRESOLVED_COLUMN", "UNRESOLVED_ROUTINE",
        "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
    )
)  # fmt: skip
"""Spark's names for what a configuration has wrong, wherever it comes up."""
OTHERS = frozenset(
    (
        "CANNOT_MERGE_SCHEMAS", "COLUMN_ALREADY_EXISTS", "FAILED_JDBC", "INCONSISTENT_BEHAVIOR_CROSS_VERSION",
        "INSUFFICIENT_PERMISSIONS", "INTERNAL_ERROR",
        "NOT_SUPPORTED_WITH_SERVERLESS", "PATH_ALREADY_EXISTS", "TASK_WRITE_FAILED", "UNSUPPORTED_FEATURE",
    )
)  # fmt: skip
_UNREADABLE_SIGNS = frozenset(
    (
        # Spark 3.5 names few causes: the methods and classes of its stack traces are what tells them
        "CSVHeaderChecker", "EOFException", "FileNotFoundException", "InvalidProtocolBufferException", "ParquetDecodingException",
        "TextParsingException", "cannotReadFilesError", "malformedRecordsDetectedInSchemaInferenceError",
        "readCurrentFileNotFoundError",
    )
)  # fmt: skip
_JAVA = frozenset(
    (
        "AccessControlException", "AccessDeniedException", "BatchUpdateException", "ConnectException", "EOFException",
        "FileNotFoundException", "IOException", "NoSuchFileException", "OutOfMemoryError", "PSQLException", "SQLException",
        "SocketException", "UnknownHostException",
    )
)  # fmt: skip
_NO_DRIVER = re.compile(r"No suitable driver|ClassNotFoundException: [\w.]+\.\w*Driver\b")
_NO_CODEC = re.compile(r"ClassNotFoundException: [\w.]+\.\w*Codec\b")
_FORBIDDEN = re.compile(r"\(Permission denied\)|AccessControlException|AccessDeniedException")
_CRASHED = re.compile(r"Python worker exited unexpectedly")
_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_NAME = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")
_WORD = re.compile(r"\b[A-Za-z]\w+\b")
_FRAME = re.compile(r'File "([^"]+)", line \d')
_OURS = re.compile(r"\banon_spark[/\\]")
_NOBODYS = re.compile(r"pyspark|pyarrow|pandas|numpy|/lib/python3|^<frozen ")
"""Files of Python code that is neither the caller's nor ours."""


@contextmanager
def spark_faults(
    where: str, key: str, kind: type[FaultsError] = DataError, absent: Callable[[], Fault] | None = None
) -> Iterator[None]:
    """Spark's exceptions about a source or a sink as ours, by the names that Spark gives them: their texts may hold values of the data.

    kind: what a plan that Spark refuses is: DataError for a source, ConfigurationError for a sink. absent: gives the fault of a source
    at whose path nothing lies.
    """
    try:
        yield
    except (AnalysisException, IllegalArgumentException) as error:
        if "FAILED_JDBC" in names_in(error):
            raise PlatformError(
                f"{where}: {key}: the database could not be asked ({error_class(error)}); check url, user and password; is it up?"
            ) from None
        if failing(error):
            # a number that can't be read is an illegal argument to PySpark
            raise as_ours(error, where, "input") from None
        if absent is not None and "PATH_NOT_FOUND" in names_in(error):
            raise kind([absent()]) from None
        mistake = isinstance(error, IllegalArgumentException) or not names_in(error).isdisjoint(MISTAKES)
        advice = "check format, path, table, options and rights"
        fault = Fault(where, key, error_class(error), "what Spark can read or write", advice)
        raise (ConfigurationError if mistake else kind)([fault]) from None
    except SPARK_ERRORS as error:
        # a sink's write reads the input a second time, and only that can be unreadable
        raise as_ours(error, where, "input" if kind is ConfigurationError and _is_of_input(error) else key) from None


@contextmanager
def job_faults(where: str) -> Iterator[None]:
    """Spark's exceptions from the middle of a job as ours: the input that fails, the platform, or a plan of our own that is wrong.

    What no release can hold, or none was found for, is told with the name of the configuration, as all else is. PySpark 4 logs the text of
    failed queries, with values of the data in it: not those of the body.
    """
    try:
        with _unlogged():
            yield
    except (InfeasibleError, NoneFoundError) as error:
        if str(error).startswith(f"{where}: "):
            raise
        raise type(error)(f"{where}: {error}") from None
    except SPARK_ERRORS as error:
        if isinstance(error, AnalysisException) and not _is_of_input(error):
            raise InternalError(f"{where}: Spark refused a plan ({error_class(error)}); please report it") from None
        raise as_ours(error, where, "input" if _is_of_input(error) else "Spark") from None


def query_loggers() -> list[logging.Logger]:
    """Those through which PySpark 4 logs the text of failed queries: names of the user's tables, at the least."""
    # of its own class, whose methods PySpark calls: a logger that is first asked for by its name alone would be another
    home = import_module("pyspark.logger") if find_spec("pyspark.logger") else None
    get = logging.getLogger if home is None else home.PySparkLogger.getLogger
    return [get(name) for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger")]


@contextmanager
def _unlogged() -> Iterator[None]:
    """They say nothing of the body."""
    before = [(logger, logger.disabled) for logger in query_loggers()]
    for logger, _ in before:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was in before:
            logger.disabled = was


def as_ours(error: Exception, where: str, key: str) -> AnonError:
    """The exception of a running job as bad data (it can't be read, or an expression of the input fails on it), a mistake in the
    configuration, or a failure of the platform."""
    found = error_class(error)
    if _NO_DRIVER.search(_text(error)):
        there, advice = "a database without its JDBC driver", "add its jar to the session: --jars, or spark.jars"
        return ConfigurationError([Fault(where, f"{key}.options.url", there, "a driver that Spark has", advice)])
    if _NO_CODEC.search(_text(error)):
        advice = "set compression: zstd in output.options, or another spark.sql.parquet.compression.codec"
        return ConfigurationError([Fault(where, key, "a compression whose class Spark lacks", "one that it has, such as zstd", advice)])
    if _FULL.search(_text(error)):
        advice = "make room where Spark writes: the output, settings.staging, spark.local.dir"
        return PlatformError(f"{where}: {key}: no space left on a disk; {advice}")
    if "INCONSISTENT_BEHAVIOR_CROSS_VERSION" in names_in(error):
        advice = "set spark.sql.parquet.datetimeRebaseModeInRead and spark.sql.parquet.datetimeRebaseModeInWrite to CORRECTED"
        return ConfigurationError([Fault(where, key, f"old dates or times ({found})", "a session that reads and writes them", advice)])
    if not names_in(error).isdisjoint(MISTAKES):
        advice = "check format, options and the packages of the session"
        return ConfigurationError([Fault(where, key, found, "what Spark can read or write", advice)])
    if "CANNOT_MERGE_SCHEMAS" in names_in(error):
        advice = "write them anew with one type a column, or read each alone and unite them in a query"
        return DataError([Fault(where, key, "files that give a column different types", "one type in all files", advice)])
    if "CSVHeaderChecker" in _WORD.findall(_text(error)):
        advice = "name every column alike, or read each file by itself"
        return DataError([Fault(where, key, "files whose headers differ", "one header in all files", advice)])
    if _CRASHED.search(_text(error)):
        advice = "out of memory, most likely; its own log says more, and more memory or smaller partitions may help"
        return PlatformError(f"{where}: {key}: a Python worker of Spark died; {advice}")
    if unreadable(error) and _FORBIDDEN.search(_text(error)):
        return DataError([Fault(where, key, "files that this user may not read", "files that Spark can", "get the right to read them")])
    if unreadable(error):
        advice = "mend or leave out those files; for a CSV check header, sep, escape and multiLine in options"
        return DataError([Fault(where, key, f"lines or files that can't be read ({found})", "well-formed data", advice)])
    if failing(error):
        advice = "mend the query, view or DataFrame (try_cast, try_divide and their like give null instead of an error)"
        return DataError([Fault(where, key, f"an expression that fails on its rows ({found})", "a value for every row", advice)])
    if isinstance(error, IllegalArgumentException):
        advice = "check the options of input and output"
        return ConfigurationError([Fault(where, key, f"something that Spark does not take ({found})", "options that it knows", advice)])
    return PlatformError(f"{where}: {key}: Spark failed ({found}); its own log says more; running the job again may help")


def error_class(error: Exception) -> str:
    """What Spark calls an error, such as PATH_NOT_FOUND, the deepest cause that it names; never a word from the data.

    The names of causes stand in the text alone, beside values: only names that are known here are taken from it.
    """
    text, condition = _text(error), _condition(error) or ""
    named: list[str] = [name for name in map(_stem, _NAME.findall(text)) if name in UNREADABLE | FAILING | MISTAKES | OTHERS]
    if named and named[-1] != _stem(condition):
        return named[-1]
    if condition and not condition.startswith("_LEGACY"):
        return condition
    java: list[str] = [word for word in _WORD.findall(text) if word in _JAVA]
    if java:
        return java[-1]
    return "an error of the JVM" if isinstance(error, Py4JError) else type(error).__name__


def unreadable(error: Exception) -> bool:
    """Whether an error tells of data that can't be read, or is no longer there."""
    return not names_in(error).isdisjoint(UNREADABLE) or not _UNREADABLE_SIGNS.isdisjoint(_WORD.findall(_text(error)))


def failing(error: Exception) -> bool:
    """Whether an error tells of an expression that fails on the rows of the input."""
    return not names_in(error).isdisjoint(FAILING) or _is_of_callers_function(error)


def _is_of_callers_function(error: Exception) -> bool:
    """Whether a worker's traceback goes through Python code of the caller's (a UDF of its table), and none of ours."""
    files = _FRAME.findall(_text(error)) if "Traceback (most recent call last)" in _text(error) else []
    return any(not _NOBODYS.search(file) for file in files) and not any(_OURS.search(file) for file in files)


def _is_of_input(error: Exception) -> bool:
    return unreadable(error) or failing(error)


def names_in(error: Exception) -> set[str]:
    """The known names in an error, each without what stands behind its dot."""
    return {_stem(name) for name in (*_NAME.findall(_text(error)), _condition(error) or "")}


def _stem(name: str) -> str:
    return name.split(".", 1)[0]


def _text(error: Exception) -> str:
    """The text of an error; some are asked of a JVM that may be gone."""
    try:
        return str(error)
    except Exception:
        return ""


def _condition(error: Exception) -> str | None:
    """The name that the outermost error carries apart from its text."""
    try:
        asked = getattr(error, "getCondition", getattr(error, "getErrorClass", lambda: None))()
    except Exception:
        return None
    return str(asked) if asked else None
