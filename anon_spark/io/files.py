"""Directories and small files where Spark's side keeps them.

The one room that may reach Hadoop's file systems through the JVM, and that on classic sessions alone: there a path means what it
means to Spark (its default file system, its credentials). Over Spark Connect an object store is opened by pyarrow, by its URI. Local
paths and mounts need neither (io/local_files.py).
"""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
from collections.abc import Iterator
from typing import Any, Protocol

from pyarrow import fs
from pyspark.sql import SparkSession

from anon_spark.domain.errors import PlatformError
from anon_spark.io.local_files import LocalFiles, is_local, sha256_of
from anon_spark.io.spark_errors import SPARK_ERRORS, error_class

FILE_ERRORS = (OSError, PlatformError, *SPARK_ERRORS)
"""What the methods of ``Files`` raise."""
_REFUSING = frozenset((errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT))
"""What a system says of a file that can't be made in a folder: /proc calls it missing."""


class Files(Protocol):
    """What is needed of a file system. Paths are as configured; every method raises one of FILE_ERRORS on failure.

    local: the path on this machine, absolute, None where the file system is elsewhere; exists: a link that leads nowhere does, too;
    exchange: gives two directories each other's names in one step and tells whether it did; where it can't, nothing has happened;
    create: makes a file where none is and tells whether it did; changed: seconds, by the file system's own clock; names: of what
    lies in a directory; delete_empty: a directory, if nothing is in it, and never raises; tree: path below a directory -> bytes, of every
    file in it at any depth; digest: the SHA-256 of a file, read in pieces, in hexadecimal.
    """

    def local(self, path: str) -> str | None: ...
    def exists(self, path: str) -> bool: ...
    def is_file(self, path: str) -> bool: ...
    def rename(self, source: str, target: str) -> None: ...
    def exchange(self, one: str, other: str) -> bool: ...
    def delete(self, path: str) -> None: ...
    def write(self, path: str, text: str) -> None: ...
    def create(self, path: str, text: str) -> bool: ...
    def read(self, path: str) -> str: ...
    def changed(self, path: str) -> float: ...
    def names(self, path: str) -> list[str]: ...
    def delete_empty(self, path: str) -> None: ...
    def tree(self, path: str) -> dict[str, int]: ...
    def digest(self, path: str) -> str: ...


