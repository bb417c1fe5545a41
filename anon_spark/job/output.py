"""Where a release is staged and how it is put in place, its report with it; whatever fails, nothing is left behind."""

from __future__ import annotations

import atexit
import contextlib
import logging
import posixpath
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from anon_spark.domain.errors import ConfigurationError, Fault
from anon_spark.domain.policy import FileHierarchy, Policy, Sink
from anon_spark.io.claims import Claim, held
from anon_spark.io.files import FILE_ERRORS, Files, file_faults, files_of, is_connect
from anon_spark.io.foreign import refuse_foreign
from anon_spark.io.formats import refuse_unknown
from anon_spark.io.hierarchy_files import find_tree
from anon_spark.io.places import normal, opened, target_of
from anon_spark.io.refused_options import refuse_refused
from anon_spark.io.spark_errors import SPARK_ERRORS
from anon_spark.io.staging import (
    HIDDEN,
    aside,
    bring_back,
    inside,
    put_in_place,
    real_place,
    refuse_existing,
    refuse_file,
    refuse_patterns,
    refuse_relative,
    staging_of,
)
from anon_spark.io.tables import read_back, write_options
from anon_spark.job.gather import near_of

PAUSE, QUIET, LONGEST = 0.3, 1.5, 10.0
"""Seconds between two looks for what was removed, without it for the last look, and to the last look in any case."""
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Output:
    """sink: the configured one, or a temporary one where the policy names none (``temporary``); staging: a directory of the run's own;
    claim: on the output, None on a temporary one; scratch: directories of intermediates, which never outlive the run; publishing: the
    staging directory once it may hold the old release; intermediates: the file system of ``scratch``, None where it is ``files``."""

    sink: Sink
    staging: str
    files: Files
    temporary: bool
    where: str
    claim: Claim | None = None
    scratch: list[str] = field(default_factory=list)
    publishing: list[str] = field(default_factory=list)
    intermediates: Files | None = None

    @property
    def staged(self) -> str:
        """Where the run writes the release."""
        return inside(self.staging)

    @property
    def is_files(self) -> bool:
        """Whether what is published is a directory of files, which a manifest can tell; one that stays with the caller needs none."""
        return not self.temporary

    def write(self, release: DataFrame) -> None:
        """Write the release to its staging place."""
        writer = release.write.format(self.sink.format).options(**write_options(self.sink))
        (writer.partitionBy(*self.sink.partition_by) if self.sink.partition_by else writer).mode("error").save(self.staged)

    def staged_release(self, spark: SparkSession, schema: T.StructType) -> DataFrame:
        """What was written, by the schema that it was written with."""
        return read_back(spark, self.sink, self.staged, schema)

    def held(self) -> contextlib.AbstractContextManager[None]:
        """Hold the output against other runs. Raises OutputHeldError where one of them holds it."""
        return contextlib.nullcontext() if self.claim is None else held(self.claim)

    def publish(self) -> None:
        """Put the staged release in place; a temporary one is where it should be already."""
        if not self.temporary:
            if self.claim is not None:
                self.claim.confirm()
                # somebody may have put something of their own there meanwhile
                refuse_file(self.files, str(self.sink.path), self.where, "output.path")
                refuse_foreign(self.files, self.sink, self.where, {})
            self.publishing.append(self.staging)
            put_in_place(self.files, self.staging, self.sink, self.where)

    def remove(self) -> None:
        """Remove what was staged; never raises, since it runs when something else has failed already."""
        self._remove_staging()
        self.remove_scratch()

    def withdraw(self, cancel: Callable[[], None], interrupted: bool) -> None:
        """Remove everything of a run that failed or was interrupted. cancel: cancels its jobs.

        Tasks of a job that failed may write for a moment yet, and an interrupted client may have a job that is about to start: where
        there can be any, what was removed is watched until it stays away.
        """
        if interrupted and self._is_at_hand():
            # a command stops its session next: what a task of it wrote after the last look goes with the process
            atexit.register(self.remove)
        start = seen = time.monotonic()
        watched = interrupted or self._is_staging()
        while True:
            cancel()
            if self._is_staging():
                seen = time.monotonic()
            self.remove()
            if not watched or time.monotonic() - seen >= QUIET or time.monotonic() - start >= LONGEST:
                return
            time.sleep(PAUSE)

    def _is_at_hand(self) -> bool:
        """Whether what was staged can be removed when the session has ended."""
        return self.files.local(self.staging) is not None

    def _is_staging(self) -> bool:
        with contextlib.suppress(*FILE_ERRORS):
            return self.files.exists(self.staging)
        return True

    def _is_aside(self) -> bool:
        """Whether an old release is seen to stand in the staging directory."""
        with contextlib.suppress(*FILE_ERRORS):
            return self.files.exists(aside(self.staging))
        return False

    def _remove_staging(self) -> None:
        with contextlib.suppress(*FILE_ERRORS):
            if not self.temporary:
                try:
                    bring_back(self.files, self.staging, str(self.sink.path).rstrip("/"))
                except FILE_ERRORS:
                    # before publication began there is none to move back, and nothing to tell where no one answers
                    if self.publishing or self._is_aside():
                        log.error("the release that was there before stands in %s and could not be moved back", self.staging)
                        return
            self.files.delete(self.staging)

    def scratch_path(self, directory: str, name: str) -> str:
        """A place for an intermediate, remembered for removal."""
        self.scratch.append(posixpath.join(directory, f"{HIDDEN}{name}"))
        return self.scratch[-1]

    def remove_scratch(self) -> None:
        """Remove the intermediates that could not be persisted."""
        for path in self.scratch:
            with contextlib.suppress(*FILE_ERRORS):
                self.remove_intermediate(path)

    def remove_intermediate(self, path: str) -> None:
        """Remove one of them. Raises one of FILE_ERRORS."""
        (self.intermediates or self.files).delete(path)

    def refuse_columns(self, names: Sequence[str]) -> None:
        """ConfigurationError where the place can't take columns of these names: a directory takes any."""

    def refuse_input(self, table: DataFrame) -> None:
        """ConfigurationError where a file of the input lies in the output, by whatever links, globs or table names it was named."""
        if not self.temporary:
            self._refuse_files(table, str(self.sink.path), "output.path")

    def _refuse_files(self, table: DataFrame, path: str, key: str) -> None:
        """ConfigurationError where a file of ``table`` lies in ``path``, the output by its ``key``."""
        if not self.files.exists(path):
            return
        target = real_place(self.files.local(path) or path)
        files: list[str] = []
        with contextlib.suppress(*SPARK_ERRORS):
            files = table.inputFiles()
        if any(real_place(file) == target or real_place(file).startswith(target + "/") for file in files):
            fault = Fault(self.where, key, f"{path}, which holds the input", "a place apart from it", "choose another")
            raise ConfigurationError([fault])

    def read(self, spark: SparkSession, staged: DataFrame) -> DataFrame:
        """The release where it is published, by the schema that was audited."""
        return read_back(spark, self.sink, str(self.sink.path), staged.schema)


