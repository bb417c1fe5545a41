"""Options of an input: what loses data is refused however it is spelled, what keeps it is set where nothing is said."""

from __future__ import annotations

import itertools

import pytest

from anon_spark.domain.errors import ConfigurationError
from anon_spark.io.input_options import keeps_ascii, kind_of_format, safe_options


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (None, "parquet"), ("CSV", "csv"), ("com.databricks.spark.csv", "csv"), ("json", "json"), ("text", "text"),
        ("org.apache.spark.sql.execution.datasources.json.JsonFileFormat", "json"), ("com.databricks.spark.xml", "xml"),
        ("org.apache.spark.sql.execution.datasources.v2.text.TextDataSourceV2", "text"), ("delta", None), ("jdbc", None),
    ],
)  # fmt: skip
def test_formats_are_known_by_all_their_names(name: str | None, kind: str | None) -> None:
    assert kind_of_format(name) == kind


def test_safe_values_stand_where_nothing_is_said() -> None:
    ours = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
    assert safe_options("parquet", {}, "") == {**ours, "mergeSchema": "true"}
    assert safe_options("json", {"MODE": "failfast"}, "") == {**ours, "MODE": "failfast"}
    assert safe_options("csv", {"columnpruning": "FALSE"}, "") == {
        **ours, "mode": "FAILFAST", "unescapedQuoteHandling": "RAISE_ERROR", "columnpruning": "FALSE",
    }  # fmt: skip
    assert safe_options(None, {"url": "jdbc:x"}, "") == {"url": "jdbc:x"}


LOSING = [
    ("csv", "mode", "PERMISSIVE"), ("csv", "mode", "DropMalformed"), ("json", "mode", "permissive"),
    ("csv", "columnPruning", "true"), ("csv", "unescapedQuoteHandling", "SKIP_VALUE"), ("csv", "enforceSchema", "true"),
    ("json", "dropFieldIfAllNull", "true"), ("json", "samplingRatio", "0.5"), ("parquet", "mergeSchema", "false"),
    ("orc", "mergeSchema", "False"), ("csv", "path", "/in"), ("parquet", "path", "/in"),
    *itertools.product((None, "csv", "json", "text", "parquet", "orc"), ("ignoreCorruptFiles", "ignoreMissingFiles"), ("true",)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "option", "value"), LOSING)
def test_an_option_that_loses_data_is_refused_by_its_name(kind: str | None, option: str, value: str) -> None:
    for spelled in (option, option.lower(), option.upper()):
        with pytest.raises(ConfigurationError) as raised:
            safe_options(kind, {spelled: value}, "job.yaml")
        (fault,) = raised.value.faults
        assert (fault.where, fault.key) == ("job.yaml", f"input.options.{option}")


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("csv", {"pathGlobFilter": "*.csv", "modifiedBefore": "2030-01-01T00:00:00", "recursiveFileLookup": "true"}),
        ("csv", {"samplingRatio": "0.1", "maxColumns": "9", "maxCharsPerColumn": "9", "comment": "#", "nullValue": "-"}),
        ("csv", {"enforceSchema": "false"}),
        ("json", {"primitivesAsString": "true", "prefersDecimal": "true", "allowNonNumericNumbers": "false", "samplingRatio": "1.0"}),
        ("csv", {"encoding": "windows-1252", "escape": '"', "charToEscapeQuoteEscaping": '"'}),
        ("csv", {"encoding": "UTF-16", "multiLine": "TRUE"}),
        ("jdbc", {"mode": "PERMISSIVE"}),
    ],
)  # fmt: skip
def test_what_is_asked_for_on_purpose_is_left_alone(kind: str, options: dict[str, str]) -> None:
    found = safe_options(kind_of_format(kind), options, "")
    assert {key: found[key] for key in options} == options


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.parametrize("encoding", ["UTF-16", "utf-16le", "UTF-32BE", "GBK", "Shift_JIS", "Big5", "no-such-encoding"])
def test_an_encoding_whose_line_ends_cannot_be_told_needs_multi_line(kind: str, encoding: str) -> None:
    for option in ("encoding", "charset"):
        with pytest.raises(ConfigurationError, match=r"input.options.encoding: .*expected multiLine: true"):
            safe_options(kind, {option: encoding}, "")
        assert safe_options(kind, {option: encoding, "multiLine": "true"}, "")


@pytest.mark.parametrize("name", ["UTF-8", "utf8", "US-ASCII", "ISO-8859-1", "latin1", "ISO-8859-15", "windows-1252", "Cp1250", "KOI8-R"])
def test_encodings_that_keep_ascii(name: str) -> None:
    assert keeps_ascii(name)


def test_quoting_that_single_lines_cannot_tell_needs_multi_line() -> None:
    for options in ({"sep": "§", "encoding": "latin1"}, {"quote": "»", "encoding": "latin1"}, {"charToEscapeQuoteEscaping": "#"}):
        with pytest.raises(ConfigurationError, match="expected multiLine: true"):
            safe_options("csv", options, "")
    assert safe_options("csv", {"sep": "§"}, "")


def test_json_of_another_encoding_says_where_its_lines_end() -> None:
    with pytest.raises(ConfigurationError, match="lineSep beside it"):
        safe_options("json", {"encoding": "ISO-8859-1"}, "")
    for more in ({"lineSep": "\n"}, {"multiLine": "true"}):
        assert safe_options("json", {"encoding": "ISO-8859-1", **more}, "")


def test_text_is_utf8_alone() -> None:
    with pytest.raises(ConfigurationError, match="UTF-8, the only one"):
        safe_options("text", {"encoding": "latin1"}, "")
