"""What each command does, given its arguments; errors are the caller's to print."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from anon_spark.audit.release import audit_release
from anon_spark.cli.session import spark_session
from anon_spark.config.load import load
from anon_spark.domain.errors import AuditError, ConfigurationError, Fault
from anon_spark.domain.unmapped import UnmappedError
from anon_spark.io.tables import CSV_READ, options_of, spark_faults
from anon_spark.job.check import check as check_job
from anon_spark.job.run import run as run_job
from anon_spark.report.plan import render_plan
from anon_spark.report.summary import print_summary


def run(conf: str, sets: Sequence[str], show_values: bool) -> None:
    """Run the job and print its summary."""
    policy = load(conf, sets)
    if policy.output is None:
        raise ConfigurationError([Fault(policy.where, "output", "nothing", "a path", "add the key output: {path: ...}")])
    with spark_session(policy.job) as spark, _values_shown(show_values):
        finished = run_job(spark, policy, on_start=_progress)
        page = f"{policy.report.rstrip('/')}/report.html" if policy.report else None
        print_summary(finished.release.report, sys.stdout, examples=finished.examples, release=policy.output.path, page=page)


def check(conf: str, sets: Sequence[str], show_values: bool) -> None:
    """Print the plan of the job."""
    policy = load(conf, sets)
    with spark_session("check") as spark, _values_shown(show_values):
        click.echo(render_plan(check_job(spark, policy)))


def audit(conf: str, sets: Sequence[str]) -> None:
    """Audit the published table alone and print what was found."""
    policy = load(conf, sets)
    sink = policy.output
    if sink is None or sink.path is None:
        raise ConfigurationError(
            [Fault(policy.where, "output", "nothing", "the path of a release", "add the key output: {path: ...}")]
        )
    with spark_session("audit") as spark, spark_faults(policy.where, "output"):
        published = spark.read.format(sink.format).options(**options_of(sink, CSV_READ)).load(sink.path)
        result = audit_release(published, policy)
    for model in result.models:
        click.echo(f"{model.model}: {'holds' if model.holds else 'FAILS'} (worst class: {model.worst})")
    click.echo(f"{result.rows} rows in {result.classes} classes; sizes {result.smallest} to {result.largest}")
    for sentence in result.cannot_know:
        click.echo(f"not known without the input: {sentence}")
    if not result.ok:
        raise AuditError("\n".join(f"{policy.where}: audit: {finding.message}" for finding in result.findings))
    click.echo("audit: the release holds what was asked")


def _progress(step: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"... {step}", err=True)


class _values_shown:
    """Names values outside a hierarchy, up to 5 a column, where ``--show-values`` asks for raw data."""

    def __init__(self, asked: bool):
        self._asked = asked

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._asked and isinstance(error, UnmappedError):
            for value, rows in error.worst(5):
                click.echo(f"{error.column}: {value!r} in {rows} rows", err=True)
