"""What ``overwrite`` must not remove: a directory that is no release, or that holds what the job itself needs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import Sink
from anon_spark.io.files import Files, file_faults
from anon_spark.io.manifest import MANIFEST
from anon_spark.io.staging import real_place

_DONE = "_SUCCESS"
_OURS = re.compile(
    # files and partitions as Spark names them, marks of those who commit, logs of table formats, what systems leave in any folder
    r"part-.*|[^./][^/]*=.*|_SUCCESS|_committed_.*|_started_.*|_metadata|_common_metadata|_temporary|_delta_log|_change_data|"
    r"deletion_vector_.*|\.hoodie.*|\..*\.crc|\.part-.*|\.spark-staging.*|\.anon-spark-.*|\.DS_Store|\.nfs.*|" + re.escape(MANIFEST),
    re.DOTALL,
)
_DATA = re.compile(r".*\.(parquet|orc|avro|csv|json|txt|xml)(\.\w+)?", re.DOTALL | re.IGNORECASE)


def refuse_foreign(files: Files, sink: Sink, where: str, needed: Mapping[str, str], key: str = "output.path") -> None:
    """ConfigurationError where ``overwrite`` would remove a directory that is no release, or where one is or will be that holds what it
    must not. needed: what that is -> its path."""
    target = str(sink.path)
    with file_faults(where, key, "it could not be looked for"):
        place = real_place(files.local(target) or target)
        held = [f"{name} {path}" for name, path in needed.items() if _lies_in(real_place(path), place)]
        if held:
            # also where there is no directory yet: a link may lead to it
            raise _error(where, key, f"{target}, which holds {held[0]}", "a directory for the release alone", "choose another path")
        if sink.mode != "overwrite" or not files.exists(target) or files.is_file(target):
            return
        names = files.names(target)
    other = foreign(names)
    if other is not None:
        advice = "choose another path, or remove it yourself"
        raise _error(where, key, f"{target}, which holds {other!r}", "with mode overwrite, a release or an empty directory", advice)


def foreign(names: list[str]) -> str | None:
    """The first name that Spark gives nothing in a release. Data files by other names are taken for one where Spark's mark is there."""
    data = _DONE in names
    return next((name for name in sorted(names) if not (_OURS.fullmatch(name) or (data and _DATA.fullmatch(name)))), None)


def _lies_in(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def _error(where: str, key: str, found: str, expected: str, advice: str) -> ConfigurationError:
    return ConfigurationError([Fault(where, key, found, expected, advice)])
