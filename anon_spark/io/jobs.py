"""The Spark jobs of one run as a unit that ends with it: an interrupted client leaves its jobs running, and writing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from pyspark.sql import SparkSession

from anon_spark.io.files import is_connect
from anon_spark.io.spark_errors import SPARK_ERRORS

_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@contextlib.contextmanager
def jobs_of(spark: SparkSession, name: str) -> Iterator[Callable[[], None]]:
    """The jobs that the body starts go by ``name``; yields what cancels those that are running, which may be called at any time."""
    cancel, forget = _tagged(spark, name) if spark.version >= "4" or is_connect(spark) else _grouped(spark, name)
    try:
        yield lambda: _quietly(cancel)
    finally:
        _quietly(forget)


def _tagged(spark: SparkSession, tag: str) -> tuple[Callable[[], object], Callable[[], object]]:
    spark.addTag(tag)
    return lambda: spark.interruptTag(tag), lambda: spark.removeTag(tag)


def _grouped(spark: SparkSession, name: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """A classic session of Spark 3.5 has no tags; its caller's own job group is put back."""
    context = spark.sparkContext
    before = [context.getLocalProperty(key) for key in _GROUP]
    context.setJobGroup(name, "anon-spark", False)

    def forget() -> None:
        for key, value in zip(_GROUP, before, strict=True):
            context.setLocalProperty(key, value)  # type: ignore[arg-type]

    return lambda: context.cancelJobGroup(name), forget


def _quietly(call: Callable[[], object]) -> None:
    """What fails here fails beside something that is told already, or has no consequence."""
    with contextlib.suppress(OSError, *SPARK_ERRORS):
        call()
