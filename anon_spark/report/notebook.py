"""What a notebook shows of a release: a small block that takes its colours from the page around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anon_spark.domain.counting import counted
from anon_spark.report import words
from anon_spark.report.document import Report
from anon_spark.report.html import environment


def release_html(report: Report, tables: Mapping[str, int | None] | None = None) -> str:
    """HTML for ``_repr_html_``: verdict, models, figures, warnings; tables: name -> number of columns. Reads no row."""
    levels = report.lattice.levels if report.lattice else {}
    return (
        environment()
        .get_template("notebook.html")
        .render(
            report=report,
            verdict=words.verdict(report),
            suppressed=words.suppressed(report),
            levels=levels,
            tables=tables or {},
        )
    )


def risk_html(head: str, facts: Mapping[str, Sequence[str]], sets: Sequence[Sequence[str]], heads: Sequence[str]) -> str:
    """HTML of the risk of a raw table.  facts: name -> lines; sets: a line a set of columns, under ``heads``."""
    return environment().get_template("risk_notebook.html").render(head=head, facts=facts, sets=sets, heads=heads)


def release_text(report: Report) -> str:
    """One line for ``__repr__``."""
    lost = "" if report.loss is None or report.loss.gcp is None else f" GCP {words.share(report.loss.gcp)}."
    many = len(report.warnings)
    warned = f" {counted(many, 'warning')}: .report.warnings" if many else ""
    return f"<Release {report.job}: {words.verdict(report)}{lost}{warned}>"


def release_lines(report: Report) -> str:
    """What ``print`` shows: that line, and one a warning."""
    return "\n".join((release_text(report), *(f"warning: {text}" for text in report.warnings)))
