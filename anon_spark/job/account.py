"""The report of a run, put together from what its parts found."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import datetime, timezone
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark.audit.result import AuditResult
from anon_spark.config.door import as_dict
from anon_spark.domain.policy import Policy
from anon_spark.domain.recoding import FullDomainRecoding, Recoding
from anon_spark.job.gather import Gathered
from anon_spark.job.schema import BoundSchema
from anon_spark.job.steps import Steps
from anon_spark.metrics.lower_bound import gcp_lower_bound
from anon_spark.metrics.table_risk import TableRisk, table_risk
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import fetch_row, fetch_rows
from anon_spark.plans.frequency import ROWS, cell_names
from anon_spark.plans.table_risk import class_sizes
from anon_spark.report.document import Report
from anon_spark.report.parts import (
    AuditFindings,
    ClassSize,
    Finding,
    Input,
    LatticeFigures,
    LossFigures,
    ModelFinding,
    Output,
    Risk,
    Suppressed,
)

PACKAGES = ("anon-spark", "pyspark", "numpy", "pandas", "pyarrow")


@dataclass(frozen=True)
class Run:
    """What identifies a run: its id, when it started, the table's own rows and columns, rows left out for a null."""

    release_id: str
    started: datetime
    columns: int
    null_rows: int


def write_report(
    run: Run, policy: Policy, gathered: Gathered, recoding: Recoding, audit: AuditResult, steps: Steps,
    spark: SparkSession, bound: BoundSchema, status: str, warnings: tuple[str, ...], release: DataFrame | None = None,
    raw_sizes: DataFrame | None = None,
) -> Report:  # fmt: skip
    """The report with every key that the job has a meaning for.  release: as it was read back, where the audit agreed; raw_sizes: as
    ``Plan`` has them."""
    problem, before = gathered.problem, raw_risk(gathered, raw_sizes)
    classes, rows = recoding.classes, problem.rows - recoding.suppressed_rows
    return Report(
        job=policy.job,
        status=status,
        started=run.started.isoformat(timespec="seconds"),
        release_id=run.release_id,
        seconds=(datetime.now(timezone.utc) - run.started).total_seconds(),
        steps=tuple(steps.done),
        input=Input(problem.rows + run.null_rows, run.columns),
        output=_output(audit, rows, classes),
        suppressed=Suppressed(recoding.suppressed_rows, Fraction(recoding.suppressed_rows, problem.rows), run.null_rows),
        models=tuple(ModelFinding(m.model, m.parameters, m.holds, m.worst) for m in audit.models),
        loss=LossFigures.of(recoding, bound.names, lower_bound(gathered)),
        lattice=LatticeFigures.of(recoding, bound.names) if isinstance(recoding, FullDomainRecoding) else None,
        audit=AuditFindings(audit.ok, tuple(Finding(f.rule, False, f.message) for f in audit.findings)),
        risk=Risk.of(
            smallest=recoding.smallest,
            classes=classes,
            rows=rows,
            below_k_before=None if problem.k is None else before.below[problem.k],
            before=before,
            unique=_unique(recoding, release, bound.labels),
        ),
        warnings=warnings,
        versions=versions(spark),
        policy=as_dict(policy),
    )


def _output(audit: AuditResult, rows: int, classes: int) -> Output:
    """The audit's own count of what is printed; the decider's where the audit could not group it."""
    if not audit.rows or audit.smallest is None or audit.largest is None or audit.classes is None:
        return Output(rows, classes, None)
    size = ClassSize(audit.smallest, audit.median or 0, Fraction(audit.rows, audit.classes), audit.largest)
    return Output(audit.rows, audit.classes, size)


def lower_bound(gathered: Gathered) -> Fraction | None:
    """The GCP lower bound, where the frequency set is in this process."""
    if gathered.local is None:
        return None
    return gcp_lower_bound(gathered.problem, gathered.local.codes, gathered.local.count)


def raw_risk(gathered: Gathered, raw_sizes: DataFrame | None = None) -> TableRisk:
    """The risk of the rows as they came, told apart by their quasi-identifiers; with it, the share of them below k."""
    k = gathered.problem.k
    sizes = _raw_sizes(gathered) if raw_sizes is None else {int(size): int(classes) for size, classes in fetch_rows(raw_sizes)}
    return table_risk(sizes, [] if k is None else [k])


def _raw_sizes(gathered: Gathered) -> dict[int, int]:
    """How many raw classes there are of each size."""
    if gathered.local is None:
        classes = gathered.cells.groupBy(*cell_names(len(gathered.problem.hierarchies), 0)[0]).agg(F.sum(ROWS).alias(ROWS))
        return class_sizes(classes)
    _, of_class = np.unique(gathered.local.codes, axis=0, return_inverse=True)
    size = np.zeros(int(of_class.max()) + 1, np.int64)
    np.add.at(size, of_class.ravel(), gathered.local.count)
    return dict(zip(*(line.tolist() for line in np.unique(size, return_counts=True)), strict=True))


def _unique(recoding: Recoding, release: DataFrame | None, labels: tuple[str, ...]) -> int | None:
    """Published rows that are alone in their class: counted where there can be any."""
    if recoding.smallest != 1 or release is None:
        return None
    classes = release.groupBy(*[named(name) for name in labels]).agg(F.count(F.lit(1)).alias(ROWS))
    return int(fetch_row(classes.agg(F.coalesce(F.sum((F.col(ROWS) == 1).cast("long")), F.lit(0)).alias("n")))["n"])


def versions(spark: SparkSession) -> dict[str, str]:
    """What the run was made with."""
    found = {"python": platform.python_version(), "spark": spark.version}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
