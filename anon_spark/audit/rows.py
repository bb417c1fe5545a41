"""Whether the rows of a release and those suppressed make up the input, within the limit."""

from __future__ import annotations

from anon_spark.audit.result import Finding
from anon_spark.audit.words import figure
from anon_spark.domain.counting import counted
from anon_spark.domain.policy import Policy


def row_findings(policy: Policy, rows: int, starred: int, rows_of_input: int | None, suppressed: int | None) -> list[Finding]:
    """rows: published; starred: those of them that print the root everywhere; suppressed: as the job says, dropped or starred."""
    found = [] if rows else ["the release is empty"]
    if rows_of_input is not None:
        dropped = rows_of_input - rows
        allowed = int(policy.suppression.limit * rows_of_input)
        lost = dropped if suppressed is None else max(suppressed, dropped)
        if dropped < 0:
            found.append(f"{counted(rows, 'row')} published, {-dropped} more than the input's {rows_of_input}")
        elif suppressed is not None and not _adds_up(policy, dropped, starred, suppressed):
            found.append(
                f"{rows} published and {suppressed} suppressed do not make up the input's {counted(rows_of_input, 'row')}"
            )
        if lost > allowed:
            limit = figure(policy.suppression.limit)
            found.append(f"{counted(lost, 'row')} suppressed of {rows_of_input}; the limit of {limit} allows {allowed}")
    return [Finding("rows", text) for text in found]


def _adds_up(policy: Policy, dropped: int, starred: int, suppressed: int) -> bool:
    """All of the suppressed rows are dropped, or all of them are among those that print the root everywhere."""
    return dropped == suppressed or (policy.suppression.show == "star" and dropped == 0 and starred >= suppressed)
