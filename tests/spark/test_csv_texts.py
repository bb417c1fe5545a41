"""Texts and moments that a CSV of given options can't hold are the data's fault, told by column; options that Spark refuses are not."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from anon_spark.domain.errors import ConfigurationError, DataError
from anon_spark.domain.policy import Sink
from anon_spark.io.refused_options import refuse_refused
from jobs import policy, printed, quasi, released

pytestmark = pytest.mark.spark
NULL = "{!r} in 1 row, which is how this CSV writes null"
EMPTY = "the empty text in 1 row, which emptyValue: {!r} writes as another"
CHANGED = "texts in {} that this CSV gives back as others"


def asked(folder: Path, options: dict[str, Any], role: str = "insensitive", **more: Any) -> Any:
    output = {"format": "csv", "path": str(folder / "out"), "options": options}
    return policy([quasi("q", **more), {"name": "x", "role": role}], output=output)


@pytest.mark.parametrize(
    ("options", "role", "text", "found"),
    [
        ({}, "sensitive", "\\N", NULL.format("\\N")),
        ({}, "label", "\\N", NULL.format("\\N")),
        ({"nullValue": "-", "emptyValue": "empty"}, "insensitive", "-", NULL.format("-")),
        ({"NULLVALUE": ""}, "insensitive", "", NULL.format("")),
        ({"emptyValue": "empty"}, "insensitive", "", EMPTY.format("empty")),
        ({"emptyValue": ""}, "insensitive", "", EMPTY.format("")),
        ({"ignoreTrailingWhiteSpace": True}, "insensitive", " padded ", CHANGED.format("1 row")),
        ({"quote": "a", "sep": " "}, "insensitive", "", CHANGED.format("1 row")),
        ({"encoding": "ISO-8859-1"}, "insensitive", "\u0141", CHANGED.format("1 row")),
        ({"quote": ""}, "insensitive", "x\ny", CHANGED.format("1 row")),
        ({"lineSep": "\r\n"}, "insensitive", "x\ny", CHANGED.format("1 row")),
    ],
    ids=str,
)
def test_a_text_that_does_not_come_back(
    spark: SparkSession, tmp_path: Path, options: dict[str, Any], role: str, text: str, found: str
) -> None:
    with pytest.raises(DataError) as raised:
        released(spark, [("q", text), ("q", "n"), ("q", None)], "q string, x string", asked(tmp_path, options, role))
    assert [(fault.key, fault.found) for fault in raised.value.faults] == [("column x", found)]
    assert "another format, such as parquet" in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_labels_and_numbers_too(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("\\N", 0), ("\\N", 1), ("0", 0), ("0", 1)]
    with pytest.raises(DataError) as raised:
        released(spark, rows, "q string, x int", asked(tmp_path, {"nullValue": "0"}))
    assert [fault.found for fault in raised.value.faults] == ["'0' in 2 rows, which is how this CSV writes null"] * 2
    with pytest.raises(DataError, match=r"column q: found '\\\\N' in 2 rows"):
        released(spark, rows, "q string, x int", asked(tmp_path, {}))
    with released(spark, rows, "q string, x int", asked(tmp_path, {}, min_level=1)) as release:
        assert printed(release) == Counter({("*", 0): 2, ("*", 1): 2})


@pytest.mark.parametrize("options", [{}, {"nullValue": "-"}, {"sep": "|", "encoding": "UTF-16LE"}, {"lineSep": ";"}])
def test_what_a_csv_holds_is_published(spark: SparkSession, tmp_path: Path, options: dict[str, Any]) -> None:
    texts = ["", " a ", "null", "\\", '"', "|'", "a,b", "x\ny", "\\n", "\u0141", None]
    rows = [("q", text) for text in texts]
    with released(spark, rows, "q string, x string", asked(tmp_path, options)) as release:
        assert printed(release) == Counter(rows)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_moments_that_a_pattern_cuts_are_the_datas_fault(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    rows = [("q", date(2020, 1, 1), datetime(2020, 1, 1, 3, 0)), ("q", date(2020, 1, 2), datetime(2020, 1, 1, 3, 4)), ("q", None, None)]
    columns = [quasi("q"), *({"name": name, "role": "insensitive"} for name in "dt")]
    options = {"dateFormat": "MM/yyyy", "TIMESTAMPFORMAT": "yyyy-MM-dd HH:mm XXX"}
    asked = policy(columns, output={"format": kind, "path": str(tmp_path / "out"), "options": options})
    with pytest.raises(DataError) as raised:
        released(spark, rows, "q string, d date, t timestamp", asked)
    found = "values in 1 row that dateFormat 'MM/yyyy' gives back as others"
    assert [(fault.key, fault.found) for fault in raised.value.faults] == [("column d", found)]


@pytest.mark.parity
def test_every_option_that_spark_refuses_is_told_before_anything_is_read(spark: SparkSession) -> None:
    wrong = {"quote": "ab", "compression": "gzipp", "header": "no", "dateFormat": "bbb", "timeZone": "nowhere"}
    with pytest.raises(ConfigurationError) as raised:
        refuse_refused(spark, Sink(format="csv", path="x", options={"nullValue": "-", "sep": "||", **wrong}), "job.yaml")
    assert [fault.key for fault in raised.value.faults] == [f"output.options.{name}" for name in wrong]
    with pytest.raises(ConfigurationError, match=r"^job\.yaml: output\.options\.ignoreNullFields: found 'no'; expected a value that Spark"):
        refuse_refused(spark, Sink(format="json", path="x", options={"ignoreNullFields": "no"}), "job.yaml")
    refuse_refused(spark, Sink(format="parquet", path="x", options={"header": "no"}), "job.yaml")
