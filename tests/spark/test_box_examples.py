"""What the summary shows of groups that stay on Spark: values that rows of these groups have, with what the groups print."""

from __future__ import annotations

import dataclasses

import pytest
from hierarchies import bind, flat, hierarchy, model
from pyspark.sql import SparkSession

from anon_spark.job.examples import examples_there
from anon_spark.plans.block_lines import SIZE, high_names, low_names

pytestmark = pytest.mark.spark
AGES = [21, 21, 21, 22, 25, 25, 40, 41, 42, 102]
BOXES = [(0, 0, 0, 0, 3), (1, 0, 2, 0, 2), (2, 0, 3, 0, 2), (2, 0, 6, 0, 3)]
"""Smallest and largest codes of age and b, and rows: 21; [22, 25]; [25, 40]; [25, 102]."""


def test_values_of_k_rows_with_what_most_rows_of_groups_that_end_there_print(spark: SparkSession) -> None:
    numbers = hierarchy("age", [(str(age), "*") for age in sorted(set(AGES))], {str(age): age for age in AGES})
    problem, _ = bind([(str(age), "x") for age in AGES], [numbers, flat("b", ["x"])], [model("k-anonymity", k=2)])
    low, high = low_names(2), high_names(2)
    boxes = spark.createDataFrame(BOXES, f"{low[0]} int, {low[1]} int, {high[0]} int, {high[1]} int, {SIZE} long")
    shown = [(example.column, example.before, example.after) for example in examples_there(problem, boxes)]
    # 22, 40, 41, 42 and 102 are each the age of one row; [25, 102] holds more rows than [22, 25]
    assert shown == [("age", "21", "21"), ("age", "25", "[25, 102]"), ("b", "x", "x")]
    assert examples_there(dataclasses.replace(problem, persons=3), boxes) == ()
