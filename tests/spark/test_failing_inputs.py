"""A query, view or DataFrame that fails on its own rows is the data's fault: exit 3, the error's name, and no value."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from anon_spark import Policy, anonymize
from anon_spark.domain.errors import DataError
from anon_spark.job.check import check
from anon_spark.job.run import run
from jobs import policy, quasi

pytestmark = pytest.mark.spark
SECRET = "SECRET-123"
QUERIES = {
    "1 / (id - id)": {"DIVIDE_BY_ZERO"},
    f"CAST(concat('{SECRET}', id) AS int)": {"CAST_INVALID_INPUT"},
    f"CAST(concat('{SECRET}', id) AS date)": {"CAST_INVALID_INPUT"},
    "CAST(id + 300 AS tinyint)": {"CAST_OVERFLOW"},
    "9223372036854775807 + id + 1": {"ARITHMETIC_OVERFLOW", "BINARY_ARITHMETIC_OVERFLOW"},
    "array(id)[id + 5]": {"INVALID_ARRAY_INDEX"},
    f"CAST(raise_error(concat('{SECRET}', id)) AS string)": {"USER_RAISED_EXCEPTION"},
}


def asked(folder: Path, expression: str, role: str) -> Policy:
    columns = [quasi("q") if role == "insensitive" else {"name": "q", "role": "insensitive"}]
    columns.append(quasi("x") if role == "quasi-identifier" else {"name": "x", "role": role})
    source = {"query": f"SELECT 'a' AS q, {expression} AS x FROM range(4)"}
    return policy(columns, input=source, output={"path": str(folder / "out")})


@pytest.mark.parametrize("expression", QUERIES)
def test_an_expression_that_fails(spark: SparkSession, tmp_path: Path, expression: str) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        # of a quasi-identifier the first scan fails, of a column that passes unchanged the write
        for role in ("quasi-identifier", "insensitive"):
            with pytest.raises(DataError) as raised:
                run(spark, asked(tmp_path, expression, role))
            (fault,) = raised.value.faults
            assert fault.key == "input" and fault.found.startswith("an expression that fails on its rows ("), (role, fault)
            assert fault.found.removesuffix(")").rpartition("(")[2].partition(".")[0] in QUERIES[expression]
            assert SECRET not in str(raised.value)
            assert list(tmp_path.iterdir()) == []
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


def test_an_expression_that_is_computed_as_it_is_planned(spark: SparkSession, tmp_path: Path) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    try:
        for expression in ("1 / 0", f"CAST('{SECRET}' AS int)"):
            for call in (run, check):
                with pytest.raises(DataError, match="an expression that fails on its rows") as raised:
                    call(spark, asked(tmp_path, expression, "quasi-identifier"))
                assert SECRET not in str(raised.value)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


def test_a_function_of_the_callers_that_raises(spark: SparkSession, tmp_path: Path) -> None:
    def raising(number: int) -> str:
        raise ValueError(f"{SECRET} {number}")

    function = F.udf(raising, "string")
    for role in ("quasi-identifier", "insensitive"):
        table = spark.range(4).select(F.lit("a").alias("q"), function("id").alias("x"))
        columns = asked(tmp_path, "x", role).columns
        with pytest.raises(DataError) as raised:
            anonymize(table, dataclasses.replace(policy([quasi("q")], staging=tmp_path), columns=columns))
        (fault,) = raised.value.faults
        assert fault.key == "input" and fault.found.startswith("an expression that fails on its rows ("), (role, fault)
        assert SECRET not in str(raised.value)
