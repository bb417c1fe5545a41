"""One run of the top-down job on a generated table of any size: what it loses beside the bound, and the time of each step beside copies.

    python scripts/bench/scale.py FOLDER [--rows 10000000] [--k 10] [--memory 6g] [--sample 300] [--alpha 0.5]

FOLDER holds the table, once it was made, and what is written. Prints the seconds of a plain copy, of a copy whose row order is hidden
as a release's is, of each step of the job, and the processor seconds of each; the loss and the bound (METHODS 2.12) on a sample of
rows, each against the whole table; and the most memory that the driver, the JVM and the Python workers had together and each.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import census
import numpy as np
import pyarrow as pa
from memory import Memory
from processor import Steps as Processor
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark import Policy
from anon_spark.domain.policy import Policy as DomainPolicy
from anon_spark.domain.problem import Problem
from anon_spark.job.gather import gather, read_trees
from anon_spark.job.run import run
from anon_spark.job.schema import bind_schema
from anon_spark.job.steps import Steps
from anon_spark.kernels.arrow import lines_of
from anon_spark.kernels.local.boxes import UNITS, union_costs
from anon_spark.kernels.local.scale import points_on, scale_of
from anon_spark.plans import blocks as plans
from anon_spark.plans.block_lines import HELD, code_names
from anon_spark.plans.fetch import fetch_arrow
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.publish import hide_order

SURE = 2.576
"""Standard errors on either side of a mean for 99 of 100 samples."""


def policy(folder: Path, options: argparse.Namespace) -> DomainPolicy:
    """k-anonymity, and alpha on the occupation where it is asked for."""
    models: list[dict[str, object]] = [{"model": "k-anonymity", "k": options.k}]
    if options.alpha:
        models.append({"model": "alpha-deassociation", "column": "occupation", "alpha": options.alpha})
    return Policy(
        job="top-down",
        input={"format": "parquet", "path": str(folder / "table")},
        output={"format": "parquet", "path": str(folder / "release"), "mode": "overwrite"},
        report={"path": str(folder / "report")},
        columns=census.columns(("occupation",), local=True),
        privacy=models,
    )


def timed(name: str, work: object) -> float:
    """Seconds of a call, printed."""
    started, processor = time.perf_counter(), Processor()
    processor.begin(name)
    work()  # type: ignore[operator]
    processor.begin("")
    seconds = time.perf_counter() - started
    print(f"{name:30} {seconds:8.1f} s", flush=True)
    return seconds


def near_rows(
    batches: Iterable[pa.RecordBatch], problem: Problem, asked: np.ndarray, needed: int
) -> Iterator[pa.RecordBatch]:
    """The ``needed`` least costs of each combination asked (a, d) beside the rows of this partition, its own among them."""
    scale, d = scale_of(problem.hierarchies, problem.weights), asked.shape[1]
    points = points_on(scale, asked)
    best = np.full((len(asked), needed), np.inf)
    for batch in batches:
        others = points_on(scale, lines_of(batch, code_names(d), np.int32))
        held = np.minimum(lines_of(batch, [HELD], np.int64)[:, 0], needed)
        out = np.zeros(len(held), np.float32)
        for a in range(len(asked)):
            union_costs(scale.costs, points, a, others, len(held), out)
            close = np.flatnonzero(out < best[a, -1])
            best[a] = np.sort(np.append(best[a], np.repeat(out[close], held[close])))[:needed]
    place = np.repeat(np.arange(len(asked)), needed)
    yield pa.RecordBatch.from_arrays([pa.array(place), pa.array(best.ravel())], names=["place", "cost"])


def bound(spark: SparkSession, asked: DomainPolicy, sample: int) -> tuple[float, float]:
    """Estimate of the bound and half of its interval of confidence of 99 %, from a sample of rows drawn by a hash."""
    table = spark.read.parquet(str(asked.input.path))  # type: ignore[union-attr]
    with Materialised() as kept:
        bound_schema = bind_schema(table.schema, asked, False)
        gathered = gather(table, asked, bound_schema, read_trees(asked), kept, Steps())
        problem, d, k = gathered.problem, len(gathered.problem.hierarchies), gathered.problem.k or 1
        coded = plans.coded(gathered.cells, problem.hierarchies, problem.values)
        lines = plans.lines(coded, d, len(problem.sensitive)).groupBy(*code_names(d)).agg(F.sum(HELD).alias(HELD))
        share = 4 * sample / gathered.combinations
        drawn = fetch_arrow(lines.where(F.pmod(F.xxhash64(F.lit(1), *code_names(d)), F.lit(1 << 30)) < int(share * (1 << 30))))
        codes = lines_of(drawn, code_names(d), np.int32)
        rows = drawn[HELD].to_numpy()
        chosen = np.sort(np.random.default_rng(7).choice(len(codes), min(sample, len(codes)), replace=False))
        worker = partial(near_rows, problem=problem, asked=codes[chosen], needed=k)
        found = lines.mapInArrow(worker, "place long, cost double").groupBy("place")
        costs = found.agg(F.element_at(F.sort_array(F.collect_list("cost")), k).alias("cost")).collect()
    near = np.array([row["cost"] for row in sorted(costs, key=lambda row: row["place"])]) / UNITS
    weight = rows[chosen] / rows[chosen].sum()
    mean = float(near @ weight)
    return mean, SURE * float(np.sqrt(weight @ (near - mean) ** 2 / len(near)))


def copy(table: DataFrame, path: Path) -> None:
    table.write.mode("overwrite").parquet(str(path))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--alpha", type=float)
    parser.add_argument("--memory", default="6g", help="of the JVM")
    parser.add_argument("--partitions", type=int, default=64)
    parser.add_argument("--sample", type=int, default=300, help="rows for the bound; 0: no bound")
    options = parser.parse_args()
    spark = (
        SparkSession.builder.master("local[2]").appName("bench scale").config("spark.ui.enabled", "false")
        .config("spark.driver.memory", options.memory).config("spark.sql.shuffle.partitions", str(options.partitions))
        .config("spark.ui.showConsoleProgress", "false").getOrCreate()
    )  # fmt: skip
    try:
        source = options.folder / "table"
        if not source.exists():
            timed("table made", lambda: copy(census.census(spark, options.rows, options.partitions), source))
        table = spark.read.parquet(str(source))
        memory = Memory()
        memory.start()
        timed("plain copy", lambda: copy(table, options.folder / "copy"))
        timed("copy, order hidden", lambda: copy(hide_order(table.drop("person")), options.folder / "copy"))
        shutil.rmtree(options.folder / "copy")
        asked, started = policy(options.folder, options), time.perf_counter()
        processor = Processor()

        def begin(name: str) -> None:
            processor.begin(name)
            print(f"  {time.perf_counter() - started:8.1f} s {name}", flush=True)

        report = run(spark, asked, None, begin).release.report
        processor.begin("")
        print(f"{'job':30} {time.perf_counter() - started:8.1f} s")
        for step in report.steps:
            print(f"  {step.step:28} {step.seconds:8.1f} s  {step.text}")
        print(f"memory in MB, most: {', '.join(f'{name} {most:,}' for name, most in memory.most.items())}")
        loss, output = report.loss, report.output
        print(f"k = {options.k}: GCP {float(loss.gcp):.5f}, classes {output.classes:,}, C_avg {float(loss.c_avg):.3f}")
        if options.sample:
            mean, error = bound(spark, asked, options.sample)
            print(f"bound, from {options.sample} rows: {mean:.5f} +- {error:.5f} (99 %)")
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
