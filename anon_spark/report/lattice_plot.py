"""The lattice as a drawing: every node of a small one, with what it generalizes; of a large one how many at each height."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from anon_spark.domain.recoding import FATES, LatticePicture, Levels
from anon_spark.report import words
from anon_spark.report.plots import MIDDLE, WIDTH, axes, place, text
from anon_spark.report.svg import COLOURS, inline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOUR = {"holds": "blue", "fails": "bad", "marked": "teal", "pruned": "violet"}
SHAPE = {"holds": 40, "fails": 3, "marked": 4, "pruned": 40}
"""Corners of a node's shape: colour is not all that tells fates apart."""
FAINT = {"pruned": 0.45}
MOST_NAMED = 60
"""Nodes that bear their levels."""
Point = tuple[float, float]


def lattice(picture: LatticePicture, columns: Sequence[str], chosen: Levels) -> str:
    """chosen: the level vector of the node that was published."""
    return _nodes(picture, columns, chosen) if picture.nodes else _heights(picture, sum(chosen))


def _nodes(picture: LatticePicture, columns: Sequence[str], chosen: Levels) -> str:
    rows = [list(found) for _, found in groupby(sorted(picture.nodes, key=lambda node: sum(node[0])), key=lambda node: sum(node[0]))]
    at: dict[Levels, Point] = {}
    for height, line in enumerate(rows):
        for i, (levels, _) in enumerate(line):
            at[levels] = (i - (len(line) - 1) / 2, float(height))
    widest = max(len(line) for line in rows)
    ax = axes(50.0 * len(rows) + 24, 2 * WIDTH)
    reach = max(widest / 2, 2.0)
    place(ax, 8, 8, 12, 12)
    ax.set(xlim=(-reach - 0.2, reach + 0.2), ylim=(-0.5, len(rows) - 0.5), xticks=[], yticks=[])
    for levels, (x, y) in at.items():
        for parent in _above(levels):
            if parent in at:
                ax.plot([x, at[parent][0]], [y, at[parent][1]], color=COLOURS["line"], linewidth=0.7, zorder=1)
    across, up = (2 * WIDTH - 16) / (2 * reach + 0.4), 50.0
    radius = min(9.0, 0.42 * across)
    for levels, fate in picture.nodes:
        _node(ax, at[levels], radius, (across, up), fate, levels == chosen)
        if len(picture.nodes) <= MOST_NAMED:
            x, y = at[levels]
            below = y - (radius + (7 if levels == chosen else 2)) / up
            text(ax, x, below, _vector(levels), ha="center", va="top", fontsize=9, color=COLOURS["soft"])
    told = "; ".join(f"{words.count(sum(f == fate for _, f in picture.nodes))} {MEANING[fate]}" for fate in FATES)
    return inline(
        ax.figure, "plot-lattice", "The lattice of generalizations",
        f"Nodes are levels of {', '.join(columns)}; raw values below, all * above. {told}. Chosen: {_vector(chosen)}.",
    )  # fmt: skip


MEANING: Mapping[str, str] = {
    "holds": "checked, holds", "fails": "checked, fails", "marked": "marked: holds, since one below it does",
    "pruned": "pruned: fails, or cannot be better",
}  # fmt: skip
"""What a node's fate is called."""


def _node(ax: Axes, centre: Point, radius: float, unit: Point, fate: str, is_chosen: bool) -> None:
    """A shape of so many pixels; unit: pixels of a step right and up."""
    from matplotlib.patches import RegularPolygon
    from matplotlib.transforms import Affine2D

    x, y = centre
    scaled = Affine2D().scale(radius / unit[0], radius / unit[1]).translate(x, y) + ax.transData
    if is_chosen:
        ring = {"facecolor": "none", "edgecolor": COLOURS["good"], "linewidth": 2.5}
        ax.add_patch(RegularPolygon((0, 0), 40, radius=1.6, transform=scaled, zorder=3, **ring))
    ax.add_patch(
        RegularPolygon(
            (0, 0), SHAPE[fate], radius=1.0 if fate != "pruned" else 0.6, facecolor=COLOURS[COLOUR[fate]],
            edgecolor=COLOURS["card"], linewidth=1, alpha=FAINT.get(fate), transform=scaled, zorder=2,
        )
    )  # fmt: skip


def _heights(picture: LatticePicture, chosen: int) -> str:
    ax = axes(210, MIDDLE)
    xs = [picture.lowest + i for i in range(len(picture.by_height))]
    floor = [0] * len(xs)
    for j, fate in enumerate(FATES):
        counts = [line[j] for line in picture.by_height]
        ax.bar(xs, counts, 0.86, bottom=floor, color=COLOURS[COLOUR[fate]], alpha=FAINT.get(fate, 1.0))
        floor = [a + b for a, b in zip(floor, counts, strict=True)]
    most = max(floor)
    ax.set_ylim(0, most * 1.2)
    ax.set_yticks([0, most], ["0", words.count(most)])
    ax.set_xticks(xs[:: 1 + len(xs) // 16])
    ax.plot([chosen, chosen], [0, most * 1.08], color=COLOURS["good"], linewidth=2)
    text(ax, chosen, most * 1.09, "chosen", ha="center", va="bottom")
    place(ax, 46, 20, 6, 38)
    ax.set_xlabel("sum of the levels: raw values left, all * right", color=COLOURS["soft"], fontsize=11)
    told = "; ".join(f"{words.count(sum(line[j] for line in picture.by_height))} {MEANING[fate]}" for j, fate in enumerate(FATES))
    return inline(ax.figure, "plot-lattice", "Nodes of the lattice by height", f"{told}. The chosen node's levels add up to {chosen}.")


def _above(levels: Levels) -> list[Levels]:
    return [(*levels[:i], level + 1, *levels[i + 1 :]) for i, level in enumerate(levels)]


def _vector(levels: Levels) -> str:
    return "".join(map(str, levels)) if max(levels) < 10 else ",".join(map(str, levels))
