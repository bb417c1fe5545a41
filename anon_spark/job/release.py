"""What a run returns: the tables as published or staged, the report, the classes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.domain.errors import InternalError
from anon_spark.plans.columns import named
from anon_spark.report.document import Report
from anon_spark.report.notebook import release_html, release_lines, release_text


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """An audited release. tables: by name, read from what was written and audited, never a plan that would run again unaudited.

    A release that was given no output lives in a temporary directory until ``close`` or the end of the process.
    """

    tables: Mapping[str, DataFrame]
    report: Report
    quasi_identifiers: tuple[str, ...]
    _remove: Callable[[], None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self._remove is not None:
            object.__setattr__(self, "_finalizer", weakref.finalize(self, self._remove))

    @property
    def table(self) -> DataFrame:
        """The one table of the release; InternalError where there are several."""
        if len(self.tables) != 1:
            raise InternalError(f"this release has the tables {', '.join(self.tables)}: use .tables")
        return next(iter(self.tables.values()))

    @cached_property
    def classes(self) -> DataFrame:
        """The equivalence classes as printed, with their rows (column ``rows``, or ``rows_`` where the table has one)."""
        name = "rows"
        while name in self.table.columns:
            name += "_"
        return self.table.groupBy(*[named(column) for column in self.quasi_identifiers]).agg(F.count(F.lit(1)).alias(name))

    def close(self) -> None:
        """Remove a release that was written to a temporary directory; one that was published stays."""
        finalizer = getattr(self, "_finalizer", None)
        if finalizer is not None:
            finalizer()

    def _repr_html_(self) -> str:
        return release_html(self.report, {name: len(table.columns) for name, table in self.tables.items()})

    def __repr__(self) -> str:
        return release_text(self.report)

    def __str__(self) -> str:
        return release_lines(self.report)

    def __enter__(self) -> Release:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
