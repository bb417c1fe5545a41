"""Directories and small files where Spark's side keeps them: staging, putting in place, removing.

The one room that may reach Hadoop's file systems through the JVM, and that on classic sessions alone: there a path means what it
means to Spark (its default file system, its credentials). Over Spark Connect paths are opened by pyarrow: local paths and mounts,
or an object store by its URI.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import shutil
from collections.abc import Iterator, Mapping
from typing import Any, Protocol
from urllib.parse import unquote

from pyarrow import fs
from pyspark.sql import SparkSession

from anon_spark.domain.errors import ConfigurationError, Fault, PlatformError
from anon_spark.domain.policy import Sink
from anon_spark.io.spark_errors import SPARK_ERRORS, error_class

HIDDEN = ".anon-spark-"
"""Prefix of our own directories; Spark takes names with a leading dot for hidden and never reads them by accident."""
FILE_ERRORS = (OSError, PlatformError, *SPARK_ERRORS)
"""What the methods of ``Files`` raise."""


class Files(Protocol):
    """What is needed of a file system. Paths are as configured; every method raises one of FILE_ERRORS on failure."""

    def exists(self, path: str) -> bool: ...
    def is_file(self, path: str) -> bool: ...
    def rename(self, source: str, target: str) -> None: ...
    def delete(self, path: str) -> None: ...
    def write(self, path: str, text: str) -> None: ...


def is_connect(spark: SparkSession) -> bool:
    """Whether this is a Spark Connect session, which has no JVM here."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def files_of(spark: SparkSession, path: str) -> Files:
    """The file system that holds ``path``."""
    return _ArrowFiles(path) if is_connect(spark) else _HadoopFiles(spark, path)


@contextlib.contextmanager
def file_faults(where: str, key: str, what: str) -> Iterator[None]:
    """A file system's failures as PlatformError: ``what`` could not be done at the place of ``key``."""
    try:
        yield
    except PlatformError as error:
        raise PlatformError(f"{where}: {key}: {what}: {error}") from None
    except OSError as error:
        raise PlatformError(f"{where}: {key}: {what} ({error.strerror or type(error).__name__})") from None
    except SPARK_ERRORS as error:
        raise PlatformError(
            f"{where}: {key}: {what} ({error_class(error)}); are its path and rights as they should be?"
        ) from None


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
        if path and set(path) & set("*?[]{}\\")
    ]
    if faults:
        raise ConfigurationError(faults)


def real_place(path: str) -> str:
    """One spelling of a place: links followed and ``file:`` taken off where it is local."""
    if "://" in path and not path.startswith("file://"):
        return path.rstrip("/")
    plain = unquote("/" + path.removeprefix("file:").lstrip("/")) if path.startswith("file:") else path
    return os.path.realpath(plain)


def staging_of(target: str, release_id: str) -> str:
    """A hidden directory beside ``target``, on the same file system, so that a rename can put what is in it in place."""
    parent, name = posixpath.split(target.rstrip("/"))
    return posixpath.join(parent, f"{HIDDEN}{name}-{release_id}")


def inside(staging: str) -> str:
    """Where the release is written in its staging directory: Spark warns of a path whose own name is hidden."""
    return posixpath.join(staging, "release")


def put_in_place(files: Files, staging: str, sink: Sink, where: str) -> None:
    """Make the staged release the published one, and remove the staging directory.

    With ``overwrite`` the old release is moved into the staging directory first and brought back on failure.
    """
    staged, target = inside(staging), str(sink.path).rstrip("/")
    refuse_existing(files, sink, where)
    with file_faults(where, "output.path", "the release could not be put in place"):
        try:
            if files.exists(target):
                files.rename(target, _aside(staging))
            files.rename(staged, target)
        except BaseException:
            bring_back(files, staging, target)
            raise
    # published is published: what is left of the old release is removed as far as that can be done
    with contextlib.suppress(*FILE_ERRORS):
        files.delete(staging)


