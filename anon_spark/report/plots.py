"""The page's drawings, by matplotlib (extra ``plots``). Each has its figures in a table beside it, which is all where it is absent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anon_spark.report import words
from anon_spark.report.figures import Figures, Marginal
from anon_spark.report.plain import number
from anon_spark.report.svg import COLOURS, drawing, inline, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

log = logging.getLogger(__name__)
WIDTH, LINE = 340.0, 18.0
"""Pixels: a drawing is as wide as a narrow screen; a line of a bar chart is so high."""
MIDDLE = 460.0
"""One that is alone in its line; a narrow screen shrinks it a little."""
MOST_TICKS = 6


def drawn(draw: Callable[..., str], *given: Any) -> str | None:
    """A drawing, or None where matplotlib is absent or fails: a page without drawings tells the same, so no release waits for one."""
    try:
        with drawing():
            return draw(*given)
    except ImportError:
        log.info("no drawings: they need matplotlib (pip install 'anon-spark[plots]')")
    except Exception as error:
        log.warning("%s could not be drawn (%s): the page has its table", draw.__name__, type(error).__name__)
    return None


def axes(height: float, width: float = WIDTH) -> Axes:
    """Bare axes of a figure of its own, in pixels; nothing is clipped, so that no clip paths are needed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0, colors=COLOURS["soft"], labelsize=11, pad=3)
    return ax


def place(ax: Axes, left: float, right: float, top: float, bottom: float) -> None:
    """Margins in pixels."""
    width, height = (72 * side for side in ax.figure.get_size_inches())
    ax.set_position((left / width, bottom / height, 1 - (left + right) / width, 1 - (top + bottom) / height))


def text(ax: Axes, x: float, y: float, told: str, **more: Any) -> None:
    """Words as they are: a dollar begins no formula."""
    ax.text(x, y, told, parse_math=False, **{"color": COLOURS["ink"], "fontsize": 11, **more})


def losses(by_column: Mapping[str, Any], bounds: Mapping[str, Any], gcp: Any, bound: Any) -> str:
    """A bar a quasi-identifier and one of all; a mark where it cannot be below."""
    lines = [(name, float(number(value) or 0), bounds.get(name)) for name, value in by_column.items()]
    if gcp is not None:
        lines.append(("all, as weighted", float(number(gcp) or 0), bound))
    names = [short(name) for name, _, _ in lines]
    ax = axes(LINE * 1.3 * len(lines) + 30, MIDDLE)
    _bars(ax, names, [value for _, value, _ in lines], COLOURS["blue"], 1.0)
    for y, (_, value, least) in enumerate(lines):
        text(ax, value + 0.012, y, words.share(value), va="center")
        if least is not None and (known := float(number(least) or 0)) > 0:
            ax.plot([known, known], [y - 0.45, y + 0.45], color=COLOURS["bad"], linewidth=2)
    place(ax, _label_width(names), 52, 4, 22)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    told = "; ".join(f"{name} {words.share(value)}" for name, value, _ in lines)
    return inline(ax.figure, "plot-loss", "Information lost by column", f"A bar a column, red marks where k alone puts it. {told}.")


def sizes(figures: Figures, k: int | None) -> str:
    """How many classes have how many rows."""
    found = figures.sizes
    ax = axes(190, MIDDLE)
    heights = [b.classes for b in found]
    ax.bar(range(len(found)), heights, 0.86, color=COLOURS["blue"])
    names = [words.count(b.least) if b.least == b.most else f"{words.count(b.least)}–{words.count(b.most)}" for b in found]
    ticks = _some(len(found), 5)
    ax.set_xticks(ticks, [names[i] for i in ticks])
    _counts(ax, max(heights))
    place(ax, 52, 24, 18, 36)
    ax.set_xlabel("rows of a class" + (f" (k = {k})" if k else ""), color=COLOURS["soft"], fontsize=11)
    text(ax, -0.45, max(heights) * 1.06, "classes", va="bottom", color=COLOURS["soft"])
    told = "; ".join(f"{b.classes:,} of {name} rows" for b, name in zip(found, names, strict=True) if b.classes)
    return inline(ax.figure, "plot-sizes", "Classes by their size", f"Number of classes: {told}.")


def marginal(found: Marginal, name: str) -> str:
    """A bar a bin for the raw table, a mark for the release; along the values where they have an order."""
    shares = found.shares()
    most = max(max(b, a or 0.0) for b, a in shares) or 1.0
    before, after = [b for b, _ in shares], [a for _, a in shares]
    names = [short(label) for label in found.labels]
    upright = found.ordered and len(names) > 6
    if upright:
        ax = axes(150)
        ax.bar(range(len(names)), before, 0.86, color=COLOURS["blue"], alpha=0.55)
        ticks = _some(len(names), max(2, min(MOST_TICKS, 44 // max(len(text) for text in names))))
        ax.set_xticks(ticks, [names[i] for i in ticks])
        for label in ax.get_xticklabels():
            label.set_parse_math(False)
        ax.set_ylim(0, most * 1.05)
        ax.set_yticks([0, most], ["0", words.share(most)])
        place(ax, 46, 26, 10, 20)
    else:
        ax = axes(LINE * len(names) + 22)
        _bars(ax, names, before, COLOURS["blue"], most, alpha=0.55)
        ax.set_xlim(0, most * 1.02)
        ax.set_xticks([0, most], ["0", words.share(most)])
        place(ax, _label_width(names), 26, 2, 18)
    for i, value in enumerate(after):
        if value is not None:
            x, y = ([i - 0.43, i + 0.43], [value, value]) if upright else ([value, value], [i - 0.43, i + 0.43])
            ax.plot(x, y, color=COLOURS["ink"], linewidth=2, solid_capstyle="butt")
    told = "; ".join(f"{text} {_both(b, a)}" for text, (b, a) in zip(names, shares, strict=True))
    return inline(ax.figure, name, f"{found.column}: share of the rows, raw and released", told + ".")


def _both(before: float, after: float | None) -> str:
    return words.share(before) if after is None else f"{words.share(before)} and {words.share(after)}"


def _bars(ax: Axes, names: Sequence[str], values: Sequence[float], colour: str, whole: float, alpha: float = 1.0) -> None:
    """Lying bars on a track, the first on top."""
    ax.barh(range(len(names)), [whole] * len(names), 0.72, color=COLOURS["track"])
    ax.barh(range(len(names)), values, 0.72, color=colour, alpha=alpha)
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.set_yticks(range(len(names)), names)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
        label.set_color(COLOURS["ink"])


def _label_width(names: Sequence[str]) -> float:
    """Pixels of the longest label: a letter is some 6 wide, one of a wide script 11."""
    return max(sum(11.0 if ord(c) > 0x2E00 else 6.8 for c in text) for text in names) + 10


def _some(of: int, most: int) -> list[int]:
    """At most so many places, evenly, the first and the last among them."""
    shown = min(of, most)
    return sorted({round(i * (of - 1) / max(shown - 1, 1)) for i in range(shown)})


def _counts(ax: Axes, most: int) -> None:
    ticks = sorted({0, most // 2, most})
    ax.set_ylim(0, most * 1.04)
    ax.set_yticks(ticks, [words.count(n) for n in ticks])
    for n in ticks[1:]:
        ax.axhline(n, color=COLOURS["line"], linewidth=0.8, zorder=0)
