"""The whole job: read, bind, decide, write to staging, audit, and only then put in place."""

from __future__ import annotations

import contextlib
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from anon_spark.audit.release import audit_release
from anon_spark.audit.result import AuditResult
from anon_spark.domain.counting import counted
from anon_spark.domain.errors import AuditError, ConfigurationError, Fault
from anon_spark.domain.manifest import FileSum
from anon_spark.domain.policy import Policy
from anon_spark.io.catalog import refuse_session, unseen
from anon_spark.io.files import file_faults
from anon_spark.io.jobs import jobs_of, tagged
from anon_spark.io.manifest import checksums, write_manifest
from anon_spark.io.scratch import alive
from anon_spark.io.spark_errors import job_faults
from anon_spark.io.tables import read
from anon_spark.job.account import Run, write_report
from anon_spark.job.arguments import refuse_arguments, refuse_stream, refuse_unusable
from anon_spark.job.cautions import asks_nothing, changes_nothing, nothing_left, numbers_as_text, rows_of_persons, unprotected
from anon_spark.job.classifier import classifier_of
from anon_spark.job.decide import decide_levels
from anon_spark.job.decide_groups import decide_groups, may_travel
from anon_spark.job.destination import open_destination
from anon_spark.job.directories import refuse_directories
from anon_spark.job.figures import figures_of
from anon_spark.job.gather import Gathered, gather, null_rows_of, read_trees, without_null_rows
from anon_spark.job.listed import absent_listed, with_listed_values
from anon_spark.job.measures import utility_of
from anon_spark.job.output import Output, report_files
from anon_spark.job.persons import told_apart
from anon_spark.job.provenance import manifest_of, provenance_of
from anon_spark.job.release import Release
from anon_spark.job.schema import BoundSchema, bind_schema
from anon_spark.job.snapshot import is_staged, staged_input
from anon_spark.job.staged_persons import place_of_persons, refuse_persons
from anon_spark.job.steps import PUBLISH, Steps
from anon_spark.job.write import Plan, Staged, stage
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.profile import nearly_unique
from anon_spark.plans.settings import is_true
from anon_spark.report.document import RETURNED, STATUS_OF_EXIT, Report
from anon_spark.report.figures import Figures
from anon_spark.report.html import render_html
from anon_spark.report.progress import Bars, watched_console
from anon_spark.report.words import Example

RELEASE = "release"
"""Name of the one table of a release."""


@dataclass(frozen=True)
class Finished:
    """A release with what only the owner's terminal may show."""

    release: Release
    examples: tuple[Example, ...]


def anonymize(table: DataFrame, policy: Policy) -> Release:
    """Anonymize a DataFrame; publishes to the policy's output if it names one, else to a temporary directory (see Release).

    Shows a bar a step in a notebook and to a person who types into Python, nothing elsewhere.
    Raises the errors of ``anon_spark.domain.errors``; nothing is published unless the audit confirms it.
    """
    refuse_arguments(table, policy)
    with Bars(watched_console()) as bars:
        return run(table.sparkSession, policy, table, bars.start).release


def run(
    spark: SparkSession, policy: Policy, table: DataFrame | None = None, on_start: Callable[[str], None] = lambda name: None
) -> Finished:
    """Run a job on its configured input, or on ``table``."""
    started, release_id = datetime.now(timezone.utc), uuid.uuid4().hex
    trees = read_trees(policy)
    refuse_unusable(spark, policy.where)
    with job_faults(policy.where):
        if table is not None:
            refuse_stream(table, policy.where)
        output = open_destination(spark, policy, release_id)
        staged = table is None and is_staged(policy)
        if table is None:
            cautions, table = unseen(spark, policy.input), source_of(spark, policy)
        else:
            cautions = ()
            refuse_session(spark, policy.where)
        bound = bind_schema(table.schema, policy, case_sensitive(spark))
        refuse_directories(table.schema, policy, bound)
        cautions = (*cautions, *numbers_as_text(table.schema, policy))
        output.refuse_input(table)
        output.refuse_columns(bound.published)
        refuse_persons(policy)
        policy = with_listed_values(spark, table.schema, policy)
        with output.held(), _alive(output, policy, release_id), jobs_of(spark, f"anon-spark-{release_id}") as cancel:
            try:
                if staged:
                    table = staged_input(table, policy, output, release_id)
                job = _Job(
                    spark,
                    policy,
                    bound,
                    table,
                    Run(release_id, started, len(table.columns), null_rows_of(table, policy)),
                    Steps(on_start, around=lambda step: tagged(spark, step)),
                    cautions,
                )
                return job.finish(trees, output)
            except BaseException as error:
                output.withdraw(cancel, interrupted=not isinstance(error, Exception))
                raise