def bring_back(files: Files, staging: str, target: str) -> None:
    """Move an old release that stands aside back to its place, unless that is taken. Raises one of FILE_ERRORS."""
    if files.exists(_aside(staging)) and not files.exists(target):
        files.rename(_aside(staging), target)


def _aside(staging: str) -> str:
    """Where the old release stands while the new one takes its place."""
    return posixpath.join(staging, "old")


def refuse_existing(files: Files, sink: Sink, where: str) -> None:
    """ConfigurationError where the output exists and ``mode`` is error."""
    with file_faults(where, "output.path", "it could not be looked for"):
        taken = sink.mode == "error" and files.exists(str(sink.path))
    if taken:
        fault = Fault(
            where, "output.path", f"{sink.path} exists already", "a new path", "choose another, or set output.mode: overwrite"
        )
        raise ConfigurationError([fault])


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


class _HadoopFiles:
    """Hadoop's file system of a path, through the JVM of a classic session."""

    def __init__(self, spark: SparkSession, path: str):
        self._jvm: Any = spark._jvm
        self._fs = self._path(path).getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        self._local = str(self._fs.getUri().getScheme()) == "file"

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def exists(self, path: str) -> bool:
        return bool(self._fs.exists(self._path(path)))

    def is_file(self, path: str) -> bool:
        return self.exists(path) and bool(self._fs.getFileStatus(self._path(path)).isFile())

    def rename(self, source: str, target: str) -> None:
        # HDFS would move the source *into* an existing target
        if self._fs.exists(self._path(target)) or not self._fs.rename(self._path(source), self._path(target)):
            raise PlatformError(f"{target}: a directory could not be renamed to this path; is it being written by another run?")

    def delete(self, path: str) -> None:
        try:
            self._fs.delete(self._path(path), True)
        except FILE_ERRORS:
            # a signal to the whole process group has ended the JVM before us
            if not self._local:
                raise
            shutil.rmtree(_plain(path), ignore_errors=True)

    def write(self, path: str, text: str) -> None:
        if self._local:
            # Hadoop's local file system would leave a file of checksums beside it
            plain = str(self._fs.makeQualified(self._path(path)).toUri().getPath())
            os.makedirs(posixpath.dirname(plain), exist_ok=True)
            with open(plain, "wb") as file:
                file.write(text.encode())
            return
        stream = self._fs.create(self._path(path), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()


def _plain(path: str) -> str:
    """A local path without its scheme."""
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path


class _ArrowFiles:
    """pyarrow's file system of a path: local, a mount, or an object store's URI."""

    def __init__(self, path: str):
        self._scheme = path.split("://", 1)[0] if "://" in path else ""
        self._fs = fs.FileSystem.from_uri(path)[0] if self._scheme else fs.LocalFileSystem()

    def _path(self, path: str) -> str:
        plain = path.split("://", 1)[1] if self._scheme else path.removeprefix("file:")
        return plain.replace("dbfs:/", "/dbfs/", 1) if plain.startswith("dbfs:/") else plain

    def exists(self, path: str) -> bool:
        return bool(self._fs.get_file_info(self._path(path)).type != fs.FileType.NotFound)

    def is_file(self, path: str) -> bool:
        return bool(self._fs.get_file_info(self._path(path)).type == fs.FileType.File)

    def rename(self, source: str, target: str) -> None:
        if self.exists(target):
            raise PlatformError(
                f"{target}: appeared while the release was being put in place; is it being written by another run?"
            )
        if isinstance(self._fs, fs.LocalFileSystem):
            os.rename(self._path(source), self._path(target))
        else:
            self._fs.move(self._path(source), self._path(target))

    def delete(self, path: str) -> None:
        if not self.exists(path):
            return
        if self._fs.get_file_info(self._path(path)).type == fs.FileType.Directory:
            self._fs.delete_dir(self._path(path))
        else:
            self._fs.delete_file(self._path(path))

    def write(self, path: str, text: str) -> None:
        self._fs.create_dir(posixpath.dirname(self._path(path)), recursive=True)
        with self._fs.open_output_stream(self._path(path)) as stream:
            stream.write(text.encode())
