"""All measures of both jobs on Adult for k = 2, 5, 10, 25, 50, 100, as the table of docs/RESULTS.md.

    python scripts/bench/results.py DATA [--k 2,5,10,25,50,100] [--out docs/RESULTS.md]

DATA is a folder with adult.csv and adult_hierarchy_*.csv (ARX's example data: 30,162 rows; 7 quasi-identifiers; class label
salary-class). k-anonymity alone, nothing suppressed, weights equal, ages by their file of intervals in the lattice and as tight ranges
in local recoding. Each line is the report of a whole run, audit included. Needs the extras ``compiled`` and ``utility``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from anon_spark import Policy, anonymize

QI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
JOBS = ("lattice", "top-down")


def policy(folder: Path, job: str, k: int) -> Policy:
    """The release that is asked for."""
    columns: list[dict[str, object]] = []
    for name in QI:
        column: dict[str, object] = {"name": name, "role": "quasi-identifier"}
        if job == "lattice" or name != "age":
            column["hierarchy"] = {"path": str(folder / f"adult_hierarchy_{name}.csv"), "sep": ";"}
        columns.append(column)
    columns += [{"name": "occupation", "role": "insensitive"}, {"name": "salary-class", "role": "label"}]
    return Policy(job=job, columns=columns, privacy=[{"model": "k-anonymity", "k": k}])


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f} %"


def plain(value: float | None) -> str:
    return "–" if value is None else f"{value:,.4g}" if isinstance(value, float) and value < 10_000 else f"{round(value):,}"


def queries(report: Mapping[str, Any], columns: int) -> float | None:
    """Mean relative error of the queries over so many columns."""
    kinds = [kind["mean"] for kind in (report["utility"]["query_error"] or {"kinds": ()})["kinds"] if kind["columns"] == columns]
    return sum(kinds) / len(kinds) if kinds else None


def accuracy(report: Mapping[str, Any], learnt: str) -> float | None:
    found = report["utility"]["classifier"]
    return None if found is None else float(found["accuracy"][learnt])


MEASURES: tuple[tuple[str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("GCP", lambda r: percent(r["loss"]["gcp"])),
    ("lower bound of GCP", lambda r: percent(r["loss"]["gcp_lower_bound"])),
    ("distortion", lambda r: percent(r["loss"]["distortion"])),
    ("GLM", lambda r: percent(r["loss"]["glm"])),
    ("discernibility", lambda r: plain(r["loss"]["discernibility"])),
    ("C_avg", lambda r: plain(r["loss"]["c_avg"])),
    ("classes", lambda r: plain(r["output"]["classes"])),
    ("smallest class", lambda r: plain(r["output"]["class_size"]["min"])),
    ("median class", lambda r: plain(r["output"]["class_size"]["median"])),
    ("largest class", lambda r: plain(r["output"]["class_size"]["max"])),
    ("prosecutor, highest", lambda r: percent(r["risk"]["prosecutor_max"])),
    ("prosecutor, mean; marketer", lambda r: percent(r["risk"]["prosecutor_mean"])),
    ("classification metric", lambda r: percent(r["utility"]["classification_metric"])),
    ("classifier learnt from the release", lambda r: percent(accuracy(r, "released"))),
    ("query error, 1 column", lambda r: percent(queries(r, 1))),
    ("query error, 2 columns", lambda r: percent(queries(r, 2))),
    ("query error, 3 columns", lambda r: percent(queries(r, 3))),
    ("KL divergence", lambda r: plain(r["utility"]["kl_divergence"])),
    ("KL divergence of two columns", lambda r: plain(r["utility"]["kl_divergence_pairs"])),
)


def run(spark: SparkSession, folder: Path, job: str, k: int) -> dict[str, Any]:
    """The report of one run."""
    path = str(folder / "adult.csv")
    # local recoding makes ranges of ages, files of hierarchies have texts
    read = spark.read.csv(path, header=True, sep=";", inferSchema=job != "lattice", mode="FAILFAST")
    with anonymize(read, policy(folder, job, k)) as release:
        return dict(release.report.to_dict())


def table(job: str, reports: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """A line a measure, a column a k."""
    lines = [f"## {job}", "", "| measure | " + " | ".join(f"k = {k}" for k in reports) + " |", "|---|" + "---:|" * len(reports)]
    return [*lines, *(f"| {name} | " + " | ".join(show(report) for report in reports.values()) + " |" for name, show in MEASURES), ""]


def text(found: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> str:
    """The whole document."""
    some = next(iter(next(iter(found.values())).values()))
    versions = ", ".join(f"{name} {version}" for name, version in some["versions"].items())
    risk = some["risk"]
    head = [
        "# Results",
        "",
        "All measures of both jobs on Adult (30,162 rows, 7 quasi-identifiers with ARX's hierarchies), k-anonymity alone, nothing",
        "suppressed. Made by `python scripts/bench/results.py DATA`; measures are METHODS 2.3 to 2.12, each told in the README.",
        "",
        f"Before: {percent(risk['unique_before'])} of the rows are unique; mean risk {percent(risk['prosecutor_mean_before'])}.",
        f"Classifier (logistic regression, asked about the raw rows): learnt from the raw table {percent(accuracy(some, 'raw'))},",
        f"by always naming the commonest class {percent(accuracy(some, 'majority'))}.",
        "",
    ]
    tables = [line for job, reports in found.items() for line in table(job, reports)]
    return "\n".join([*head, *tables, f"Made with {versions}.", ""])


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--k", default="2,5,10,25,50,100")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    found: dict[str, dict[int, dict[str, Any]]] = {job: {} for job in JOBS}
    for job in JOBS:
        for k in map(int, asked.k.split(",")):
            found[job][k] = run(spark, asked.data.resolve(), job, k)
            print(f"{job} k = {k}: {found[job][k]['seconds']} s", file=sys.stderr, flush=True)
    spark.stop()
    print(text(found))
    if asked.out:
        asked.out.write_text(text(found), encoding="utf-8")


if __name__ == "__main__":
    main()
