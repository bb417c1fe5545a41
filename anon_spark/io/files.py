"""Directories and small files where Spark's side keeps them.

The one room that may reach Hadoop's file systems through the JVM, and that on classic sessions alone: there a path means what it
means to Spark (its default file system, its credentials). Over Spark Connect paths are opened by pyarrow: local paths and mounts,
or an object store by its URI.
"""

from __future__ import annotations

import contextlib
import os
import posixpath
import shutil
from collections.abc import Iterator
from typing import Any, Protocol

from pyarrow import fs
from pyspark.sql import SparkSession

from anon_spark.domain.errors import PlatformError
from anon_spark.io.spark_errors import SPARK_ERRORS, error_class

FILE_ERRORS = (OSError, PlatformError, *SPARK_ERRORS)
"""What the methods of ``Files`` raise."""


class Files(Protocol):
    """What is needed of a file system. Paths are as configured; every method raises one of FILE_ERRORS on failure.

    create: makes a file where none is and tells whether it did; changed: seconds, by the file system's own clock; names: of what lies
    in a directory; delete_empty: a directory, if nothing is in it, and never raises.
    """

    def exists(self, path: str) -> bool: ...
    def is_file(self, path: str) -> bool: ...
    def rename(self, source: str, target: str) -> None: ...
    def delete(self, path: str) -> None: ...
    def write(self, path: str, text: str) -> None: ...
    def create(self, path: str, text: str) -> bool: ...
    def read(self, path: str) -> str: ...
    def changed(self, path: str) -> float: ...
    def names(self, path: str) -> list[str]: ...
    def delete_empty(self, path: str) -> None: ...


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


    def create(self, path: str, text: str) -> bool:
        if self._local:
            return _created(_plain(path), text)
        try:
            stream = self._fs.create(self._path(path), False)
        except SPARK_ERRORS:
            if self.exists(path):
                return False
            raise
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        return True

    def read(self, path: str) -> str:
        if self._local:
            return _read(_plain(path))
        stream = self._fs.open(self._path(path))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def changed(self, path: str) -> float:
        if self._local:
            return os.stat(_plain(path)).st_mtime
        return float(self._fs.getFileStatus(self._path(path)).getModificationTime()) / 1000

    def names(self, path: str) -> list[str]:
        return [str(status.getPath().getName()) for status in self._fs.listStatus(self._path(path))]

    def delete_empty(self, path: str) -> None:
        # without leave to delete what is in it, a directory that holds something stays
        with contextlib.suppress(*FILE_ERRORS):
            self._fs.delete(self._path(path), False)


def _created(path: str, text: str) -> bool:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    try:
        with open(path, "xb") as file:
            file.write(text.encode())
    except FileExistsError:
        return False
    return True


def _read(path: str) -> str:
    with open(path, "rb") as file:
        return file.read().decode()


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

    def create(self, path: str, text: str) -> bool:
        if isinstance(self._fs, fs.LocalFileSystem):
            return _created(self._path(path), text)
        if self.exists(path):
            return False
        self.write(path, text)
        return True

    def read(self, path: str) -> str:
        with self._fs.open_input_stream(self._path(path)) as stream:
            return bytes(stream.read()).decode()

    def changed(self, path: str) -> float:
        found = self._fs.get_file_info(self._path(path)).mtime_ns
        if found is None:
            raise PlatformError(f"{path}: the file system does not tell when it was changed")
        return float(found) / 1e9

    def names(self, path: str) -> list[str]:
        return [str(info.base_name) for info in self._fs.get_file_info(fs.FileSelector(self._path(path)))]

    def delete_empty(self, path: str) -> None:
        if isinstance(self._fs, fs.LocalFileSystem):
            with contextlib.suppress(OSError):
                os.rmdir(self._path(path))
