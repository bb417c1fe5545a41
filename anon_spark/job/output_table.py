"""A table of Spark's catalogue as the output: files in a new directory beside its own, then one statement that names them.

A run that dies leaves a note beside the directory that it made (``_Note``): the next run removes whichever of the two directories that
it names the table does not read. Directories that no note names are never touched: another table may read them.
"""

from __future__ import annotations

import contextlib
import json
import logging
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from anon_spark.domain.errors import AnonError, ConfigurationError, Fault, OccupiedError, PlatformError
from anon_spark.domain.policy import Policy, Sink
from anon_spark.io.claims import Claim, held
from anon_spark.io.files import FILE_ERRORS, Files
from anon_spark.io.foreign import foreign, refuse_foreign
from anon_spark.io.places import normal, opened
from anon_spark.io.spark_errors import SPARK_ERRORS, error_class, names_in
from anon_spark.io.staging import HIDDEN, real_place, refuse_patterns
from anon_spark.io.stored_tables import (
    FORMATS,
    KEY,
    Stored,
    create_table,
    database_location,
    full_name,
    refuse_names,
    refuse_types,
    refuse_unfit,
    set_location,
    stored_table,
)
from anon_spark.io.table_names import quoted
from anon_spark.job.output import Output, needed_of, refuse_places

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class TableOutput(Output):
    """spark: the session whose catalogue knows the table; table: its database and name; before: what the catalogue told of it before
    the run, None where there was none; columns: of what was written. ``staging`` is the new directory, where the files also stay."""

    spark: SparkSession
    table: tuple[str, str]
    before: Stored | None
    columns: list[T.StructType] = field(default_factory=list)

    @property
    def staged(self) -> str:
        """Where the release is written, and will lie."""
        return self.staging

    @property
    def shown(self) -> str:
        """The table's name in messages."""
        return ".".join(self.table)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the table against other runs, a note of this run's directory beside it."""
        if self.claim is None:
            yield
            return
        with held(self.claim, self._clear):
            note = _Note(self.files, self.staging, self.shown)
            try:
                note.write(_location(self.before))
                yield
            finally:
                note.settle(self._now)

    def write(self, release: DataFrame) -> None:
        """Write the release into its directory. Raises ConfigurationError where the table that is there has columns of other types."""
        if self.before is not None:
            refuse_types(self.before, release.schema, self.shown, self.where)
        self.columns.append(release.schema)
        super().write(release)

    def refuse_columns(self, names: Sequence[str]) -> None:
        """ConfigurationError where the table that is there has other columns."""
        if self.before is not None:
            refuse_names(self.before, list(names), self.shown, self.where)

    def refuse_input(self, table: DataFrame) -> None:
        """ConfigurationError where a file of the input is one of the table's."""
        if self.before is not None and self.before.location is not None:
            self._refuse_files(table, self.before.location, KEY)

    def publish(self) -> None:
        """Make the staged files the table's by one statement; what it read before is removed then."""
        if self.claim is not None:
            self.claim.confirm()
        now = stored_table(self.spark, self.table, self.where)
        self._refuse_changed(now)
        self.publishing.append(self.staging)
        try:
            if now is None:
                create_table(self.spark, self.table, self.sink.format, self.staging, self.columns[-1])
            else:
                set_location(self.spark, self.table, self.staging)
        except BaseException as error:
            # the metastore may have done it all the same
            if not isinstance(error, SPARK_ERRORS) or not self._is_published():
                raise self._refused(error) from None

    def _refused(self, error: BaseException) -> BaseException:
        if not isinstance(error, SPARK_ERRORS):
            return error
        if "TABLE_OR_VIEW_ALREADY_EXISTS" in names_in(error):
            return _fault(self.where, f"{self.shown} appeared during the run", "a new name", "run the job again with mode overwrite")
        return PlatformError(
            f"{self.where}: {KEY}: the statement that publishes {self.shown} failed ({error_class(error)}); "
            "the table is as it was; running the job again may help"
        )

    def _refuse_changed(self, now: Stored | None) -> None:
        """ConfigurationError where somebody made, dropped or changed the table during the run."""
        advice = "let nobody else change it meanwhile, and run the job again"
        if now != self.before:
            found = f"{self.shown} appeared during the run" if self.before is None else f"{self.shown}, which changed during the run"
            raise _fault(self.where, found, "the table as it was at the start", advice)

    def _now(self) -> str | None:
        """Where the table's files lie now; None where there is no table."""
        return _location(stored_table(self.spark, self.table, self.where))

    def _is_published(self) -> bool:
        with contextlib.suppress(*SPARK_ERRORS, ConfigurationError):
            now = self._now()
            return now is not None and _same(self.files, now, self.staging)
        return False

    def _remove_staging(self) -> None:
        # the note is settled when the claim is left: until then nothing tells whether the table reads this directory
        if not self._may_be_read():
            with contextlib.suppress(*FILE_ERRORS):
                self.files.delete(self.staging)

    def _may_be_read(self) -> bool:
        try:
            now = self._now()
        except (*SPARK_ERRORS, AnonError, AttributeError, OSError, ValueError):
            # a session that answers no more may have published: only before the statement is it known that it did not
            return bool(self.publishing)
        return now is not None and _same(self.files, now, self.staging)

    def _clear(self, files: Files, target: str) -> None:
        """Remove what runs that are dead left of this table."""
        for note in _notes(files, posixpath.dirname(target), self.shown):
            note.settle(self._now)

    def read(self, spark: SparkSession, staged: DataFrame) -> DataFrame:
        """The release as the table shows it."""
        return spark.read.table(quoted(*self.table))


