"""UCI Adult resampled to any number of rows and jittered: few distinct combinations (2 to 3 % of 10 million rows), seeded.

Row i is a function of i, the seed and the census table alone, whatever the partitions: a row of the census, each of whose
quasi-identifiers is with a chance of ``JITTER`` that of another row.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from census import drawn
from pyspark.sql import DataFrame, SparkSession

JITTER = 0.07
NAMES = (
    "age", "workclass", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex", "capital-gain",
    "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
QUASI_IDENTIFIERS = ("age", "sex", "race", "marital-status", "education", "native-country", "workclass")
SCHEMA = ", ".join(f"`{name}` {'int' if name in NUMBERS else 'string'}" for name in NAMES)


def read_adult(path: Path) -> pa.RecordBatch:
    """The rows of the census file that ``scripts/demo`` fetches; ``?`` is null."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    columns = {}
    for name in NAMES:
        texts = [None if (row[name] or "").strip() in ("", "?") else row[name].strip() for row in rows]
        columns[name] = pa.array([int(t) for t in texts if t], pa.int32()) if name in NUMBERS else pa.array(texts, pa.string())
    return pa.RecordBatch.from_pydict(columns)


def jittered(spark: SparkSession, adult: Path, rows: int, partitions: int) -> DataFrame:
    """A table of so many rows. Columns that are no quasi-identifiers stay those of the row taken."""
    return spark.range(0, rows, 1, partitions).mapInArrow(partial(_rows, census=read_adult(adult)), SCHEMA)


def _rows(batches: Iterable[pa.RecordBatch], census: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        ids = batch["id"].to_numpy()
        own = (drawn(ids, "row") * census.num_rows).astype(np.int64)
        columns = {}
        for name in NAMES:
            place = own
            if name in QUASI_IDENTIFIERS:
                other = (drawn(ids, f"o {name}") * census.num_rows).astype(np.int64)
                place = np.where(drawn(ids, f"j {name}") < JITTER, other, own)
            columns[name] = census[name].take(pa.array(place))
        yield pa.RecordBatch.from_pydict(columns)
