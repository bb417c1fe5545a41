"""Local files as a Connect client opens them, without any session."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from anon_spark.io.files import Files, files_of


class Remote:
    """What is asked of a Connect session here: nothing but its kind."""


Remote.__module__ = "pyspark.sql.connect.session"


def remote() -> SparkSession:
    """A session of that kind."""
    return Remote()  # type: ignore[return-value]


def local(path: Path | str) -> Files:
    """The file system of a local path."""
    return files_of(remote(), str(path))
