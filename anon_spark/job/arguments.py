"""What a caller in code passes: a table that can be read twice, and a policy."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from anon_spark.domain.errors import ConfigurationError, Fault, PlatformError
from anon_spark.domain.policy import Policy
from anon_spark.io.spark_errors import SPARK_ERRORS
from anon_spark.plans.settings import setting

RETAINS = "spark.sql.retainGroupColumns"


def refuse_arguments(table: object, policy: object) -> None:
    """ConfigurationError for anything but a DataFrame of rows that stay, and a Policy."""
    faults = []
    if not _is_table(table):
        advice = "spark.createDataFrame(...) or spark.read make one"
        faults.append(Fault("anonymize", "table", _named(table), "a DataFrame of Spark", advice))
    if not isinstance(policy, Policy):
        advice = "Policy.from_yaml(path) reads a file" if isinstance(policy, str) else "Policy.from_yaml or Policy.from_dict make one"
        faults.append(Fault("anonymize", "policy", _named(policy), "a Policy", advice))
    if faults:
        raise ConfigurationError(faults)


def refuse_stream(table: DataFrame, where: str) -> None:
    """ConfigurationError for a table whose rows keep coming."""
    if table.isStreaming:
        fault = Fault(where, "table", "a streaming DataFrame", "rows that can be read twice", "anonymize a table that the stream wrote")
        raise ConfigurationError([fault])


def refuse_unusable(spark: SparkSession, where: str) -> None:
    """PlatformError for a session that is stopped: PySpark's own errors name attributes of None. ConfigurationError for one in which
    aggregates lack what they are grouped by."""
    try:
        spark.range(1).schema  # noqa: B018 - a stopped session has nothing to plan it with
    except (*SPARK_ERRORS, AttributeError, ValueError):
        raise PlatformError(f"{where}: session: Spark answers no more; is it stopped? Start one and read the table again") from None
    if setting(spark, RETAINS, "true").lower() == "false":
        raise ConfigurationError([Fault(where, "session", f"{RETAINS} = false", "true", f'spark.conf.unset("{RETAINS}") does it')])


def _is_table(table: object) -> bool:
    """Whether it is a DataFrame of Spark: on 3.5 that of Connect is no kind of the classic one."""
    return any(kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql") for kind in type(table).__mro__)


def _named(found: object) -> str:
    """The kind of an object, never its text: it may hold rows."""
    kind = type(found)
    return "None" if found is None else kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
