"""Which drawings a page has."""

from __future__ import annotations

from anon_spark.report.document import Report
from anon_spark.report.figures import Figures
from anon_spark.report.lattice_plot import COLOUR, MEANING, lattice
from anon_spark.report.plots import drawn, losses, marginal, sizes

LEGEND = tuple((fate, COLOUR[fate], MEANING[fate]) for fate in MEANING)
"""Fates of nodes, their colours, what they mean."""


def plots_of(report: Report, figures: Figures) -> dict[str, str | None]:
    """Name -> the drawing as SVG, or None: ``losses``, ``sizes``, ``lattice``, and ``marginal-0`` and so on."""
    found: dict[str, str | None] = {"losses": None, "sizes": None, "lattice": None}
    loss, searched = report.loss, report.lattice
    if loss is not None and loss.by_column and report.published:
        found["losses"] = drawn(losses, loss.by_column, figures.bounds, loss.gcp, loss.gcp_lower_bound)
    if figures.sizes:
        found["sizes"] = drawn(sizes, figures, asked_k(report))
    if figures.lattice is not None and searched is not None:
        found["lattice"] = drawn(lattice, figures.lattice, tuple(searched.levels), tuple(searched.levels.values()))
    for i, one in enumerate(figures.marginals):
        found[f"marginal-{i}"] = drawn(marginal, one, f"plot-marginal-{i}")
    return found


def asked_k(report: Report) -> int | None:
    """The largest k of the models asked for."""
    asked = [int(str(found.parameters["k"])) for found in report.models if found.parameters.get("k") is not None]
    return max(asked, default=None)
