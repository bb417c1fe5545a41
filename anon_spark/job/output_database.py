"""A table of a database (PostgreSQL, over JDBC) as the output: a staging table beside it, then one transaction.

A run holds an advisory lock of the database while it works: it ends with its connection, whatever becomes of the run. Staging tables
are known by their names; the next run that holds the lock removes them.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from anon_spark.domain.errors import AnonError, ConfigurationError, Fault, OccupiedError, OutputHeldError, PlatformError
from anon_spark.domain.policy import Policy, Sink
from anon_spark.io.jdbc_options import with_password
from anon_spark.io.jdbc_release import own_names, read_staged, read_table, spark_options, write_staged
from anon_spark.io.local_files import LocalFiles
from anon_spark.io.postgresql import Address, Database, DatabaseError, address_of
from anon_spark.io.postgresql_tables import (
    KEY,
    Facts,
    Place,
    commit,
    drop,
    exchange,
    exists,
    facts_of,
    leftovers,
    outlives,
    place_of,
    refuse_columns,
    refuse_names,
    refuse_unfit,
    rename,
    take,
)
from anon_spark.job.output import Output, refuse_places

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class DatabaseOutput(Output):
    """address: of the database; place: the table; before: what the server told of it before the run, None where there was none;
    released: the staging table; links: the connection that holds the lock; columns: of what was written. ``files`` and ``staging``
    are of intermediates alone."""

    address: Address
    place: Place
    before: Facts | None
    released: Place
    links: list[Database] = field(default_factory=list)
    columns: list[StructType] = field(default_factory=list)

    @property
    def is_files(self) -> bool:
        """A database has files of its own."""
        return False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the table against other runs; what dead runs left of it is removed."""
        try:
            self._hold()
            for staged in leftovers(self.links[-1], self.place):
                with contextlib.suppress(AnonError):
                    drop(self.links[-1], staged)
            yield
        finally:
            for link in self.links:
                link.close()

    def _hold(self) -> None:
        self.links.append(Database(self.address, self.where))
        if not take(self.links[-1], self.place):
            told = f"{self.where}: {KEY}: {self.place} is being written by another run; wait for it: its claim ends with its connection"
            raise OutputHeldError(told)

    def write(self, release: DataFrame) -> None:
        """Write the release to a staging table."""
        self.columns.append(release.schema)
        write_staged(release, spark_options(release.sparkSession, self.sink.options, self.where), self.released)

    def staged_release(self, spark: SparkSession, schema: StructType) -> DataFrame:
        """The staging table, by the schema that it was written with."""
        return read_staged(spark, spark_options(spark, self.sink.options, self.where), self.released, schema)

    def refuse_columns(self, names: Sequence[str]) -> None:
        """ConfigurationError where the table can't have columns of these names, or has others."""
        refuse_names(names, self.where)
        if self.before is not None:
            refuse_columns(self.before, self.place, names, self.where)

    def refuse_input(self, table: DataFrame) -> None:
        """A table of files is never in a database; that one table is input and output is seen in the configuration."""

    def publish(self) -> None:
        """Put the staged rows in place in one transaction, on the connection that holds the lock."""
        link = self._holding()
        names = self.columns[-1].names
        own = own_names(len(names))
        now = facts_of(link, self.place)
        if now != self.before:
            found = f"{self.place}, which changed during the run"
            raise _fault(self.where, found, "the table as it was at the start", "run the job again")
        if now is None:
            rename(link, self.released, self.place, own, names)
        else:
            exchange(link, self.released, self.place, own, names, self.where)
        try:
            commit(link)
        except DatabaseError:
            link.close()
            if not self._is_committed():
                raise

    def _holding(self) -> Database:
        """The connection that holds the lock; one that broke meanwhile is made again, if no other run has come in between."""
        try:
            self.links[-1].run("SELECT 1", "the claim is lost")
        except DatabaseError:
            self.links[-1].close()
            self._hold()
        return self.links[-1]

    def _is_committed(self) -> bool:
        """Whether a transaction took place whose end was not told. It did away with the staging table, and nothing else can have: until
        it has ended, that table is locked."""
        try:
            committed = not self._asked(lambda link: outlives(link, self.released))
        except AnonError:
            raise PlatformError(
                f"{self.where}: output: the connection broke in the very moment of publication: {self.place} holds the old release or "
                "the new one, whole; when the database answers again, run the job again"
            ) from None
        return committed

    def _is_at_hand(self) -> bool:
        return True

    def _is_staging(self) -> bool:
        with contextlib.suppress(AnonError):
            return self._asked(lambda link: exists(link, self.released))
        return False

    def _remove_staging(self) -> None:
        # a transaction that was broken off holds the table as long as its connection
        for link in self.links:
            link.close()
        try:
            self._asked(lambda link: drop(link, self.released))
        except AnonError:
            log.warning("the staging table %s could not be removed: the next run does it", self.released)

    def _asked(self, ask: Callable[[Database], T]) -> T:
        """The answer over a connection of its own."""
        link = Database(self.address, self.where)
        try:
            return ask(link)
        finally:
            link.close()

    def read(self, spark: SparkSession, staged: DataFrame) -> DataFrame:
        """The release as the database shows it."""
        options = spark_options(spark, self.sink.options, self.where)
        return read_table(spark, options, self.place, staged.columns, staged.schema)


def open_database(spark: SparkSession, policy: Policy, sink: Sink, release_id: str) -> DatabaseOutput:
    """Refuse a table that one transaction can't publish before anything is computed. Raises ConfigurationError."""
    scratch = refuse_places(spark, policy)
    where = policy.where
    address = address_of(with_password(spark, sink.options, where, "output"), where)
    link = Database(address, where)
    try:
        place = place_of(link, str(sink.place), where)
        before = facts_of(link, place)
    finally:
        link.close()
    if before is not None:
        if sink.mode == "error":
            advice = "choose another, or set output.mode: overwrite"
            raise OccupiedError([Fault(where, KEY, f"{place}, which exists already", "a new name", advice)])
        refuse_unfit(before, place, where)
    files = scratch or LocalFiles(tempfile.gettempdir())
    released = place.staging(release_id)
    return DatabaseOutput(sink=sink, staging=released.quoted, files=files, temporary=False, where=where, address=address, place=place,
                          before=before, released=released)  # fmt: skip


def _fault(where: str, found: str, expected: str, advice: str) -> ConfigurationError:
    return ConfigurationError([Fault(where, KEY, found, expected, advice)])
