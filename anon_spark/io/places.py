"""A place to write, as it is before anything is computed: one spelling, a file system that is known, a name that can be made."""

from __future__ import annotations

import contextlib
import difflib
import os
import posixpath
import re

import pyarrow as pa
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.io.files import FILE_ERRORS, Files, file_faults, files_of
from anon_spark.io.local_files import plain
from anon_spark.io.spark_errors import SPARK_ERRORS

_SCHEME = re.compile(r"([^/:]*):(//[^/]*)?(.*)", re.DOTALL)
SPELLING = "check its spelling"
MOST_BYTES, OWN_BYTES = 255, 55
"""Of a name on nearly every file system, and of what is put around an output's name for files beside it."""


def normal(path: str) -> str:
    """A path without ``.``, ``..`` and doubled or last slashes, as Hadoop reads it; scheme and host stay."""
    scheme = _SCHEME.fullmatch(path)
    head, rest = (f"{scheme[1]}:{scheme[2] or ''}", scheme[3]) if scheme else ("", path)
    if not rest:
        return path
    made = posixpath.normpath(rest)
    made = "/" + made.lstrip("/") if made.startswith("/") else made
    # a colon in the first name would make it a scheme
    return head + (f"./{made}" if not head and ":" in made.split("/", 1)[0] else made)


def opened(spark: SparkSession, path: str, where: str, key: str) -> Files:
    """The file system of a path. Raises ConfigurationError for one that no file system can have, PlatformError where it can't be asked."""
    _refuse_spelling(path, where, key)
    with file_faults(where, key, "it could not be looked for"):
        try:
            return files_of(spark, path)
        except (IllegalArgumentException, *SPARK_ERRORS) as error:
            text = str(error)
            wrong = isinstance(error, IllegalArgumentException) and "UnknownHost" not in text
            if wrong or "No FileSystem for scheme" in text or "ClassNotFoundException" in text:
                raise _unknown(path, where, key) from None
            raise
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise _unknown(path, where, key) from None


def target_of(files: Files, path: str, where: str) -> str:
    """The output that is meant: where its last name is a link, the directory it leads to, so that readers of both see the release.

    Raises ConfigurationError for a link that leads nowhere, and for a name too long for the files beside it.
    """
    found = normal(path)
    _refuse_root(found, where)
    own = files.local(found)
    if own is not None and (os.path.islink(own) or posixpath.basename(found) in (".", "..")):
        if not os.path.exists(own):
            raise _fault(where, "output.path", f"{path}, a link that leads nowhere", "a directory or a new path", "remove the link")
        scheme = re.match(r"\w+:", found)
        found = ("file:" if scheme else "") + os.path.realpath(own)
        _refuse_root(found, where)
    if len(os.fsencode(posixpath.basename(found))) > MOST_BYTES - OWN_BYTES:
        raise _long(found, where, "output.path", MOST_BYTES - OWN_BYTES)
    return found


def local_place(spark: SparkSession, path: str) -> str | None:
    """The path on this machine, absolute; None where its file system is elsewhere, or can't be asked."""
    with contextlib.suppress(*FILE_ERRORS):
        return files_of(spark, path).local(path)
    return None


def absent(local: str | None, path: str, where: str, key: str, advice: str = SPELLING) -> Fault:
    """The fault of a path at which nothing lies. local: the path on this machine, None where it is elsewhere."""
    found = f"nothing at {path}"
    if local is not None:
        own = os.path.abspath(local)
        if not plain(path).startswith("/"):
            found, advice = f"{found}, which is {own}", f"{advice}; a relative path starts from the folder that you are in"
        folder, name = os.path.split(own)
        if not os.path.isdir(folder) and not is_pattern(path):
            advice = f"{advice}; there is no folder {folder}"
        elif near := difflib.get_close_matches(name, _names(folder), 1):
            advice = f"did you mean {near[0]!r}? Else {advice}"
    return Fault(where, key, found, "a file or directory that Spark can see", advice)


def is_pattern(path: str) -> bool:
    """Whether Spark reads a path as a pattern of paths."""
    return bool(set(path) & set("*?[]{}\\"))


def _names(folder: str) -> list[str]:
    """What lies in a folder; nothing where it can't be listed."""
    with contextlib.suppress(OSError):
        return [name for name in os.listdir(folder) if not name.startswith(".")]
    return []


def _refuse_spelling(path: str, where: str, key: str) -> None:
    scheme = _SCHEME.fullmatch(path)
    if scheme and (not scheme[1] or not (scheme[2] or scheme[3].startswith("/"))):
        advice = "a name with a colon needs ./ or its directory before it"
        raise _fault(where, key, repr(path), "a path, or a URI such as file:/a/b", advice)
    if scheme and scheme[1].lower() == "file" and (scheme[2] or "//") != "//":
        raise _fault(where, key, repr(path), f"file:/ and an absolute path; {scheme[2][2:]!r} would be the name of a host", "")
    if "\0" in path:
        raise _fault(where, key, repr(path), "a path without a NUL character", "rename it")
    for name in path.split("/"):
        if len(os.fsencode(name)) > MOST_BYTES:
            raise _long(name, where, key, MOST_BYTES)


def _refuse_root(path: str, where: str) -> None:
    scheme = _SCHEME.fullmatch(path)
    if (scheme[3] if scheme else path) in ("", "/"):
        found = f"{path}, the root of a file system"
        raise _fault(where, "output.path", found, "a directory in it", "nothing can stand beside a root and take its place")


def _long(path: str, where: str, key: str, most: int) -> ConfigurationError:
    size = len(os.fsencode(posixpath.basename(path)))
    return _fault(where, key, f"a name of {size} bytes", f"names of at most {most} bytes", "choose a shorter one")


def _unknown(path: str, where: str, key: str) -> ConfigurationError:
    advice = "check how it starts, or add the package of that file system to the session"
    return _fault(where, key, repr(path), "a path of a file system that Spark knows", advice)


def _fault(where: str, key: str, found: str, expected: str, advice: str) -> ConfigurationError:
    return ConfigurationError([Fault(where, key, found, expected, advice)])
