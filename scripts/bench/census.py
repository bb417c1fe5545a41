"""A generated table of people, census-like: seeded, any number of rows, nearly all combinations of its quasi-identifiers distinct.

    python scripts/bench/census.py OUT [--rows 10000000] [--partitions 16]

Writes Parquet. Row i is a function of i and the seed alone, whatever the partitions. Nobody in it exists. What depends on what: zip
prefixes on regions of unequal size, zips within a region by Zipf's law (30,000 in all); race on region; country of birth on race; birth
date on an age pyramid; marital status, education on age; workclass and occupation on education; hours and income on all of these.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

SEED = 20260101
SCHEMA = "person long, sex string, birth date, zip string, race string, marital string, education string, country string, "
SCHEMA += "workclass string, occupation string, hours int, income int"
ZIPS, REGIONS = 30_000, 10
RACES = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian", "Other")
MARITAL = ("Never-married", "Married", "Divorced", "Widowed", "Separated")
EDUCATION = ("1st-8th", "9th-12th", "HS-grad", "Some-college", "Associate", "Bachelors", "Masters", "Doctorate")
WORK = ("Private", "Self-employed", "Federal-gov", "Local-gov", "State-gov", "Without-pay", "Never-worked")
COUNTRIES = 60
OCCUPATIONS = 24
DAY_ZERO = np.datetime64("2026-01-01")


def drawn(ids: np.ndarray, name: str) -> np.ndarray:
    """(n,) float64 in [0, 1), a fixed function of the row number and the name (SplitMix64)."""
    salt = np.uint64(int.from_bytes(name.encode()[:8].ljust(8, b" "), "little") ^ SEED)
    x = (ids.astype(np.uint64) + salt) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))).astype(np.float64) / 2.0**64 * (1 - 2.0**-52)


def chosen(at: np.ndarray, weights: Sequence[float] | np.ndarray) -> np.ndarray:
    """(n,) numbers drawn by weights from (n,) uniform ones."""
    edges = np.cumsum(np.asarray(weights, np.float64))
    return np.searchsorted(edges / edges[-1], at, side="right").clip(0, len(edges) - 1)


def chosen_by(at: np.ndarray, given: np.ndarray, weights: Sequence[Sequence[float]]) -> np.ndarray:
    """As ``chosen``, by the weights of each row's own kind."""
    result = np.zeros(len(at), np.int64)
    for kind, line in enumerate(weights):
        inside = given == kind
        result[inside] = chosen(at[inside], line)
    return result


