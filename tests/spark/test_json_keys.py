"""Keys of JSON objects of which Spark would read one of two, or none: told, never passed over."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from anon_spark.domain.errors import DataError
from anon_spark.domain.policy import Source
from anon_spark.io.tables import read

pytestmark = pytest.mark.spark
TWICE = "objects with a key twice, or with two that differ by capitals alone"
OTHER = "1 object with a column's name in other capitals, which Spark would read as null"


def files(folder: Path, *texts: str, **options: str) -> Source:
    folder.mkdir(exist_ok=True)
    for place, text in enumerate(texts):
        (folder / f"{place}.json").write_text(text)
    return Source(format="json", path=str(folder), options=options)


def told(spark: SparkSession, source: Source) -> list[str]:
    with pytest.raises(DataError) as raised:
        read(spark, source, "job.yaml")
    return [fault.found for fault in raised.value.faults]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a":1,"a":2}\n', TWICE),
        ('{"a":1,"A":2}\n', TWICE),
        ('{"b":{"a":1,"a":null}}\n', TWICE),
        ('{"b":[{"a":1},{"a":1,"A":2}]}\n', TWICE),
        ('{"a":1}\n{"A":2}\n', OTHER),
        ("{'a':1}\n{'A':2}\n", OTHER),
        ('{"o":{"p":[{"b":1},{"b":2}]},"z":1}\n{"o":{"p":[{"b":1},{"B":2}]},"z":2}\n', OTHER),
    ],
)
def test_one_key_in_two_spellings_or_twice(spark: SparkSession, tmp_path: Path, text: str, found: str) -> None:
    assert told(spark, files(tmp_path / "lines", text)) == [found]
    listed = "[" + text.strip().replace("\n", ",\n") + "]"
    assert told(spark, files(tmp_path / "listed", listed, multiLine="true")) == [found]


def test_a_file_each(spark: SparkSession, tmp_path: Path) -> None:
    assert told(spark, files(tmp_path / "in", '{"a":1}\n', '{"A":2}\n')) == [OTHER]


def test_all_else_is_read(spark: SparkSession, tmp_path: Path) -> None:
    text = '{"o":{"p":[{"b":1},{"b":2}]},"z":"A"}\n{"o":{"p":[]},"z":null,"k":["\\"a\\":1"]}\n\n{"o":null}\n'
    found = read(spark, files(tmp_path / "lines", text), "").select("z", "k", "o.p.b").collect()
    assert Counter(map(str, map(tuple, found))) == Counter(
        ["('A', None, [1, 2])", "(None, ['\"a\":1'], [])", "(None, None, None)"]
    )
    found = read(spark, files(tmp_path / "whole", '[{"a":1},\n{"a":2}]', '{"a":3}', multiLine="true"), "").collect()
    assert Counter(map(tuple, found)) == Counter([(1,), (2,), (3,)])


def test_names_that_differ_by_capitals_are_two_where_the_session_says_so(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        found = read(spark, files(tmp_path / "in", '{"a":1}\n{"A":2}\n{"a":3,"A":4}\n'), "").select("a", "A").collect()
        assert Counter(map(tuple, found)) == Counter([(1, None), (None, 2), (3, 4)])
        assert told(spark, files(tmp_path / "twice", '{"a":1,"a":2}\n')) == [TWICE]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_tables_over_json_too(spark: SparkSession, tmp_path: Path) -> None:
    files(tmp_path / "in", '{"a":1,"a":2}\n{"A":3}\n{"other":{"x":1,"x":2},"a":4}\n')
    spark.sql(f"CREATE TABLE json_keys (a int) USING json LOCATION '{tmp_path / 'in'}'")
    try:
        # what is in no column is the table's own to leave out
        assert told(spark, Source(table="json_keys")) == [OTHER, "1 object with a key twice"]
    finally:
        spark.sql("DROP TABLE json_keys")
