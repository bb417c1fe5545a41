"""Small inputs on which other tools fail, beside those of test_job_cases and test_top_down: both jobs, in the driver and on Spark."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from anon_spark import Policy, anonymize
from anon_spark.domain.errors import ConfigurationError, DataError, InfeasibleError
from anon_spark.job.cautions import parts_shared
from anon_spark.job.check import check
from jobs import class_sizes, policy, printed, quasi, released, tree

pytestmark = pytest.mark.spark
JOBS = [("lattice", 64), ("lattice", 0), ("top-down", 64), ("top-down", 0)]
"""A job, and the megabytes that it may decide in the driver process."""
BOTH = pytest.mark.parametrize(("job", "place"), JOBS)
LOCAL = pytest.mark.parametrize("place", [64, 0])
ID = {"name": "id", "role": "insensitive"}


def asked(columns: list[dict], folder: Path, job: str, place: int, **more: Any) -> Policy:
    return policy(columns, job=job, staging=folder / "staging", settings={"driver_megabytes": place}, **more)


def number(name: str, **more: object) -> dict[str, Any]:
    return {"name": name, "role": "quasi-identifier", **more}


@LOCAL
def test_an_incomplete_hierarchy_stops_local_recoding_too(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """C01; and with the value in its hierarchy each group loses less than the best single level of all."""
    rows = [
        (34, "male", "81675"), (45, "female", "81667"), (66, "male", "81925"), (70, "female", "81931"),
        (34, "female", "81931"), (70, "male", "81931"), (45, "male", "81931"),
    ]  # fmt: skip
    schema = "age int, gender string, zipcode string"
    ages = tree(tmp_path, "age", "34;<50;*", "45;<50;*", "66;>=50;*", "70;>=50;*")

    def columns(*zips: str) -> list[dict]:
        masked = [";".join([code, *(code[: 5 - i] + "*" * i for i in range(1, 5)), "*"]) for code in zips]
        return [quasi("age", ages), quasi("gender"), quasi("zipcode", tree(tmp_path, "zip", *masked))]

    with pytest.raises(DataError, match="zipcode: 1 of 4 distinct values unmapped, 1 of 7 rows") as raised:
        released(spark, rows, schema, asked(columns("81667", "81925", "81931"), tmp_path, "top-down", place))
    assert "81675" not in str(raised.value) and not (tmp_path / "staging").exists()
    whole = columns("81667", "81925", "81931", "81675")
    with released(spark, rows, schema, asked(whole, tmp_path, "lattice", 64)) as release:
        best = release.report.loss.gcp
    with released(spark, rows, schema, asked(whole, tmp_path, "top-down", place)) as release:
        assert sum(class_sizes(release)) == 7 and min(class_sizes(release)) >= 2
        assert release.report.loss.gcp < best


@LOCAL
def test_a_lone_row_is_never_a_class(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """C03."""
    rows = [("A", status, 30, i) for i, status in enumerate(("Single", "Married", "Married", "Single", "Widow"))]
    columns = [quasi("region"), quasi("status"), number("age"), ID]
    for limit in (0, 0.2):
        given = asked(columns, tmp_path, "top-down", place, suppression={"limit": limit})
        with released(spark, rows, "region string, status string, age int, id int", given) as release:
            found = Counter(row[:-1] for row in printed(release))
            assert min(found.values()) >= 2 and not {status for _, status, _ in found} & {"Widow", None}
            assert found.total() + release.report.suppressed.rows == 5 and found.total() >= 5 - 5 * limit
            assert float(release.report.loss.gcp) == pytest.approx(0.2)


@pytest.mark.parametrize("place", [64, 0])
def test_a_flat_column_has_one_level(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """C04, full-domain: * for all, or F and I are suppressed."""
    rows = [(letter, i) for i, letter in enumerate("LRLBBBLRRRFI")]
    with released(spark, rows, "x string, id int", asked([quasi("x"), ID], tmp_path, "lattice", place, k=3)) as release:
        assert Counter(row[0] for row in printed(release)) == {"*": 12}
    given = asked([quasi("x"), ID], tmp_path, "lattice", place, k=3, suppression={"limit": "2/12"})
    with released(spark, rows, "x string, id int", given) as release:
        assert Counter(row[0] for row in printed(release)) == {"L": 3, "B": 3, "R": 4}
        assert release.report.suppressed.rows == 2 and float(release.report.loss.gcp) == pytest.approx(2 / 12)


LEFT = ("a-b", "a,b", "[1, 2]", "a~b", "*a", "x;y")
RIGHT = (">= 5", "1-2", "< 3", "null", "(1, 2]", "\\N", "a\"b'")
LEAVES = {"[x, y]": len(LEFT), "z-*": len(RIGHT), "*": len(LEFT) + len(RIGHT)}


@BOTH
@pytest.mark.parametrize("limit", [0, 0.1])
def test_the_loss_is_that_of_the_groups_whatever_the_names_hold(
    spark: SparkSession, tmp_path: Path, job: str, place: int, limit: float
) -> None:
    """C05 (d): NCP from the classes' raw rows, by the tree that the test knows, is what the report says."""
    quoted = [(name.replace('"', '""'), node) for names, node in ((LEFT, "[x, y]"), (RIGHT, "z-*")) for name in names]
    odd = tree(tmp_path, "odd", *(f'"{name}";{node};*' for name, node in quoted))
    names = [*LEFT, *RIGHT, *LEFT, *LEFT[:2]]
    rows = [(name, i) for i, name in enumerate(names)]
    with released(
        spark, rows, "x string, id int", asked([quasi("x", odd), ID], tmp_path, job, place, k=3, suppression={"limit": limit})
    ) as release:
        members = defaultdict(list)
        for label, i in printed(release):
            members[label].append(names[i])
        cost = len(rows) - sum(map(len, members.values()))
        for label, held in members.items():
            under = LEFT if label == "[x, y]" else RIGHT if label == "z-*" else (*LEFT, *RIGHT) if label == "*" else (label,)
            assert set(held) <= set(under) and len(held) >= 3
            cost += len(held) * (len(under) if len(under) > 1 else 0) / (len(LEFT) + len(RIGHT))
        assert float(release.report.loss.gcp) == pytest.approx(cost / len(rows), abs=1e-12)
        assert release.report.suppressed.rows == len(rows) - sum(map(len, members.values()))


