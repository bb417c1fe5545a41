"""Rows of a table beside the parts of a local recoding: cells found, dealt cells ranked, what is unknown counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark.plans.block_lines import DEALT, FROM, GROUP, TO
from anon_spark.plans.columns import raw_column
from anon_spark.plans.local import local_table
from anon_spark.plans.publish_local import LocalRecodingTables, label_groups, label_names

pytestmark = [pytest.mark.spark, pytest.mark.parity]
Part = tuple[str | None, str | None, int, int, int]


def tables(spark: SparkSession, parts: Sequence[Part], small: bool = True) -> LocalRecodingTables:
    """Parts (q, s, group, from, to); a group prints its number."""
    q, s, group, low, high = (list(column) for column in zip(*parts, strict=True))
    several = Counter((a, b) for a, b, *_ in parts)
    columns = {
        "__anon_q0": pa.array(q, pa.string()), "__anon_s0": pa.array(s, pa.string()), GROUP: pa.array(group, pa.int64()),
        FROM: pa.array(low, pa.int64()), TO: pa.array(high, pa.int64()),
        DEALT: pa.array([several[a, b] > 1 for a, b in zip(q, s, strict=True)]),
    }  # fmt: skip
    numbers = sorted(set(group))
    printed = label_names([False])
    shown = pa.table({GROUP: pa.array(numbers, pa.int64()), str(printed[0]): pa.array([f"g{n}" for n in numbers])})
    return LocalRecodingTables(
        local_table(spark, pa.table(columns)), local_table(spark, shown), printed, (True, True), max(several.values()) > 1, small, small
    )


def labelled(frame: DataFrame, recoding: LocalRecodingTables, others: Sequence[str], seed: int = 0) -> dict[int, str | None]:
    """Label of each row by its id; ``unknown`` for rows that may not be published."""
    types = {field.name: field.dataType for field in frame.schema.fields}
    q, s = raw_column("q", types["q"]), raw_column("s", types["s"])
    found = label_groups(frame, [q], [s], others, recoding, seed)
    rows = found.frame.select("id", F.when(found.unknown == 0, F.col(str(found.labels[0]))).otherwise("unknown")).collect()
    assert len(rows) == len({row[0] for row in rows})
    return dict(map(tuple, rows))


@pytest.mark.parametrize("small", [True, False])
def test_a_row_finds_its_cell_whatever_is_null_in_it(spark: SparkSession, small: bool) -> None:
    cells = [("a", None), (None, "a"), (None, None), ("", None), (None, ""), ("", "a"), ("a", "a")]
    frame = spark.createDataFrame([(*cell, i) for i, cell in enumerate(cells)], "q string, s string, id int")
    parts = [(*cell, i, 0, 1) for i, cell in enumerate(cells[:-1])]
    found = labelled(frame, tables(spark, parts, small), ["id"])
    assert found == {**{i: f"g{i}" for i in range(6)}, 6: "unknown"}


def test_a_null_that_no_cell_has_is_unknown(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(None, "x", 0), ("", "x", 1)], "q string, s string, id int")
    recoding = tables(spark, [("", "x", 0, 0, 1)])
    for nullable in ((True, True), (False, False)):
        given = LocalRecodingTables(recoding.parts, recoding.groups, recoding.printed, nullable, False, True, True)
        assert labelled(frame, given, ["id"]) == {0: "unknown", 1: "g0"}


@pytest.mark.parametrize("small", [True, False])
def test_a_dealt_cell_gives_every_group_exactly_its_rows(spark: SparkSession, small: bool) -> None:
    rows = [("a", "x", i) for i in range(100)] + [("a", "y", i) for i in range(100, 110)] + [(None, "x", i) for i in range(110, 130)]
    frame = spark.createDataFrame(rows, "q string, s string, id int")
    parts = [("a", "x", 0, 0, 90), ("a", "x", 1, 90, 97), ("a", "x", 2, 97, 100), ("a", "y", 1, 0, 10), (None, "x", 2, 0, 1)]
    parts.append((None, "x", 3, 1, 20))
    found = labelled(frame, tables(spark, parts, small), ["id"])
    counts = Counter((q, s, found[i]) for q, s, i in rows)
    assert counts == {(q, s, f"g{g}"): b - a for q, s, g, a, b in parts}


def test_rows_beyond_the_ranges_are_unknown(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", "x", i) for i in range(5)], "q string, s string, id int")
    found = labelled(frame, tables(spark, [("a", "x", 0, 0, 2), ("a", "x", 1, 2, 4)]), ["id"])
    assert sorted(Counter(found.values()).items()) == [("g0", 2), ("g1", 2), ("unknown", 1)]


def test_the_dealing_knows_the_seed_and_the_rows_alone(spark: SparkSession) -> None:
    """Not the partitions, not the order; another seed deals other rows, and no value of another column is dealt first."""
    rows = [("a", "x", i, "low" if i < 50 else "high") for i in range(100)]
    schema = "q string, s string, id int, t string"
    recoding = tables(spark, [("a", "x", 0, 0, 90), ("a", "x", 1, 90, 100)])
    frames = [spark.createDataFrame(rows, schema).coalesce(1), spark.createDataFrame(rows[::-1], schema).repartition(7, "id")]
    lent = [{i for i, label in labelled(frame, recoding, ["t", "id"]).items() if label == "g1"} for frame in frames]
    assert lent[0] == lent[1] and len(lent[0]) == 10
    by_seed = [
        frozenset(i for i, label in labelled(frames[0], recoding, ["t", "id"], seed).items() if label == "g1") for seed in range(6)
    ]
    assert len(set(by_seed)) == 6 and by_seed[0] == lent[0]
    of_high = [sum(i >= 50 for i in chosen) for chosen in by_seed]
    assert 0 < sum(of_high) < 60


def test_rows_are_told_apart_by_all_their_columns_whatever_their_types(spark: SparkSession) -> None:
    """Nulls in different places, maps and lists: the dealing must not depend on where rows lie."""
    values = [(None, 1), (1, None), (None, None), (1, 1), (2, None), (None, 2)] * 3
    rows = [("a", "x", i, a, b, [a, b], {"k": b}, (a, b)) for i, (a, b) in enumerate(values)]
    schema = "q string, s string, id int, a int, b int, l array<int>, m map<string,int>, t struct<a:int,b:int>"
    recoding = tables(spark, [("a", "x", 0, 0, 9), ("a", "x", 1, 9, 18)])
    dealt = []
    for frame in (spark.createDataFrame(rows, schema).coalesce(1), spark.createDataFrame(rows[::-1], schema).repartition(5, "id")):
        found = labelled(frame, recoding, ["a", "b", "l", "m", "t"])
        content = defaultdict(Counter)
        for _, _, i, a, b, *_ in rows:
            content[found[i]][a, b] += 1
        dealt.append(content)
    assert dealt[0] == dealt[1]
