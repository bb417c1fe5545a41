"""The fingerprint of columns: the same for the same rows in any order, another for any other rows."""

from __future__ import annotations

from typing import Any

import pytest

from anon_spark.audit.fingerprint import fingerprint, unhashable
from anon_spark.domain.policy import Column, Policy

pytestmark = pytest.mark.spark

TYPES = (
    "`a.b ``c` string, i int, f double, t timestamp, m map<string, struct<x: int, y: array<int>>>, l array<array<int>>, "
    "s struct<`p.q`: string, r: string>, d decimal(20, 4), y binary"
)
BASE = ("ab", 1, 0.0, None, {"u": (1, [1]), "v": (None, None)}, [[1], []], ("k", None), None, b"")


def sums(frame: Any, columns: list[str] | None = None) -> tuple[Any, ...]:
    return tuple(frame.agg(*fingerprint(frame.schema, columns or frame.columns)).collect()[0])


def with_(place: int, value: Any) -> tuple[Any, ...]:
    return (*BASE[:place], value, *BASE[place + 1 :])


SAME = [with_(2, -0.0), with_(4, {"v": (None, None), "u": (1, [1])})]
OTHERS = [
    with_(0, None), with_(0, ""), with_(0, "ab "), with_(1, None), with_(1, 0), with_(2, None), with_(2, float("nan")),
    with_(4, None), with_(4, {}), with_(4, {"u": (1, [1])}), with_(4, {"u": (1, []), "v": (None, None)}),
    with_(4, {"u": (1, [1]), "v": None}),
    with_(5, [[], [1]]), with_(5, [[1]]), with_(5, [[1], None]), with_(5, []), with_(5, None), with_(5, [[1, None], []]),
    with_(6, (None, "k")), with_(6, None), with_(6, (None, None)), with_(6, ("", "k")), with_(8, None), ("a", *BASE[1:]),
]  # fmt: skip


def test_every_single_change_changes_it_and_what_is_the_same_does_not(spark: Any) -> None:
    rows = [(place, *row) for place, row in enumerate([BASE, *SAME, *OTHERS])]
    frame = spark.createDataFrame(rows, f"id int, {TYPES}")
    by_row = frame.groupBy("id").agg(*fingerprint(frame.schema, frame.columns[1:])).collect()
    found = {row["id"]: tuple(row)[1:] for row in by_row}
    same = {found[place] for place in range(1 + len(SAME))}
    assert len(same) == 1
    assert len({found[place] for place in range(len(rows))}) == 1 + len(OTHERS)
    assert all(sums_[0] == 1 for sums_ in found.values())


def test_order_does_not_count_and_multiplicity_does(spark: Any) -> None:
    rows = [("a", 1), ("b", 2), ("b", 2), (None, 3)]
    frame = spark.createDataFrame(rows, "s string, n int")
    assert sums(frame) == sums(spark.createDataFrame(rows[::-1], "s string, n int").repartition(3))
    assert sums(frame) != sums(frame.union(frame.limit(1)))
    assert sums(frame) != sums(spark.createDataFrame([*rows[:3], ("a", 1)], "s string, n int"))
    assert sums(frame, ["n"]) == sums(spark.createDataFrame([("z", n) for _, n in rows], "s string, n int"), ["n"])
    # Swapped between rows: each column's values are as they were, the rows are not.
    swapped = spark.createDataFrame([("b", 1), ("a", 2), ("b", 2), (None, 3)], "s string, n int")
    assert (
        sums(frame) != sums(swapped) and sums(frame, ["s"]) == sums(swapped, ["s"]) and sums(frame, ["n"]) == sums(swapped, ["n"])
    )
    assert sums(frame.where("false")) == (0, None, None)


def test_what_parquet_gives_back_has_the_same_fingerprint(spark: Any, tmp_path: Any) -> None:
    frame = spark.createDataFrame([BASE, *SAME, *OTHERS], TYPES)
    frame.write.parquet(str(tmp_path / "table"))
    assert sums(spark.read.parquet(str(tmp_path / "table"))) == sums(frame)


def test_types_without_a_fingerprint_are_named_where_they_would_be_published() -> None:
    from pyspark.sql import types as T

    class Point(T.UserDefinedType):
        @classmethod
        def sqlType(cls) -> T.DataType:
            return T.StringType()

        def simpleString(self) -> str:
            return "point"

    nested = T.ArrayType(T.StructType([T.StructField("p", Point())]))
    schema = T.StructType(
        [T.StructField(name, nested) for name in ("kept", "gone", "unlisted")]
        + [T.StructField("fine", T.MapType(T.StringType(), T.DoubleType()))]
    )
    listed = (Column(name="kept", role="sensitive"), Column(name="gone", role="identifier"), Column(name="fine", role="label"))
    faults = unhashable(schema, Policy(columns=listed, where="job.yaml"))
    assert [str(fault) for fault in faults] == [
        "job.yaml: kept: found type point; expected a type whose values can be compared; cast it in a query, or leave it out"
    ]
    assert [fault.key for fault in unhashable(schema, Policy(columns=listed, unlisted="keep"))] == ["kept", "unlisted"]