def _alive(output: Output, policy: Policy, release_id: str) -> contextlib.AbstractContextManager[None]:
    """What this run keeps under ``settings.staging`` is not taken for a dead one's, and what is a dead one's goes."""
    if policy.settings.staging is None or output.intermediates is None:
        return contextlib.nullcontext()
    return alive(output.intermediates, policy.settings.staging, release_id, policy.where)


def source_of(spark: SparkSession, policy: Policy) -> DataFrame:
    """The configured input; ConfigurationError where there is none."""
    if policy.input is None:
        raise ConfigurationError([Fault(policy.where, "input", "nothing", "a path, a table or a query", "add the key input")])
    return read(spark, policy.input, policy.where, [c.name for c in policy.columns if c.type == "string"])


def case_sensitive(spark: SparkSession) -> bool:
    """Whether the session takes names that differ by capitals for different ones; where it does not tell, such names are refused."""
    return is_true(spark, "spark.sql.caseSensitive")


@dataclass(frozen=True)
class _Job:
    spark: SparkSession
    policy: Policy
    bound: BoundSchema
    table: DataFrame
    about: Run
    steps: Steps
    cautions: tuple[str, ...]
    """What the report warns of whatever is decided."""

    def finish(self, trees: dict[str, list[list[str]]], output: Output) -> Finished:
        policy, steps = self.policy, self.steps
        table = told_apart(without_null_rows(self.table, policy), self.bound, secrets.token_hex(16))
        with Materialised(self._stage_of(output)) as kept:
            # persons are marked by a shuffle of their own, which is not done twice
            travel = None if policy.job == "lattice" or self.bound.ids else partial(may_travel, table, self.bound)
            gathered = gather(table, policy, self.bound, trees, kept, steps, travel)
            decide = decide_levels if policy.job == "lattice" else decide_groups
            plan = decide(self.spark, policy, self.bound, gathered, kept, steps)
            with steps.step("write") as said:
                persons = place_of_persons(output, policy, self.about.release_id) if self.bound.ids else None
                staged = stage(table, policy, self.bound, gathered, plan, output, persons)
                said.append("Wrote the release to staging; its rows are those of the input, its order tells nothing.")
            with steps.step("audit") as said:
                # before the audit: what changes after this is seen when the release is audited again
                files = self._files(output)
                lost = plan.recoding.suppressed_rows
                audit = audit_release(
                    staged.table, policy, rows_of_input=gathered.problem.rows, suppressed=lost, untouched=self.table.schema,
                    distribution=gathered.whole.counts, persons=staged.persons,
                )  # fmt: skip
                said.append(
                    f"{counted(len(audit.models), 'model')} over {counted(audit.classes or 0, 'printed class', 'printed classes')}: "
                    f"{'confirmed' if audit.ok else 'refused'}."
                )
            if persons is not None:
                # what tells persons is gone before anything is published
                with file_faults(policy.where, "settings.staging", "rows with their persons could not be removed"):
                    output.remove_intermediate(persons)
            utility, figures = self._measured(gathered, plan, staged.table) if audit.ok else (None, None)
            report = replace(self._report(gathered, plan, audit, output, staged), utility=utility)
        manifest = manifest_of(self.about.release_id, policy, audit, files).to_json() if audit.ok and output.is_files else None
        report = replace(report, provenance=provenance_of(policy, trees, staged.rows_in, manifest))
        # drawings take half a second
        page = {} if policy.report is None else {"report.html": render_html(report, plan.examples, figures)}
        texts = {"report.json": report.to_json(), **page}
        if not audit.ok:
            self._tell_refusal(texts)
            raise AuditError("\n".join(f"{policy.where}: audit: {finding.message}" for finding in audit.findings))
        return Finished(self._publish(report, texts, output, staged.table, manifest), plan.examples)

    def _measured(self, gathered: Gathered, plan: Plan, release: DataFrame) -> tuple[dict[str, object], Figures | None]:
        """What the release can still answer, and what a page draws of it where one is asked for."""
        with self.steps.step("measures") as said:
            boxes = None if plan.boxes is None else replace(plan.boxes(), printed=plan.star)
            found = utility_of(self.policy, gathered, boxes, release, self.bound.labels)
            found["classifier"] = classifier_of(self.policy, self.bound, gathered, plan.recoding, boxes, release)
            told = [name.replace("_", " ") for name, value in found.items() if value is not None]
            said.append(f"What the release can still answer: {', '.join(told) or 'nothing that could be measured'}.")
            return found, figures_of(gathered, plan, boxes, release, self.bound.labels) if self.policy.report else None

    def _files(self, output: Output) -> dict[str, FileSum]:
        """Checksums of what is staged for publication; none of what is no files, or stays with the caller."""
        if not output.is_files:
            return {}
        with file_faults(self.policy.where, "output.path", "the staged files could not be read"):
            return checksums(output.files, output.staged)

    def _stage_of(self, output: Output) -> Callable[[DataFrame, str], DataFrame] | None:
        """Where a session can't persist, intermediates go to the directory that the owner named for them, and with the run.

        They hold raw combinations: without such a directory nothing is written, and plans are computed again.
        """
        if self.policy.settings.staging is None:
            return None

        def write(frame: DataFrame, name: str) -> DataFrame:
            path = output.scratch_path(str(self.policy.settings.staging), f"{self.about.release_id}-{name}")
            frame.write.parquet(path)
            return self.spark.read.parquet(path)

        return write

    def _report(self, gathered: Gathered, plan: Plan, audit: AuditResult, output: Output, staged: Staged) -> Report:
        # what makes a release useless comes first: the terminal shows a few
        told = (*nothing_left(self.policy, plan.recoding), *asks_nothing(self.policy), *changes_nothing(self.policy))
        told = (*told, *rows_of_persons(self.policy, audit))
        roles = {column.name: column.role for column in self.policy.columns}
        unique = nearly_unique(staged.distinct, audit.rows or 0, {name: roles.get(name, "insensitive") for name in staged.distinct})
        warnings = (*told, *self.cautions, *absent_listed(self.policy.privacy, gathered.problem), *plan.warnings)
        warnings = (*warnings, *unprotected(self.policy), *unique)
        status = STATUS_OF_EXIT[AuditError.exit_code] if not audit.ok else RETURNED if output.temporary else STATUS_OF_EXIT[0]
        seen = staged.table if audit.ok else None
        return write_report(
            self.about, self.policy, gathered, plan.recoding, audit, self.steps, self.spark, self.bound, status, warnings, seen,
            plan.raw_sizes,
        )  # fmt: skip

    def _tell_refusal(self, texts: dict[str, str]) -> None:
        with report_files(self.spark, self.policy, self.about.release_id, texts):
            pass

    def _publish(self, report: Report, texts: dict[str, str], output: Output, staged: DataFrame, manifest: str | None) -> Release:
        self.steps.on_start(PUBLISH)
        with report_files(self.spark, self.policy, self.about.release_id, texts):
            if manifest is not None:
                with file_faults(self.policy.where, "output.path", "the manifest could not be written"):
                    write_manifest(output.files, output.staged, manifest)
            output.publish()
        output.remove_scratch()
        if output.temporary:
            return Release({RELEASE: staged}, report, self.bound.labels, output.remove)
        return Release({RELEASE: output.read(self.spark, staged)}, report, self.bound.labels)
