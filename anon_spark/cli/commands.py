"""What each command does, given its arguments; errors are the caller's to print."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence

import click

from anon_spark.audit.release import audit_release
from anon_spark.audit.result import AuditResult
from anon_spark.cli import signals
from anon_spark.cli.session import spark_session
from anon_spark.config.load import load
from anon_spark.domain.errors import AuditError, ConfigurationError, Fault
from anon_spark.domain.policy import Policy
from anon_spark.domain.unmapped import OutsideError
from anon_spark.io.spark_errors import job_faults
from anon_spark.io.tables import read_release
from anon_spark.job.check import check as check_job
from anon_spark.job.run import run as run_job
from anon_spark.job.steps import PUBLISH
from anon_spark.report.plan import render_plan
from anon_spark.report.summary import print_summary


def run(conf: str, sets: Sequence[str], show_values: bool, debug: bool) -> None:
    """Run the job and print its summary."""
    policy = load(conf, sets)
    if policy.output is None:
        raise ConfigurationError([Fault(policy.where, "output", "nothing", "a path", "add the key output: {path: ...}")])
    with spark_session(policy.job, debug) as spark, _values_shown(show_values):
        finished = run_job(spark, policy, on_start=_progress)
        page = f"{policy.report.rstrip('/')}/report.html" if policy.report else None
        print_summary(finished.release.report, sys.stdout, examples=finished.examples, release=policy.output.path, page=page)


def check(conf: str, sets: Sequence[str], show_values: bool, debug: bool) -> None:
    """Print the plan of the job."""
    policy = load(conf, sets)
    with spark_session("check", debug) as spark, _values_shown(show_values):
        click.echo(render_plan(check_job(spark, policy)))


def audit(conf: str, sets: Sequence[str], debug: bool) -> None:
    """Audit the published table alone and print what was found."""
    policy = load(conf, sets)
    sink = policy.output
    if sink is None or sink.path is None:
        raise ConfigurationError(
            [Fault(policy.where, "output", "nothing", "the path of a release", "add the key output: {path: ...}")]
        )
    with spark_session("audit", debug) as spark, job_faults(policy.where):
        result = audit_release(read_release(spark, sink, policy.where), policy)
    _print_audit(policy, result)


def _print_audit(policy: Policy, result: AuditResult) -> None:
    for model in result.models:
        click.echo(f"{model.model}: {'holds' if model.holds else 'FAILS'} (worst class: {model.worst})")
    click.echo(f"{result.rows} rows in {result.classes} classes; sizes {result.smallest} to {result.largest}")
    for sentence in result.cannot_know:
        click.echo(f"not known without the input: {sentence}")
    if not result.ok:
        raise AuditError("\n".join(f"{policy.where}: audit: {finding.message}" for finding in result.findings))
    click.echo("audit: the release holds what was asked")


def _progress(step: str) -> None:
    if signals.came():
        raise KeyboardInterrupt
    if step == PUBLISH:
        signals.ignore()
    if sys.stderr.isatty():
        click.echo(f"... {step}", err=True)


@contextlib.contextmanager
def _values_shown(asked: bool) -> Iterator[None]:
    """Names values outside a hierarchy, up to 5 a column, where ``--show-values`` asks for raw data."""
    try:
        yield
    except OutsideError as error:
        for column in error.errors if asked else ():
            for value, rows in column.worst(5):
                click.echo(f"{column.column}: {value!r} in {rows} row{'' if rows == 1 else 's'}", err=True)
        raise
