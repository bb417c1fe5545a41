"""The labels of local releases: which belong to their hierarchy, and whether raw values lie under them, by brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from local_labels import every_kind
from pyspark.sql import functions as F

from anon_spark.audit.containment import containment
from anon_spark.audit.release import audit_release
from anon_spark.domain.policy import (
    Column,
    DateHierarchy,
    FileHierarchy,
    FlatHierarchy,
    IntervalHierarchy,
    MaskHierarchy,
    ModelSpec,
    Policy,
)

pytestmark = pytest.mark.spark

TWO = (ModelSpec(model="k-anonymity", parameters={"k": 2}),)


def local(*columns: Column, **more: Any) -> Policy:
    return Policy(**{"job": "top-down", "columns": columns, **more})


def quasi(name: str = "q", hierarchy: Any = None, **more: Any) -> Column:
    return Column(name=name, role="quasi-identifier", hierarchy=hierarchy, **more)


@pytest.fixture(params=["true", "false"], ids=["ANSI", "not ANSI"])
def either(spark: Any, request: pytest.FixtureRequest) -> Any:
    """The session with ANSI SQL on, then off."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", request.param)
    yield spark
    spark.conf.set("spark.sql.ansi.enabled", before)


# --- containment: random ranges over random values, by brute force ---

LINES: dict[str, tuple[str, Any, list[str]]] = {
    "whole": (
        "integer", Fraction,
        ["-13", "-5", "-1", "0", "3", "9", "10", "24", "25", "102", "9223372036854775807", "9" * 30, "9" * 29 + "8"],
    ),
    "exact": ("decimal", Fraction, ["-0.5", "-0.0", "0.05", "0.1", "7", "20.0", "20.000000000000000001", "24.99"]),
    "double": ("decimal", Fraction, ["-0.5", "-0.0", "1.0E-5", "0.05", "0.1", "20.0", "1.0E12", "1.0E300"]),
    "date": ("date", str, ["0001-01-01", "1899-12-31", "1965-05-31", "1965-06-01", "1970-01-01", "2020-02-29", "9999-12-31"]),
    "moment": (
        "timestamp", str,
        ["1899-12-31 23:59:59.999999", "1965-05-31 00:00:00", "1965-05-31 13:45:00", "1965-05-31 13:45:00.5", "2020-02-29 23:59:59"],
    ),
}  # fmt: skip
FORMS: dict[str, Any] = {
    "{0}": lambda at, one, other: at == one,
    "< {0}": lambda at, one, other: at < one,
    "<= {0}": lambda at, one, other: at <= one,
    ">= {0}": lambda at, one, other: at >= one,
    "[{0}, {1}]": lambda at, one, other: one <= at <= other,
    "[{0}, {1})": lambda at, one, other: one <= at < other,
    "*": lambda at, one, other: True,
    "[{0}": lambda at, one, other: False,
    "{0}, {1}]": lambda at, one, other: False,
    "": lambda at, one, other: False,
    "null": lambda at, one, other: False,
}
"""A label of two values, and whether a place on their line lies under it."""


def cases(line: str, random: Random) -> list[tuple[str | None, str, int]]:
    """Values, labels, and 1 where the one is not under the other."""
    _, place, texts = LINES[line]
    found = []
    for form, holds in FORMS.items():
        for _ in range(15):
            one, other = random.choice(texts), random.choice(texts)
            label = form.format(one, other)
            found += [(text, label, int(not holds(place(text), place(one), place(other)))) for text in texts]
            found.append((None, label, int(label != "*")))
    return found


