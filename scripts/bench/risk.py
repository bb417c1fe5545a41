"""The risk of a generated table of any size beside copies of it, and how near the sets of columns that are counted in part come.

    python scripts/bench/risk.py FOLDER [--rows 10000000] [--columns 8] [--memory 4g] [--exact]

FOLDER holds the table, once it was made. Prints the seconds of a plain copy, of the risk and its steps, and, with --exact, the largest
difference of a share that was counted in part.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from pathlib import Path

import census
from pyspark.sql import SparkSession

from anon_spark.config.load import parse
from anon_spark.job.risk import risk_of
from anon_spark.metrics import subsets
from anon_spark.report.table_risk import RiskReport, render_risk


def cpu() -> float:
    """Processor seconds of this process and all below it, the JVM and its workers: what a busy machine stretches less."""
    seconds, ticks = {}, os.sysconf("SC_CLK_TCK")
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        seconds[pid] = (int(fields[1]), sum(map(int, fields[11:15])) / ticks)
    ours = {os.getpid()}
    while more := {pid for pid, (parent, _) in seconds.items() if parent in ours} - ours:
        ours |= more
    return sum(seconds[pid][1] for pid in ours)


def told_time(name: str, started: tuple[float, float]) -> None:
    print(f"{name:30} {time.perf_counter() - started[0]:8.1f} s {cpu() - started[1]:8.1f} CPU s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=8, help="quasi-identifiers, the first ones")
    parser.add_argument("--memory", default="4g", help="of the JVM")
    parser.add_argument("--partitions", type=int, default=64)
    parser.add_argument("--exact", action="store_true", help="count all classes once more")
    options = parser.parse_args()
    spark = (
        SparkSession.builder.master("local[2]").appName("bench risk").config("spark.ui.enabled", "false")
        .config("spark.driver.memory", options.memory).config("spark.sql.shuffle.partitions", str(options.partitions))
        .config("spark.ui.showConsoleProgress", "false").getOrCreate()
    )  # fmt: skip
    try:
        source, copy = options.folder / "table", options.folder / "copy"
        if not source.exists():
            census.census(spark, options.rows, options.partitions).write.parquet(str(source))
        for _ in range(2):
            started = time.perf_counter(), cpu()
            spark.read.parquet(str(source)).write.mode("overwrite").parquet(str(copy))
            told_time("plain copy", started)
        shutil.rmtree(copy)
        found = told(spark, options, source)
        print(render_risk(found))
        if options.exact:
            subsets.MOST_LINES = 2**62
            true = {one.columns: one for one in told(spark, options, source).subsets}
            away = max((abs(one.unique - true[one.columns].unique) for one in found.subsets if one.counted != 1), default=0)
            print(f"largest difference of a share of unique rows counted in part: {float(away):.6f}")
    finally:
        spark.stop()


def told(spark: SparkSession, options: argparse.Namespace, source: Path) -> RiskReport:
    names = list(census.QUASI_IDENTIFIERS)[: options.columns]
    policy = parse({"columns": [{"name": name, "role": "quasi-identifier"} for name in names]}, roles_alone=True)
    started = time.perf_counter(), cpu()
    found = risk_of(
        spark, policy, spark.read.parquet(str(source)), population=300_000_000,
        on_start=lambda step: told_time(f"  until {step}", started),
    )  # fmt: skip
    told_time("risk", started)
    return found


if __name__ == "__main__":
    main()
