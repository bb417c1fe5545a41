"""A session's settings, on sessions that tell and take few of them (Databricks serverless): told, or its default; set where allowed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

try:  # the thin client of Spark Connect comes without py4j
    from py4j.protocol import Py4JError as Py4JError
except ImportError:

    class Py4JError(Exception):  # type: ignore[no-redef]
        """Never raised where there is no JVM."""


SPARK_ERRORS = (PySparkException, Py4JError)
"""What PySpark raises: 3.5 passes a failed job on as py4j's own error."""
log = logging.getLogger(__name__)


def setting(spark: SparkSession, name: str, default: str) -> str:
    """The value of a setting, or its default where it is not set.

    A session that does not tell a setting does not let it be set either, so there too it has its default.
    """
    try:
        value = spark.conf.get(name, default)
    except SPARK_ERRORS as error:
        log.debug("the session does not tell %s (%s): taken for %s", name, type(error).__name__, default)
        return default
    return default if value is None else str(value)


def is_true(spark: SparkSession, name: str) -> bool:
    """Whether a setting that is false unless set is true."""
    return setting(spark, name, "false").lower() == "true"


@contextmanager
def where_allowed(spark: SparkSession, name: str, value: str, default: str) -> Iterator[None]:
    """Set a setting for a while, and put back what the host session had; without it where the session refuses.

    Only for what makes a job faster: what its result depends on must not be set so. default: the setting's own, to put back.
    """
    before = setting(spark, name, default)
    try:
        spark.conf.set(name, value)
    except SPARK_ERRORS as error:
        log.debug("the session refuses to set %s (%s)", name, type(error).__name__)
        yield
        return
    try:
        yield
    finally:
        spark.conf.set(name, before)