@pytest.mark.parametrize("hierarchy", [None, IntervalHierarchy(widths=(Fraction(5),))], ids=["no hierarchy", "intervals"])
def test_a_value_is_under_the_ranges_that_hold_it_and_no_others(either: Any, hierarchy: Any) -> None:
    random, rows = Random(3), []
    for at, line in enumerate(LINES):
        for value, label, expected in cases(line, random):
            cells: list[str | None] = [None, "*"] * len(LINES)
            cells[2 * at : 2 * at + 2] = [value, label]
            rows.append((expected, *cells))
    frame = either.createDataFrame(rows, "expected int, " + ", ".join(f"r{at} string, l{at} string" for at in range(len(LINES))))
    raws, labels = ({line: f"{part}{at}" for at, line in enumerate(LINES)} for part in "rl")
    policy = local(*(quasi(line, hierarchy) for line in LINES))
    checked, outside = containment(frame, policy, raws, labels, {line: kind for line, (kind, _, _) in LINES.items()})
    found = checked.withColumn("found", outside).drop(*(c for c in checked.columns if c.startswith("__"))).collect()
    assert {row["expected"] for row in found} == {0, 1} and len(found) == len(rows)
    assert [tuple(row) for row in found if row["found"] != row["expected"]] == []


def test_a_value_is_under_the_nodes_above_it_at_any_level_and_no_others(either: Any, tmp_path: Path) -> None:
    kinds = [kind for kind in every_kind(tmp_path) if kind.path is not None]
    rows = []
    for at, kind in enumerate(kinds):
        labels = {label for value in kind.values for label in kind.path_of(value)}
        for value in kind.values:
            for label in labels:
                cells: list[str | None] = [None, "*"] * len(kinds)
                cells[2 * at : 2 * at + 2] = [value, label]
                rows.append((int(not kind.over(label, value)), *cells))
    frame = either.createDataFrame(rows, "expected int, " + ", ".join(f"r{at} string, l{at} string" for at in range(len(kinds))))
    raw, label = ({kind.column.name: f"{part}{at}" for at, kind in enumerate(kinds)} for part in "rl")
    policy = local(*(kind.column for kind in kinds))
    checked, outside = containment(frame, policy, raw, label, {kind.column.name: kind.kind for kind in kinds})
    found = checked.withColumn("found", outside).collect()
    assert [tuple(row)[:9] for row in found if row["found"] != row["expected"]] == []


def test_a_flat_number_lies_under_itself_alone(spark: Any) -> None:
    frame = spark.sql("SELECT 24 AS r, explode(array('24', '*', '[24, 30]', '[24, 24]', '25')) AS l")
    checked, outside = containment(frame, local(quasi("q", FlatHierarchy())), {"q": "r"}, {"q": "l"}, {"q": "integer"})
    assert [row[0] for row in checked.select(outside).collect()] == [0, 0, 1, 1, 1]


# --- labels that belong to no hierarchy ---

TREE = "Bern;West;Europe;*\nOslo;North;Europe;*\nLima;America;*\n{a,b};Sets;*\n"
DAYS = DateHierarchy(units=("month", "year"))
GRID = IntervalHierarchy(widths=(Fraction(5), Fraction(10)), lower=Fraction(18), upper=Fraction(90))
VALID: list[tuple[Any, dict[str, Any], list[str | None], list[str | None]]] = [
    (
        None,
        {},
        ["24", "[24, 30]", "[24, 24]", "-0.0", "[-5, -3]", "[0.05, 0.15]", "[1.0, 2.0)", "*", None, "NaN", "1970-01-01",
         "[1970-01-01, 1970-02-03]", "[2020-01-02 03:04:05, 2020-01-02 03:04:05.5]", "1.0E12", "[5, 1" + "0" * 40 + "]"],
        ["[30, 24]", "[24, 24)", "[24,30]", "24-30", "< 18", "[24, 30", "24, 30]", "[24, x]", "[24, 1970-01-01]", "", "null", "{24,30}",
         "[1970-02-03, 1970-01-01]", "[2020-13-01, 2021-01-01]", "1965-05", "[NaN, 3]", "[, ]", "[1, 2, 3]"],
    ),
    (GRID, {}, ["[24, 30]", "< 18", ">= 90", "[20, 24]", "[20, 25)", "24"], ["[30, 24]", "< 20", ">= 89", "<= 18"]),
    (GRID, {"bounds": "intervals"}, ["[20, 24]", "[20, 29]", "[18, 19]", "< 18", "<= 17", ">= 90", "24", "*"],
     ["[24, 30]", "[20, 39]", "<= 18"]),
    (None, {"bounds": "intervals"}, ["[24, 30]", "24"], ["[30, 24]", "< 18"]),
    (
        "file",
        {},
        ["Bern", "West", "Europe", "America", "*", None, "{a,b}"],
        ["Asia", "bern", "{Bern,Oslo}", "[Bern, Oslo]", "", "Bern "],
    ),
    (DAYS, {}, ["1965-05-31", "1965-05", "1965", "*"], ["1965-Q2", "1960s", "[1965-05-31, 1965-06-01]", "1965-13"]),
    (MaskHierarchy(), {}, ["53711", "5371*", "53***", "*****", "*", "x"], []),
    (FlatHierarchy(), {}, ["a", "", "[1, 2]"], []),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(VALID)))
