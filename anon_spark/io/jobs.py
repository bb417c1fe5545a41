"""The Spark jobs of one run as a unit that ends with it: an interrupted client leaves its jobs running, and writing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from pyspark.sql import SparkSession

from anon_spark.io.files import is_connect
from anon_spark.io.spark_errors import SPARK_ERRORS


@contextlib.contextmanager
def jobs_of(spark: SparkSession, name: str) -> Iterator[Callable[[], None]]:
    """The jobs that the body starts go by ``name``; yields what cancels those that are running, which may be called at any time.

    A classic session of Spark 3.5 has no such names: there nothing is cancelled. A job that runs fails once it finds its directory
    gone, or ends with its session, which a command stops right after.
    """
    if spark.version < "4" and not is_connect(spark):
        yield lambda: None
        return
    spark.addTag(name)
    try:
        yield lambda: _quietly(lambda: spark.interruptTag(name))
    finally:
        _quietly(lambda: spark.removeTag(name))


@contextlib.contextmanager
def tagged(spark: SparkSession, step: str) -> Iterator[None]:
    """Spark's own pages tell the jobs of a step by its name, which holds nothing of the data: ``anon-spark-frequency-set``."""
    with jobs_of(spark, f"anon-spark-{step.replace(' ', '-')}"):
        yield


def _quietly(call: Callable[[], object]) -> None:
    """What fails here fails beside something that is told already, or has no consequence."""
    with contextlib.suppress(OSError, *SPARK_ERRORS):
        call()
