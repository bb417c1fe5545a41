"""One job with every kind of hierarchy, nulls, suppression and stars, with the same rows on every session, ANSI on and off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs import policy, printed, quasi, released, tree

pytestmark = [pytest.mark.spark, pytest.mark.parity]
SCHEMA = "age int, pay decimal(6,2), zip string, born date, sex string, school string, illness string, visits int"


def rows() -> list[tuple]:
    from datetime import date
    from decimal import Decimal

    groups = [
        (21, "10.50", "53711", date(1965, 5, 1), "F", "HS"),
        (23, "11.00", "53712", date(1965, 5, 30), "F", "BSc"),
        (38, "25.25", "53811", date(1899, 12, 31), "M", "MSc"),
        (36, "29.00", "53819", date(1899, 12, 1), None, "PhD"),
    ]
    ill = ["flu", "cough", None, "fever"]
    made = [(*g[:1], Decimal(g[1]), *g[2:], ill[i % 4], i) for g in groups for i in range(4)]
    return [*made, (99, Decimal("99.00"), "99999", date(2020, 2, 29), "F", "HS", "flu", 100)]


def columns(folder: Path) -> list[dict]:
    return [
        quasi("age", {"intervals": [10, 20], "upper": 90}),
        quasi("pay", {"intervals": [10, 20]}),
        quasi("zip", {"mask": "right"}),
        quasi("born", {"date": ["month", "year"]}),
        quasi("sex"),
        quasi("school", tree(folder, "school", "HS;School;*", "BSc;Degree;*", "MSc;Degree;*", "PhD;Degree;*")),
        {"name": "illness", "role": "sensitive"},
        {"name": "visits", "role": "insensitive"},
    ]


@pytest.fixture(params=["true", "false"])
def ansi(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", request.param)
    yield request.param
    spark.conf.set("spark.sql.ansi.enabled", str(before))


@pytest.mark.parametrize("place", [64, 0])
def test_the_same_release_everywhere(spark: SparkSession, tmp_path: Path, ansi: str, place: int) -> None:
    models = [{"model": "alpha-deassociation", "alpha": 0.5}, {"model": "l-diversity", "l": 3}]
    output = {"format": "csv" if ansi == "true" else "parquet", "path": str(tmp_path / "out")}
    asked = policy(
        columns(tmp_path), k=8, models=models, suppression={"limit": 0.1}, output=output, settings={"driver_megabytes": place}
    )
    release = released(spark, rows(), SCHEMA, asked)
    assert release.report.lattice.levels == LEVELS
    assert release.report.suppressed.rows == 1
    found = Counter(tuple(row)[:6] for row in release.table.collect())
    assert found == EXPECTED
    assert Counter(row[7] for row in release.table.collect()) == Counter({i: 4 for i in range(4)})
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_suppressed_rows_are_printed_where_their_class_holds(spark: SparkSession, tmp_path: Path) -> None:
    cells = [("a", 1)] * 4 + [("b", 1), ("c", 2)]
    asked = policy([quasi("x"), quasi("y")], staging=tmp_path, suppression={"limit": "1/3", "show": "star"})
    with released(spark, cells, "x string, y int", asked) as release:
        assert printed(release) == Counter({("a", "1"): 4, ("*", "*"): 2})


LEVELS = {"age": 1, "pay": 1, "zip": 1, "born": 1, "sex": 1, "school": 2}
EXPECTED = Counter(
    {
        ("[20, 29]", "[10.0, 20.0)", "5371*", "1965-05", "*", "*"): 8,
        ("[30, 39]", "[20.0, 30.0)", "5381*", "1899-12", "*", "*"): 8,
    }
)
