"""The error for values of the data that a hierarchy does not know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anon_spark.domain.counting import counted
from anon_spark.domain.errors import DataError, Fault

WRITTEN = {"date": " (yyyy-MM-dd)", "timestamp": " (yyyy-MM-dd HH:mm:ss)"}
"""How values of a kind are written as text."""


class UnmappedError(DataError):
    """Values of one column are outside its hierarchy. Its text counts them; the values themselves are told only when asked.

    column: its name. unmapped: text -> rows of the values that are nowhere in the hierarchy; inner: of those that are inner nodes
    of it. distinct, rows: of the whole column. hint: a sentence on near misses, "" without any. kind: what every value had to be,
    where the hierarchy is a rule and no list that could be added to. file: of a hierarchy that is a list.
    """

    def __init__(
        self,
        where: str,
        column: str,
        unmapped: Mapping[str, int],
        inner: Mapping[str, int],
        distinct: int,
        rows: int,
        hint: str = "",
        kind: str = "",
        file: str = "",
    ):
        self.column, self.unmapped, self.inner = column, dict(unmapped), dict(inner)
        self.distinct, self.rows, self.hint, self.kind = distinct, rows, hint, kind
        faults = []
        if unmapped:
            counts = self._counts(unmapped, "unmapped")
            advice, expected = f"add them to {file or 'the hierarchy'}, or set others: root", "every value in its hierarchy"
            if kind:
                expected = f"every value to be one of kind {kind}{WRITTEN.get(kind, '')}"
                advice = "mend them, read the column in a query, or set others: root"
            faults.append(Fault(where, f"column {column}: {counts}", "", expected, f"{advice}; {hint}" if hint else advice))
        if inner:
            counts = self._counts(inner, "inner nodes of the hierarchy")
            advice = "set inner: accept to make each a leaf under its node"
            faults.append(Fault(where, f"column {column}: {counts}", "", "leaves", advice))
        super().__init__(faults)

    def _counts(self, found: Mapping[str, int], what: str) -> str:
        distinct, rows = counted(self.distinct, "distinct value"), counted(self.rows, "row")
        return f"{len(found):,} of {distinct} {what}, {sum(found.values()):,} of {rows}"

    def worst(self, limit: int = 5) -> tuple[tuple[str, int], ...]:
        """Up to ``limit`` of the values with their rows, most rows first: raw data, to be shown only to who asked for it."""
        found = {**self.unmapped, **self.inner}
        return tuple(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit])


class OutsideError(DataError):
    """Values of one or several columns are outside their hierarchies. errors: those of the columns, in the configured order."""

    def __init__(self, faults: Iterable[Fault], errors: Iterable[UnmappedError]):
        self.errors = tuple(errors)
        super().__init__(faults)
