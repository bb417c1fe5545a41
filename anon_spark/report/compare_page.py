"""compare.html: the curve of privacy and utility as one page of its own."""

from __future__ import annotations

from collections.abc import Sequence

from anon_spark.report.comparison import COLUMNS, TOLD, Choice, Comparison, cells
from anon_spark.report.html import environment
from anon_spark.report.plain import number
from anon_spark.report.plots import MIDDLE, axes, drawn, place, text
from anon_spark.report.svg import COLOURS, inline, short
from anon_spark.report.words import share

Line = tuple[str, str, list[float | None]]
"""Name, colour, a value a choice."""


def render_page(found: Comparison) -> str:
    """The whole page as text."""
    held = [choice for choice in found.choices if choice.outcome == "holds"]
    return (
        environment()
        .get_template("compare.html")
        .render(
            found=found,
            columns=COLUMNS,
            lines=[(choice.value, cells(choice)) for choice in held],
            failed=[(choice.value, TOLD[choice.outcome], choice.why) for choice in found.choices if choice.outcome != "holds"],
            plots=[plot for plot in _plots(found.key, held) if plot],
        )
    )


def _plots(key: str, held: Sequence[Choice]) -> list[str | None]:
    if len(held) < 2:
        return []
    lost: Line = ("information lost (GCP)", "blue", [_share(c.loss.gcp if c.loss else None) for c in held])
    bound: Line = ("at least (bound)", "soft", [_share(c.loss.gcp_lower_bound if c.loss else None) for c in held])
    risk: Line = ("highest risk", "bad", [_share(c.risk_max) for c in held])
    error: Line = ("error of range counts", "teal", [c.query_error for c in held])
    gone: Line = ("rows suppressed", "violet", [_share(c.suppressed) for c in held])
    return [
        drawn(_curves, "plot-utility", "What is lost", key, held, [lost, bound, gone]),
        drawn(_curves, "plot-answers", "What can still be answered", key, held, [error]),
        drawn(_curves, "plot-risk", "Who can be picked out", key, held, [risk]),
    ]


def _share(value: object) -> float | None:
    known = None if value is None else number(value)
    return None if known is None else float(known)


def _curves(name: str, title: str, key: str, held: Sequence[Choice], lines: Sequence[Line]) -> str:
    shown = [line for line in lines if any(value for value in line[2])]
    ax = axes(210, MIDDLE)
    most = max((value for _, _, values in shown for value in values if value is not None), default=0.0) or 1.0
    for called, colour, values in shown:
        points = [(i, value) for i, value in enumerate(values) if value is not None]
        ax.plot([i for i, _ in points], [v for _, v in points], color=COLOURS[colour], linewidth=2)
        ax.bar([i for i, _ in points], [most * 0.03] * len(points), 0.09, [v - most * 0.015 for _, v in points], color=COLOURS[colour])
        at, value = points[-1]
        text(ax, at + 0.08, value, called, va="center", color=COLOURS["ink"])
    ax.set_xlim(-0.15, (len(held) - 1) * 1.55)
    ax.set_ylim(-most * 0.03, most * 1.1)
    ax.set_yticks([0, most], ["0", share(most)])
    ax.set_xticks(range(len(held)), [short(choice.value) for choice in held])
    for label in ax.get_xticklabels():
        label.set_parse_math(False)
    ax.axhline(0, color=COLOURS["line"], linewidth=0.8)
    place(ax, 52, 8, 8, 38)
    text(ax, (len(held) - 1) / 2, -most * 0.2, key, ha="center", va="top", color=COLOURS["soft"])
    told = "; ".join(
        f"{called}: {', '.join(f'{c.value} {share(v)}' for c, v in zip(held, values, strict=True))}" for called, _, values in shown
    )
    return inline(ax.figure, name, title, told + ".")
