"""Where a release is staged, and how it takes its place: one rename on file systems that have it (DESIGN, publication)."""

from __future__ import annotations

import contextlib
import os
import posixpath
from collections.abc import Mapping
from urllib.parse import unquote

from pyspark.sql import SparkSession

from anon_spark.domain.errors import ConfigurationError, Fault, OccupiedError
from anon_spark.domain.policy import Sink
from anon_spark.io.files import FILE_ERRORS, Files, file_faults, is_connect
from anon_spark.io.local_files import is_local, plain
from anon_spark.io.places import is_pattern

HIDDEN = ".anon-spark-"
"""Prefix of our own directories; Spark takes names with a leading dot for hidden and never reads them by accident."""


def refuse_relative(spark: SparkSession, where: str, paths: dict[str, str | None]) -> None:
    """Over Connect a relative path would be resolved by a server whose working directory nobody knows: ConfigurationError."""
    if not is_connect(spark):
        return
    faults = [
        Fault(
            where,
            key,
            f"the relative path {path!r}",
            "an absolute path or a URI over Spark Connect",
            "paths belong to Spark's side",
        )
        for key, path in paths.items()
        if path and "://" not in path and not path.startswith(("/", "dbfs:", "file:"))
    ]
    if faults:
        raise ConfigurationError(faults)


def refuse_patterns(where: str, paths: Mapping[str, str | None]) -> None:
    """ConfigurationError for a path to write that Spark would read back as a pattern."""
    expected = "a path without any of * ? [ ] { } \\"
    faults = [
        Fault(where, key, repr(path), expected, "rename it")
        for key, path in paths.items()
        if path and is_pattern(path)
    ]
    if faults:
        raise ConfigurationError(faults)


def real_place(path: str) -> str:
    """One spelling of a place: links followed and ``file:`` taken off where it is local."""
    if not is_local(path):
        return path.rstrip("/")
    # Spark's names of local files are URIs, others are as they are written
    return os.path.realpath(unquote(plain(path)) if path.startswith("file:") else plain(path))


def staging_of(target: str, release_id: str) -> str:
    """A hidden directory beside ``target``, on the same file system, so that a rename can put what is in it in place."""
    parent, name = posixpath.split(target.rstrip("/"))
    return posixpath.join(parent, f"{HIDDEN}{name}-{release_id}")


def inside(staging: str) -> str:
    """Where the release is written in its staging directory: Spark warns of a path whose own name is hidden."""
    return posixpath.join(staging, "release")


def put_in_place(files: Files, staging: str, sink: Sink, where: str) -> None:
    """Make the staged release the published one, and remove the staging directory.

    With ``overwrite`` the two change places in one step where the file system has it (Linux, on its disks). Elsewhere the old release is
    moved into the staging directory first, and brought back on failure: for that moment there is none.
    """
    staged, target = inside(staging), str(sink.path).rstrip("/")
    refuse_existing(files, sink, where)
    with file_faults(where, "output.path", "the release could not be put in place"):
        try:
            taken = files.exists(target)
            if not (taken and files.exchange(staged, target)):
                if taken:
                    files.rename(target, aside(staging))
                files.rename(staged, target)
        except BaseException:
            bring_back(files, staging, target)
            raise
    # published is published: what is left of the old release is removed as far as that can be done
    with contextlib.suppress(*FILE_ERRORS):
        files.delete(staging)


def bring_back(files: Files, staging: str, target: str) -> None:
    """Move an old release that stands aside back to its place, unless that is taken. Raises one of FILE_ERRORS."""
    if files.exists(aside(staging)) and not files.exists(target):
        files.rename(aside(staging), target)


def aside(staging: str) -> str:
    """Where the old release stands while the new one takes its place."""
    return posixpath.join(staging, "old")


def refuse_existing(files: Files, sink: Sink, where: str) -> None:
    """OccupiedError where the output exists and ``mode`` is error."""
    with file_faults(where, "output.path", "it could not be looked for"):
        taken = sink.mode == "error" and files.exists(str(sink.path))
    if taken:
        fault = Fault(
            where, "output.path", f"{sink.path}, which exists already", "a new path", "choose another, or set output.mode: overwrite"
        )
        raise OccupiedError([fault])


def refuse_file(files: Files, path: str, where: str, key: str) -> None:
    """ConfigurationError where a directory can't be made at ``path``, because a file stands there or above it."""
    with file_faults(where, key, "it could not be looked for"):
        above = path.rstrip("/")
        while above and not files.exists(above):
            above = posixpath.dirname(above)
            above = "" if above.endswith((":", ":/")) else above
        taken = bool(above) and files.is_file(above)
    if taken:
        found = f"{path}, which is a file" if above == path.rstrip("/") else f"{path}, below the file {above}"
        raise ConfigurationError([Fault(where, key, found, "a directory, or a new path", "choose another")])
