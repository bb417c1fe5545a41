"""A look at the raw lines of a text input, before it is parsed, for what its parser would take for something else in silence."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.domain.errors import DataError, Fault
from anon_spark.io.input_options import Options, encoding, folded, is_utf8, keeps_ascii
from anon_spark.io.open_files import open_files
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import fetch_row

_LINE = "__anon_line"
_END = "anon-spark-end-of-line"
"""What is put behind a line, as one field more."""
_FILES = frozenset({"pathglobfilter", "recursivefilelookup", "modifiedbefore", "modifiedafter", "timezone", "basepath", "linesep"})
_QUOTING = frozenset(
    ("sep", "delimiter", "quote", "escape", "comment", "ignoreleadingwhitespace", "ignoretrailingwhitespace",
     "unescapedquotehandling", "maxcolumns", "maxcharspercolumn")
)  # fmt: skip
REPLACEMENT = "\ufffd"
"""What a reader puts in the place of bytes that its encoding does not know."""
_BLANK = r"\A[\x00-\x20]*\z"


@dataclass(frozen=True)
class _Check:
    """A kind of line that must not be there: the column is true for each; key: of the option that is wrong."""

    bad: Column
    key: str
    found: str
    expected: str
    advice: str


_QUOTES = "escape: '\"' where quotes in fields are doubled, quote: '' where none are meant"


def refuse_misread(spark: SparkSession, kind: str, path: str, options: Options, columns: int, where: str) -> None:
    """One pass over the raw lines of a CSV, JSON or text input. Raises DataError where Spark would misread any in silence.

    Looked for: bytes that are no text in UTF-8, UTF-16 taken for UTF-8, quotes that are open at a line's end or, with multiLine, at
    a file's, blank lines that stand for rows, lines (with multiLine, files) that are not one JSON value, or that hold half a character.
    columns: how many a CSV has.
    """
    given = folded(options)
    frame = _lines(spark, path, given, whole=kind == "json" and _multi_line(given))
    checks = [*_encoding_checks(kind, given), *_structure_checks(kind, given, columns)]
    if checks:
        _refuse_lines(frame, checks, where)
    if kind == "csv" and _multi_line(given) and _quote(given) and keeps_ascii(encoding(given)):
        _refuse_open_files(frame, given, columns, where)


def _refuse_lines(lines: DataFrame, checks: list[_Check], where: str) -> None:
    row = fetch_row(lines.agg(*[F.count(F.when(check.bad, True)).alias(f"c{place}") for place, check in enumerate(checks)]))
    for place, check in enumerate(checks):
        if row[place]:
            raise DataError([Fault(where, check.key, check.found.format(f"{row[place]:,}"), check.expected, check.advice)])


def _lines(spark: SparkSession, path: str, given: Options, whole: bool) -> DataFrame:
    """The lines as the parser is given them, in their own bytes; whole: a row a file."""
    kept = {key: value for key, value in given.items() if key in _FILES}
    if "linesep" in kept:
        kept["encoding"] = encoding(given)
    if whole:
        kept["wholetext"] = "true"
    # a partition may have any name but this one
    return spark.read.format("text").options(**kept).schema(T.StructType([T.StructField(_LINE, T.StringType())])).load(path)


def raw_lines(spark: SparkSession, path: str, given: Options, whole: bool) -> tuple[DataFrame, Column]:
    """The lines of an input, or whole files, and their text, in which all that is ASCII is right; given: folded options."""
    return _lines(spark, path, given, whole), _text(given)


def _encoding_checks(kind: str, given: Options) -> list[_Check]:
    if not is_utf8(encoding(given)):
        return []
    raw = F.col(_LINE)
    key = "input.options.encoding"
    # what the file itself holds of these characters is put aside first
    invalid = F.replace(raw, F.lit(REPLACEMENT), F.lit("?")).rlike(REPLACEMENT)
    advice = "convert the files" if kind == "text" else "set it to what the files are written in, such as ISO-8859-1"
    checks = [_Check(invalid, key, "{} lines with bytes that are not UTF-8", "text in UTF-8", advice)]
    if not {"encoding", "charset"} & set(given):
        zeros = F.length(raw) - F.length(F.replace(raw, F.lit("\0"), F.lit("")))
        wide = raw.contains("\0") & (F.length(raw) >= 4) & (2 * zeros + 1 >= F.length(raw))
        advice = "set it: UTF-16LE, say, or UTF-8 if the zeros are meant"
        checks.append(_Check(wide, key, "{} lines in which every other byte is zero", "text in UTF-8", advice))
    return checks


def _structure_checks(kind: str, given: Options, columns: int) -> list[_Check]:
    if kind == "json":
        return [_roots(given), _surrogates(given)] if keeps_ascii(encoding(given)) else []
    if kind != "csv" or _multi_line(given):
        return []
    return [*_open_quotes(given, columns), _blank_lines(given, columns)]


def _multi_line(given: Options) -> bool:
    return given.get("multiline", "").lower() == "true"


def _text(given: Options) -> Column:
    """The line as text in which all that is ASCII is right, whatever its encoding: keeps_ascii holds."""
    raw = F.col(_LINE)
    return raw if is_utf8(encoding(given)) else F.decode(raw.cast("binary"), "ISO-8859-1")


def _open_quotes(given: Options, columns: int) -> list[_Check]:
    if not _quote(given):
        return []
    line = _text(given)
    is_open = line.contains(_quote(given)) & _open_behind(line, given, columns)
    found = "lines or files that can't be read (quotes open at the end of {} lines)"
    advice = "set multiLine: true where fields hold line ends, " + _QUOTES
    return [_Check(is_open, "input.options.multiLine", found, "fields that end on their line", advice)]


def _quote(given: Options) -> str:
    return given.get("quote", '"')


def _separator(given: Options) -> str:
    """What stands between two fields, as Spark reads it: it knows some characters by a backslash and a letter."""
    named = {"t": "\t", "r": "\r", "b": "\b", "f": "\f", "u0000": "\0"}
    text = given.get("sep", given.get("delimiter", ","))
    return re.sub(r"\\(u0000|.)", lambda found: named.get(found[1], found[1]), text)


def _open_behind(text: Column, given: Options, columns: int) -> Column:
    """Whether a text that begins a record leaves a quoted field open: Spark's own parser is asked, by the same options, whether a
    separator and a mark behind it become a field of their own."""
    options = {**{key: value.replace("\0", "\1") for key, value in given.items() if key in _QUOTING}, "mode": "PERMISSIVE"}
    if options.get("unescapedquotehandling", "").upper() in ("", "RAISE_ERROR"):
        # a line that is malformed is told by the read itself, and what is tried here may not be a line of the file
        options["unescapedquotehandling"] = "STOP_AT_DELIMITER"
    schema = ", ".join(f"c{place} string" for place in range(columns))
    # from_csv has an end of line of its own, which it makes a zero of: data must hold neither
    record = F.concat(F.translate(text, "\0\uffff", "\1\1"), F.lit(_separator(given).replace("\0", "\1") + _END))
    parsed = F.to_json(F.from_csv(record, schema, options))
    is_open = F.coalesce(parsed.contains(_END) & ~parsed.contains(f'"{_END}"'), F.lit(False))
    # behind a comment the parser goes on to the next line
    return is_open & ~text.startswith(given["comment"]) if given.get("comment") else is_open


def _refuse_open_files(lines: DataFrame, given: Options, columns: int, where: str) -> None:
    """With multiLine a quote that is never closed makes one value of all that follows in its file."""
    row = fetch_row(open_files(lines, _text(given), _quote(given), lambda text: _open_behind(text, given, columns)))
    if row["n"]:
        found = f"lines or files that can't be read (a quote that is never closed in {row['n']:,} files)"
        raise DataError([Fault(where, "input", found, "fields that end in their file", "close them, or set " + _QUOTES)])


def _blank_lines(given: Options, columns: int) -> _Check:
    """Spark passes over lines of nothing but blanks and tabs, which are rows where those are values, or separate them."""
    line = _text(given)
    holds = F.lit(True) if columns == 1 else line.contains(_separator(given))
    advice = 'write missing values as ""' if columns == 1 else "set multiLine: true, which reads them"
    return _Check(line.rlike(_BLANK) & holds, "input", "{} blank lines, which Spark would leave out", "a row on each line", advice)


def _roots(given: Options) -> _Check:
    """Spark reads the first JSON value of a line, or of a file with multiLine, and passes over what follows it."""
    line = _text(given)
    allowed = {key: value for key, value in given.items() if key.startswith("allow")}
    values = F.size(F.from_json(F.concat(F.lit("["), line, F.lit("\n]")), "array<string>", {**allowed, "mode": "PERMISSIVE"}))
    several = ~line.rlike(_BLANK) & (F.coalesce(values, F.lit(-1)) != 1)
    if _multi_line(given):
        found, advice = "{} files that are not one JSON value", "leave multiLine out where each line is one"
    else:
        found, advice = "{} lines that are not one JSON value", "set multiLine: true where one takes several lines"
    return _Check(several, "input", "lines or files that can't be read (" + found + ")", "one JSON value", advice)


def _surrogates(given: Options) -> _Check:
    """Half of a character beyond the first 65,536 by its number, which Spark reads as a question mark: different values would be one."""
    text = _text(given)
    # a backslash that is itself escaped begins nothing
    bare = F.regexp_replace(text, r"\\\\", "")
    alone = F.regexp_replace(bare, r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}", "").rlike(r"\\u[dD][89a-fA-F]")
    where = "files" if _multi_line(given) else "lines"
    found = "{} " + where + " with half a character (a surrogate alone, such as \\ud800)"
    return _Check(text.contains("\\u") & alone, "input", found, "text that can be written in UTF-8", "mend what wrote them")


def refuse_replaced(table: DataFrame, options: Options, where: str) -> None:
    """DataError where a reader has put U+FFFD for bytes that its encoding does not know.

    Text of another encoding than UTF-8 can't be looked at but through its reader, and what it did not know is marked there.
    """
    name = encoding(folded(options))
    if is_utf8(name):
        return
    text = F.to_json(F.struct(*[named(column) for column in table.columns]))
    row = fetch_row(table.agg(F.count(F.when(text.contains(REPLACEMENT), True)).alias("n")))
    if row["n"] or any(REPLACEMENT in column for column in table.columns):
        found = f"{row['n']:,} rows with bytes that are not {name}"
        raise DataError([Fault(where, "input.options.encoding", found, f"text in {name}", "set it to what the files are written in")])
