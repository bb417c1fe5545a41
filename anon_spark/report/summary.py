"""The terminal's short account of a run, about 25 lines: plain text of 100 columns wherever there is no terminal."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from anon_spark.domain.counting import counted
from anon_spark.report import words
from anon_spark.report.document import Report
from anon_spark.report.parts import AuditFindings

WIDTH = 100
EXAMPLES_A_COLUMN = 2
MOST_COLUMNS = 8
MOST_WARNINGS = 3


def plain_console(file: TextIO) -> Console:
    """A console without colour, links or wrapping by a terminal that is not there."""
    return Console(
        file=file, width=WIDTH, no_color=True, color_system=None, force_terminal=False, highlight=False, emoji=False, markup=False
    )


def print_summary(
    report: Report,
    file: TextIO,
    *,
    examples: Sequence[words.Example] = (),
    release: str | None = None,
    page: str | None = None,
    start_up: float | None = None,
) -> None:
    """Print the summary: with colour and the terminal's width on a terminal, plain elsewhere. release, page: where they lie.
    start_up: seconds that Spark took to start before the run."""
    told = summary(report, examples=examples, release=release, page=page, start_up=start_up)
    if not getattr(file, "isatty", lambda: False)():
        file.write(as_text(told))
        return
    show(Console(file=file, highlight=False, emoji=False, markup=False), told)


def render_summary(
    report: Report, *, examples: Sequence[words.Example] = (), release: str | None = None, page: str | None = None
) -> str:
    """The summary as plain text, lines of at most 100 characters without trailing blanks."""
    return as_text(summary(report, examples=examples, release=release, page=page))


def as_text(renderable: RenderableType) -> str:
    """Plain text of anything that rich shows."""
    held = io.StringIO()
    show(plain_console(held), renderable)
    return "\n".join(line.rstrip() for line in held.getvalue().splitlines()) + "\n"


def show(console: Console, renderable: RenderableType) -> None:
    """Print it, part by part: a text that says it must not wrap, as a path does that is to be copied, keeps its line whatever the width."""
    for part in renderable.renderables if isinstance(renderable, Group) else [renderable]:
        console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))


def summary(
    report: Report,
    *,
    examples: Sequence[words.Example] = (),
    release: str | None = None,
    page: str | None = None,
    start_up: float | None = None,
) -> Group:
    """What rich shows: verdict, what was asked, columns with examples, classes, loss, audit, warnings, where things lie."""
    head = Text(words.verdict(report), style="bold green" if report.published else "bold red")
    levels = _columns(report, examples)
    return Group(
        head,
        grid({"asked": words.asked(report)}),
        *([levels] if levels is not None else []),
        grid(_figures(report, start_up)),
        *places({"release": release, "report": page}),
    )


def grid(lines: Mapping[str, Sequence[str]]) -> Table:
    """A name and its lines, the name beside the first alone; text is never read as markup."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, told in lines.items():
        for i, line in enumerate(told):
            # versions of rich differ in whether a least width counts the blanks beside it
            facts.add_row(name.ljust(10) if i == 0 else "", Text(line))
    return facts


def places(paths: Mapping[str, str | None]) -> list[Text]:
    """A line a path that is there, under the names of a grid, never wrapped."""
    return [Text.assemble((name.ljust(10) + "  ", "dim"), path, no_wrap=True) for name, path in paths.items() if path is not None]


def _columns(report: Report, examples: Sequence[words.Example]) -> Table | None:
    """A row a quasi-identifier: name, level in a lattice or else what was lost, a few distinct values with their labels."""
    told: dict[str, list[str]] = {}
    for example in examples:
        told.setdefault(example.column, []).append(_example(example))
    figures = {name: words.figure(level) for name, level in report.lattice.levels.items()} if report.lattice else {}
    if not report.lattice and report.loss:
        figures = {name: words.share(lost) for name, lost in report.loss.by_column.items()}
    chosen = figures or dict.fromkeys(told, words.NONE)
    if not chosen:
        return None
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("column", no_wrap=True, overflow="ellipsis", max_width=28)
    table.add_column("level" if report.lattice else "lost", justify="right", no_wrap=True)
    table.add_column("before -> after" if told else "", no_wrap=True, overflow="ellipsis")
    for name, figure in list(chosen.items())[:MOST_COLUMNS]:
        rare = "(no value that enough rows share)" if told else ""
        table.add_row(Text(name), figure, Text(";  ".join(told.get(name, [])[:EXAMPLES_A_COLUMN]) or rare))
    if len(chosen) > MOST_COLUMNS:
        table.add_row(f"and {len(chosen) - MOST_COLUMNS} more", "", "")
    return table


def _example(example: words.Example) -> str:
    before, after = "rare values" if example.rare else words.label(example.before), words.label(example.after)
    return f"{before} (unchanged)" if before == after else f"{before} -> {after}"


def _figures(report: Report, start_up: float | None) -> dict[str, list[str]]:
    """The facts under their names; what is not known is left out."""
    out: dict[str, str | None] = {"suppressed": words.suppressed(report)}
    if report.output is not None:
        size = report.output.class_size
        sizes = f": {words.count(size.min)} to {counted(size.max, 'row')}, median {words.figure(size.median)}" if size else ""
        out = {"classes": f"{words.count(report.output.classes)}{sizes}", **out}
    if report.loss is not None:
        bound = report.loss.gcp_lower_bound
        least = "" if bound is None else f" (no release can be below {words.share(bound)})"
        out["loss"] = f"GCP {words.share(report.loss.gcp)}{least}, distortion {words.share(report.loss.distortion)}"
    if report.lattice is not None:
        nodes = report.lattice
        out["lattice"] = (
            f"{counted(nodes.nodes, 'node')}: {nodes.checked:,} checked, {nodes.marked:,} marked, {nodes.pruned:,} pruned"
        )
    out["audit"] = None if report.audit is None else _audit(report.audit)
    before = "" if start_up is None else f", after {words.seconds(start_up)} to start Spark"
    out["time"] = None if report.seconds is None else words.seconds(report.seconds) + before
    told = {name: [text] for name, text in out.items() if text is not None}
    told["warnings"] = [_cut(warning) for warning in report.warnings[:MOST_WARNINGS]]
    if len(report.warnings) > MOST_WARNINGS:
        told["warnings"].append(f"and {len(report.warnings) - MOST_WARNINGS} more in the report")
    return told


def _audit(audit: AuditFindings) -> str:
    """The verdict, then what failed, or how many checks passed."""
    failed = [
        f"{finding.check}: {finding.text}" if finding.text else finding.check for finding in audit.findings if not finding.ok
    ]
    if audit.ok:
        return f"passed, {counted(len(audit.findings), 'check')}" if audit.findings else "passed"
    return "REFUSED" + (": " + "; ".join(failed[:3]) if failed else "")


def _cut(text: str, most: int = 3 * WIDTH) -> str:
    return text if len(text) <= most else text[: most - 3].rstrip() + "..."
