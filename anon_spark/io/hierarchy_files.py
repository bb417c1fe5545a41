"""Reading hierarchy files: text, one line a leaf, ``leaf<sep>parent<sep>...<sep>root``, no header, UTF-8."""

from __future__ import annotations

import csv
import errno
import io
import os
import stat
from pathlib import Path

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.file_tree import read_file_tree

_ABSENT = "no such file"
_SHOWN = 200
"""Characters of a path that a message repeats."""


def read_tree(path: str, sep: str = ";", *, near: Path | None = None) -> list[list[str]]:
    """The labels of each line that is not blank, as they stand, blanks within labels included.

    The file is looked for under ``path`` as given, beside the configuration file (``near``, its directory), and by its last name
    there and in the working directory, where clusters put files that travel with a job. A byte order mark, either kind of line
    end and a last line without one are fine; a label that holds the separator stands in double quotes.
    Raises ConfigurationError: no such file (naming what was tried), unreadable, not UTF-8, badly quoted, without a line, or no
    tree, so that a slip costs no scan of the table; what only the column's kind shows is found when its values are bound.
    """
    if len(sep) != 1 or sep in '"\r\n':
        raise _error(path, f"sep {sep!r}", "a single character, no quote or line end")
    file = find_tree(path, near)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"a byte that is not UTF-8 at position {error.start}"
        raise _error(str(file), found, "text in UTF-8", "save it as UTF-8") from None
    except OSError as error:
        raise _error(str(file), f"a file that can't be read ({error.strerror})", "a readable text file") from None
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
    try:
        tree = [line for line in lines if len(line) > 1 or (line and line[0].strip())]
    except csv.Error as error:
        advice = "put labels that hold the separator or a quote in double quotes, with quotes inside doubled"
        found = f"line {lines.line_num} that can't be read ({error})"
        raise _error(str(file), found, "labels between separators", advice) from None
    if not tree:
        raise _error(str(file), "an empty file", f"one line a leaf: leaf{sep}parent{sep}...{sep}root")
    _, faults = read_file_tree(tree, "text", str(file), "hierarchy")
    if faults:
        raise ConfigurationError(faults)
    return tree


def find_tree(path: str, near: Path | None) -> Path:
    """Where a hierarchy file is (see ``read_tree``). Raises ConfigurationError where it is nowhere."""
    given = Path(path)
    tried = [given]
    for candidate in (*((near / given, near / given.name) if near is not None else ()), Path(given.name)):
        if candidate not in tried:
            tried.append(candidate)
    kinds = [_kind(candidate) for candidate in tried]
    if "" in kinds:
        return tried[kinds.index("")]
    found = next((kind for kind in kinds if kind != _ABSENT), _ABSENT)
    shown = ", ".join(dict.fromkeys(os.path.abspath(candidate) for candidate in tried))
    raise _error(path, found, "a hierarchy file", f"tried {shown}" if len(path) <= _SHOWN and path.isprintable() else "")


def _kind(path: Path) -> str:
    """What stands at a path, in words; "" for a file."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        absent = error.errno in (errno.ENOENT, errno.ENOTDIR)
        return _ABSENT if absent else f"a path that can't be read ({error.strerror})"
    except ValueError:
        return "a path with a NUL character"
    return "" if stat.S_ISREG(mode) else "a directory" if stat.S_ISDIR(mode) else "no regular file"


def tree_faults(path: str, sep: str, near: Path) -> tuple[Fault, ...]:
    """What ``read_tree`` would refuse."""
    try:
        read_tree(path, sep, near=near)
    except ConfigurationError as error:
        return error.faults
    return ()


def _error(where: str, found: str, expected: str, advice: str = "") -> ConfigurationError:
    name = where if len(where) <= _SHOWN else where[:_SHOWN] + "..."
    name = name if name.isprintable() else repr(name)
    return ConfigurationError([Fault(name, "hierarchy", found, expected, advice)])
