"""Lines that a text reader would take for something else without a word: line ends in quotes, other encodings, JSON behind JSON."""

from __future__ import annotations

import gzip
import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from anon_spark.domain.errors import AnonError, DataError
from anon_spark.domain.policy import Source
from anon_spark.io.raw_lines import _open_behind
from anon_spark.io.spark_errors import job_faults
from anon_spark.io.tables import read

pytestmark = pytest.mark.spark

SECRET = "SECRET_123"


def source(folder: Path, content: str | bytes, kind: str = "csv", **options: str) -> Source:
    path = folder / f"in.{kind}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Source(format=kind, path=str(path), options={**({"header": "true"} if kind == "csv" else {}), **options})


def rows(spark: SparkSession, asked: Source) -> Counter[tuple[Any, ...]]:
    with job_faults("job.yaml"):
        return Counter(tuple(row) for row in read(spark, asked, "job.yaml").collect())


def refused(spark: SparkSession, asked: Source, kind: type[AnonError] = DataError) -> str:
    with pytest.raises(kind) as raised:
        rows(spark, asked)
    text = str(raised.value)
    assert SECRET not in text and "\n" not in text and text.startswith("job.yaml: input")
    return text


OPEN = [
    ("a\n1\n\"x\ny\"\n", {}),
    (f'a,b\n1,"{SECRET}\n2,{SECRET}",3\n', {}),
    ('a,b\n1,"x\ny",2\nz,3\n', {}),
    ('a,b\n"C:\\",1\n', {}),
    ('a,b\n1,"x\n', {}),
    ('a,b\n1,"5"" pipe\n2,x\n', {"escape": '"'}),
    ('a,b\n"5"" pipe",""" \n2,x\n', {"escape": '"'}),
    ("a|b\n1|'x\n2|y\n", {"quote": "'", "sep": "|"}),
    ('a||b\n1||"x\n2||y\n', {"sep": "||"}),
    ('a,"b\nc"\n1,2\n', {}),
    ('"a\nb"\n1\n2\n', {}),
    ('a,b\n1,  "x\n2,y\n', {"ignoreLeadingWhiteSpace": "true"}),
    ('a,b;1,"x;2,y', {"lineSep": ";"}),
    ('a,b\r\n1,"x\r\n2,y\r\n', {}),
    ("a,b\n1,\"\xe9\n2,\xe9\n".encode("latin1"), {"encoding": "ISO-8859-1"}),
    ('1,"x\n2,y\n', {"header": "false"}),
    ('a,b\n"1","x\n2,y\n', {}),
    ('a\tb\n"1"\t"x\n2\ty\n', {"sep": "\\t"}),
    ('a,b\n"1","x\0\n2,y\n', {}),
]  # fmt: skip


@pytest.mark.parametrize(("content", "options"), OPEN)
def test_a_quote_that_is_open_at_a_line_end_names_multi_line(
    spark: SparkSession, tmp_path: Path, content: str | bytes, options: dict[str, str]
) -> None:
    assert "multiLine: true" in refused(spark, source(tmp_path, content, **options))


CLOSED = [
    ('a,b\n5" pipe,6" pipe"\n', {}, [('5" pipe', '6" pipe"')]),
    ('a,b\n"x\\"y","\\\\"\n', {}, [('x"y', "\\")]),
    ('a,b\n"x""y",""""\n', {"escape": '"'}, [('x"y', '"')]),
    ('a,b\n"x", "y"\n', {}, [("x", ' "y"')]),
    ('a,b\n1,"x\n2,y"\n', {"quote": ""}, [("1", '"x'), ("2", 'y"')]),
    ('#"\na,b\n#",\n1,2\n', {"comment": "#"}, [("1", "2")]),
    ('a,b\n1,"x\n2,y"\n', {"multiLine": "true"}, [("1", "x\n2,y")]),
    ('"a\nb"\n1\n2\n', {"multiLine": "true"}, [("1",), ("2",)]),
    ('a,b;"1\n","x";', {"lineSep": ";"}, [("1\n", "x")]),
]  # fmt: skip


