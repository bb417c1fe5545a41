"""Directories and small files on this machine's disks and mounts, without the JVM: it may have died, and files it wrote remain."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import shutil
from typing import Any

from anon_spark.domain.errors import PlatformError

_HERE, _EXCHANGE = -100, 2
"""Linux's AT_FDCWD and RENAME_EXCHANGE."""


class LocalFiles:
    """Files of this machine. home: the directory that relative paths start from, which is Spark's and may not be this process's."""

    def __init__(self, home: str):
        self._home = home

    def local(self, path: str) -> str:
        return os.path.join(self._home, plain(path))

    def exists(self, path: str) -> bool:
        try:
            # a link that leads nowhere is there, too
            os.lstat(self.local(path))
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def refusing(self, path: str) -> str | None:
        """The folder in which nothing can be made, so that ``path`` can't; None where nothing is seen to stand in its way."""
        folder = os.path.dirname(os.path.abspath(self.local(path)))
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        return folder if os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK) else None

    def is_file(self, path: str) -> bool:
        return self.exists(path) and not os.path.isdir(self.local(path))

    def rename(self, source: str, target: str) -> None:
        # a rename would replace an empty directory in silence
        if self.exists(target):
            raise PlatformError(
                f"{target}: appeared while the release was being put in place; is it being written by another run?"
            )
        os.rename(self.local(source), self.local(target))

    def exchange(self, one: str, other: str) -> bool:
        libc = ctypes.CDLL(None)
        if not hasattr(libc, "renameat2"):
            return False
        names = [ctypes.c_char_p(os.fsencode(self.local(path))) for path in (one, other)]
        # any refusal is taken for that of a file system which has no such step: renames one by one tell what else is wrong
        return int(libc.renameat2(_HERE, names[0], _HERE, names[1], ctypes.c_uint(_EXCHANGE))) == 0

    def delete(self, path: str) -> None:
        own = self.local(path)
        while self.exists(path):
            # something in it may go by itself, as temporary files of tasks do
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                if os.path.isdir(own) and not os.path.islink(own):
                    shutil.rmtree(own)
                else:
                    os.unlink(own)

    def write(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(self.local(path)), exist_ok=True)
        with open(self.local(path), "wb") as file:
            file.write(text.encode())

    def create(self, path: str, text: str) -> bool:
        os.makedirs(os.path.dirname(self.local(path)), exist_ok=True)
        try:
            made = os.open(self.local(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return False
        try:
            with open(made, "wb") as file:
                file.write(text.encode())
        except OSError:
            # on a full disk: an empty file would be taken for what another is writing
            os.unlink(self.local(path))
            raise
        return True

    def read(self, path: str) -> str:
        with open(self.local(path), "rb") as file:
            return file.read().decode()

    def changed(self, path: str) -> float:
        return os.stat(self.local(path)).st_mtime

    def names(self, path: str) -> list[str]:
        return os.listdir(self.local(path))

    def delete_empty(self, path: str) -> None:
        with contextlib.suppress(OSError):
            os.rmdir(self.local(path))

    def tree(self, path: str) -> dict[str, int]:
        own, found = self.local(path), {}
        # a directory that can't be listed must not look empty; Spark follows links, too
        for folder, _, names in os.walk(own, onerror=_raise, followlinks=True):
            for name in names:
                file = os.path.join(folder, name)
                found[os.path.relpath(file, own)] = os.stat(file).st_size
        return found

    def digest(self, path: str) -> str:
        with open(self.local(path), "rb") as file:
            return sha256_of(file)


def sha256_of(stream: Any) -> str:
    """The SHA-256 of what a stream of bytes still holds, in hexadecimal."""
    found = hashlib.sha256()
    while piece := stream.read(1 << 20):
        found.update(piece)
    return found.hexdigest()


def _raise(error: OSError) -> None:
    raise error


def plain(path: str) -> str:
    """A local path without its scheme; ``dbfs:/`` as Databricks mounts it."""
    scheme, colon, rest = path.partition(":")
    if not colon or scheme.lower() not in ("file", "dbfs"):
        return path
    bare = "/" + rest.lstrip("/")
    return f"/dbfs{bare}" if scheme.lower() == "dbfs" and not bare.startswith("/Volumes/") else bare


def is_local(path: str) -> bool:
    """Whether a path is one of this machine to a process that has no Hadoop."""
    return "://" not in path or plain(path) != path
