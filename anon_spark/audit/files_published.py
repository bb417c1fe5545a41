"""Whether the files of a release are those that its manifest names: none missing, cut, changed or added."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from anon_spark.audit.result import Finding
from anon_spark.domain.counting import counted
from anon_spark.domain.manifest import FileSum

_EXAMPLES = 5


def file_findings(
    listed: Mapping[str, FileSum], sizes: Mapping[str, int], digests: Callable[[list[str]], list[str]], strangers: Sequence[str] = ()
) -> list[Finding]:
    """One finding a kind of fault, naming up to five files.

    sizes: path -> bytes of the data files that are there; digests: their SHA-256, asked only where the size is right; strangers: files
    that readers pass over.
    """
    there = sorted(listed.keys() & sizes.keys())
    whole = [path for path in there if sizes[path] == listed[path].size]
    changed = [path for path, found in zip(whole, digests(whole), strict=True) if found != listed[path].sha256]
    cut = [path for path in there if sizes[path] < listed[path].size]
    grown = [path for path in there if sizes[path] > listed[path].size]
    return [
        *_told(sorted(listed.keys() - sizes.keys()), "missing", repr),
        *_told(cut, "cut", lambda path: f"{path!r} ({sizes[path]:,} of {listed[path].size:,} bytes)"),
        *_told(grown, "longer than published", lambda path: f"{path!r} ({sizes[path]:,} for {listed[path].size:,} bytes)"),
        *_told(changed, "changed since publication", repr),
        *_told(sorted(sizes.keys() - listed.keys()), "that it does not name", repr),
        *_told(list(strangers), "that it does not name, which readers pass over", repr, "file"),
    ]


def _told(paths: list[str], what: str, shown: Callable[[str], str], kind: str = "data file") -> list[Finding]:
    if not paths:
        return []
    more = f" and {len(paths) - _EXAMPLES} more" if len(paths) > _EXAMPLES else ""
    named = ", ".join(map(shown, paths[:_EXAMPLES]))
    return [Finding("files", f"manifest: {counted(len(paths), kind)} {what}: {named}{more}")]
