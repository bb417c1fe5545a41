"""Times the lattice decision on Spark waves, at a frequency set that the driver process should not have to hold.

    python scripts/bench/waves.py [--combinations 1050000] [--rows 2000000] [--alpha 0.5] [--limit 0.01] [--megabytes 64]
                                  [--place spark driver]

The table is made by hashing row numbers (seeded, no file): eight quasi-identifiers, their lattice has 21,600 nodes. Prints cells, nodes,
checks, Spark jobs that check nodes, seconds (and processor seconds, which a busy machine does not stretch) and the memory of the driver.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark import Policy
from anon_spark.algorithms.driver_part import DriverPart
from anon_spark.algorithms.spark_checker import SparkChecker
from anon_spark.domain.policy import Policy as DomainPolicy
from anon_spark.job.decide import decide_levels
from anon_spark.job.gather import gather, read_trees
from anon_spark.job.schema import bind_schema
from anon_spark.job.steps import Steps
from anon_spark.plans.materialise import Materialised

SEED = 20240229
TREES = {"education": (16, 4, 2), "country": (40, 8), "workclass": (8, 3)}
"""Values of the columns with a hierarchy file, and groups of them level by level."""


def skewed(name: str, values: int, power: float) -> Column:
    """A number below ``values`` that is a fixed function of the combination; small ones are the commoner the higher the power."""
    drawn = F.pmod(F.xxhash64(F.lit(SEED), F.lit(name), F.col("combination")), F.lit(1_000_003)) / F.lit(1_000_003.0)
    return F.floor(F.pow(drawn, F.lit(power)) * values).cast("int")


def table(spark: SparkSession, rows: int, combinations: int) -> DataFrame:
    """Rows that hold (nearly) this many distinct combinations of eight quasi-identifiers, and a diagnosis."""
    base = spark.range(rows).select(F.col("id"), F.pmod(F.col("id"), F.lit(combinations)).alias("combination"))
    return base.select(
        (F.lit(17) + skewed("age", 74, 1.5)).alias("age"),
        F.lpad((F.lit(10_000) + skewed("zip", 900, 2) * 97).cast("string"), 5, "0").alias("zip"),
        F.date_add(F.lit("2020-01-01").cast("date"), skewed("admitted", 1096, 1)).alias("admitted"),
        F.when(skewed("sex", 2, 1) == 0, "f").otherwise("m").alias("sex"),
        F.concat(F.lit("race "), skewed("race", 5, 2.5).cast("string")).alias("race"),
        *[F.concat(F.lit(f"{name} "), skewed(name, of[0], 2).cast("string")).alias(name) for name, of in TREES.items()],
        F.concat(F.lit("d"), F.pmod(F.xxhash64(F.lit(SEED), F.col("id")), F.lit(20)).cast("string")).alias("diagnosis"),
    )


def tree(folder: Path, name: str) -> dict[str, str]:
    """A hierarchy file that halves, or so, from level to level."""
    leaves, *groups = TREES[name]
    path = folder / f"{name}.csv"
    lines = [";".join([f"{name} {v}", *[f"{name} {g}:{v * g // leaves}" for g in groups], "*"]) for v in range(leaves)]
    path.write_text("\n".join(lines) + "\n")
    return {"path": str(path)}


def policy(folder: Path, megabytes: int, options: argparse.Namespace) -> DomainPolicy:
    """k = 10, and alpha on the diagnosis where it is asked for."""
    hierarchies: dict[str, object] = {
        "age": {"intervals": [5, 10, 20], "origin": 0}, "zip": {"mask": "right"}, "admitted": {"date": ["month", "quarter", "year"]},
        "sex": "flat", "race": "flat", **{name: tree(folder, name) for name in TREES},
    }  # fmt: skip
    columns = [{"name": name, "role": "quasi-identifier", "hierarchy": found} for name, found in hierarchies.items()]
    models: list[dict[str, object]] = [{"model": "k-anonymity", "k": options.k}]
    if options.alpha:
        models.append({"model": "alpha-deassociation", "column": "diagnosis", "alpha": options.alpha})
    return Policy(
        columns=[*columns, {"name": "diagnosis", "role": "sensitive"}], privacy=models,
        suppression={"limit": options.limit}, settings={"driver_megabytes": megabytes},
    )  # fmt: skip


@contextmanager
def counted() -> Iterator[list[float]]:
    """The seconds of every wave, and of every set that is fetched."""
    seconds: list[float] = []
    plain, fetch = SparkChecker.check, DriverPart._move

    def check(self: SparkChecker, nodes):  # type: ignore[no-untyped-def]
        started, jobs = time.perf_counter(), self.jobs
        found = plain(self, nodes)
        if self.jobs > jobs:
            seconds.append(time.perf_counter() - started)
            print(f"  {len(nodes)} nodes, {self.jobs - jobs} jobs, {seconds[-1]:.1f} s", flush=True)
        return found

    def move(self: DriverPart, place, space):  # type: ignore[no-untyped-def]
        started = time.perf_counter()
        fetch(self, place, space)
        seconds.append(time.perf_counter() - started)
        print(f"  a set fetched, {seconds[-1]:.1f} s", flush=True)

    SparkChecker.check, DriverPart._move = check, move  # type: ignore[method-assign]
    try:
        yield seconds
    finally:
        SparkChecker.check, DriverPart._move = plain, fetch  # type: ignore[method-assign]


def processor_seconds(pid: int) -> float:
    """What a process has used so far."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def java_of(spark: SparkSession) -> int | None:
    """The process of the JVM that this session started."""
    launched = getattr(getattr(spark.sparkContext, "_gateway", None), "proc", None)
    found = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and (p / "comm").read_text().strip() == "java"]
    parents = {pid: int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) for pid in found}
    return next((pid for pid, parent in parents.items() if launched and (pid == launched.pid or parent == launched.pid)), None)


