"""report.html: the report as one page of its own, for the owner of the data. No network, no script, every value escaped."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from anon_spark.domain.counting import counted
from anon_spark.report import words
from anon_spark.report.document import Report
from anon_spark.report.figures import Figures
from anon_spark.report.page_plots import LEGEND, asked_k, plots_of
from anon_spark.report.parts import ClassSize, LatticeFigures, LossFigures
from anon_spark.report.plain import number, plain
from anon_spark.report.utility import utility_lines

MOST_MINIMAL = 20
MOST_LABELS = 6
MEASURES = (
    ("gcp", "GCP", "mean share of its domain that a published value covers: 0 untouched, 1 all *"),
    ("gcp_lower_bound", "lower bound of GCP", "no release of this table with this k can lose less"),
    ("distortion", "distortion", "levels generalized, of all levels"),
    ("glm", "general loss", "leaves hidden behind a published value"),
    ("discernibility", "discernibility", "rows that look like each row, summed"),
    ("c_avg", "average class", "rows a class, as a multiple of k"),
)
"""Loss measures in the order shown: key, name, what it means (METHODS 2.3-2.7, 2.12)."""


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates; autoescape is on for all, since labels and names come from data."""
    found = Environment(
        loader=PackageLoader("anon_spark.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(count=words.count, share=words.share, figure=words.figure, seconds=words.seconds, label=words.label)
    found.filters.update(counted=counted, zip=zip)
    found.globals.update(model=words.model)
    return found


def render_html(report: Report, examples: Sequence[words.Example] = (), figures: Figures | None = None) -> str:
    """The whole page as text. Of the examples only the published labels are shown, never the values before.

    figures: what is drawn; None where nothing was released.
    """
    shown = figures or Figures()
    return (
        environment()
        .get_template("report.html")
        .render(
            report=report,
            verdict=words.verdict(report),
            suppressed=words.suppressed(report),
            asked=words.asked(report)[len(report.models) :],
            tiles=_tiles(report),
            levels=_levels(report, examples),
            strip=_strip(report),
            measures=_measures(report.loss),
            losses=_bars(report.loss.by_column if report.loss else {}, whole=1.0),
            bounds={name: words.share(bound) for name, bound in shown.bounds.items()},
            figures=shown,
            plots=plots_of(report, shown),
            fates=LEGEND,
            search=_search(report.lattice),
            minimal=_minimal(report.lattice),
            steps=_steps(report),
            utility=utility_lines(report.utility),
            policy=json.dumps(plain(report.policy), ensure_ascii=False, indent=2) if report.policy else None,
        )
    )


def _tiles(report: Report) -> list[tuple[str, str, str]]:
    """(figure, name, remark) of what is looked at first."""
    out: list[tuple[str, str, str]] = []
    if report.output is not None:
        of = f"of {words.count(report.input.rows)} read" if report.input else ""
        out += [
            (words.count(report.output.rows), "rows published", of),
            (words.count(report.output.classes), "classes", "rows that look alike"),
        ]
        if report.output.class_size is not None:
            out.append((words.count(report.output.class_size.min), "rows in the smallest class", ""))
    if report.loss is not None and report.loss.gcp is not None:
        bound = report.loss.gcp_lower_bound
        out.append(
            (
                words.share(report.loss.gcp),
                "information lost (GCP)",
                f"at least {words.share(bound)} by k alone" if bound is not None else "",
            )
        )
    if report.suppressed is not None:
        out.append((words.share(report.suppressed.share), "rows suppressed", counted(report.suppressed.rows, "row")))
    if report.risk is not None and report.risk.prosecutor_max is not None:
        out.append((words.share(report.risk.prosecutor_max), "highest risk", "of being picked out in the release"))
    return out


def _levels(report: Report, examples: Sequence[words.Example]) -> list[tuple[str, int | None, list[str]]]:
    """(column, level or None outside a lattice, some labels) of each quasi-identifier."""
    labels: dict[str, list[str]] = {}
    for example in examples:
        labels.setdefault(example.column, []).append(words.label(example.after))
    chosen: Mapping[str, int | None] = report.lattice.levels if report.lattice else dict.fromkeys(labels)
    return [(name, level, list(dict.fromkeys(labels.get(name, ())))[:MOST_LABELS]) for name, level in chosen.items()]


def _strip(report: Report) -> list[tuple[str, str, float, str]]:
    """(name, figure, place in per cent on a logarithmic strip from 1 to the largest class, kind) of the class sizes."""
    size: ClassSize | None = report.output.class_size if report.output else None
    if size is None:
        return []
    k = asked_k(report)
    marks = [("smallest", size.min), ("median", size.median), ("mean", size.mean), ("largest", size.max)]
    top = math.log(max(float(size.max), k or 1, 2))
    placed = [(name, words.figure(value), 100 * math.log(max(float(value), 1)) / top, name) for name, value in marks]
    return placed + ([("k asked", words.figure(k), 100 * math.log(k) / top, "k")] if k else [])


def _measures(loss: LossFigures | None) -> list[tuple[str, str, str]]:
    if loss is None:
        return []
    shown = {"gcp", "gcp_lower_bound", "distortion", "glm"}
    return [
        (name, (words.share if key in shown else words.figure)(getattr(loss, key)), meaning) for key, name, meaning in MEASURES
    ]


def _bars(values: Mapping[str, Any], whole: float) -> list[tuple[str, str, float]]:
    """(name, figure, width in per cent) in the given order."""
    out = []
    for name, value in values.items():
        known = number(value) or 0.0
        out.append((name, words.share(value), max(0.0, min(100.0, 100.0 * known / whole))))
    return out


def _search(lattice: LatticeFigures | None) -> list[tuple[str, str, float]]:
    """(what became of nodes, how many, width in per cent) of the full lattice."""
    if lattice is None:
        return []
    whole = max(lattice.nodes, 1)
    return [
        (name, words.count(n), 100.0 * n / whole) for name in ("checked", "marked", "pruned") for n in [getattr(lattice, name)]
    ]


def _minimal(lattice: LatticeFigures | None) -> tuple[list[str], int]:
    """The first minimal nodes as level vectors, and how many more there are."""
    nodes = (lattice.minimal or ()) if lattice else ()
    return ["(" + ", ".join(str(level) for level in node) + ")" for node in nodes[:MOST_MINIMAL]], max(
        0, len(nodes) - MOST_MINIMAL
    )


def _steps(report: Report) -> list[tuple[str, str, float, str]]:
    """(step, time, width in per cent of the longest, sentence)."""
    times = [float(number(step.seconds) or 0.0) if step.seconds is not None else 0.0 for step in report.steps]
    longest = max(times, default=0.0) or 1.0
    return [
        (step.step, words.seconds(step.seconds), 100.0 * time / longest, step.text)
        for step, time in zip(report.steps, times, strict=True)
    ]