def test_labels_of_no_hierarchy_are_told(either: Any, tmp_path: Path, place: int) -> None:
    hierarchy, more, right, wrong = VALID[place]
    if hierarchy == "file":
        (tmp_path / "tree.csv").write_text(TREE)
        hierarchy = FileHierarchy(path=str(tmp_path / "tree.csv"))
    policy = local(quasi("q", hierarchy), privacy=TWO, **more)
    release = either.createDataFrame([(label,) for label in [*right, *wrong] for _ in range(2)], "q string")
    result = audit_release(release, policy)
    assert result.classes == len(right) + len(wrong)
    if not wrong:
        assert result.ok
        return
    (finding,) = result.findings
    assert f"q: {2 * len(wrong)} rows in {len(wrong)} {'class' if len(wrong) == 1 else 'classes'} with labels" in finding.message


def test_a_flat_number_prints_itself_or_the_root_where_the_type_is_known(spark: Any) -> None:
    policy = local(quasi("q", FlatHierarchy()), privacy=TWO)
    release = spark.createDataFrame([("24",), ("24",), ("[24, 30]",), ("[24, 30]",)], "q string")
    assert audit_release(release, policy).ok
    told = audit_release(release, policy, untouched=spark.sql("SELECT 1 AS q").schema).findings
    assert [finding.rule for finding in told] == ["labels"] and "2 rows in 1 class" in told[0].message


def test_classes_are_what_is_printed_whatever_it_means(spark: Any) -> None:
    policy = local(quasi("q"), privacy=TWO)
    release = spark.createDataFrame([("24",), ("[24, 24]",), ("-0.0",), ("0.0",)], "q string")
    result = audit_release(release, policy)
    assert (result.classes, result.smallest) == (4, 1) and not result.ok


def test_ranges_that_the_input_alone_could_judge_are_named(spark: Any) -> None:
    release = spark.createDataFrame([("24", "1965"), ("24", "1965")], "q string, d string")
    unsure = audit_release(release, local(quasi("q"), quasi("d", DAYS), privacy=TWO)).cannot_know
    assert "whether the ranges of q end at values of the input: any range in order may be printed" in unsure


# --- numeric: bounds ---

AGE = "the.age"


def bounded(spark: Any, rows: list[tuple[Any, ...]], kind: str = "int") -> Any:
    return spark.createDataFrame(rows, f"`{AGE}_min` {kind}, `{AGE}_max` {kind}, `{AGE}_null` boolean")


def test_bounds_are_read_as_their_labels(either: Any) -> None:
    policy = local(quasi(AGE), privacy=TWO, numeric="bounds")
    rows = [(24, 30, False), (24, 24, False), (None, None, False), (None, None, True)]
    good = audit_release(bounded(either, rows * 2), policy)
    assert good.ok and (good.classes, good.smallest) == (4, 2)
    named = audit_release(bounded(either, [*rows, *rows[1:]]), policy)
    assert [f.message for f in named.findings] == [f"k-anonymity (k = 2): 1 class of 1 row: {AGE} = [24, 30]"]
    wrong: list[tuple[Any, ...]] = [(30, 24, False), (24, None, False), (None, 24, False)]
    wrong += [(24, 30, True), (24, 30, None), (None, None, None)]
    bad = audit_release(bounded(either, wrong * 2), policy)
    assert bad.classes == len(wrong) and f"{2 * len(wrong)} rows in {len(wrong)} classes with labels" in bad.findings[0].message


