"""Files of an input that Spark passes over, or reads as something else, without a word; and texts that nothing but Spark can read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from anon_spark.domain.errors import AnonError, ConfigurationError, DataError, Fault
from anon_spark.job.check import check
from anon_spark.job.run import run
from jobs import policy, quasi

pytestmark = pytest.mark.spark
SENSITIVE = {"name": "s", "role": "sensitive"}


def refused(spark: SparkSession, folder: Path, source: dict[str, Any], kind: type[AnonError] = DataError, **more: Any) -> list[Fault]:
    """The faults that run and check both tell; nothing is left of the run."""
    asked = policy([quasi("x"), SENSITIVE], input=source, **{"output": {"path": str(folder / "out")}, **more})
    told = []
    for call in (run, check):
        with pytest.raises(kind) as raised:
            call(spark, asked)
        told.append(raised.value.faults)  # type: ignore[attr-defined]
    assert [fault.found for fault in told[0]] == [fault.found for fault in told[1]] and not (folder / "out").exists()
    return list(told[0])


def parquet(path: Path, **columns: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), path)


def test_a_file_of_no_bytes_is_no_file_of_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    parquet(tmp_path / "in/a.parquet", x=["a", "a"], s=["p", "q"])
    source = {"format": "parquet", "path": str(tmp_path / "in")}
    parquet(tmp_path / "in/none.parquet", x=pa.array([], pa.string()), s=pa.array([], pa.string()))
    assert run(spark, policy([quasi("x"), SENSITIVE], input=source)).release.report.output.rows == 2
    (tmp_path / "in/b.parquet").touch()
    (fault,) = refused(spark, tmp_path, source)
    assert (fault.key, fault.found) == ("input.path", "1 files of no bytes, which Spark passes over")


def test_files_that_give_a_column_two_types(spark: SparkSession, tmp_path: Path) -> None:
    parquet(tmp_path / "in/a.parquet", x=["a"], s=["p"])
    parquet(tmp_path / "in/b.parquet", x=["a"], s=[1])
    (fault,) = refused(spark, tmp_path, {"format": "parquet", "path": str(tmp_path / "in")})
    assert fault.found == "files that give a column different types"


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        (r"\ud800", True), (r"\uDFFF", True), (r"x\ud83d", True), (r"\udc00\ud800", True),
        (r"\ud83d\ude00", False), (r"\\ud800", False), (r"\\\ud800", True), (r"\u00e9", False),
    ],
)  # fmt: skip
def test_half_a_character_in_json(spark: SparkSession, tmp_path: Path, text: str, bad: bool) -> None:
    (tmp_path / "in.json").write_text(f'{{"x":"a","s":"{text}"}}\n{{"x":"a","s":"q"}}\n')
    source = {"format": "json", "path": str(tmp_path / "in.json")}
    if bad:
        (fault,) = refused(spark, tmp_path, source)
        assert fault.found.startswith("1 lines with half a character")
    else:
        assert run(spark, policy([quasi("x"), SENSITIVE], input=source)).release.report.output.rows == 2


@pytest.mark.parametrize("place", [64, 0])
def test_text_that_is_not_utf8(spark: SparkSession, tmp_path: Path, place: int) -> None:
    text = "CAST(unhex(IF(id < 3, '5AFC', '61')) AS string)"
    rows = f"SELECT {{}} FROM (SELECT 'a' AS q, {text} AS t, id FROM range(4))"
    for columns, key in (("t AS x, q AS s", "column x"), ("q AS x, t AS s", "column s")):
        models = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "kind": "distinct", "l": 1}]
        source = {"query": rows.format(columns)}
        (fault,) = refused(spark, tmp_path, source, models=models, settings={"driver_megabytes": place})
        assert (fault.key, fault.found) == (key, "text that is not UTF-8 in 3 rows")


def test_a_report_that_a_link_leads_into_the_output(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real", tmp_path / "link")
    source = {"query": "SELECT 'a' AS x, id AS s FROM range(3)"}
    for mode in ("error", "overwrite"):
        places = {"output": {"path": str(tmp_path / "real/o"), "mode": mode}, "report": {"path": str(tmp_path / "link/o/report")}}
        with pytest.raises(ConfigurationError, match="which holds the report's directory"):
            run(spark, policy([quasi("x"), SENSITIVE], input=source, **places))
        assert list((tmp_path / "real").iterdir()) == []


def test_a_header_that_repeats_a_name(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("x,s,s\na,b,c\na,b,c\n")
    source = {"format": "csv", "path": str(tmp_path / "in.csv"), "options": {"header": True}}
    faults = refused(spark, tmp_path, source, ConfigurationError)
    (told,) = [fault for fault in faults if fault.key == "columns.1.name"]
    assert told.advice.startswith("its header has it 2 times, so Spark calls them 's1', 's2'")
