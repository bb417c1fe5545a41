"""The names of an input's columns as a look at a file of this machine tells them, for who can't wait for Spark: never its last word."""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from anon_spark.domain.policy import Source
from anon_spark.io.input_options import encoding, folded, is_utf8, kind_of_format

_MOST_BYTES = 1_000_000
"""Of a header."""


def column_names(path: str, source: Source) -> Sequence[str] | None:
    """The columns of a CSV with a header or of Parquet; None where they are not certain from one file.

    path: of ``source``, on this machine. A folder tells them where it holds files alone.
    """
    kind = kind_of_format(source.format)
    try:
        file = _one_file(path)
        names = None if file is None else _of_csv(file, source) if kind == "csv" else _of_parquet(file) if kind == "parquet" else None
    except (OSError, ValueError, pa.ArrowException, csv.Error):
        return None
    return names if names and all(names) and len(set(names)) == len(names) else None


def _one_file(path: str) -> str | None:
    if not os.path.isdir(path):
        return path
    with os.scandir(path) as found:
        entries = [entry for entry in found if not entry.name.startswith(("_", "."))]
    return min((entry.path for entry in entries), default=None) if all(entry.is_file() for entry in entries) else None


def _of_csv(file: str, source: Source) -> list[str] | None:
    given = folded(source.options)
    sep = given.get("sep", given.get("delimiter", ","))
    told = given.keys() & {"quote", "escape", "comment", "linesep", "multiline"}
    if given.get("header", "").lower() != "true" or told or len(sep) != 1 or not is_utf8(encoding(given)):
        return None
    with open(file, "rb") as stream:
        line = stream.readline(_MOST_BYTES)
    if not line.endswith(b"\n"):
        return None
    text = line.removeprefix(codecs.BOM_UTF8).decode("utf-8").rstrip("\r\n")
    return next(csv.reader([text], delimiter=sep, strict=True), None)


def _of_parquet(file: str) -> list[str]:
    return list(pq.read_schema(file).names)
