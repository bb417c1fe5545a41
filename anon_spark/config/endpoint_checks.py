"""Checks across input, output, report and staging: each says one place, and no place lies in another that it would harm."""

from __future__ import annotations

import os
import posixpath
import re

from anon_spark.config.draft import Draft
from anon_spark.config.keys import SinkKeys, SourceKeys
from anon_spark.config.notes import Key, Notes, did_you_mean
from anon_spark.config.output_options import check_output_options
from anon_spark.config.pieces import Piece

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.\-]+):(.*)$", re.DOTALL)
_OWN_FORMATS = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".orc": "orc", ".txt": "text", ".avro": "avro"}
_NO_TABLE = frozenset(
    (
        "binaryfile", "console", "foreach", "foreachbatch", "hive", "image", "kafka", "libsvm", "memory", "noop", "rate",
        "rate-micro-batch", "socket", "state-metadata", "statestore", "text",
    )
)  # fmt: skip
_NO_TABLE_CLASSES = (
    "binaryfile", "console", "foreach", "image", "kafka", "libsvm", "memory", "noop", "ratestream", "textdatasource", "textfileformat",
    "textsocket",
)  # fmt: skip
"""Sinks that print, drop or send rows, sources that are never written, and files of one column alone: nothing to audit and to publish."""


def check_endpoints(draft: Draft, notes: Notes) -> None:
    """Note every fault of input, output, report and staging."""
    if draft.input and draft.input.keys:
        _source(draft.input, draft.input.keys, notes)
    if draft.output and draft.output.keys:
        _sink(draft.output, draft.output.keys, notes)
        _partitions(draft, draft.output.keys, notes)
    _apart(draft, notes)


def _source(piece: Piece[SourceKeys], keys: SourceKeys, notes: Notes) -> None:
    given = [name for name in ("path", "table", "query") if getattr(keys, name) is not None]
    if "\0" in (keys.path or ""):
        # an output's is told where its place is looked at
        notes.add((*piece.key, "path"), repr(keys.path), "a path without a NUL character", "rename it")
    if len(given) > 1:
        notes.add(piece.key, " and ".join(given), "exactly one of path, table, query")
    elif not given and piece.sound("path", "table", "query", "format", "options") and not _needs_no_place(keys):
        notes.add(piece.key, "none of path, table, query", "exactly one of them, or a format with options such as jdbc")
    elif given == ["path"] and keys.format is None and "format" not in piece.bad:
        ending = _OWN_FORMATS.get(posixpath.splitext(str(keys.path).rstrip("/"))[1].lower())
        notes.add((*piece.key, "format"), "nothing", "the format of the path", f"write format: {ending}" if ending else "")
    elif given in (["table"], ["query"]):
        # a table may take options, such as the version to read
        idle = {"format": keys.format is not None, "options": bool(keys.options) and given == ["query"]}
        for name in (name for name, set_ in idle.items() if set_):
            notes.add((*piece.key, name), f"{name} beside {given[0]}", f"{given[0]} alone")


def _needs_no_place(keys: SourceKeys) -> bool:
    """Whether a format's options may say all, as those of a database do."""
    of_files = str(keys.format).strip().lower() in _OWN_FORMATS.values() and "path" not in {name.lower() for name in keys.options}
    return bool(keys.format and keys.options) and not of_files


def _sink(piece: Piece[SinkKeys], keys: SinkKeys, notes: Notes) -> None:
    jdbc = _is_jdbc(keys)
    if _is_no_table(keys.format):
        expected = "a format of files that can be read back, such as parquet, orc, csv, json, avro or delta"
        notes.add((*piece.key, "format"), repr(keys.format), expected, "the release is audited where it was written")
    given = [name for name in ("path", "table") if getattr(keys, name) is not None] + ["format jdbc"] * jdbc
    if len(given) > 1:
        notes.add(piece.key, " and ".join(given), "exactly one of path, table, or format jdbc with options")
    elif not given and piece.sound("path", "table", "format"):
        notes.add(piece.key, "none of path and table", "exactly one of them, or format jdbc with options")
    elif keys.table is not None and "path" in {option.lower() for option in keys.options}:
        notes.add((*piece.key, "options"), "a path among them", "a table has a place of its own")
    elif jdbc and "options" not in piece.bad:
        for name in sorted({"url", "dbtable"} - {option.lower() for option in keys.options}):
            notes.add((*piece.key, "options"), f"no {name}", "url and dbtable for format jdbc")
    if not jdbc and "options" not in piece.bad:
        check_output_options(piece.key, keys.format, keys.options, notes)


