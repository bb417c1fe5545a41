"""The top-down job as a whole: small tables whose right answers are known, and what holds of every release."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from anon_spark import anonymize
from anon_spark.domain.errors import ConfigurationError, DataError, InfeasibleError
from jobs import class_sizes, local_policy, printed, quasi, released, tree

pytestmark = pytest.mark.spark
PLACES = (64, 0)
"""Megabytes that may be decided in the driver process: all, or nothing."""
ID = {"name": "id", "role": "insensitive"}


def number(name: str, **more: object) -> dict:
    return {"name": name, "role": "quasi-identifier", **more}


@pytest.mark.parity
@pytest.mark.parametrize("place", PLACES)
def test_hua_and_peis_table_is_published_whole(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """METHODS 2: [24-25] Bachelor [53711-53712]; 30 Master [53713-53714]; 32 GradSchool [53715-53716]."""
    rows = [
        (24, "Bachelor", 53711, 40, "Y"), (25, "Bachelor", 53712, 50, "Y"), (30, "Master", 53713, 50, "N"),
        (30, "Master", 53714, 80, "N"), (32, "Master", 53715, 50, "N"), (32, "Doctorate", 53716, 100, "N"),
    ]  # fmt: skip
    education = tree(tmp_path, "education", "Bachelor;Bachelor;ANY", "Master;GradSchool;ANY", "Doctorate;GradSchool;ANY")
    columns = [
        number("age", weight=0.5), quasi("education", education, weight=0.4), number("zip", weight=0.1),
        {"name": "income", "role": "insensitive"}, {"name": "loan", "role": "label"},
    ]  # fmt: skip
    schema = "age int, education string, zip int, income int, loan string"
    asked = local_policy(columns, staging=tmp_path, settings={"driver_megabytes": place})
    with released(spark, rows, schema, asked) as release:
        assert printed(release) == Counter({
            ("[24, 25]", "Bachelor", "[53711, 53712]", 40, "Y"): 1, ("[24, 25]", "Bachelor", "[53711, 53712]", 50, "Y"): 1,
            ("30", "Master", "[53713, 53714]", 50, "N"): 1, ("30", "Master", "[53713, 53714]", 80, "N"): 1,
            ("32", "GradSchool", "[53715, 53716]", 50, "N"): 1, ("32", "GradSchool", "[53715, 53716]", 100, "N"): 1,
        })  # fmt: skip
        assert [field.dataType.simpleString() for field in release.table.schema.fields] == ["string"] * 3 + ["int", "string"]
        loss = release.report.loss
        assert float(loss.gcp) == pytest.approx((0.5 / 8 + 0.4 * 2 / 3 + 0.1 * 0.2 * 3) / 3)
        assert release.report.lattice is None and release.report.output.classes == 3
        assert "1 block of 6" in next(step.text for step in release.report.steps if step.step == "groups")


@pytest.mark.parametrize("place", PLACES)
def test_a_large_group_lends_one_row(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """C04: three rows of twelve are published as *."""
    rows = [(letter, i) for i, letter in enumerate("LRLBBBLRRRFI")]
    asked = local_policy([quasi("x"), ID], k=3, staging=tmp_path, settings={"driver_megabytes": place})
    with released(spark, rows, "x string, id int", asked) as release:
        assert Counter(row[0] for row in printed(release).elements()) == {"L": 3, "B": 3, "R": 3, "*": 3}
        assert sorted(row[1] for row in printed(release)) == list(range(12))
        assert release.report.loss.gcp == 0.25


@pytest.mark.parametrize(
    ("values", "kind", "k", "labels"),
    [
        ([120, 150, 190, 220, 250, 290], "int", 3, {"[120, 190]": 3, "[220, 290]": 3}),
        ([-5, -4, -3, 3, 4, 5], "int", 3, {"[-5, -3]": 3, "[3, 5]": 3}),
        ([0.05, 0.1, 0.15, 1e12, 1e12, 1e12], "double", 3, {"[0.05, 0.15]": 3, "1000000000000.0": 3}),
        ([7, 7, 7], "int", 2, {"7": 3}),
        ([1, 2, 3], "int", 2, {"*": 3}),
    ],
)
def test_numbers_are_labelled_by_their_ends(
    spark: SparkSession, tmp_path: Path, values: list, kind: str, k: int, labels: dict
) -> None:
    """C05: (a) and (c); the whole table's range is *."""
    rows = [(value,) for value in values]
    with released(spark, rows, f"x {kind}", local_policy([number("x")], k=k, staging=tmp_path)) as release:
        assert Counter(row[0] for row in printed(release).elements()) == labels