@pytest.mark.parametrize(("content", "options", "expected"), CLOSED)
def test_quotes_that_are_closed_on_their_line_are_read(
    spark: SparkSession, tmp_path: Path, content: str, options: dict[str, str], expected: list[tuple]
) -> None:
    assert rows(spark, source(tmp_path, content, **options)) == Counter(expected)


@pytest.mark.parametrize("escape", ["\\", '"'])
def test_what_is_open_is_what_the_parser_goes_on_with(spark: SparkSession, tmp_path: Path, escape: str) -> None:
    lines = ["".join(some) for size in range(1, 6) for some in itertools.product('"\\,a ', repeat=size) if '"' in some]
    lines = [line for line in lines if len(line) < 5 or line.count('"') > 2]
    for place, line in enumerate(lines):
        (tmp_path / f"{place}.csv").write_text(f"{line}\nEND\n")
    options = {"escape": escape, "unescapedQuoteHandling": "STOP_AT_DELIMITER"}
    schema = ", ".join(f"c{place} string" for place in range(7))
    parsed = spark.read.schema(schema).options(**options, multiLine="true").csv(str(tmp_path))
    names = parsed.where(F.to_json(F.struct("*")).contains("\\nEND")).select("_metadata.file_name").distinct().collect()
    expected = {lines[int(row[0].removesuffix(".csv"))] for row in names}
    table = spark.createDataFrame([(line,) for line in lines], "line string")
    found = table.where(_open_behind(F.col("line"), {key.lower(): value for key, value in options.items()}, 7))
    told = {row[0] for row in found.collect()}
    assert expected <= told and len(expected) > 100
    # what has more behind its closing quote is malformed, and refused in any case
    field = r'(?:"(?:[^"\\]|\\.)*" *|[^",][^,]*|)'
    assert not [line for line in told - expected if re.fullmatch(f"{field}(?:,{field})*", line)]


ENDLESS = [
    'a,b\n1,"x\n2,y\n3,z\n',
    'a,b\n"1\n2","x\n2,y\n',
    'a,b\n"1","2"\n"3","x\ny\n5\\" pipe"\nz,"4\n',
    'a,b\n"1","\\"\n2,3\n4,5\n',
]


@pytest.mark.parametrize("content", ENDLESS)
def test_a_quote_that_is_never_closed_does_not_swallow_what_follows(spark: SparkSession, tmp_path: Path, content: str) -> None:
    assert "never closed" in refused(spark, source(tmp_path, content, multiLine="true"))


def test_quotes_that_are_closed_on_a_later_line_are_read(spark: SparkSession, tmp_path: Path) -> None:
    content = 'a,b\n5" pipe,"x\n5 \\" y\n"\n"\n\n","3"\n"4",\n'
    expected = Counter([('5" pipe', 'x\n5 " y\n'), ("\n\n", "3"), ("4", None)])
    assert rows(spark, source(tmp_path, content, multiLine="true")) == expected


TEXTS = {"csv": "a,b\nx,{}\n", "json": '{{"a": "x", "b": "{}"}}\n', "text": "{}\n"}