def _is_jdbc(keys: SourceKeys | SinkKeys) -> bool:
    return (keys.format or "").strip().lower() == "jdbc"


def _is_no_table(format_: str) -> bool:
    """Whether a release in this format could not be read back: by Spark's short name, or by its class."""
    name = format_.strip().lower()
    return name in _NO_TABLE or (name.startswith("org.apache.spark.") and name.rsplit(".", 1)[1].startswith(_NO_TABLE_CLASSES))


def _partitions(draft: Draft, keys: SinkKeys, notes: Notes) -> None:
    published = draft.names("quasi-identifier", "sensitive", "insensitive", "label")
    unlisted = draft.top.keys.unlisted if draft.top.keys else "fail"
    if keys.partition_by and (keys.table is not None or _is_jdbc(keys)):
        found, advice = "directories beside a table", "a table is put in place by one statement, which its partitions are not part of"
        notes.add(("output", "partition_by"), found, "it with output.path alone", advice)
        return
    for number, name in enumerate(keys.partition_by):
        hidden = name in draft.names("identifier", "person")
        if hidden or (name not in published and draft.roles_known and unlisted != "keep"):
            found = f"{name!r}, which is never published" if hidden else f"{name!r}, which is no column"
            notes.add(("output", "partition_by", number), found, "published columns", did_you_mean(name, published))
        elif name in keys.partition_by[:number]:
            notes.add(("output", "partition_by", number), f"{name!r} again", "each column once")


def _apart(draft: Draft, notes: Notes) -> None:
    """The owner's report and raw intermediates never lie in the release; a release never lands on its own input."""
    source = draft.input.keys if draft.input else None
    sink = draft.output.keys if draft.output else None
    report = draft.report.keys.path if draft.report and draft.report.keys else None
    staging = draft.settings.keys.staging if draft.settings and draft.settings.keys else None
    output = sink.path if sink else None
    origin = source.path if source else None
    _refuse(notes, ("report", "path"), report, output, "output", "it is for the owner alone", both=False)
    _refuse(notes, ("settings", "staging"), staging, output, "output", "it holds raw rows", both=True)
    _refuse(notes, ("output", "path"), output, origin, "input", "the input is never written to", both=True)
    _refuse(notes, ("report", "path"), report, origin, "input", "the input is never written to", both=False)
    if source and source.snapshot == "stage" and not staging:
        advice = "set settings.staging to a directory for it; it is removed after the run"
        notes.add(("input", "snapshot"), "stage without settings.staging", "a directory for the copy", advice)
    if source and sink and _table_of(source) is not None and _table_of(source) == _table_of(sink):
        notes.add(("output", "options"), "the table of the input", "another table: the input is never written to")
    if source and sink and source.table and sink.table and source.table.lower() == sink.table.lower():
        notes.add(("output", "table"), "the table of the input", "another table: the input is never written to")


def _table_of(keys: SourceKeys | SinkKeys) -> tuple[str, str] | None:
    """Database and table of JDBC options, without what the url tells besides."""
    given = {name.lower(): str(value) for name, value in keys.options.items()}
    if not _is_jdbc(keys) or not {"url", "dbtable"} <= set(given):
        return None
    return given["url"].partition("?")[0], given["dbtable"].strip().replace('"', "")


def _refuse(notes: Notes, key: Key, path: str | None, other: str | None, name: str, why: str, *, both: bool) -> None:
    """Note that ``path`` is, or lies in, the path ``other`` of ``name`` (or, with ``both``, holds it)."""
    if path is None or other is None:
        return
    first, second = place(path), place(other)
    expected = f"a place apart from it: {why}"
    if first == second:
        notes.add(key, f"the place of the {name}", expected)
    elif first.startswith(second.rstrip("/") + "/"):
        notes.add(key, f"a place inside the {name}", expected)
    elif both and second.startswith(first.rstrip("/") + "/"):
        notes.add(key, f"a place that holds the {name}", expected)


def place(path: str) -> str:
    """One spelling a place: ``file:`` or no scheme, ``dbfs:/x`` and ``/dbfs/x``, relative and absolute, ``a/../b`` and so on."""
    scheme = _SCHEME.match(path)
    kind, rest = (scheme[1].lower(), scheme[2]) if scheme else ("", path)
    if kind == "dbfs":
        bare = posixpath.normpath("/" + rest.lstrip("/"))
        return bare if bare.startswith("/Volumes/") else f"/dbfs{bare}"
    if kind in ("", "file"):
        return os.path.abspath("/" + rest.lstrip("/") if kind else rest)
    host, slash, tail = rest.lstrip("/").partition("/")
    return f"{kind}://{host}{posixpath.normpath(slash + tail) if tail else ''}"
