"""The Spark session of a command: what the environment gives, or a local one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from anon_spark.domain.errors import PlatformError
from anon_spark.io.tables import SPARK_ERRORS, error_class


@contextmanager
def spark_session(name: str) -> Iterator[SparkSession]:
    """A session that is stopped at the end; master, settings and remote address come from spark-submit or the environment.

    Raises PlatformError where none can be started.
    """
    # Spark 4 logs the text of failed queries through this logger: names of the user's tables, at the least
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    builder = SparkSession.builder.appName(f"anon-spark {name}").config("spark.ui.showConsoleProgress", "false")
    try:
        spark = builder.getOrCreate()
    except (*SPARK_ERRORS, OSError, RuntimeError) as error:
        raise PlatformError(
            f"no Spark session could be started ({error_class(error)}); is Java 17 on the PATH, and the cluster up?"
        ) from None
    try:
        yield spark
    finally:
        spark.stop()
