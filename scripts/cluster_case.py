"""Write what scripts/cluster submits to the folder that is named: a table of 1,000 rows, jobs for it, a probe of the workers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

REGIONS = ("North", "East", "South", "West")
PROBE = """
import sys
from pyspark.sql import SparkSession

def where(batches):
    import numpy, pandas, pyarrow, anon_spark
    for batch in batches:
        homes = [f"{sys.prefix} {anon_spark.__file__}"] * batch.num_rows
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array(homes)], names=["home"])

spark = SparkSession.builder.getOrCreate()
homes = {row.home for row in spark.range(0, 8, 1, 4).mapInArrow(where, "home string").collect()}
spark.stop()
sys.exit(0 if homes and all(str(home).startswith(sys.argv[1] + "/worker") for home in homes) else f"workers run elsewhere: {homes}")
"""
RETRIED = """
import sys
from collections import Counter
from pyspark import TaskContext
from pyspark.sql import SparkSession
from anon_spark import Policy, anonymize

def once(batches):
    yield from batches
    if TaskContext.get().attemptNumber() == 0:
        raise RuntimeError("every task fails once, when its rows have gone on")

folder = sys.argv[1]
spark = SparkSession.builder.getOrCreate()
table = spark.read.csv(folder + "/people.csv", header=True, inferSchema=True, mode="FAILFAST")
found = []
for name, rows in (("sound", table), ("retried", table.mapInArrow(once, table.schema))):
    for job in ("lattice", "top-down"):
        more = ["columns.region.hierarchy=flat"] if job == "top-down" else []
        places = [f"{key}.path={folder}/{name}-{job}{end}" for key, end in (("output", ""), ("report", "-report"))]
        release = anonymize(rows, Policy.from_yaml(folder + "/job.yaml", f"job={job}", *places, *more))
        report = release.report
        found.append((Counter(map(tuple, release.table.collect())), report.output, report.suppressed, report.loss))
spark.stop()
sys.exit(0 if found[:2] == found[2:] else f"a retried task changed the release: {[each[1:] for each in found]}")
"""


def job(folder: Path) -> dict[str, object]:
    """A configuration in JSON's kinds: YAML reads JSON."""
    hierarchy = {"path": "region.csv"}
    return {
        "job": "lattice",
        "input": {"format": "csv", "path": str(folder / "people.csv"), "options": {"header": True, "inferSchema": True}},
        "output": {"format": "parquet", "path": str(folder / "out")},
        "report": {"path": str(folder / "report")},
        "columns": [
            {"name": "age", "role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
            {"name": "region", "role": "quasi-identifier", "hierarchy": hierarchy},
            {"name": "illness", "role": "sensitive"},
        ],
        "privacy": [{"model": "k-anonymity", "k": 10}, {"model": "alpha-deassociation", "alpha": 0.5}],
    }


def main(folder: Path) -> None:
    people = [f"{20 + i * 7 % 60},{REGIONS[i * 13 // 5 % 4]},{('flu', 'asthma', 'gout')[i % 3]}" for i in range(1000)]
    (folder / "people.csv").write_text("\n".join(["age,region,illness", *people]) + "\n", encoding="utf-8")
    (folder / "region.csv").write_text("\n".join(f"{region};*" for region in REGIONS) + "\n", encoding="utf-8")
    (folder / "job.yaml").write_text(json.dumps(job(folder), indent=1), encoding="utf-8")
    (folder / "probe.py").write_text(PROBE, encoding="utf-8")
    (folder / "retried.py").write_text(RETRIED, encoding="utf-8")
    # where all lies that travels with a job in cluster mode: one folder, by last names
    there = folder / "there"
    there.mkdir()
    (there / "region.csv").write_text((folder / "region.csv").read_text(encoding="utf-8"), encoding="utf-8")
    asked = json.dumps(job(folder), indent=1).replace("region.csv", "far/away/region.csv")
    (there / "travelled.yaml").write_text(asked.replace(str(folder / "out"), str(folder / "travelled")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
