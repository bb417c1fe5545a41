"""Intermediates under ``settings.staging``, which hold raw rows: a run tells that it lives, and removes those of runs that died."""

from __future__ import annotations

import contextlib
import posixpath
import re
from collections.abc import Iterator

from anon_spark.io.claims import Claim, held
from anon_spark.io.files import FILE_ERRORS, Files
from anon_spark.io.staging import HIDDEN

KEY = "settings.staging"
_OURS = re.compile(re.escape(HIDDEN) + r"([0-9a-f]{32})(?:\.held|-(?![0-9a-f]{32}$).+)", re.DOTALL)


@contextlib.contextmanager
def alive(files: Files, folder: str, release_id: str, where: str) -> Iterator[None]:
    """Show others that this run uses the directory; what a dead run left in it is removed."""

    def clear(files: Files, target: str) -> None:
        for name in files.names(folder):
            match = _OURS.fullmatch(name)
            if match and match[1] != release_id and not _lives(files, folder, match[1], where):
                files.delete(posixpath.join(folder, name))

    with held(Claim(files, posixpath.join(folder, release_id), release_id, where, KEY), clear):
        yield


def _lives(files: Files, folder: str, release_id: str, where: str) -> bool:
    """Whether a run shows that it lives; one whose sign can't be read is taken to."""
    try:
        return Claim(files, posixpath.join(folder, release_id), release_id, where, KEY).lives()
    except FILE_ERRORS:
        return True
