"""Figures as people read them: one wording for the page, the terminal and the notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anon_spark.domain.counting import counted
from anon_spark.domain.policy import FileHierarchy
from anon_spark.report.document import STATUS_OF_EXIT, Report
from anon_spark.report.places import without_secrets
from anon_spark.report.plain import number

NONE = "–"
"""What stands for a figure that has no meaning here."""
MOST_VALUES = 5
"""Listed values of a parameter that are shown."""

_NOT_PUBLISHED: Mapping[str, str] = {
    STATUS_OF_EXIT[1]: "Not published: the program failed by its own fault.",
    STATUS_OF_EXIT[2]: "Not published: the configuration is wrong.",
    STATUS_OF_EXIT[3]: "Not published: the data does not fit the configuration.",
    STATUS_OF_EXIT[4]: "Not published: it is proven that no release can hold what was asked.",
    STATUS_OF_EXIT[5]: "Not published: the independent audit refused the release.",
    STATUS_OF_EXIT[6]: "Not published: this job found no release that holds what was asked.",
    STATUS_OF_EXIT[7]: "Not published: the environment failed; a retry may help.",
    STATUS_OF_EXIT[8]: "Not published: another run holds this output.",
    STATUS_OF_EXIT[130]: "Not published: the run was interrupted.",
}


@dataclass(frozen=True)
class Example:
    """A distinct value of a quasi-identifier and the label it is published under. ``before`` is shown in the terminal alone.
    rare: whether the label is of values that fewer than k rows have each, so that none of them is told: ``before`` is None then."""

    column: str
    before: str | None
    after: str | None
    rare: bool = False


def count(value: object) -> str:
    """32561 -> 32,561."""
    return NONE if value is None else f"{int(str(value)):,}"


def share(value: object) -> str:
    """A share as per cent of three digits: 0.0404 -> 4.04 %; what is above nothing is never shown as 0, nor what is below all as 100 %.
    Relative errors may be above 1: 11.4 -> 1,140 %."""
    known = None if value is None else number(value)
    if known is None:
        return NONE
    percent = known * 100
    if 0 < percent < 0.001:
        return "< 0.001 %"
    if known > 1:
        return f"{percent:,.0f} %"
    return f"{percent:.3g} %" if percent < 99.95 or known == 1 else f"{min(percent, 99.999):.5g} %"


def figure(value: object) -> str:
    """A number for a table cell: whole numbers with thousands, others with four digits or, from 1,000 on, rounded."""
    if value is None:
        return NONE
    if isinstance(value, str):
        return value
    known = number(value)
    if known is None:
        return NONE
    if isinstance(known, int):
        return f"{known:,}"
    return f"{known:,.4g}" if abs(known) < 1000 else f"{round(known):,}"


def seconds(value: object) -> str:
    """0.0123 -> 0.01 s; 75 -> 1 min 15 s."""
    known = None if value is None else number(value)
    if known is None:
        return NONE
    if known < 60:
        return f"{known:.2f} s" if known < 10 else f"{known:.1f} s"
    minutes, rest = divmod(round(known), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def parameter(value: object) -> str:
    """A model's parameter as its owner wrote it."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {parameter(entry)}" for key, entry in value.items())
    if isinstance(value, str):
        return value
    if isinstance(value, FileHierarchy):
        return without_secrets(value.path)
    if isinstance(value, Sequence):
        told = ", ".join(parameter(entry) for entry in value[:MOST_VALUES])
        return told if len(value) <= MOST_VALUES else f"{told} and {len(value) - MOST_VALUES} more"
    known = number(value)
    return NONE if known is None else f"{known:g}" if isinstance(known, float) else f"{known:,}"


def model(name: str, parameters: Mapping[str, object]) -> str:
    """alpha-deassociation (column = occupation, alpha = 0.5): parameters that are not set are left out."""
    told = [f"{key} = {parameter(value)}" for key, value in parameters.items() if value is not None and value is not False]
    return f"{name} ({', '.join(told)})" if told else name


def label(value: str | None) -> str:
    """A published label; a null is told from the text null, an empty text is seen."""
    return "(null)" if value is None else value or "(empty)"


def verdict(report: Report) -> str:
    """The outcome of a run in one or two sentences."""
    if not report.published:
        return _NOT_PUBLISHED[report.status]
    done = "Published" if report.status == STATUS_OF_EXIT[0] else "Released to the caller, written nowhere"
    if report.output is not None:
        done += f": {counted(report.output.rows, 'row')} in {counted(report.output.classes, 'class', 'classes')}"
    agreed = ""
    if report.audit is not None:
        agreed = " The independent audit agrees." if report.models else " The independent audit found nothing amiss."
    held = " Every privacy model holds." if report.models and all(found.holds for found in report.models) else ""
    return f"{done}.{held}{agreed}"


def suppressed(report: Report) -> str | None:
    """What was left out, in one sentence; None where it is not known."""
    found = report.suppressed
    if found is None:
        return None
    if not found.rows and not found.null_rows:
        return "No row was suppressed."
    text = f"{counted(found.rows, 'row')} suppressed ({share(found.share)})." if found.rows else "No row was suppressed."
    return text + (f" Left out: {counted(found.null_rows, 'row')} with a null quasi-identifier." if found.null_rows else "")


def asked(report: Report) -> list[str]:
    """What was asked, a line each: the models, then what may be suppressed and what is minimised."""
    lines = [model(found.model, found.parameters) for found in report.models]
    columns: Sequence[Mapping[str, Any]] = report.policy.get("columns") or ()  # type: ignore[assignment]
    if who := [column.get("name") for column in columns if column.get("role") == "person"]:
        lines.append(f"counted in persons (column {who[0]}), of whom a class may hold more rows")
    limit = _get(report.policy, "suppression", "limit")
    if limit is not None:
        lines.append(f"suppression of at most {share(limit)} of the rows" if limit else "no suppression")
    if report.job == "lattice" and report.policy.get("loss"):
        lines.append(f"least {report.policy['loss']} among all generalizations")
    elif report.job == "top-down":
        lines.append("labels of each class's own, the least gcp that is found")
    return lines


def _get(mapping: Mapping[str, Any], *keys: str) -> Any:
    found: Any = mapping
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