def test_no_bound_reaches_beyond_its_rows(spark: SparkSession, tmp_path: Path) -> None:
    """C05 (b)."""
    rows = [
        (600000, 1, "test1", "x"), (600000, 1, "test1", "y"), (800000, 2, "test2", "x"),
        (800000, 2, "test3", "x"), (800000, 1, "test2", "y"), (400000, 2, "test3", "y"),
    ]  # fmt: skip
    columns = [number("pay"), number("rank"), quasi("kind"), {"name": "s", "role": "sensitive"}]
    with released(spark, rows, "pay int, rank int, kind string, s string", local_policy(columns, staging=tmp_path)) as release:
        found = list(printed(release).elements())
        assert Counter(row[3] for row in found) == {"x": 3, "y": 3}
        ends = [int(end) for row in found if row[0] != "*" for end in row[0].strip("[]").split(", ")]
        assert min(ends) >= 400000 and max(ends) <= 800000


def test_category_names_of_any_characters(spark: SparkSession, tmp_path: Path) -> None:
    """C05 (d): the report's loss is that of the groups, whatever the names hold."""
    names = ["a-b", "a,b", "[1, 2]", "a~b", "*a"]
    odd = tree(tmp_path, "odd", *(f"{name};{'[x, y]' if i < 3 else 'z-*'};*" for i, name in enumerate(names)))
    rows = [(name,) for name in names]
    with released(spark, rows, "x string", local_policy([quasi("x", odd)], staging=tmp_path)) as release:
        assert printed(release) == Counter({("[x, y]",): 3, ("z-*",): 2})
        assert float(release.report.loss.gcp) == pytest.approx((3 * 3 / 5 + 2 * 2 / 5) / 5)


def test_ranges_are_tight(spark: SparkSession, tmp_path: Path) -> None:
    """C06."""
    rows = list(zip([1, 2, 3, 4, 5, 6, 7, 8], [10, 11, 12, 13, 50, 51, 52, 53], strict=True))
    with released(spark, rows, "x int, y int", local_policy([number("x"), number("y")], k=4, staging=tmp_path)) as release:
        assert printed(release) == Counter({("[1, 4]", "[10, 13]"): 4, ("[5, 8]", "[50, 53]"): 4})
        assert float(release.report.loss.gcp) == pytest.approx(0.2492, abs=5e-5)


def test_a_null_is_a_value_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    """C07: 15.71 %; or the job stops, with a count."""
    rows = list(zip([34, 36, 38, 40, 42, 44, 46, 48, None, None], "MMFFMMFFMF", strict=True))
    columns = [number("age"), quasi("sex")]
    with released(spark, rows, "age int, sex string", local_policy(columns, staging=tmp_path)) as release:
        assert printed(release)[(None, "*")] == 2 and sum(class_sizes(release)) == 10 and min(class_sizes(release)) == 2
        assert float(release.report.loss.gcp) == pytest.approx(0.1571, abs=5e-5)
    with pytest.raises(DataError, match="age: found null in 2 rows"):
        released(spark, rows, "age int, sex string", local_policy(columns, staging=tmp_path, nulls="fail"))


@pytest.mark.parity
def test_null_empty_and_the_word_null_are_three_values(spark: SparkSession, tmp_path: Path) -> None:
    """C10."""
    rows = [("Oslo",)] * 3 + [("",)] * 3 + [(None,)] * 3 + [("NULL",)] * 3
    with released(spark, rows, "city string", local_policy([quasi("city")], k=3, staging=tmp_path)) as release:
        assert printed(release) == Counter({("Oslo",): 3, ("",): 3, (None,): 3, ("NULL",): 3})
    columns = [quasi("city", trim=True)]
    with released(spark, [*rows, (" Oslo",)], "city string", local_policy(columns, k=3, staging=tmp_path)) as release:
        assert printed(release)[("Oslo",)] == 4
    with released(spark, [*rows, (" Oslo",)], "city string", local_policy([quasi("city")], k=3, staging=tmp_path)) as release:
        assert sum(class_sizes(release)) == 13 and min(class_sizes(release)) >= 3 and (" Oslo",) not in printed(release)


