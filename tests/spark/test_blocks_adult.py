"""Blocks of 1,000 combinations of UCI Adult through Spark against one block that holds all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from adult import COLUMNS, adult

from anon_spark.algorithms.lattice import whole_table
from anon_spark.algorithms.local_blocks import decide_blocks
from anon_spark.algorithms.local_recoding import decide_local
from anon_spark.plans.materialise import Materialised

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.shared
@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("k", [5, 10, 50, 100])
def test_adult(spark: SparkSession, shared: Path, k: int) -> None:
    rows, problem, frequency = adult(shared, k)
    schema = ", ".join([*(f"__anon_q{i} string" for i in range(len(COLUMNS))), "__anon_n long"])
    cells = spark.createDataFrame([(*cell, n) for cell, n in Counter(rows).items()], schema)
    with Materialised() as kept:
        found = decide_blocks(spark, problem, cells, len(set(rows)), whole_table(problem, frequency), 1_000, kept)
        held = found.parts.selectExpr("sum(__anon_to - __anon_from)").collect()[0][0]
        sizes = found.boxes.selectExpr("min(__anon_size)", "sum(__anon_size)").collect()[0]
    assert held == sizes[1] == len(rows) and sizes[0] >= k and found.summary.blocks[3] <= 16_000
    one, many = float(decide_local(problem, frequency).loss), float(found.summary.losses["gcp"])
    print(f"k = {k}: {one:.5f} in one block, {many:.5f} in blocks of 1,000 ({many / one - 1:.1%} more); {found.summary.steps}")
    assert many <= 1.1 * one
