"""The tables that jobs are timed on, and what is asked of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import census
import jittered
from pyspark.sql import DataFrame, SparkSession

from anon_spark import Policy
from anon_spark.domain.policy import Policy as DomainPolicy

ROOT = Path(__file__).resolve().parents[2]
ADULT = ROOT / "data" / "adult.csv"


@dataclass(frozen=True)
class Workload:
    """A table of so many rows: ``few`` distinct combinations, or nearly all distinct, or the census table as it is (rows None)."""

    name: str
    rows: int | None
    few: bool
    told: str

    def table(self, spark: SparkSession, folder: Path, partitions: int) -> Path:
        """Where the table lies as Parquet; made once."""
        path = folder / f"{self.name}-{self.rows or 'adult'}"
        if not (path / "_SUCCESS").exists():
            self._made(spark, partitions).write.mode("overwrite").parquet(str(path))
        return path

    def _made(self, spark: SparkSession, partitions: int) -> DataFrame:
        if self.rows is None:
            return spark.createDataFrame(jittered.read_adult(ADULT).to_pandas(), jittered.SCHEMA)
        if self.few:
            return jittered.jittered(spark, ADULT, self.rows, partitions)
        return census.census(spark, self.rows, partitions)

    def policy(self, job: str, table: Path, folder: Path) -> DomainPolicy:
        """What is asked: k = 10, and of few combinations that no occupation is that of more than half of a class."""
        models: list[dict[str, Any]] = [{"model": "k-anonymity", "k": 10}]
        if self.few:
            models.append({"model": "alpha-deassociation", "column": "occupation", "alpha": 0.5})
        return Policy(
            job=job,
            input={"format": "parquet", "path": str(table)},
            output={"format": "parquet", "path": str(folder / "release"), "mode": "overwrite"},
            report={"path": str(folder / "report")},
            columns=self._columns(local=job != "lattice"),
            privacy=models,
            suppression={"limit": 0.01 if job == "lattice" and self.few else 0.0},
        )

    def _columns(self, local: bool) -> list[dict[str, Any]]:
        if not self.few:
            return census.columns((), local=local)
        trees = {"marital-status", "education", "native-country", "workclass"}
        intervals = {} if local else {"hierarchy": {"intervals": [5, 10, 20], "origin": 0, "upper": 80}}
        columns: list[dict[str, Any]] = [{"name": "age", "role": "quasi-identifier", **intervals}]
        for name in jittered.QUASI_IDENTIFIERS[1:]:
            tree = {"path": str(ROOT / f"conf/hierarchies/{name}.csv")} if name in trees else "flat"
            columns.append({"name": name, "role": "quasi-identifier", "hierarchy": tree})
        columns.append({"name": "occupation", "role": "sensitive", "nulls": "ignore"})
        columns += [{"name": name, "role": "insensitive"} for name in ("hours-per-week", "capital-gain", "capital-loss")]
        columns.append({"name": "income", "role": "label"})
        return columns + [{"name": name, "role": "identifier"} for name in ("relationship", "education-num")]


def workloads(rows: int) -> dict[str, Workload]:
    """By letter; ``rows`` of the large ones, a tenth of them in C."""
    return {
        "A": Workload("A", rows, True, f"{rows:,} rows, few distinct combinations, k = 10 and alpha = 0.5 on occupation"),
        "B": Workload("B", rows, False, f"{rows:,} rows, nearly all combinations distinct, k = 10"),
        "C": Workload("C", rows // 10, True, f"as A with {rows // 10:,} rows"),
        "D": Workload("D", None, True, "UCI Adult, 32,561 rows"),
    }
