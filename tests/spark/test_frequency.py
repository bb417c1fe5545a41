"""The frequency set's plan has one scan and one shuffle, its counts are right, its fingerprint tells tables apart and orders not."""

from __future__ import annotations

import contextlib
import io
from collections import Counter

import pytest
from pyspark.sql import DataFrame, SparkSession

from anon_spark.plans.columns import RawColumn, raw_column
from anon_spark.plans.fetch import fetch_arrow, fetch_row
from anon_spark.plans.frequency import fingerprint, frequencies, totals, values_of

pytestmark = [pytest.mark.spark, pytest.mark.parity]
NAN = float("nan")
ROWS = [(1.5, "a", 1), (1.5, "a", 1), (-0.0, None, 2), (0.0, None, 2), (NAN, "a", None), (NAN, "a", None), (None, "a", 1)]
SCHEMA = "`x.y` double, `z` string, `n` int"


def raws(table: DataFrame) -> list[RawColumn]:
    return [raw_column(field.name, field.dataType) for field in table.schema.fields]


def explained(frame: DataFrame) -> str:
    held = io.StringIO()
    with contextlib.redirect_stdout(held):
        frame.explain()
    return held.getvalue()


def test_one_scan_one_shuffle_and_text_after_grouping(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("table") / "t")
    spark.createDataFrame(ROWS, SCHEMA).write.parquet(path)
    table = spark.read.parquet(path)
    columns = raws(table)
    plan = explained(frequencies(table, columns[:2], columns[2:]))
    assert plan.count("Exchange hashpartitioning") == 1 and plan.count("Exchange") == 1
    assert plan.count("FileScan") == 1
    below = plan[plan.index("Exchange") :]
    assert "as string" not in below.split("FileScan")[0], "rows pay for no cast: combinations do"
    assert "BroadcastHashJoin" not in plan


def test_counts_and_values(spark: SparkSession) -> None:
    table = spark.createDataFrame(ROWS, SCHEMA).repartition(3)
    columns = raws(table)
    cells = frequencies(table, columns[:2], columns[2:])
    found = {tuple(row.values()) for row in fetch_arrow(cells).to_pylist()}
    assert found == {("1.5", "a", "1", 2), ("0.0", None, "2", 2), ("NaN", "a", None, 2), (None, "a", "1", 1)}
    row = fetch_row(totals(cells, 2, 1))
    assert (row["cells"], row["rows"]) == (4, 7)
    values = Counter({(v["place"], v["value"]): v["rows"] for v in fetch_arrow(values_of(cells, 2, 1)).to_pylist()})
    assert values == Counter(
        {
            (0, "1.5"): 2,
            (0, "0.0"): 2,
            (0, "NaN"): 2,
            (0, None): 1,
            (1, "a"): 5,
            (1, None): 2,
            (2, "1"): 3,
            (2, "2"): 2,
            (2, None): 2,
        }
    )


def test_an_empty_table_has_no_cells(spark: SparkSession) -> None:
    table = spark.createDataFrame([], SCHEMA)
    row = fetch_row(totals(frequencies(table, raws(table), []), 3, 0))
    assert (row["cells"], row["rows"], row["fingerprint"]) == (0, 0, None)


def test_the_fingerprint_is_the_same_from_rows_and_from_cells_and_tells_changes(spark: SparkSession) -> None:
    def of_rows(rows: list[tuple], parts: int) -> int:
        table = spark.createDataFrame(rows, SCHEMA).repartition(parts)
        return int(fetch_row(table.agg(fingerprint([raw.text for raw in raws(table)]).alias("f")))["f"])

    table = spark.createDataFrame(ROWS, SCHEMA)
    whole = int(fetch_row(totals(frequencies(table, raws(table), []), 3, 0))["fingerprint"])
    assert of_rows(ROWS, 1) == of_rows(ROWS[::-1], 4) == whole
    changed = [
        ROWS[1:],
        [*ROWS, ROWS[0]],
        [(2.5, "a", 1), *ROWS[1:]],
        [(1.5, None, 1), (1.5, "a", 1), (-0.0, "a", 2), *ROWS[3:]],
        [(None, "a", 1), (1.5, "a", 1), *ROWS[2:6], (None, "a", 1)],
    ]
    assert len({whole, *[of_rows(rows, 2) for rows in changed]}) == 1 + len(changed)
