"""Times the jobs beside copies of the same table, alternately in one session, and writes one report.

    python scripts/bench FOLDER [--workloads A B C D] [--rows 10000000] [--times 3] [--memory 6g] [--out bench]

FOLDER holds the generated tables, once they were made, and what is written. For each workload and time: a plain copy; a copy that also
hides the row order, the least that any publication must do; each job; the audit of its release alone. After a warm-up on a small
table. Ratios are to the median of the copies that hide the order. OUT/results.md and OUT/results.json get the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from events import Work, work_between
from memory import Memory
from pyspark import __version__ as spark_version
from pyspark.sql import DataFrame, SparkSession
from workloads import Workload, workloads

from anon_spark.audit.release import audit_release
from anon_spark.domain.policy import Policy
from anon_spark.job.run import run
from anon_spark.plans.publish import hide_order
from anon_spark.report.document import Report

PLAIN, HIDDEN, AUDIT = "plain copy", "copy, order hidden", "audit alone"
JOBS = ("lattice", "top-down")
WARM_ROWS = 100_000


@dataclass
class Line:
    """One thing that was done some times: seconds each, memory and Spark's work at most, the job's report of the last time."""

    name: str
    seconds: list[float] = field(default_factory=list)
    memory: dict[str, int] = field(default_factory=dict)
    work: Work = field(default_factory=Work)
    report: Report | None = None


class Bench:
    """One session, and what was measured in it."""

    def __init__(self, spark: SparkSession, log: Path, folder: Path, partitions: int):
        self.spark, self.log, self.folder, self.partitions = spark, log, folder, partitions
        self.memory = Memory()
        self.memory.start()

    def measure(self, workload: Workload, jobs: tuple[str, ...], times: int) -> list[Line]:
        """Everything about one workload, ``times`` times in turn."""
        source = workload.table(self.spark, self.folder, self.partitions)
        lines = {name: Line(name) for name in (PLAIN, HIDDEN, *(n for job in jobs for n in (job, f"{AUDIT}, {job}")))}
        for _ in range(times):
            table = self.spark.read.parquet(str(source))
            policies = {job: workload.policy(job, source, self.folder) for job in jobs}
            kept = [column.name for column in next(iter(policies.values())).columns if column.role != "identifier"]
            self._one(lines[PLAIN], lambda table=table: self._write(table))
            self._one(lines[HIDDEN], lambda table=table, kept=kept: self._write(hide_order(table.select(*[f"`{n}`" for n in kept]))))
            shutil.rmtree(self.folder / "copy")
            for job, policy in policies.items():
                lines[job].report = self._one(lines[job], lambda policy=policy: run(self.spark, policy).release.report)
                self._one(lines[f"{AUDIT}, {job}"], lambda policy=policy: self._audit(policy))
                shutil.rmtree(self.folder / "release")
        return list(lines.values())

    def _one(self, line: Line, work: Callable[[], Any]) -> Any:
        self.memory.reset()
        started = time.time()
        result = work()
        ended = time.time()
        time.sleep(1)
        line.seconds.append(ended - started)
        line.memory = {name: max(most, line.memory.get(name, 0)) for name, most in self.memory.most.items()}
        line.work = work_between(self.log, started, ended + 1)
        print(f"  {line.name:24} {line.seconds[-1]:8.1f} s", flush=True)
        return result

    def _write(self, table: DataFrame) -> None:
        table.write.mode("overwrite").parquet(str(self.folder / "copy"))

    def _audit(self, policy: Policy) -> None:
        found = audit_release(self.spark.read.parquet(str(self.folder / "release")), policy)
        assert found.ok, found.findings


def told(workload: Workload, lines: list[Line]) -> list[str]:
    """A table in Markdown."""
    base = statistics.median(next(line for line in lines if line.name == HIDDEN).seconds)
    text = [f"## {workload.name}: {workload.told}", "", "| what | seconds: median (min to max) | ratio to the order-hiding copy |"]
    text[-1] += " MB: driver, JVM, largest worker, all | jobs, stages, tasks | MB shuffled | GCP, bound |"
    text.append("|---|---|---|---|---|---|---|")
    for line in lines:
        middle, low, high = statistics.median(line.seconds), min(line.seconds), max(line.seconds)
        cells = [
            line.name,
            f"{middle:.1f} ({low:.1f} to {high:.1f})",
            f"{middle / base:.2f} ({low / base:.2f} to {high / base:.2f})",
            ", ".join(str(line.memory[name]) for name in ("driver", "JVM", "largest worker", "all")),
            f"{line.work.jobs}, {line.work.stages}, {line.work.tasks}",
            str(line.work.shuffled >> 20),
            _loss(line.report),
        ]
        text.append(f"| {' | '.join(cells)} |")
    for line in lines:
        if line.report is not None:
            text += ["", f"{line.name}: " + "; ".join(f"{step.step} {step.seconds:.1f} s" for step in line.report.steps)]
    return [*text, ""]


def _loss(report: Report | None) -> str:
    if report is None or report.loss is None:
        return ""
    bound = report.loss.gcp_lower_bound
    return f"{float(report.loss.gcp):.4f}, {'-' if bound is None else f'{float(bound):.4f}'}"


def machine(spark: SparkSession) -> str:
    """Where this was measured."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    memory = int(Path("/proc/meminfo").read_text().split()[1]) >> 20
    processor = names[0].partition(":")[2].strip() if names else platform.machine()
    return (
        f"{os.cpu_count()} cores ({processor}), {memory} GB, Python {platform.python_version()}, PySpark {spark_version}, "
        f"load before: {os.getloadavg()[0]:.1f}; JVM heap {spark.conf.get('spark.driver.memory')}."
    )