def measure(spark: SparkSession, place: str, folder: Path, options: argparse.Namespace) -> None:
    asked = policy(folder, options.megabytes if place == "spark" else 100_000, options)
    frame = table(spark, options.rows, options.combinations)
    java, steps = java_of(spark), Steps()
    with Materialised() as kept, counted() as waves:
        bound = bind_schema(frame.schema, asked, False)
        gathered = gather(frame, asked, bound, read_trees(asked), kept, steps)
        before, own = processor_seconds(java) if java else 0.0, time.process_time()
        started = time.perf_counter()
        recoding = decide_levels(spark, asked, bound, gathered, kept, steps).recoding
        seconds = time.perf_counter() - started
        used = (processor_seconds(java) if java else 0.0) - before + time.process_time() - own
    for step in steps.done:
        print(f"  {step.step}: {step.seconds:.1f} s; {step.text}")
    trace = recoding.trace
    print(f"{place}: {gathered.combinations:,} cells of {gathered.problem.rows:,} rows; {trace.nodes:,} nodes, {trace.checked} checked, "
          f"{trace.subset_checks} of single columns; levels {recoding.levels}, loss {float(recoding.losses['gcp'] or 0):.6f}, "
          f"{recoding.suppressed_rows} rows suppressed")  # fmt: skip
    if waves:
        print(f"  {len(waves)} waves and sets from Spark: median {sorted(waves)[len(waves) // 2]:.1f} s, longest {max(waves):.1f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  decided in {seconds:.1f} s, {used:.0f} processor seconds; Python's peak memory so far {peak:.0f} MB; "
          f"load {os.getloadavg()[0]:.1f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--combinations", type=int, default=1_050_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--alpha", type=float)
    parser.add_argument("--limit", type=float, default=0)
    parser.add_argument("--megabytes", type=int, default=64, help="that sets may take in the driver process; 0: waves alone")
    parser.add_argument("--memory", default="2g", help="of the JVM")
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--place", nargs="+", choices=["spark", "driver"], default=["spark", "driver"])
    options = parser.parse_args()
    spark = (
        SparkSession.builder.master("local[2]").appName("bench waves").config("spark.ui.enabled", "false")
        .config("spark.driver.memory", options.memory).config("spark.sql.shuffle.partitions", str(options.partitions))
        .config("spark.ui.showConsoleProgress", "false").getOrCreate()
    )  # fmt: skip
    try:
        with tempfile.TemporaryDirectory() as folder:
            for place in options.place:
                measure(spark, place, Path(folder), options)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