@LOCAL
def test_ranges_are_tight_in_both_places(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """C06: 24.92 %; the same where the second column's gap lies elsewhere, is negative, or has decimals."""
    x, y = [1, 2, 3, 4, 5, 6, 7, 8], [10, 11, 12, 13, 50, 51, 52, 53]
    given = asked([number("x"), number("y")], tmp_path, "top-down", place, k=4)
    with released(spark, list(zip(x, y, strict=True)), "x int, y int", given) as release:
        assert printed(release) == Counter({("[1, 4]", "[10, 13]"): 4, ("[5, 8]", "[50, 53]"): 4})
        assert float(release.report.loss.gcp) == pytest.approx((3 / 7 + 3 / 43) / 2, abs=1e-12)
    moved = [(float(-a), b / 4) for a, b in zip(x, y, strict=True)]
    with released(spark, moved, "x double, y double", given) as release:
        assert printed(release) == Counter({("[-4.0, -1.0]", "[2.5, 3.25]"): 4, ("[-8.0, -5.0]", "[12.5, 13.25]"): 4})


AGES = list(zip([34, 36, 38, 40, 42, 44, 46, 48, None, None], "MMFFMMFFMF", strict=True))


@LOCAL
def test_the_best_with_null_as_a_value(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """C07: (8 * 1/7 + 2 * 1) / 20 = 11/70; nulls of other types are together as well, and never a class of one."""
    given = asked([number("age"), quasi("sex")], tmp_path, "top-down", place)
    with released(spark, AGES, "age int, sex string", given) as release:
        assert printed(release) == Counter({
            ("[34, 36]", "M"): 2, ("[38, 40]", "F"): 2, ("[42, 44]", "M"): 2, ("[46, 48]", "F"): 2, (None, "*"): 2,
        })  # fmt: skip
        assert float(release.report.loss.gcp) == pytest.approx(11 / 70, abs=1e-12)


def test_the_best_level_with_null_as_a_value(spark: SparkSession, tmp_path: Path) -> None:
    """C07, full-domain: only the root joins an age with no age, so sex alone stays: (1 + 0) / 2. The two rows suppressed: less."""
    columns = [quasi("age", {"intervals": [4], "origin": 34}), quasi("sex")]
    for place in (64, 0):
        with released(spark, AGES, "age int, sex string", asked(columns, tmp_path, "lattice", place)) as release:
            assert printed(release) == Counter({("*", "M"): 5, ("*", "F"): 5}) and release.report.loss.gcp == 0.5
        given = asked(columns, tmp_path, "lattice", place, suppression={"limit": 0.2})
        with released(spark, AGES, "age int, sex string", given) as release:
            assert sum(printed(release).values()) == 8 and release.report.suppressed.rows == 2
            # [34, 37] and two more span three of the fourteen, [46, 49] is clipped to two; a suppressed row costs 1 a column
            assert float(release.report.loss.gcp) == pytest.approx((6 * 3 / 14 + 2 * 2 / 14 + 4) / 20, abs=1e-12)


@pytest.mark.parametrize("kind", ["bigint", "double", "decimal(6,2)", "date", "timestamp", "boolean", "string"])
def test_rows_without_a_value_are_a_class_of_their_own_or_wider(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """C07, other types; a null is told from every text by the type of the column alone."""
    base = {"boolean": "id % 2 = 0", "date": "date_add(DATE'2020-01-01', CAST(id % 2 AS int))",
            "timestamp": "timestamp_seconds(id % 2)"}.get(kind, "id % 2")  # fmt: skip
    flat = kind in ("boolean", "string")
    for nulls in (3, 1):
        table = spark.range(9).selectExpr(f"IF(id >= {9 - nulls}, NULL, CAST({base} AS {kind})) AS x", "CAST(id AS int) AS id")
        given = asked([quasi("x") if flat else number("x"), ID], tmp_path, "top-down", 64, k=3)
        with anonymize(table, given) as release:
            found = Counter(row[0] for row in printed(release))
        assert found.total() == 9 and min(found.values()) >= 3
        assert (found[None], found["*"] > 0) == ((3, False) if nulls == 3 else (0, True))


PAIRS = [
    [("a:b", "c"), ("a", "b:c")], [("a,b", "c"), ("a", "b,c")], [("a\x00b", "c"), ("a", "b\x00c")], [("a|b", "c"), ("a", "b|c")],
    [("", "x"), (None, "x")], [("null", "x"), (None, "x")], [("x ", "x"), ("x", "x")], [("x", None), (None, "x")],
    [("", None), (None, "")],
]  # fmt: skip


@LOCAL
def test_values_that_only_look_alike_share_no_class(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """C08: every pair can only be joined by *."""
    rows = [(f"p{i}", a, b) for i, pair in enumerate(PAIRS) for a, b in pair]
    columns = [quasi("p", weight=1000), quasi("a"), quasi("b")]
    with released(spark, rows, "p string, a string, b string", asked(columns, tmp_path, "top-down", place)) as release:
        assert printed(release) == Counter({
            (f"p{i}", *(one if one == other else "*" for one, other in zip(*pair, strict=True))): 2 for i, pair in enumerate(PAIRS)
        })  # fmt: skip
        assert release.report.risk.below_k_before == 1


@LOCAL
def test_two_nans_are_one_class_and_zero_has_one_sign(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """C08, numbers."""
    nan, inf = float("nan"), float("inf")
    rows = [(x,) for x in (nan, nan, None, None, 0.0, -0.0, 1e12, 1e12, inf, inf, -inf, -inf)]
    with released(spark, rows, "x double", asked([number("x")], tmp_path, "top-down", place)) as release:
        found = {row[0]: count for row, count in printed(release).items()}
    assert set(found.values()) == {2} and len(found) == 6 and {None, "NaN", "0.0"} <= set(found) and "-0.0" not in found


@LOCAL
@pytest.mark.parametrize("names", ["A", "AB", "AC", "ABC"])
def test_constant_columns_change_nothing(spark: SparkSession, tmp_path: Path, names: str, place: int) -> None:
    """C11."""
    given = asked([quasi(name) for name in names], tmp_path, "top-down", place, unlisted="drop")
    with released(spark, [(a, "b", None) for a in (1, 1, 1, 1, 2, 2)], "A int, B string, C string", given) as release:
        assert class_sizes(release) == [2, 4] and release.report.loss.gcp == 0


def test_lists_in_a_text_are_warned_of(spark: SparkSession, tmp_path: Path) -> None:
    """C12."""
    rows = [("EC_X, EC_Y", "Oslo, Norway")] * 2 + [("EC_Y, EC_X", "Rome")] * 2
    for job in ("lattice", "top-down"):
        given = asked([quasi("diag"), quasi("place")], tmp_path, job, 64)
        with released(spark, rows, "diag string, place string", given) as release:
            assert class_sizes(release) == [2, 2]
        given = asked([quasi("diag"), quasi("place")], tmp_path, job, 64, output={"path": str(tmp_path / "out")})
        told = check(spark, given, spark.createDataFrame(rows, "diag string, place string")).warnings
        (warning,) = [text for text in told if "list" in text]
        assert warning.startswith("diag: 2 values that look like lists.") and "EC_" not in warning


@pytest.mark.parametrize(
    ("values", "several"),
    [
        (["EC_X, EC_Y", "EC_Y, EC_X"], 2), (["a;b", "b"], 1), (["a|b", "c|b", "d"], 2), (["a, b", "c"], 0), (["a", "b"], 0),
        (["", ",", ";"], 0), ([], 0), (["a,a", "b"], 0), (["Never-married", "Married"], 0),
    ],
)  # fmt: skip
def test_a_list_shares_a_part_with_another_value(values: list[str], several: int) -> None:
    assert parts_shared(values) == several


def test_the_impossible_is_proven_for_local_recoding_too(spark: SparkSession, tmp_path: Path) -> None:
    """C14."""
    columns = [quasi("a"), {"name": "s", "role": "sensitive"}]
    hiv = [{"model": "alpha-deassociation", "values": ["HIV"], "alpha": 0.2}]
    for rows, models, k, text in (
        ([("a", "s")] * 3, [], 5, "3 rows < k = 5"),
        ([], [], 2, "no rows"),
        ([("a", "HIV")] * 3 + [("a", "flu")] * 7, hiv, 2, "alpha = 0.2 is below HIV's share of the table, 0.3"),
    ):
        for place in (64, 0):
            with pytest.raises(InfeasibleError, match=text) as raised:
                released(spark, rows, "a string, s string", asked(columns, tmp_path, "top-down", place, k=k, models=models))
            assert raised.value.exit_code == 4 and not (tmp_path / "staging").exists()


@LOCAL
def test_weights_choose_what_is_kept(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """C18."""
    rows = [("a1", "b1"), ("a1", "b2"), ("a2", "b1"), ("a2", "b2")]
    for heavy, expected in (("b", {("*", "b1"): 2, ("*", "b2"): 2}), ("a", {("a1", "*"): 2, ("a2", "*"): 2})):
        columns = [quasi(name, weight=3 if name == heavy else 1) for name in "ab"]
        with released(spark, rows, "a string, b string", asked(columns, tmp_path, "top-down", place)) as release:
            assert printed(release) == Counter(expected) and release.report.loss.gcp == 0.25


@pytest.mark.parametrize(("job", "place"), [("lattice", 0), ("top-down", 0)])
def test_a_row_of_its_own_is_no_class_on_spark(spark: SparkSession, tmp_path: Path, job: str, place: int) -> None:
    """C20 on Spark: dropped with a warning, or within a wider class; its sensitive value is never printed alone."""
    rows = [("common", "flu", i) for i in range(100)] + [("rare", "HIV", 100)]
    columns = [quasi("a"), {"name": "s", "role": "sensitive"}, ID]
    for show in ("drop", "star"):
        given = asked(columns, tmp_path, job, place, suppression={"limit": 0.05, "show": show})
        with released(spark, rows, "a string, s string, id int", given) as release:
            assert min(class_sizes(release)) >= 2
            assert sum(class_sizes(release)) + release.report.suppressed.rows == 101
            if release.report.suppressed.rows:
                assert ("HIV" not in {row[1] for row in printed(release)}) == (release.report.suppressed.rows == 1)
                assert release.report.warnings[0].startswith("Suppressed rows: 1, fewer than k = 2.")


@BOTH
def test_no_trace_of_ours_nor_of_the_inputs_order(spark: SparkSession, tmp_path: Path, job: str, place: int) -> None:
    """C21: the names of files and columns, the footers, the order of the rows; whatever order the input had."""
    rows = [(i % 2, "xyz"[i % 3], i) for i in range(200)]
    columns = [quasi("__anon"), quasi("group"), {"name": "n", "role": "insensitive"}]
    found = []
    for turn, frame in enumerate(
        (
            spark.createDataFrame(rows, "__anon int, group string, n int").coalesce(1),
            spark.createDataFrame(rows[::-1], "__anon int, group string, n int").repartition(7, "n"),
        )
    ):
        out = tmp_path / f"out{turn}"
        anonymize(frame, policy(columns, job=job, k=40, output={"path": str(out)}, settings={"driver_megabytes": place}))
        files = sorted(path for path in out.rglob("*") if path.is_file())
        assert {re.sub(r"part-\d{5}-[0-9a-f-]{36}[-.]c000\.snappy", "part", path.name) for path in files} == {
            "part.parquet", ".part.parquet.crc", "_SUCCESS", "._SUCCESS.crc", "_anon_spark_manifest.json",
        }  # fmt: skip
        parts = [path for path in files if path.suffix == ".parquet"]
        for path in parts:
            assert pq.read_schema(path).names == ["__anon", "group", "n"]
            footer = str(pq.read_metadata(path).metadata)
            assert not [word for word in ("__anon_", "__audit_", str(tmp_path)) if word in footer]
        found.append([row["n"] for path in parts for row in pq.read_table(path).to_pylist()])
    assert found[0] == found[1]
    assert sorted(found[0]) == list(range(200))
    runs = sum(after == before + 1 for before, after in zip(found[0], found[0][1:], strict=False))
    assert runs < 20, "rows that stood side by side in the input stand so in the release"


@pytest.mark.parametrize("name", ["__anon_own", "__anon_q0", "__audit_rows", "__ANON_own", "__Audit_x"])
@pytest.mark.parametrize("job", ["lattice", "top-down"])
def test_a_column_that_is_called_like_ours_is_refused(spark: SparkSession, tmp_path: Path, job: str, name: str) -> None:
    """C21."""
    for columns in ([quasi(name), ID], [quasi("q"), {"name": name, "role": "insensitive"}, ID]):
        schema = ", ".join(f"`{column['name']}` int" for column in columns)
        with pytest.raises(ConfigurationError, match="named like our own") as raised:
            released(spark, [(1,) * len(columns)] * 2, schema, asked(columns, tmp_path, job, 64))
        assert raised.value.exit_code == 2


@LOCAL
def test_a_share_is_met_at_the_least_loss(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """C22: the two HIV rows of (a1, b1) need two others, four rows that print one * each: 25 %, where one level for all loses 50 %."""
    rows = [
        ("a1", "b1", "HIV"), ("a1", "b1", "HIV"), ("a2", "b1", "HIV"), ("a2", "b1", "flu"),
        ("a1", "b2", "flu"), ("a1", "b2", "cold"), ("a2", "b2", "flu"), ("a2", "b2", "cold"),
    ]  # fmt: skip
    columns = [quasi("a"), quasi("b"), {"name": "disease", "role": "sensitive"}]
    models = [{"model": "alpha-deassociation", "alpha": 0.5, "values": ["HIV"]}]
    given = asked(columns, tmp_path, "top-down", place, models=models)
    with released(spark, rows, "a string, b string, disease string", given) as release:
        sick = Counter(row[:2] for row in printed(release).elements() if row[2] == "HIV")
        for row in release.classes.collect():
            assert row[-1] >= 2 and 2 * sick[tuple(row)[:2]] <= row[-1]
        assert Counter(row[2] for row in printed(release).elements()) == Counter(row[2] for row in rows)
        assert release.report.loss.gcp == 0.25