def session(log: Path, memory: str, partitions: int) -> SparkSession:
    """A local session of two cores with an event log."""
    log.mkdir(parents=True, exist_ok=True)
    # Python workers import the generators too
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parent)
    return (
        SparkSession.builder.master("local[2]").appName("bench").config("spark.ui.enabled", "false")
        .config("spark.driver.memory", memory).config("spark.sql.shuffle.partitions", str(partitions))
        .config("spark.eventLog.enabled", "true").config("spark.eventLog.compress", "false").config("spark.eventLog.dir", log.as_uri())
        .config("spark.ui.showConsoleProgress", "false").getOrCreate()
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="scripts/bench")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workloads", nargs="+", default=["A", "B", "C", "D"], choices=["A", "B", "C", "D"])
    parser.add_argument("--jobs", nargs="+", default=list(JOBS), choices=JOBS)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--memory", default="6g", help="of the JVM")
    parser.add_argument("--partitions", type=int, default=64)
    parser.add_argument("--out", type=Path, default=Path("bench"))
    options = parser.parse_args()
    folder = options.folder.resolve()
    log = folder / f"events-{os.getpid()}"
    spark = session(log, options.memory, options.partitions)
    try:
        bench = Bench(spark, log, folder, options.partitions)
        text, document = ["# Figures of scripts/bench", "", machine(spark), ""], {}
        print("warm-up", flush=True)
        for few in (True, False):
            bench.measure(Workload("warm-few" if few else "warm-many", WARM_ROWS, few, ""), tuple(options.jobs), 1)
        for name in options.workloads:
            workload = workloads(options.rows)[name]
            print(f"{name}: {workload.told}", flush=True)
            lines = bench.measure(workload, tuple(options.jobs), options.times)
            text += told(workload, lines)
            document[name] = [{**asdict(line), "report": line.report and line.report.to_dict()} for line in lines]
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / "results.md").write_text("\n".join(text))
            (options.out / "results.json").write_text(json.dumps(document, indent=1))
    finally:
        spark.stop()
        shutil.rmtree(log, ignore_errors=True)


if __name__ == "__main__":
    main()