@pytest.mark.parametrize(("block", "place"), [("auto", 64), (2, 64), (2, 0), pytest.param("auto", 0, marks=pytest.mark.long)])
def test_groups_do_not_know_the_partitions_of_the_input(
    spark: SparkSession, tmp_path: Path, place: int, block: int | str
) -> None:
    """C23: {1-4} and {11-14}, 23.08 %."""
    frame = spark.createDataFrame([(v,) for v in (1, 2, 3, 4, 11, 12, 13, 14)], "x int").repartitionByRange(4, "x")
    settings = {"block_combinations": block, "driver_megabytes": place}
    with anonymize(frame, local_policy([number("x")], k=3, staging=tmp_path, settings=settings)) as release:
        assert printed(release) == Counter({("[1, 4]",): 4, ("[11, 14]",): 4})
        assert float(release.report.loss.gcp) == pytest.approx(0.2308, abs=5e-5)


@pytest.mark.parity
@pytest.mark.parametrize("place", PLACES)
def test_a_bound_of_few_rows_is_warned_of(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """The 102-year-old: the page and the terminal tell that such a bound is printed, never the value."""
    rows = [(age, i) for i, age in enumerate([30, 30, 31, 31, 90, 102, 20, 20])]
    asked = local_policy([number("age"), ID], staging=tmp_path, settings={"driver_megabytes": place})
    with released(spark, rows, "age int, id int", asked) as release:
        (told,) = release.report.warnings
        assert told.startswith("age: 2 values that fewer than k = 2 rows of the table have, printed as a bound of 1 class")
        assert "102" not in told and ("[90, 102]", 5) in printed(release)


@pytest.mark.parametrize("numeric", ["interval", pytest.param("bounds", marks=pytest.mark.long)])
def test_a_row_like_no_other_is_left_out_where_that_loses_less(spark: SparkSession, tmp_path: Path, numeric: str) -> None:
    """C20: 101 rows, one of its own: never a class of one, and a warning of the total. Without a limit it drags another one to *."""
    rows = [(20, i) for i in range(100)] + [(90, 100)]
    columns = [number("age"), ID]
    with released(spark, rows, "age int, id int", local_policy(columns, staging=tmp_path, numeric=numeric)) as release:
        assert class_sizes(release) == [2, 99] and release.report.suppressed.rows == 0
    for show in ("drop", "star"):
        limit = {"limit": 0.05, "show": show}
        asked = local_policy(columns, staging=tmp_path, numeric=numeric, suppression=limit)
        with released(spark, rows, "age int, id int", asked) as release:
            assert class_sizes(release) == [100] and release.report.suppressed.rows == 1
            assert 100 not in [row["id"] for row in release.table.collect()]
            assert release.report.warnings[0].startswith("Suppressed rows: 1, fewer than k = 2.")
            assert float(release.report.loss.gcp) == pytest.approx(1 / 101)
        with released(spark, [*rows, (91, 101), (92, 102)], "age int, id int", asked) as release:
            assert sum(class_sizes(release)) == 103 and min(class_sizes(release)) >= 2


def test_stars_are_printed_where_they_hold_every_model(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("L", i) for i in range(4)] + [("B", i) for i in range(4, 8)] + [("F", 8), ("I", 9)]
    limit = {"limit": 0.2, "show": "star"}
    asked = local_policy([quasi("x"), ID], k=3, staging=tmp_path, suppression=limit)
    with released(spark, rows, "x string, id int", asked) as release:
        told = " ".join(step.text for step in release.report.steps)
        assert release.report.suppressed.rows == 2 and class_sizes(release) == [4, 4] and "do not hold every model" in told
    asked = local_policy([quasi("x"), ID], k=3, staging=tmp_path, suppression={"limit": 0.3, "show": "star"})
    with released(spark, [*rows, ("R", 10), ("S", 11)], "x string, id int", asked) as release:
        assert sum(class_sizes(release)) == 12 and min(class_sizes(release)) >= 3


def test_the_impossible_and_what_has_no_hierarchy(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError, match="2 rows < k = 3"):
        released(spark, [(1,), (2,)], "x int", local_policy([number("x")], k=3, staging=tmp_path))
    with pytest.raises(ConfigurationError, match=r"x.*hierarchy.*nothing, on type string"):
        released(spark, [("a",), ("b",)], "x string", local_policy([number("x")], staging=tmp_path))
