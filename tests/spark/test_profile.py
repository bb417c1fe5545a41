"""Warnings of columns that are nearly unique or that tell a quasi-identifier."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from anon_spark.plans import profile as plans
from anon_spark.plans.profile import Comparison, Profile, Screened, Told, choose, profile, warnings_from

pytestmark = pytest.mark.spark


class Asked:
    """Collects, and counts how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, frame: DataFrame) -> list[Row]:
        self.times += 1
        return frame.collect()


@pytest.mark.shared
def test_adult_names_fnlwgt_relationship_and_education_num(spark: SparkSession, shared: Path) -> None:
    names = [
        "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex",
        "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
    ]  # fmt: skip
    table = (
        spark.read.csv(str(shared / "adult_uci" / "adult.data.gz"), ignoreLeadingWhiteSpace=True, inferSchema=True)
        .toDF(*names)
        .dropna("all")
    )
    quasi = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
    others = [name for name in names if name not in quasi]
    asked = Asked()
    found = profile(table, quasi, others, asked)
    assert asked.times == 3
    assert found.rows == 32_561
    assert dict(found.unique) == {"fnlwgt": 21_648}
    told = {(t.column, t.quasi_identifier): t.share for t in found.told}
    assert set(told) == {("education-num", "education"), ("relationship", "sex"), ("relationship", "marital-status")}
    assert told["education-num", "education"] == 1
    assert Fraction(44, 100) < told["relationship", "sex"] < Fraction(46, 100)  # Husband and Wife: 14,761 of 32,561
    assert found.compared.left_out == 0
    lines = warnings_from(found, dict.fromkeys(others, "insensitive"))
    assert lines[0].startswith("fnlwgt (insensitive) is nearly unique: 21,648 distinct values in 32,561 rows.")
    assert any("education-num (insensitive) gives away education (100 % of the rows)" in line for line in lines)
    assert any("gives away sex (45 % of the rows)" in line or "sex (45 % of the rows)" in line for line in lines)
    assert not any("Husband" in line for line in lines)


def test_odd_names_types_and_nulls_are_compared(spark: SparkSession) -> None:
    rows = [(float(i % 4) if i % 4 else None, "abcd"[i % 4], [i % 2], {"k": i % 2}, f"id {i}") for i in range(200)]
    schema = "`a.b` double, `q ``1` string, `list` array<int>, `map` map<string,int>, `the id` string"
    found = profile(spark.createDataFrame(rows, schema), ["q `1"], ["a.b", "list", "map", "the id"], Asked())
    assert dict(found.unique) == {"the id": 200}
    assert [(t.column, t.quasi_identifier, t.share) for t in found.told] == [("a.b", "q `1", Fraction(1))]


def test_partial_telling_needs_its_share_of_the_rows(spark: SparkSession) -> None:
    # x = 0 always goes with q = 0; x = 1 with 0 or 1 in turn: 40 of 100 rows are told, then 20
    def table(told: int) -> DataFrame:
        return spark.createDataFrame([(0, 0) if i < told else (1, i % 2) for i in range(100)], "x int, q int")

    assert [t.share for t in profile(table(40), ["q"], ["x"], Asked()).told] == [Fraction(40, 100)]
    assert profile(table(29), ["q"], ["x"], Asked()).told == ()


def test_a_skewed_quasi_identifier_or_a_tiny_table_is_no_finding(spark: SparkSession) -> None:
    skewed = spark.createDataFrame([(i % 2, 0 if i else 1) for i in range(200)], "x int, q int")
    assert profile(skewed, ["q"], ["x"], Asked()).told == ()
    tiny = spark.createDataFrame([(i, i) for i in range(10)], "x int, q int")
    assert profile(tiny, ["q"], ["x"], Asked()) == Profile(10, {}, (), Comparison((), 0, 1.0))
    assert profile(tiny.limit(0), ["q"], ["x"], Asked()).told == ()


def test_a_sample_is_read_beyond_the_bound_and_said(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST_CELLS", 1_000)
    table = spark.range(4_000).selectExpr("int(id % 2) AS x", "int(id % 2) AS q")
    found = profile(table, ["q"], ["x"], Asked())
    assert found.compared.fraction == 0.25
    assert [(t.column, t.share) for t in found.told] == [("x", Fraction(1))]
    assert "(judged from a sample of the rows)" in warnings_from(found, {"x": "label"})[0]


def test_pairs_are_bounded_and_the_rest_is_stated() -> None:
    screened = Screened(10_000, {"x": 10, "y": 10, "constant": 1, "many": 9_000, **{f"q{i}": 5 for i in range(400)}})
    compared = choose(screened, [f"q{i}" for i in range(400)], ["x", "y", "constant", "many"])
    assert len(compared.pairs) == plans.MOST_PAIRS
    assert compared.left_out == 300
    assert {x for x, _ in compared.pairs} == {"x", "y"}
    assert warnings_from(Profile(10_000, {}, (), compared), {}) == [
        "300 pairs of columns were not compared: whether they give a quasi-identifier away is not known."
    ]


def test_sentences_say_what_to_do_by_role() -> None:
    told = (Told("r", "sex", Fraction(4533, 10_000)), Told("r", "age", Fraction(1)), Told("r", "zip", Fraction(999, 1000)))
    found = Profile(50, {"r": 40}, told, Comparison((("r", "sex"),), 0, 1.0))
    unique, tells = warnings_from(found, {"r": "sensitive"})
    assert unique == (
        "r (sensitive) is nearly unique: 40 distinct values in 50 rows. Whoever knows a person's value finds the row "
        "in the release. Make sure that nobody else can know it; if they can, make it a quasi-identifier."
    )
    assert "gives away sex (45 % of the rows), age (100 % of the rows) and zip (99 % of the rows), whatever level" in tells
    assert warnings_from(found, {"r": "insensitive"})[0].endswith("Make it a quasi-identifier, or drop it (role: identifier).")