def test_bounds_of_decimals_dates_and_grids(spark: Any) -> None:
    policy = local(quasi(AGE), privacy=TWO, numeric="bounds")
    doubles = [(-0.0, 0.0, False), (0.0, 0.0, False), (0.5, 1e300, False), (0.5, 1e300, False)]
    zero = audit_release(bounded(spark, doubles, "double"), policy)
    assert zero.ok and zero.classes == 2
    days = bounded(spark, [("1970-01-01", "1970-02-03", False)] * 2, "string").selectExpr(
        *(f"CAST(`{AGE}_{end}` AS date) AS `{AGE}_{end}`" for end in ("min", "max")), f"`{AGE}_null`"
    )
    assert audit_release(days, policy).ok
    grid = replace(policy, columns=(quasi(AGE, GRID),), bounds="intervals")
    nodes = [(20, 24, False), (None, 17, False), (90, None, False), (24, 24, False)]
    assert audit_release(bounded(spark, nodes * 2), grid).ok
    assert len(audit_release(bounded(spark, [(24, 30, False), (None, 18, False)] * 2), grid).findings) == 1
    halves = bounded(spark, [(20.0, 25.0, False), (None, 18.0, False), (24.5, 24.5, False)] * 2, "double")
    assert audit_release(halves, grid).ok


def test_columns_of_bounds_that_are_missing_extra_or_of_another_type(spark: Any) -> None:
    policy = local(quasi(AGE), quasi("sex", FlatHierarchy()), privacy=TWO, numeric="bounds")
    release = bounded(spark, [(24, 30, False)] * 2).withColumn("sex", F.lit("F"))
    whole = spark.sql(f"SELECT 1 AS `{AGE}`, 'F' AS sex").schema

    def messages(frame: Any, known: Any = whole, asked: Policy = policy) -> list[str]:
        return [finding.message for finding in audit_release(frame, asked, untouched=known).findings]

    assert messages(release) == messages(release, None) == []
    assert messages(release.drop(f"{AGE}_null")) == [f"column {AGE}_null is missing"]
    assert messages(release.select("sex")) == [f"column {AGE}_{end} is missing" for end in ("min", "max", "null")]
    beside = release.withColumn(AGE, F.lit(24))
    kept = replace(policy, unlisted="keep")
    assert messages(beside) == messages(beside, whole, kept) == [f"column {AGE} is published beside its bounds"]
    long = release.withColumn(f"{AGE}_max", F.lit(30).cast("long")).withColumn(f"{AGE}_null", F.lit("no"))
    assert messages(long) == [
        f"column {AGE}_max is of type bigint; the input's is int",
        f"column {AGE}_null is of type string; it says true or false",
    ]


def test_raw_values_are_looked_for_between_bounds(either: Any) -> None:
    rows = [
        (24, 24, 30, False, 0), (30, 24, 30, False, 0), (31, 24, 30, False, 1), (24, 24, 24, False, 0), (25, 24, 24, False, 1),
        (25, None, None, False, 0), (None, None, None, False, 0), (None, None, None, True, 0), (25, None, None, True, 1),
        (None, 24, 30, False, 1), (25, 24, 30, True, 1), (25, 24, 30, None, 1), (25, None, 30, False, 0), (31, None, 30, False, 1),
        (25, 20, None, False, 0), (19, 20, None, False, 1),
    ]  # fmt: skip
    frame = either.createDataFrame(rows, "r int, lo int, hi int, none boolean, expected int")
    policy = local(quasi(AGE), numeric="bounds")
    checked, outside = containment(frame, policy, {AGE: "r"}, {AGE: ("lo", "hi", "none")}, {AGE: "integer"})
    found = checked.withColumn("found", outside).collect()
    assert [tuple(row)[:5] for row in found if row["found"] != row["expected"]] == []