def refuse_places(spark: SparkSession, policy: Policy) -> Files | None:
    """Refuse paths of the job that can't be read or written before anything is computed. Raises ConfigurationError.

    Returns the file system of intermediates, None where there is no directory for them.
    """
    paths = {
        "input.path": policy.input.path if policy.input else None,
        "output.path": policy.output.path if policy.output else None,
        "settings.staging": policy.settings.staging,
    }
    refuse_relative(spark, policy.where, paths)
    refuse_patterns(policy.where, {key: paths[key] for key in ("output.path", "settings.staging")})
    if policy.report is not None:
        refuse_file(opened(spark, policy.report, policy.where, "report.path"), normal(policy.report), policy.where, "report.path")
    if policy.settings.staging is None:
        return None
    scratch = opened(spark, policy.settings.staging, policy.where, "settings.staging")
    refuse_file(scratch, normal(policy.settings.staging), policy.where, "settings.staging")
    return scratch


def open_output(spark: SparkSession, policy: Policy, release_id: str) -> Output:
    """Refuse a directory that can't be written before anything is computed; a temporary one where the policy names none.

    Raises ConfigurationError.
    """
    scratch = refuse_places(spark, policy)
    if policy.output is None or policy.output.path is None:
        staging = posixpath.join(_temporary(spark, policy), f"{HIDDEN}{release_id}")
        return Output(Sink(path=inside(staging)), staging, files_of(spark, staging), True, policy.where, intermediates=scratch)
    refuse_unknown(spark, policy.output.format, policy.where, "output")
    refuse_refused(spark, policy.output, policy.where)
    files = opened(spark, policy.output.path, policy.where, "output.path")
    target = target_of(files, policy.output.path, policy.where)
    sink = replace(policy.output, path=target)
    refuse_existing(files, sink, policy.where)
    refuse_file(files, target, policy.where, "output.path")
    refuse_foreign(files, sink, policy.where, needed_of(policy))
    claim = Claim(files, target, release_id, policy.where)
    return Output(sink, staging_of(target, release_id), files, False, policy.where, claim, intermediates=scratch)


def needed_of(policy: Policy) -> dict[str, str]:
    """What of the job's own, by name, may not lie in its output: what it reads, and what is for the owner alone."""
    needed = {}
    if Path(policy.where).is_file():
        needed["the configuration"] = policy.where
    for column in policy.columns:
        if isinstance(column.hierarchy, FileHierarchy):
            with contextlib.suppress(ConfigurationError):
                needed[f"the hierarchy of {column.name},"] = str(find_tree(column.hierarchy.path, near_of(policy)))
    if policy.report is not None:
        needed["the report's directory"] = policy.report
    if policy.settings.staging is not None:
        needed["settings.staging"] = policy.settings.staging
    return needed


def _temporary(spark: SparkSession, policy: Policy) -> str:
    if policy.settings.staging:
        return policy.settings.staging
    if is_connect(spark):
        fault = Fault(
            policy.where, "settings.staging", "nothing", "a directory that the server can write", "set it, or give an output"
        )
        raise ConfigurationError([fault])
    return tempfile.gettempdir()


@contextlib.contextmanager
def report_files(spark: SparkSession, policy: Policy, release_id: str, texts: dict[str, str]) -> Iterator[None]:
    """Write the report beside its place first, publish in the body, then rename: a report that can't be written stops the release.

    Raises PlatformError before the body alone: what is published then is published, and a warning tells where its report lies.
    """
    if policy.report is None:
        yield
        return
    path = normal(policy.report)
    with file_faults(policy.where, "report.path", "the report could not be written"):
        files = files_of(spark, path)
    staged = {name: posixpath.join(path, f"{HIDDEN}{release_id}-{name}") for name in texts}
    try:
        with file_faults(policy.where, "report.path", "the report could not be written", makes=True):
            for name, text in texts.items():
                files.write(staged[name], text)
        yield
    except BaseException:
        for source in staged.values():
            with contextlib.suppress(*FILE_ERRORS):
                files.delete(source)
        raise
    for name, source in staged.items():
        try:
            files.delete(posixpath.join(path, name))
            files.rename(source, posixpath.join(path, name))
        except FILE_ERRORS:
            log.warning("the report %s could not be renamed; it is in %s", posixpath.join(path, name), source)