@dataclass(frozen=True)
class _Note:
    """Names the new directory of a run and the one that the table read before. It lies beside the new one, hidden."""

    files: Files
    staging: str
    table: str

    @property
    def path(self) -> str:
        parent, name = posixpath.split(self.staging)
        return posixpath.join(parent, f"{_prefix(self.table)}{name}.note")

    def write(self, old: str | None) -> None:
        self.files.write(self.path, json.dumps({"old": old}))

    def settle(self, now: Callable[[], str | None]) -> None:
        """Remove the directory that the table does not read, then the note; both stay where that can't be told."""
        try:
            old, reads = json.loads(self.files.read(self.path)).get("old"), now()
            if reads is not None and _same(self.files, reads, self.staging):
                gone = old
            elif reads == old or (reads is not None and old is not None and _same(self.files, reads, old)):
                gone = self.staging
            else:
                log.warning("the table %s was changed by others: %s is left, remove it if nothing reads it", self.table, self.staging)
                gone = None
            if gone is not None and self.files.exists(gone):
                if foreign(self.files.names(gone)) is None:
                    self.files.delete(gone)
                else:
                    log.warning("%s holds more than a release: it is left, though the table %s reads it no more", gone, self.table)
            self.files.delete(self.path)
        except (*FILE_ERRORS, AnonError, ValueError, AttributeError):
            log.warning("what a run left of the table %s could not be removed: the next run tries again", self.table)


def _prefix(table: str) -> str:
    return f"{HIDDEN}{quote(table, safe='')}-of-"


def _notes(files: Files, folder: str, table: str) -> list[_Note]:
    ours = re.compile(re.escape(_prefix(table)) + r"(.+-[0-9a-f]{32})\.note")
    found = [ours.fullmatch(name) for name in files.names(folder)]
    return [_Note(files, posixpath.join(folder, match[1]), table) for match in found if match]


def _location(stored: Stored | None) -> str | None:
    return None if stored is None else stored.location


def _same(files: Files, one: str, other: str) -> bool:
    return real_place(files.local(one) or one) == real_place(files.local(other) or other)


def open_table(spark: SparkSession, policy: Policy, sink: Sink, release_id: str) -> TableOutput:
    """Refuse a table that one statement can't publish before anything is computed. Raises ConfigurationError."""
    scratch = refuse_places(spark, policy)
    where = policy.where
    name = full_name(spark, str(sink.table), where)
    shown = ".".join(name)
    before = stored_table(spark, name, where)
    if before is None:
        if sink.format.lower() not in FORMATS:
            found = f"a new table of the format {sink.format}"
            raise _fault(where, found, "parquet or orc", "others are not tried yet: publish to output.path")
        folder = database_location(spark, name[0], where)
    elif sink.mode == "error":
        advice = "choose another, or set output.mode: overwrite"
        raise OccupiedError([Fault(where, KEY, f"{shown}, which exists already", "a new name", advice)])
    else:
        location = refuse_unfit(before, shown, sink.format, where)
        sink = replace(sink, format=before.format or sink.format)
        folder = posixpath.dirname(location.rstrip("/"))
    _refuse_location(folder, where)
    files = opened(spark, folder, where, KEY)
    if before is not None:
        refuse_foreign(files, replace(sink, path=before.location), where, needed_of(policy), KEY)
    folder = normal(folder)
    claim = Claim(files, posixpath.join(folder, quote(shown, safe="")), release_id, where, KEY, shown)
    staging = posixpath.join(folder, f"{re.sub(r'[^A-Za-z0-9_]', '_', name[1])}-{release_id}")
    return TableOutput(sink=replace(sink, path=staging), staging=staging, files=files, temporary=False, where=where, claim=claim,
                       intermediates=scratch, spark=spark, table=name, before=before)  # fmt: skip


def _refuse_location(folder: str, where: str) -> None:
    """Locations are written into a statement: none that could end its text."""
    refuse_patterns(where, {KEY: folder})
    if "'" in folder or '"' in folder:
        raise _fault(where, f"files in {folder!r}", "a directory without quotes in its name", "choose another table")


def _fault(where: str, found: str, expected: str, advice: str) -> ConfigurationError:
    return ConfigurationError([Fault(where, KEY, found, expected, advice)])
