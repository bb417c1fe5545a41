"""Options of an output under which what is written can't be read back: told before anything is decided."""

from __future__ import annotations

from collections.abc import Mapping

from anon_spark.config.notes import Key, Notes, did_you_mean

_READERS = frozenset(
    name.lower()
    for name in (
        "pathGlobFilter", "modifiedBefore", "modifiedAfter", "recursiveFileLookup", "ignoreCorruptFiles", "ignoreMissingFiles", "mode",
        "columnNameOfCorruptRecord", "samplingRatio", "inferSchema", "multiLine", "prefersDecimal", "primitivesAsString",
        "dropFieldIfAllNull", "columnPruning", "enforceSchema", "basePath", "maxColumns", "maxCharsPerColumn", "preferDate",
        "nanValue", "positiveInf", "negativeInf", "unescapedQuoteHandling", "allowComments", "allowUnquotedFieldNames",
        "allowSingleQuotes", "allowNumericLeadingZeros", "allowNonNumericNumbers", "allowBackslashEscapingAnyCharacter",
        "allowUnquotedControlChars",
    )
)  # fmt: skip
"""Options, in small letters, of reading files alone: a writer passes over them, and what was written might be read back in part."""
_CODECS = {
    "parquet": ("none", "uncompressed", "snappy", "gzip", "lzo", "brotli", "lz4", "lz4raw", "lz4_raw", "zstd"),
    "orc": ("none", "uncompressed", "snappy", "zlib", "lzo", "zstd", "lz4", "brotli"),
}
_UTF8 = frozenset({"utf8", "utf-8", "utf_8"})


def check_output_options(key: Key, format_: str, options: Mapping[str, str], notes: Notes) -> None:
    """Note each option of reading, and of CSV and JSON those under which rows can't be told apart. key: the output's."""
    name = format_.strip().lower()
    for option, value in options.items():
        at, low = (*key, "options", option), option.lower()
        if low in _READERS:
            notes.add(at, "an option of reading", "options of writing alone", "leave it out: the audit reads all that was written")
        elif low == "linesep" and "json" in name and not (value and all(sign < " " for sign in value)):
            notes.add(at, repr(value), "a line end, such as \\n, which no text in JSON holds as it is", "leave it out")
        elif low == "linesep" and "csv" in name and not 1 <= len(value) <= 2:
            notes.add(at, repr(value), "one sign, or \\r\\n", "leave it out")
        elif low in ("sep", "delimiter") and "csv" in name and (not value or set(value) & set("\r\n")):
            notes.add(at, repr(value), "what no line ends with, such as ;")
        elif low in ("compression", "codec") and name in _CODECS and value.lower() not in _CODECS[name]:
            notes.add(at, repr(value), f"one of {', '.join(_CODECS[name])}", did_you_mean(value, _CODECS[name]))
        elif low in ("encoding", "charset") and "json" in name and value.lower() not in _UTF8:
            notes.add(at, repr(value), "UTF-8, which JSON is written in", "leave it out")
        elif low == "pretty" and "json" in name and value.lower() == "true":
            notes.add(at, "true", "a line a row", "leave it out")