def people(ids: np.ndarray) -> pa.RecordBatch:
    """The rows of these numbers."""
    region = chosen(drawn(ids, "region"), [22, 16, 13, 11, 10, 9, 7, 6, 4, 2])
    of_region = ZIPS // REGIONS
    spot = chosen(drawn(ids, "spot"), 1.0 / np.arange(1, of_region + 1) ** 0.9)
    # neighbours of a large town have its first digits
    zips = region * 10_000 + (spot * 1_777 % of_region) * 3 + 7
    age = chosen(drawn(ids, "age"), np.interp(np.arange(101), [0, 20, 45, 70, 100], [1.1, 1.3, 1.25, 0.9, 0.01]))
    days = age * 365.2425 + drawn(ids, "day") * 365.2425
    stage = np.searchsorted([18, 25, 35, 50, 65], age, side="right")
    race = chosen_by(drawn(ids, "race"), region % 3, [[75, 12, 6, 2, 5], [58, 27, 4, 1, 10], [62, 7, 19, 3, 9]])
    abroad = drawn(ids, "abroad") < np.array([0.07, 0.1, 0.62, 0.02, 0.55])[race]
    origin = chosen(drawn(ids, "origin"), 1.0 / np.arange(1, COUNTRIES)) + 1
    country = np.where(abroad, (origin + race * 11) % (COUNTRIES - 1) + 1, 0)
    marital = chosen_by(
        drawn(ids, "marital"), stage,
        [[1, 0, 0, 0, 0], [82, 15, 1, 0, 2], [45, 45, 6, 0, 4], [20, 60, 14, 1, 5], [9, 63, 18, 7, 3], [5, 52, 12, 30, 1]],
    )  # fmt: skip
    education = chosen_by(
        drawn(ids, "educate"), stage,
        [[70, 30, 0, 0, 0, 0, 0, 0], [2, 15, 30, 38, 5, 10, 0, 0], [3, 7, 25, 19, 10, 25, 9, 2], [4, 7, 26, 17, 11, 22, 10, 3],
         [5, 7, 29, 17, 10, 19, 10, 3], [10, 10, 33, 16, 7, 14, 8, 2]],
    )  # fmt: skip
    schooled = np.searchsorted([1, 3, 5], education, side="right")
    work = chosen_by(
        drawn(ids, "work"), schooled,
        [[68, 9, 1, 5, 2, 10, 5], [74, 11, 3, 6, 3, 2, 1], [72, 11, 4, 7, 4, 1, 1], [62, 14, 5, 11, 7, 1, 0]],
    )  # fmt: skip
    job = (chosen(drawn(ids, "job"), 0.85 ** np.arange(OCCUPATIONS)) + 5 * schooled) % OCCUPATIONS
    hours = np.clip(np.round(38 + 6 * schooled / 3 + 22 * (drawn(ids, "hours") - 0.5)), 0, 80).astype(np.int32)
    income = 9_000 * (1 + schooled) * np.exp(1.3 * drawn(ids, "income")) * np.clip(age - 14, 1, 35) / 20 * hours / 40
    return pa.RecordBatch.from_pydict({
        "person": pa.array(ids, pa.int64()),
        "sex": _named(("Female", "Male"), (drawn(ids, "sex") < 0.49).astype(np.int64)),
        "birth": pa.array(DAY_ZERO - days.astype(np.int64).astype("timedelta64[D]"), pa.date32()),
        "zip": _named([f"{z:05d}" for z in range(100_000)], zips),
        "race": _named(RACES, race),
        "marital": _named(MARITAL, marital),
        "education": _named(EDUCATION, education),
        "country": _named(["home", *[f"country {c:02d}" for c in range(1, COUNTRIES)]], country),
        "workclass": _named(WORK, work),
        "occupation": _named([f"occupation {c:02d}" for c in range(OCCUPATIONS)], job),
        "hours": pa.array(hours, pa.int32()),
        "income": pa.array(income.astype(np.int32), pa.int32()),
    })  # fmt: skip


def _named(names: Sequence[str], number: np.ndarray) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(number))


def _batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield people(batch.column(0).to_numpy())


def census(spark: SparkSession, rows: int, partitions: int = 16) -> DataFrame:
    """The table as a plan."""
    return spark.range(0, rows, 1, partitions).mapInArrow(_batches, SCHEMA)


QUASI_IDENTIFIERS: dict[str, object] = {
    "sex": "flat", "birth": {"date": ["month", "quarter", "year", "decade"]}, "zip": {"mask": "right"}, "race": "flat",
    "marital": "flat", "education": "flat", "country": "flat", "workclass": "flat",
}  # fmt: skip


def columns(sensitive: Sequence[str] = (), *, local: bool) -> list[dict[str, object]]:
    """The columns of a policy; others that are not named here are insensitive, the number of the person is dropped.

    local: for local jobs, which print the birth dates of a group as an interval of dates instead of a named period.
    """
    listed: list[dict[str, object]] = [{"name": "person", "role": "identifier"}]
    for name, of in QUASI_IDENTIFIERS.items():
        listed.append({"name": name, "role": "quasi-identifier", **({} if local and name == "birth" else {"hierarchy": of})})
    listed += [
        {"name": name, "role": "sensitive" if name in sensitive else "insensitive"} for name in ("occupation", "hours", "income")
    ]
    return listed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--partitions", type=int, default=16)
    asked = parser.parse_args()
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        census(spark, asked.rows, asked.partitions).write.mode("overwrite").parquet(asked.out)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
