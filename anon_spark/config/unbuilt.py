"""What the configuration has words for, but no job has the means for yet. One line a value: taking it out lifts it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from anon_spark.config.notes import Key, Notes, show
from anon_spark.domain.policy import Job

ANY = object()
"""Any value but null and an empty list."""
NOT_BUILT: tuple[tuple[str, object], ...] = (
    ("job", "bottom-up"),
    ("job", "alpha-k-top-down"),
    ("job", "alpha-k-progressive"),
    ("job", "ncp-clustering"),
    ("job", "k-member"),
    ("job", "kab"),
    ("job", "milif"),
    ("job", "anatomy"),
    ("job", "bucketization"),
    ("job", "tds"),
    ("job", "pda"),
    ("job", "marginals"),
    ("job", "m-invariance"),
)
BUILT_JOBS = tuple(job for job in get_args(Job) if ("job", job) not in NOT_BUILT)
NOT_IN_RISKS: tuple[tuple[str, object], ...] = (("columns.*.role", "person"),)
"""What the risk of a raw table has no means for: rows of one person would hide each other there, and it would look too low."""


def check_built(raw: object, notes: Notes, missing: Sequence[tuple[str, object]] = NOT_BUILT) -> None:
    """Note each sound key of a plain configuration that holds what is not built yet."""
    for pattern, refused in missing:
        for key, value in _at(raw, pattern.split("."), ()):
            if notes.bad(key) or not _is(value, refused):
                continue
            # a table's name is no choice among names: it is not repeated
            what = str(key[-1]) if refused is ANY else f"{key[-1]} {refused}"
            expected = "one of " + ", ".join(BUILT_JOBS) if pattern == "job" else ""
            notes.add(key, "a value" if refused is ANY else show(value), expected, f"{what} is not built yet")


def _is(value: object, refused: object) -> bool:
    if refused is ANY:
        return isinstance(value, str) or (isinstance(value, list) and bool(value))
    # Spark takes its formats in any case
    return isinstance(value, str) and value.lower() == refused


def _at(value: object, names: list[str], key: Key) -> Iterator[tuple[Key, object]]:
    """Every value that a dotted pattern reaches, ``*`` standing for each item of a list."""
    if not names:
        yield key, value
    elif names[0] == "*" and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _at(item, names[1:], (*key, number))
    elif isinstance(value, Mapping) and names[0] in value:
        yield from _at(value[names[0]], names[1:], (*key, names[0]))
