"""One value in several spellings, in the table and in its hierarchy file: decided, printed and audited as one value."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from anon_spark import anonymize
from anon_spark.domain.errors import DataError
from jobs import policy, printed, quasi, released, tree

pytestmark = pytest.mark.spark

NUMBERS = "SELECT * FROM VALUES (10D, 10, '1E+1'), (1D, 1, '+1.'), (2D, 2, ' 2.00'), (3D, 3, '.3e1') AS t(d, i, t)"
MOMENTS = """SELECT * FROM VALUES (TIMESTAMP'2020-01-02', '2020-01-02T00:00'), (TIMESTAMP'2020-01-03 10:20:00', '2020-01-03 10:20')
AS t(m, t)"""
PLAIN = [("10.0", "10", "10.0"), ("1.0", "1", "1"), ("2.0", "2", "2.00"), ("3.0", "3", "3.0")]


@pytest.mark.parametrize(("level", "expected"), [(0, PLAIN), (1, 2 * [("a", "a", "a"), ("b", "b", "b")])])
def test_numbers(spark: SparkSession, tmp_path: Path, level: int, expected: list[tuple[str, ...]]) -> None:
    decimals = tree(tmp_path, "decimals", "1e1;a;*", "1.0;a;*", "+2;b;*", "03;b;*")
    whole = tree(tmp_path, "whole", "10;a;*", "+1;a;*", "2;b;*", " 03 ;b;*")
    columns = [quasi("d", decimals), quasi("i", whole), quasi("t", decimals, type="double")]
    asked = policy([{**column, "max_level": level} for column in columns], k=level + 1, staging=tmp_path)
    with anonymize(spark.sql(NUMBERS), asked) as release:
        assert printed(release) == Counter(expected)


@pytest.mark.parametrize("level", [0, 1])
def test_moments(spark: SparkSession, tmp_path: Path, level: int) -> None:
    hierarchy = tree(tmp_path, "moments", "2020-01-02;a;*", "2020-01-03 10:20;a;*")
    columns = [quasi("m", hierarchy, max_level=level), quasi("t", hierarchy, max_level=level, type="timestamp")]
    with anonymize(spark.sql(MOMENTS), policy(columns, k=level + 1, staging=tmp_path)) as release:
        whole = [("2020-01-02 00:00:00",) * 2, ("2020-01-03 10:20:00",) * 2]
        assert printed(release) == Counter([("a", "a")] * 2 if level else whole)


@pytest.mark.parametrize("blank", ["\t", "\u00a0", "\n"])
@pytest.mark.parametrize("hierarchy", [{"intervals": [5]}, {"date": ["month"]}, "file", "flat"], ids=str)
def test_only_blanks_may_stand_around_a_number_or_date(
    spark: SparkSession, tmp_path: Path, blank: str, hierarchy: object
) -> None:
    value = "2020-01-02" if isinstance(hierarchy, dict) and "date" in hierarchy else "5"
    tree_or_spec = tree(tmp_path, "tree", f"{value};a;*") if hierarchy == "file" else hierarchy
    asked = policy([quasi("t", tree_or_spec, type="date" if value != "5" else "integer")], staging=tmp_path)
    rows = [(value,), (f" {value}  ",), (f"{blank}{value}",), (f"{value}{blank}",)]
    if hierarchy == "flat":
        # which has no value outside: what is no number is a text
        with released(spark, rows, "t string", asked) as release:
            assert printed(release) == Counter({("*",): 4})
        return
    with pytest.raises(DataError, match="2 of 4 distinct values unmapped, 2 of 4 rows"):
        released(spark, rows, "t string", asked)
