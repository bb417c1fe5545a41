"""What each command does, given its arguments; errors are the caller's to print."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from anon_spark.audit.release import audit_release
from anon_spark.audit.result import AuditResult, Finding
from anon_spark.cli import signals, streams
from anon_spark.cli.session import has_local_files, is_started_here, spark_session
from anon_spark.config.load import load
from anon_spark.config.sweep import sweep
from anon_spark.domain.counting import counted
from anon_spark.domain.errors import AnonError, AuditError, InternalError
from anon_spark.domain.policy import Policy, Sink, Source
from anon_spark.domain.unmapped import OutsideError
from anon_spark.io.hierarchy_files import tree_faults
from anon_spark.io.spark_errors import SPARK_ERRORS, job_faults
from anon_spark.io.tables import read_release
from anon_spark.job.arguments import refuse_unusable
from anon_spark.job.beforehand import names_beforehand, refuse_beforehand
from anon_spark.job.check import check as check_job
from anon_spark.job.compare import JSON, PAGE
from anon_spark.job.compare import compare as compare_values
from anon_spark.job.last_report import last_published
from anon_spark.job.listed import with_listed_values
from anon_spark.job.risk import RISK, risk_of
from anon_spark.job.run import run as run_job
from anon_spark.job.steps import PUBLISH
from anon_spark.job.verify import Verified, doubting_release, otherwise_made, refuse_other_job, verify_files
from anon_spark.report.comparison import render_comparison
from anon_spark.report.plan import render_plan
from anon_spark.report.progress import DOING, Bars
from anon_spark.report.summary import print_summary
from anon_spark.report.table_risk import render_risk

_CHANGED = "REFUSED: the release is not as it was published."
_OTHER = "REFUSED: the release does not hold what this file asks for."
_BOTH = "REFUSED: the release is not as it was published, and does not hold what this file asks for."


def run(conf: str, sets: Sequence[str], show_values: bool, debug: bool) -> None:
    """Run the job and print its summary."""
    policy = _load(conf, sets, "input", "output")
    output = _output(policy)
    _refuse_beforehand(policy, publishes=True)
    asked = time.perf_counter()
    with spark_session(policy.job, debug) as spark, _values_shown(show_values):
        start_up = time.perf_counter() - asked
        with _progress() as on_start:
            finished = run_job(spark, policy, on_start=on_start)
        page = f"{policy.report.rstrip('/')}/report.html" if policy.report else None
        report, examples = finished.release.report, finished.examples
        with streams.summing_up():
            print_summary(report, sys.stdout, examples=examples, release=output.place, page=page, start_up=start_up)


def check(conf: str, sets: Sequence[str], show_values: bool, debug: bool) -> None:
    """Print the plan of the job, and end as a run would, as far as that is known without a search."""
    policy = _load(conf, sets, "input")
    _refuse_beforehand(policy, plans=True)
    with spark_session("check", debug) as spark, _values_shown(show_values):
        with _progress() as on_start:
            plan = check_job(spark, policy, on_start=on_start)
        click.echo(render_plan(plan))
        if plan.refusals:
            raise plan.refusals[0]


def compare(conf: str, sets: Sequence[str], show_values: bool, debug: bool) -> None:
    """Print what each value of one key would cost and give, and write it where a report is asked for; publishes nothing."""
    asked = sweep(sets, conf)
    policies = {value: _load(conf, asked.sets(value), "input") for value in asked.values}
    for policy in policies.values():
        _refuse_beforehand(policy)
    with spark_session("compare", debug) as spark, _values_shown(show_values):
        with _progress() as on_start:
            found = compare_values(spark, asked.key, policies, on_start=on_start)
        place = next(iter(policies.values())).report
        written = [f"{place.rstrip('/')}/{name}" for name in (PAGE, JSON)] if place else []
        click.echo(render_comparison(found, written), nl=False)


def risk(conf: str, sets: Sequence[str], population: int | None, debug: bool) -> None:
    """Print the risk of the raw table, and write it where a report is asked for."""
    policy = load(conf, sets, names=_names, wanted=("input",), roles_alone=True)
    _refuse_beforehand(policy)
    with spark_session("risk", debug) as spark:
        with _progress() as on_start:
            found = risk_of(spark, policy, population=population, on_start=on_start)
        click.echo(render_risk(found, f"{policy.report.rstrip('/')}/{RISK}" if policy.report else None), nl=False)


def audit(conf: str, sets: Sequence[str], debug: bool) -> None:
    """Audit the published table alone and print what was found."""
    policy = _load(conf, sets, "output")
    sink = _output(policy)
    with spark_session("audit", debug) as spark, job_faults(policy.where):
        streams.say(f"anon-spark: {DOING['audit']} ...")
        refuse_unusable(spark, policy.where)
        verified = verify_files(spark, sink, policy.where, last_published(spark, policy))
        refuse_other_job(verified, policy)
        try:
            release = read_release(spark, sink, policy.where)
            # a listed value in another spelling than its column's would match no row, and its model would pass unseen
            asked = with_listed_values(spark, release.schema, policy)
            result = audit_release(release, asked)
        except (AnonError, *SPARK_ERRORS) as error:
            if verified.findings:
                # files that were cut or changed can't be read: that is what is to be told
                click.echo(_CHANGED)
                raise _refused(policy, verified.findings) from None
            raise doubting_release(error, verified, sink) from None
    _print_audit(asked, result, verified)


def _load(conf: str, sets: Sequence[str], *wanted: str) -> Policy:
    """The policy, its hierarchy files and the names of its columns looked at with it, so that all that is wrong is told at once."""
    near = Path(conf).parent
    return load(conf, sets, lambda tree: tree_faults(tree.path, tree.sep, near), _names, wanted=wanted)


def _output(policy: Policy) -> Sink:
    if policy.output is None:
        raise InternalError("a configuration that wants an output was read without one")
    return policy.output


def _names(source: Source) -> Sequence[str] | None:
    return names_beforehand(source, bare=has_local_files()) if is_started_here() else None


def _refuse_beforehand(policy: Policy, publishes: bool = False, plans: bool = False) -> None:
    """Tell what needs no Spark before its start is waited for."""
    if is_started_here():
        refuse_beforehand(policy, publishes, bare=has_local_files(), plans=plans)


def _print_audit(policy: Policy, result: AuditResult, verified: Verified) -> None:
    sound = result.ok and not verified.findings
    refused = _CHANGED if result.ok else _BOTH if verified.findings else _OTHER
    click.echo("The release holds what was asked." if sound else refused)
    for sentence in otherwise_made(verified, result.findings, policy) if not sound else ():
        click.echo(sentence)
    for model in result.models:
        worst = "" if model.worst is None else f" (worst class: {model.worst})"
        click.echo(f"{model.model}: {'holds' if model.holds else 'FAILS'}{worst}")
    if result.rows is None or result.classes is None:
        click.echo("rows and classes: not counted, since its columns are not those of this file")
    else:
        sizes = f"; sizes {result.smallest} to {result.largest}" if result.classes else ""
        click.echo(f"{counted(result.rows, 'row')} in {counted(result.classes, 'class', 'classes')}{sizes}")
    if verified.told:
        click.echo(f"manifest: {verified.told}")
    if verified.unknown:
        click.echo(f"not known: {verified.unknown}")
    if result.cannot_know:
        click.echo("not known without the input:")
        for sentence in result.cannot_know:
            click.echo(f"  {sentence}")
    if not sound:
        raise _refused(policy, (*verified.findings, *result.findings))


def _refused(policy: Policy, findings: Sequence[Finding]) -> AuditError:
    return AuditError("\n".join(f"{policy.where}: audit: {finding.message}" for finding in findings))


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """What is called as a step begins: a bar a step on a terminal, a line elsewhere and where steps tell of themselves (-v)."""
    with Bars(streams.terminal() if not logging.getLogger("anon_spark").isEnabledFor(logging.INFO) else None) as bars:

        def begin(step: str) -> None:
            if signals.came():
                raise KeyboardInterrupt
            if step == PUBLISH:
                signals.ignore()
            if bars.shown:
                bars.start(step)
            else:
                streams.say(f"anon-spark: {DOING.get(step, step)} ...")

        yield begin


@contextlib.contextmanager
def _values_shown(asked: bool) -> Iterator[None]:
    """Names values outside a hierarchy, up to 5 a column, where ``--show-values`` asks for raw data; else tells of that option."""
    try:
        yield
    except OutsideError as error:
        if not asked:
            advice = "--show-values names some"
            faults = [replace(fault, advice=f"{fault.advice}; {advice}" if fault.advice else advice) for fault in error.faults]
            raise OutsideError(faults, error.errors) from None
        for column in error.errors:
            for value, rows in column.worst(5):
                streams.say(f"column {column.column}: {value!r} in {counted(rows, 'row')}")
        raise
