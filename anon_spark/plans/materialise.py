"""The one place where an intermediate is kept between steps, by the best means that the session allows."""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import TracebackType

from pyspark.sql import DataFrame

from anon_spark.plans.settings import SPARK_ERRORS, where_allowed

COALESCE = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
"""Lets Spark coalesce the partitions of what it keeps: unless told so, a small set is kept, and read, in 200 parts."""
log = logging.getLogger(__name__)


class Materialised:
    """Keeps intermediates until it is left; a context manager.

    stage: writes a DataFrame under a name to a temporary directory and reads it back, for sessions that refuse to persist
    (Databricks serverless); None where the job has no such directory: then the plan is simply computed again.
    """

    def __init__(self, stage: Callable[[DataFrame, str], DataFrame] | None = None):
        self._stage = stage
        self._kept: list[DataFrame] = []

    def __enter__(self) -> Materialised:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for frame in self._kept:
            self.drop(frame)
        self._kept.clear()

    def keep(self, frame: DataFrame, name: str) -> DataFrame:
        """The same rows, kept from their first use on."""
        try:
            with where_allowed(frame.sparkSession, COALESCE, "true", "false"):
                kept = frame.persist()
        except SPARK_ERRORS as error:
            log.info("the session refuses to persist %s (%s): staged instead", name, type(error).__name__)
            return self._stage(frame, name) if self._stage else frame
        self._kept.append(kept)
        return kept

    def drop(self, frame: DataFrame) -> None:
        """Let go of an intermediate early; one that was staged goes with its directory."""
        try:
            frame.unpersist()
        except SPARK_ERRORS:
            # such as a JVM that is gone, and with it what it kept
            log.info("an intermediate could not be dropped: it goes with the session")
