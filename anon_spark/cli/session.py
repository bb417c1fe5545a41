"""The Spark session of a command: the one that is there, what the environment gives, or a local one."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from anon_spark.cli import signals, streams
from anon_spark.domain.errors import PlatformError
from anon_spark.io.spark_errors import SPARK_ERRORS, error_class, query_loggers


def is_started_here() -> bool:
    """Whether the session of a command will be started by this process, on this machine."""
    elsewhere = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_API_MODE")
    return SparkSession.getActiveSession() is None and not any(map(os.environ.get, elsewhere))


def has_local_files() -> bool:
    """Whether nothing in the environment gives Spark another file system than this machine's for paths without a scheme."""
    if any(map(os.environ.get, ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_HOME"))):
        return False
    options, folder = os.environ.get("PYSPARK_SUBMIT_ARGS", ""), os.environ.get("SPARK_CONF_DIR")
    if folder:
        with contextlib.suppress(OSError):
            options += (Path(folder) / "spark-defaults.conf").read_text(errors="replace")
    named = re.search(r"--properties-file|remote|defaultFS|spark\.api\.mode", options)
    return named is None and not (folder and (Path(folder) / "core-site.xml").exists())


@contextlib.contextmanager
def spark_session(name: str, log_spark: bool = False) -> Iterator[SparkSession]:
    """A session that is stopped at the end, unless it was there before; master, settings and remote address come from spark-submit or
    the environment.

    log_spark: let Java and Spark write as they are configured; without it a session that is started here writes nothing, because
    Spark logs the text of failures, and with them values of the data. Raises PlatformError where no session can be started.
    """
    for logger in query_loggers():
        logger.disabled = True
    try:
        before = SparkSession.getActiveSession()
        with warnings.catch_warnings():
            # a Connect server that PySpark starts itself takes settings as it starts, and refuses them once more when it runs
            warnings.filterwarnings("ignore", "Failed to set ")
            spark = before or _started(name, log_spark)
        # Spark's own handler asks the JVM to cancel all jobs on the very connection that waits for one
        signals.listen()
    except (*SPARK_ERRORS, OSError, RuntimeError) as error:
        raise PlatformError(
            f"no Spark session could be started ({error_class(error)}); is Java 17 on the PATH, and the cluster up? "
            "--debug shows what Java and Spark say"
        ) from None
    try:
        yield spark
    finally:
        if before is None:
            # a JVM that died with the job is stopped already
            with contextlib.suppress(*SPARK_ERRORS, OSError):
                spark.stop()


def _started(name: str, log_spark: bool) -> SparkSession:
    streams.say("anon-spark: starting Spark ...")
    with contextlib.nullcontext() if log_spark else streams.children_unheard():
        return _builder(name, log_spark).getOrCreate()


def _builder(name: str, log_spark: bool) -> SparkSession.Builder:
    builder = SparkSession.builder.appName(f"anon-spark {name}")
    if not os.environ.get("SPARK_REMOTE", "local").startswith("local"):
        # a server elsewhere has settings and logs of its own
        return builder
    # PySpark 4 notes for each expression from which line it came, for its traces, which nobody sees: a fifth of the time of small jobs
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.python.sql.dataFrameDebugging.enabled", "false")
    return builder if log_spark else builder.config("spark.log.level", "OFF")
