"""What a look at this machine's folders tells of a job before Spark is started, in the words and with the code of later."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace

from anon_spark.domain.errors import DataError, PlatformError
from anon_spark.domain.policy import Policy, Source
from anon_spark.io.input_options import kind_of_format
from anon_spark.io.local_columns import column_names
from anon_spark.io.local_files import LocalFiles
from anon_spark.io.places import absent, is_pattern, target_of
from anon_spark.io.staging import refuse_existing


def refuse_beforehand(policy: Policy, publishes: bool, bare: bool, plans: bool = False) -> None:
    """Raise OccupiedError for an output that is there, where the job publishes, PlatformError for an output (where it publishes, or
    plans to) or a report in whose folder nothing can be made, and DataError for an input that is not there.

    bare: whether a path without a scheme is one of this machine, from the folder that the process is in. What can't be told from
    here is left to Spark.
    """
    files = LocalFiles(os.getcwd())
    sink, source = policy.output, policy.input
    if publishes and sink is not None and sink.path is not None and _is_here(sink.path, bare):
        refuse_existing(files, replace(sink, path=target_of(files, sink.path, policy.where)), policy.where)
    if publishes or plans:
        _refuse_unwritable(files, sink.path if sink else None, policy.where, "output.path", bare)
    _refuse_unwritable(files, policy.report, policy.where, "report.path", bare)
    if source is None or source.path is None or kind_of_format(source.format) is None:
        # what is no format of files may call anything a path
        return
    if _is_here(source.path, bare) and not is_pattern(source.path) and not _is_there(files, source.path):
        raise DataError([absent(files.local(source.path), source.path, policy.where, "input.path")])


def _refuse_unwritable(files: LocalFiles, path: str | None, where: str, key: str, bare: bool) -> None:
    if path is not None and _is_here(path, bare) and (folder := files.refusing(path)) is not None:
        advice = f"choose another {key}, or get the right to write there"
        raise PlatformError(f"{where}: {key}: nothing can be made in the folder {folder}; {advice}")


def names_beforehand(source: Source, bare: bool) -> Sequence[str] | None:
    """The names of an input's columns, where a file of this machine tells them; None: not known. bare: see ``refuse_beforehand``."""
    if source.path is None or not _is_here(source.path, bare) or is_pattern(source.path):
        return None
    return column_names(LocalFiles(os.getcwd()).local(source.path), source)


def _is_there(files: LocalFiles, path: str) -> bool:
    with contextlib.suppress(OSError):
        return files.exists(path)
    return True


def _is_here(path: str, bare: bool) -> bool:
    return path.startswith("file:/") or (bare and not re.match(r"[^/]*:", path))