@pytest.mark.parametrize("multi", ["false", "true"])
@pytest.mark.parametrize("kind", ["csv", "json", "text"])
def test_bytes_of_another_encoding_are_refused_and_the_mark_for_them_is_not(
    spark: SparkSession, tmp_path: Path, kind: str, multi: str
) -> None:
    options = {"multiLine": multi} if kind != "text" else {}
    for number, bad in enumerate((b"\xe9", b"\x80", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\xc3\xef\xbf\xbd\xa9")):
        content = TEXTS[kind].format("é \ufffd 😀@").encode().replace(b"@", bad)
        told = refused(spark, source(tmp_path, content, kind, **options))
        assert "input.options.encoding" in told and "not UTF-8" in told, number
    good = "é \ufffd 😀"
    expected = (good,) if kind == "text" else ("x", good)
    assert rows(spark, source(tmp_path, TEXTS[kind].format(good), kind, **options)) == Counter([expected])


@pytest.mark.parametrize("multi", ["false", "true"])
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_the_encoding_that_is_named_is_used(spark: SparkSession, tmp_path: Path, kind: str, multi: str) -> None:
    content = TEXTS[kind].format("é")
    for encoding in ("ISO-8859-1", "UTF-8", *(("UTF-16", "UTF-16LE") if multi == "true" else ())):
        asked = source(tmp_path, content.encode(encoding), kind, encoding=encoding, multiLine=multi, lineSep="\n")
        assert rows(spark, asked) == Counter([("x", "é")])
    wrong = source(tmp_path, content.encode(), kind, encoding="US-ASCII", multiLine=multi, lineSep="\n")
    # Spark's JSON reader refuses such bytes itself, in single lines
    assert ("can't be read" if kind == "json" and multi == "false" else "input.options.encoding") in refused(spark, wrong)


def test_utf_16_read_as_utf_8_is_refused_even_without_a_mark(spark: SparkSession, tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32-le"):
        wide = source(tmp_path, "ab,bc\n10,20\n30,40\n".encode(encoding), header="false")
        assert "input.options.encoding" in refused(spark, wide)
    assert rows(spark, source(tmp_path, "a,b\n\0\0,\0\0\n", encoding="UTF-8")) == Counter([("\0\0", "\0\0")])


def test_blank_lines_that_are_rows_are_not_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    tabs = "a\tb\n1\t2\n\t\n3\t4\n"
    assert "1 blank lines" in refused(spark, source(tmp_path, tabs, sep="\t"))
    assert rows(spark, source(tmp_path, tabs, sep="\t", multiLine="true")) == Counter([("1", "2"), (None, None), ("3", "4")])
    assert "2 blank lines" in refused(spark, source(tmp_path, "a\n1\n\n  \n2\n"))
    assert rows(spark, source(tmp_path, "a,b\n1,2\n\n  \n\n")) == Counter([("1", "2")])


@pytest.mark.parametrize(
    "line", ['{"a": 1}{"a": 2}', '{"a": 1} {"a": 2}', '{"a": 1},{"a": 2}', '{"a": 1} x', '[{"a": 1}] [{"a": 2}]']
)
def test_json_behind_json_is_not_passed_over(spark: SparkSession, tmp_path: Path, line: str) -> None:
    assert "not one JSON value" in refused(spark, source(tmp_path, '{"a": 0}\n' + line + "\n", "json"))
    assert "not one JSON value" in refused(spark, source(tmp_path, line.replace(" ", "\n"), "json", multiLine="true"))


def test_json_lines_are_not_read_as_one_document(spark: SparkSession, tmp_path: Path) -> None:
    lines = '{"a": 1}\n{"a": 2}\n'
    assert "leave multiLine out" in refused(spark, source(tmp_path, lines, "json", multiLine="true"))
    assert rows(spark, source(tmp_path, lines, "json")) == Counter([(1,), (2,)])


def test_json_of_every_lawful_shape_is_read(spark: SparkSession, tmp_path: Path) -> None:
    lines = "{\"a\": 1}\n\n [{\"a\": 2}, {\"a\": 3}] \n{'a': 4}\n"
    assert rows(spark, source(tmp_path, lines, "json")) == Counter([(1,), (2,), (3,), (4,)])
    document = '[\n {"a": 1},\n {"a": 2}\n]\n'
    assert rows(spark, source(tmp_path, document, "json", multiLine="true")) == Counter([(1,), (2,)])
    loose = "{a: 01} // one\n"
    allowed = {"allowUnquotedFieldNames": "true", "allowNumericLeadingZeros": "true", "allowComments": "true"}
    assert rows(spark, source(tmp_path, loose, "json", **allowed)) == Counter([(1,)])


def test_compressed_and_partitioned_files_are_looked_at(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in/value=1"
    folder.mkdir(parents=True)
    (folder / "a.csv.gz").write_bytes(gzip.compress(b'a,b\n1,"x\n2,y\n'))
    assert "multiLine" in refused(spark, Source(format="csv", path=str(tmp_path / "in"), options={"header": "true"}))
