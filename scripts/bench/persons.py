"""diabetes130 with its patients as persons: releases that count rows and releases that count patients, both read again in patients.

    python scripts/bench/persons.py DATA [--k 10] [--jobs lattice top-down] [--megabytes 64] [--limit 0.1] [--models]

DATA holds diabetes130/dataset_diabetes.zip. Classes of fewer than k patients are counted here, on the published rows, by a join with
encounter_id, which no release of yours should have. --models: share of patients beside k, in the lattice.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark import Release, anonymize
from anon_spark.config.load import parse

FLAT = ("gender", "race", "admission_type_id", "discharge_disposition_id", "admission_source_id", "payer_code", "medical_specialty")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--jobs", nargs="+", default=["lattice", "top-down"])
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--limit", default="0.1", help="share of rows that may be suppressed, in the lattice")
    parser.add_argument("--models", action="store_true")
    options = parser.parse_args()
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "3g").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(options.data / "diabetes130" / "dataset_diabetes.zip") as archive:
            name = next(n for n in archive.namelist() if n.endswith("diabetic_data.csv"))
            archive.extract(name, folder)
        raw = spark.read.csv(f"{folder}/{name}", header=True, nullValue="?")
        kept = ["encounter_id", "patient_nbr", "age", *FLAT, "time_in_hospital", "readmitted"]
        table = raw.select(*kept).withColumn("age", F.regexp_extract("age", r"\d+", 0).cast("int")).withColumn(
            "time_in_hospital", F.col("time_in_hospital").cast("int")
        )
        for job in options.jobs:
            for role in ("identifier", "person"):
                told(table, job, role, options)
    spark.stop()


def told(table: DataFrame, job: str, role: str, options: argparse.Namespace) -> None:
    started = time.perf_counter()
    with anonymize(table, parse(configuration(job, role, options))) as release:
        seconds = time.perf_counter() - started
        counts = "patients" if role == "person" else "rows"
        classes, few, smallest, rows = in_patients(release, table, options.k)
        assert release.report.loss is not None and release.report.loss.gcp is not None and release.report.suppressed is not None
        print(f"{job}, k = {options.k} over {counts}: GCP {float(release.report.loss.gcp):.4f}, "
              f"{classes:,} classes, {few:,} of fewer than {options.k} patients (the smallest has {smallest}; {rows:,} rows in them), "
              f"{release.report.suppressed.rows:,} rows suppressed, {seconds:.1f} s", flush=True)  # fmt: skip
        for step in release.report.steps:
            print(f"    {step.step}: {step.text} ({float(step.seconds or 0):.1f} s)")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"    driver process at most {peak} MB; {release.report.lattice and dict(release.report.lattice.levels)}", flush=True)


def configuration(job: str, role: str, options: argparse.Namespace) -> dict[str, Any]:
    numbers = {"age": [20, 40], "time_in_hospital": [2, 4, 8]}
    columns = [{"name": name, "role": "quasi-identifier", "hierarchy": "flat"} for name in FLAT]
    columns += [{"name": name, "role": "quasi-identifier", "hierarchy": {"intervals": widths}} for name, widths in numbers.items()]
    columns += [{"name": "patient_nbr", "role": role}, {"name": "readmitted", "role": "sensitive"}]
    models = [{"model": "k-anonymity", "k": options.k}]
    models += [{"model": "alpha-deassociation", "alpha": 0.7}] if options.models and job == "lattice" else []
    return {
        "job": job, "columns": [*columns, {"name": "encounter_id", "role": "insensitive"}], "privacy": models,
        "suppression": {"limit": options.limit if job == "lattice" else 0}, "settings": {"driver_megabytes": options.megabytes},
    }  # fmt: skip


def in_patients(release: Release, table: DataFrame, k: int) -> tuple[int, int, int, int]:
    """Classes, those of fewer than k patients, the patients of the smallest, and the rows of those below k."""
    patients = table.select(F.col("encounter_id").alias("id"), "patient_nbr")
    classes = release.table.join(patients, F.col("encounter_id") == F.col("id")).groupBy(*release.quasi_identifiers).agg(
        F.countDistinct("patient_nbr").alias("patients"), F.count(F.lit(1)).alias("rows")
    )
    few = F.col("patients") < k
    below = [F.coalesce(F.sum(F.when(few, one)), F.lit(0)) for one in (F.lit(1), F.col("rows"))]
    found = classes.agg(F.count(F.lit(1)), below[0], F.min("patients"), below[1]).collect()[0]
    return found[0], found[1], found[2], found[3]


if __name__ == "__main__":
    main()