def is_connect(spark: SparkSession) -> bool:
    """Whether this is a Spark Connect session, which has no JVM here."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def files_of(spark: SparkSession, path: str) -> Files:
    """The file system that holds ``path``."""
    if is_connect(spark):
        return LocalFiles(os.getcwd()) if is_local(path) else _ArrowFiles(path)
    jvm: Any = spark._jvm
    found = jvm.org.apache.hadoop.fs.Path(path).getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    if str(found.getUri().getScheme()) == "file":
        return LocalFiles(str(found.getWorkingDirectory().toUri().getPath()))
    return _HadoopFiles(jvm, found)


@contextlib.contextmanager
def file_faults(where: str, key: str, what: str, makes: bool = False) -> Iterator[None]:
    """A file system's failures as PlatformError: ``what`` could not be done at the place of ``key``. makes: a file or a folder is to be
    made there, and the folder that refuses it is named."""
    try:
        yield
    except PlatformError as error:
        raise PlatformError(f"{where}: {key}: {what}: {error}") from None
    except OSError as error:
        if makes and error.errno in _REFUSING and isinstance(error.filename, str):
            folder = os.path.dirname(error.filename)
            advice = f"choose another {key}, or get the right to write there"
            raise PlatformError(
                f"{where}: {key}: {what}: nothing can be made in the folder {folder} ({error.strerror}); {advice}"
            ) from None
        raise PlatformError(f"{where}: {key}: {what} ({error.strerror or type(error).__name__})") from None
    except SPARK_ERRORS as error:
        raise PlatformError(
            f"{where}: {key}: {what} ({error_class(error)}); are its path and rights as they should be?"
        ) from None


class _HadoopFiles:
    """Hadoop's file system of a path, through the JVM of a classic session."""

    def __init__(self, jvm: Any, filesystem: Any):
        self._jvm, self._fs = jvm, filesystem

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def local(self, path: str) -> None:
        return None

    def exists(self, path: str) -> bool:
        return bool(self._fs.exists(self._path(path)))

    def is_file(self, path: str) -> bool:
        return self.exists(path) and bool(self._fs.getFileStatus(self._path(path)).isFile())

    def rename(self, source: str, target: str) -> None:
        # HDFS would move the source *into* an existing target
        if self._fs.exists(self._path(target)) or not self._fs.rename(self._path(source), self._path(target)):
            raise PlatformError(f"{target}: a directory could not be renamed to this path; is it being written by another run?")

    def exchange(self, one: str, other: str) -> bool:
        return False

    def delete(self, path: str) -> None:
        self._fs.delete(self._path(path), True)

    def write(self, path: str, text: str) -> None:
        self._put(self._fs.create(self._path(path), True), text)

    def create(self, path: str, text: str) -> bool:
        try:
            stream = self._fs.create(self._path(path), False)
        except SPARK_ERRORS:
            if self.exists(path):
                return False
            raise
        try:
            self._put(stream, text)
        except BaseException:
            self.delete(path)
            raise
        return True

    def _put(self, stream: Any, text: str) -> None:
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def read(self, path: str) -> str:
        stream = self._fs.open(self._path(path))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def changed(self, path: str) -> float:
        return float(self._fs.getFileStatus(self._path(path)).getModificationTime()) / 1000

    def names(self, path: str) -> list[str]:
        return [str(status.getPath().getName()) for status in self._fs.listStatus(self._path(path))]

    def delete_empty(self, path: str) -> None:
        # without leave to delete what is in it, a directory that holds something stays
        with contextlib.suppress(*FILE_ERRORS):
            self._fs.delete(self._path(path), False)

    def tree(self, path: str) -> dict[str, int]:
        base, found = f"{self._fs.makeQualified(self._path(path))}/", {}
        left = self._fs.listFiles(self._path(path), True)
        while left.hasNext():
            status = left.next()
            found[str(status.getPath()).removeprefix(base)] = int(status.getLen())
        return found

    def digest(self, path: str) -> str:
        # the bytes stay in the JVM: each would cost the gateway a message
        stream = self._fs.open(self._path(path))
        try:
            return str(self._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
        finally:
            stream.close()


class _ArrowFiles:
    """pyarrow's file system of a URI: an object store, or HDFS."""

    def __init__(self, path: str):
        self._fs = fs.FileSystem.from_uri(path)[0]

    def _path(self, path: str) -> str:
        return path.split("://", 1)[1]

    def local(self, path: str) -> None:
        return None

    def exists(self, path: str) -> bool:
        return bool(self._fs.get_file_info(self._path(path)).type != fs.FileType.NotFound)

    def is_file(self, path: str) -> bool:
        return bool(self._fs.get_file_info(self._path(path)).type == fs.FileType.File)

    def rename(self, source: str, target: str) -> None:
        if self.exists(target):
            raise PlatformError(
                f"{target}: appeared while the release was being put in place; is it being written by another run?"
            )
        self._fs.move(self._path(source), self._path(target))

    def exchange(self, one: str, other: str) -> bool:
        return False

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
        """Object stores have no directories of their own."""

    def tree(self, path: str) -> dict[str, int]:
        base = self._path(path).rstrip("/")
        found = self._fs.get_file_info(fs.FileSelector(base, recursive=True))
        return {str(info.path).removeprefix(f"{base}/"): int(info.size) for info in found if info.type == fs.FileType.File}

    def digest(self, path: str) -> str:
        with self._fs.open_input_stream(self._path(path)) as stream:
            return sha256_of(stream)
