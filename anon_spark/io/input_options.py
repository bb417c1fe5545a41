"""The options that an input is read with: none under which Spark leaves out, empties, swaps or reinterprets what it reads."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping

from anon_spark.domain.errors import ConfigurationError, Fault

Options = Mapping[str, str]

_FILES = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
_BY_KIND: Mapping[str, Options] = {
    "csv": {
        # PERMISSIVE, Spark's default, empties what it can't parse
        "mode": "FAILFAST",
        # with pruning Spark looks at the wanted columns alone and takes a line of too few or too many fields
        "columnPruning": "false",
        # by default a quote inside quotes that is not escaped leaves the quotes in the value: "say ""x""" would keep all six
        "unescapedQuoteHandling": "RAISE_ERROR",
    },
    "json": {"mode": "FAILFAST"},
    # without it the columns of one file are taken for those of all, and what others hold besides is lost
    "parquet": {"mergeSchema": "true"},
    "orc": {"mergeSchema": "true"},
}
"""Options that are set unless given, by kind of format."""

_LOSES = "anything else leaves data out or changes it in silence"
_REFUSED: Mapping[str, Mapping[str, tuple[frozenset[str], str]]] = {
    # kind of format, or "" for all -> option -> values that are refused, what is expected
    "": {
        "ignoreCorruptFiles": (frozenset({"true"}), "false"),
        "ignoreMissingFiles": (frozenset({"true"}), "false"),
    },
    "csv": {
        "mode": (frozenset({"permissive", "dropmalformed"}), "FAILFAST"),
        "columnPruning": (frozenset({"true"}), "false"),
        "unescapedQuoteHandling": (frozenset({"skip_value"}), "RAISE_ERROR"),
        # columns would be taken by their place, whatever the headers of further files say
        "enforceSchema": (frozenset({"true"}), "false"),
    },
    "json": {
        "mode": (frozenset({"permissive", "dropmalformed"}), "FAILFAST"),
        "dropFieldIfAllNull": (frozenset({"true"}), "false"),
    },
    "parquet": {"mergeSchema": (frozenset({"false"}), "true")},
    "orc": {"mergeSchema": (frozenset({"false"}), "true")},
}
_MULTI_BYTE = "multiLine: true beside it, since Spark can't tell the line ends of this encoding from other bytes"


def kind_of_format(name: str | None) -> str | None:
    """csv, json, text, xml, parquet or orc for any of the names that Spark knows these formats by (com.databricks.spark.csv, a
    class's name), else None; parquet for none."""
    folded = (name or "parquet").lower()
    return next((kind for kind in _KINDS if folded == kind or ("." in folded and kind in folded)), None)


_KINDS = ("csv", "json", "xml", "parquet", "orc", "text")


def safe_options(kind: str | None, options: Options, where: str) -> dict[str, str]:
    """The given options, and ours where they are silent. Raises ConfigurationError with every option that loses data."""
    faults = list(option_faults(kind, options, where))
    if faults:
        raise ConfigurationError(faults)
    ours = {**(_FILES if kind else {}), **_BY_KIND.get(kind or "", {})}
    given = folded(options)
    return {**{key: value for key, value in ours.items() if key.lower() not in given}, **options}


def option_faults(kind: str | None, options: Options, where: str) -> Iterator[Fault]:
    """A fault an option under which a source of this kind would not be read whole and as it is."""
    given = folded(options)
    for name, (values, expected) in {**_REFUSED[""], **_REFUSED.get(kind or "", {})}.items():
        found = given.get(name.lower(), "")
        if found.lower() in values:
            yield Fault(where, f"input.options.{name}", repr(found), expected, _LOSES)
    if kind and "path" in given:
        yield Fault(where, "input.options.path", "a path among the options", "the key input.path")
    if kind == "json" and given.get("samplingratio", "1") not in {"1", "1.0"}:
        found = repr(given["samplingratio"])
        yield Fault(where, "input.options.samplingRatio", found, "1", "columns that are not in the sample would be lost in silence")
    if kind in ("csv", "json", "text"):
        yield from _encoding_faults(kind, given, where)


def _encoding_faults(kind: str, given: Options, where: str) -> Iterator[Fault]:
    """What a look at single lines can't be sure of: there the owner has to say that files are read whole."""
    name = encoding(given)
    if kind == "text" and not is_utf8(name):
        expected = "UTF-8, the only one that Spark's text format reads"
        yield Fault(where, "input.options.encoding", repr(name), expected, "convert the files")
    if kind == "text" or given.get("multiline", "").lower() == "true":
        return
    beside = "multiLine: true beside it"
    if not keeps_ascii(name):
        advice = "Spark can't tell the line ends of this encoding from other bytes"
        yield Fault(where, "input.options.encoding", repr(name), beside, advice)
    elif kind == "json" and not is_utf8(name) and "linesep" not in given:
        yield Fault(where, "input.options.encoding", repr(name), "lineSep beside it, which Spark asks for", 'write lineSep: "\\n"')
    if kind == "csv" and not is_utf8(name):
        for option in ("sep", "delimiter", "quote", "escape", "comment"):
            if not given.get(option, "").isascii():
                yield Fault(where, f"input.options.{option}", f"{given[option]!r} and encoding {name}", beside)
    if kind == "csv" and given.get("chartoescapequoteescaping", given.get("escape", "\\")) != given.get("escape", "\\"):
        found = repr(given["chartoescapequoteescaping"])
        yield Fault(where, "input.options.charToEscapeQuoteEscaping", found, beside)


def folded(options: Options) -> dict[str, str]:
    """The options by their names in small letters, as Spark knows them."""
    return {key.lower(): value for key, value in options.items()}


def encoding(given: Options) -> str:
    """What text is read as; given: folded options."""
    return given.get("encoding", given.get("charset", "UTF-8"))


def is_utf8(name: str) -> bool:
    """Whether an encoding is UTF-8 by any of its names."""
    return name.lower().replace("-", "").replace("_", "") in {"utf8", "unicode11utf8"}


def keeps_ascii(name: str) -> bool:
    """Whether the bytes of ASCII always stand for themselves, whatever stands before them: quotes and line ends can be told apart.

    False for UTF-16 and its kind, for GBK, Big5 and Shift_JIS, whose second bytes look like backslashes, and for unknown names.
    """
    try:
        codec = codecs.lookup(name).name
        return all(
            bytes((*before, byte)).decode(codec, "replace").endswith(chr(byte))
            for byte in range(128)
            for before in ((), *((high,) for high in range(128, 256)))
        )
    except (LookupError, ValueError, TypeError):
        return False
