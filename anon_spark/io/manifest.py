"""The manifest's file in a release, and the checksums of the files beside it, taken where these lie.

Checksums go through the same file systems as publication itself (io/files.py), so that every session that can publish has them; a file
is read in pieces, whatever its size. Spark's own ``binaryFile`` holds each file whole in memory, and none above 2 GB.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from anon_spark.domain.manifest import FileSum, Manifest, ManifestError
from anon_spark.io.files import Files

MANIFEST = "_anon_spark_manifest.json"
"""Readers pass over names that begin with an underline."""
AT_ONCE = 4
"""Files that are read side by side."""
_READ = frozenset({"_metadata", "_common_metadata", "_delta_log", ".hoodie"})
"""Names that look hidden, and that say which rows a reader sees."""
_MARK = re.compile(r"_SUCCESS|_(committed|started)_(vacuum)?\d+")
"""What those who commit a directory leave in it: Spark, and Databricks with the number of a transaction."""


def is_data(path: str) -> bool:
    """Whether a file of a release, by its path below it, counts for what readers see: those that Spark passes over do not."""
    return all(name in _READ or not (name.startswith(".") or (name.startswith("_") and "=" not in name)) for name in path.split("/"))


def sizes(files: Files, release: str) -> dict[str, int]:
    """Path below the release -> bytes, of all its data files. Raises one of FILE_ERRORS, as all do here."""
    return {path: size for path, size in files.tree(release).items() if is_data(path)}


def strangers(files: Files, release: str) -> list[str]:
    """Paths below the release that readers pass over and that neither Spark nor anon-spark puts there: whoever is handed the directory has
    them too."""
    held = files.tree(release)
    return sorted(path for path in held if not is_data(path) and not _is_own(path, held))


def _is_own(path: str, held: Collection[str]) -> bool:
    """The manifest, a committer's mark, or the checksum that Hadoop keeps beside a file that is there."""
    folder, name = posixpath.split(path)
    if name.startswith(".") and name.endswith(".crc"):
        of = posixpath.join(folder, name[1:-4])
        return of in held and (is_data(of) or _is_own(of, held))
    return path == MANIFEST or _MARK.fullmatch(name) is not None


def digests(files: Files, release: str, paths: list[str]) -> list[str]:
    """The SHA-256 of each of these files."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda path: files.digest(posixpath.join(release, path)), paths))


def checksums(files: Files, release: str) -> dict[str, FileSum]:
    """What a manifest says of the data files that lie in a release."""
    found = sizes(files, release)
    return {path: FileSum(found[path], sha256) for path, sha256 in zip(found, digests(files, release, list(found)), strict=True)}


def write_manifest(files: Files, release: str, text: str) -> None:
    """Put a manifest beside the data files."""
    files.write(posixpath.join(release, MANIFEST), text)


def read_manifest(files: Files, release: str) -> Manifest | None:
    """A release's manifest; None where it has none. Raises ManifestError for one that can't be read."""
    path = posixpath.join(release, MANIFEST)
    if not files.exists(path):
        return None
    if not files.is_file(path):
        raise ManifestError("it is a directory")
    try:
        text = files.read(path)
    except UnicodeDecodeError:
        raise ManifestError("it is no UTF-8 text") from None
    return Manifest.from_json(text)
