"""C19: 25,000 rows, whatever the Arrow batches, the partitions of the input, empty ones among them, and adaptive execution: one release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from anon_spark import anonymize
from jobs import policy, quasi

pytestmark = pytest.mark.spark
ADAPTIVE = "spark.sql.adaptive.enabled"
BATCH, K, ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch", 10, 25_000
SHAPES: dict[str, tuple[str, Callable[[DataFrame], DataFrame]]] = {
    "1 partition, batches of 7": ("7", lambda frame: frame.coalesce(1)),
    "1 partition, batches of 10,000": ("10000", lambda frame: frame.coalesce(1)),
    "8 partitions": ("10000", lambda frame: frame.repartition(8, "id")),
    # by 90 ages, so that more than half of the partitions are empty
    "200 partitions, empty ones among them": ("7", lambda frame: frame.orderBy("id", ascending=False).repartition(200, "age")),
}
LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("job", "place", "shapes"),
    [
        ("lattice", 64, [*SHAPES][::2]),
        ("top-down", 64, [*SHAPES][::2]),
        pytest.param("lattice", 64, [*SHAPES], marks=LONG),
        pytest.param("top-down", 64, [*SHAPES], marks=LONG),
        pytest.param("lattice", 0, [*SHAPES][::3], marks=LONG),
        pytest.param("top-down", 0, [*SHAPES][::3], marks=LONG),
        pytest.param("lattice", 0, [*SHAPES], marks=LONG),
        pytest.param("top-down", 0, [*SHAPES], marks=LONG),
    ],
)
def test_neither_batches_nor_partitions_count(spark: SparkSession, tmp_path: Path, job: str, place: int, shapes: list[str]) -> None:
    draw = Random(19)
    rows = [(draw.randrange(90) if i % 3 else 40, draw.choice("abcdefgh"), draw.choice("xy"), i) for i in range(ROWS)]
    columns = [quasi("age", {"intervals": [5, 10, 30]}), quasi("a"), quasi("b"), {"name": "id", "role": "insensitive"}]
    if job == "top-down":
        del columns[0]["hierarchy"]
    settings = {"driver_megabytes": place, **({"block_combinations": 300} if job == "top-down" else {})}
    asked = policy(columns, job=job, k=K, staging=tmp_path, settings=settings)
    frame = spark.createDataFrame(rows, "age int, a string, b string, id int")
    before, found = {name: str(spark.conf.get(name)) for name in (BATCH, ADAPTIVE)}, []
    try:
        for number, (batch, shape) in enumerate(SHAPES[name] for name in shapes):
            spark.conf.set(BATCH, batch)
            # adaptive execution draws other partitions; in the first run alone
            spark.conf.set(ADAPTIVE, "true" if number == 0 else "false")
            with anonymize(shape(frame), asked) as release:
                classes = {tuple(row)[:-1]: row[-1] for row in release.classes.collect()}
                digest = release.table.selectExpr("sum(cast(xxhash64(*) as decimal(38, 0)))", "count(*)").collect()[0]
                found.append((classes, tuple(digest), release.report.loss.gcp))
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    assert all(other == found[0] for other in found)
    classes, digest, loss = found[0]
    assert min(classes.values()) >= K and sum(classes.values()) == digest[1] == ROWS
    assert 0 < loss < 1
