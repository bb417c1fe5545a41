"""The page's drawings: there, told to those who do not see them, of the page's colours, harmless, and not missed where they are absent."""

from __future__ import annotations

import builtins
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from test_report_html import EVIL, REPORT, Page

from anon_spark.algorithms.lattice_picture import MOST_DRAWN, picture
from anon_spark.algorithms.node_space import NodeSpace
from anon_spark.metrics.size_histogram import size_histogram
from anon_spark.report import plots
from anon_spark.report.figures import Figures, Marginal
from anon_spark.report.html import render_html
from anon_spark.report.parts import LatticeFigures

SMALL, LARGE = NodeSpace((0, 0), (3, 2)), NodeSpace((1, 0, 0, 0), (5, 4, 4, 4))
DRAWINGS = ["plot-loss", "plot-sizes", "plot-marginal-0", "plot-marginal-1", "plot-lattice"]


def figures(space: NodeSpace = SMALL, label: str = "17") -> Figures:
    """A lattice in which the nodes from (1, .. 1) on hold, the lowest of them and the first node being checked."""
    full, checked = np.zeros(space.shape, bool), np.zeros(space.shape, bool)
    full[tuple(slice(1, None) for _ in space.shape)] = True
    checked[(0,) * len(space.shape)] = checked[(1,) * len(space.shape)] = True
    ages = tuple(str(20 + i) for i in range(8))
    return Figures(
        marginals=(
            Marginal("age", "quasi-identifier", ages, tuple(range(10, 18)), tuple(13.5 for _ in ages), True),
            Marginal(label, "sensitive", (label, None, "others"), (60, 30, 10), None),
        ),
        least=10,
        sizes=size_histogram({10: 4, 11: 2, 400: 1}),
        lattice=picture(space, full, checked),
        bounds={"sex": 0.25},
        blocks=(3, 5, 6, 9),
    )


def report(space: NodeSpace = SMALL):
    chosen = dict(zip("abcd", (low + 1 for low in space.low), strict=False))
    return replace(REPORT, lattice=LatticeFigures(chosen, space.size, 2, 3, 1, None))


def drawings(text: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(found) for found in re.findall(r"<svg .*?</svg>", text, re.DOTALL)]


@pytest.fixture
def matplotlib() -> None:
    pytest.importorskip("matplotlib")


@pytest.mark.usefixtures("matplotlib")
@pytest.mark.parametrize("space", [SMALL, LARGE])
def test_every_drawing_is_there_and_told(space: NodeSpace) -> None:
    text = render_html(report(space), (), figures(space))
    found = drawings(text)
    assert sorted(svg.attrib["aria-labelledby"].split()[0].removesuffix("-t") for svg in found) == sorted(DRAWINGS)
    for svg in found:
        assert svg.attrib["role"] == "img"
        title, description = svg[0], svg[1]
        assert (title.tag, description.tag) == ("title", "desc") and title.text and description.text
        assert svg.attrib["aria-labelledby"] == f"{title.attrib['id']} {description.attrib['id']}"
    ids = [value for name, value in Page(text).attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert text == render_html(report(space), (), figures(space))


@pytest.mark.usefixtures("matplotlib")
def test_drawings_have_the_pages_colours_and_nothing_that_loads() -> None:
    text = render_html(report(), (), figures())
    for svg in drawings(text):
        told = ElementTree.tostring(svg, encoding="unicode")
        assert "var(--" in told and not re.search(r"(fill|stroke): #|font-family|font:", told)
        assert {part.tag for part in svg.iter()} <= {"svg", "title", "desc", "g", "path", "text", "tspan"}
    assert not re.search(r"https?:|url\(|@import|<script|<style[^>]*>\*", text)


@pytest.mark.usefixtures("matplotlib")
@pytest.mark.parametrize("label", [EVIL, "$\\frac{1}{2}$ and $x", "a\x00b\nc", "漢" * 50, " ", "$"])
def test_any_label_can_be_drawn(label: str) -> None:
    text = render_html(report(), (), figures(label=label))
    assert len(drawings(text)) == len(DRAWINGS)
    assert "<script" not in text and "<b>bold" not in text
    assert Page(text).open == []


@pytest.mark.parametrize("absent", [True, False])
def test_the_page_is_whole_without_drawings(absent: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where matplotlib is absent, or fails: all figures stand in tables, which are then open."""
    real = builtins.__import__

    def importing(name: str, *more: object, **named: object) -> object:
        if name.startswith("matplotlib"):
            raise ImportError(name) if absent else RuntimeError("broken")
        return real(name, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", importing)
    text = render_html(report(), (), figures())
    monkeypatch.undo()
    page = Page(text)
    assert "<svg" not in text and page.open == []
    assert [value for name, value in page.attributes if name == "open"] == [None] * len(DRAWINGS)
    for told in (
        "Rows of a class Classes Rows in them",
        "sex 100 % 25 %",
        "20 9.26 % 12.5 %",
        "(null) 30 % –",
        "cut into 3 blocks of 5 to 9 combinations, median 6",
        "Where a lattice is decided on Spark and leaves rows out, what is left of a column is not counted.",
    ):
        assert told in page.text, told


def test_a_large_lattice_is_told_by_height_and_a_small_one_by_node() -> None:
    assert SMALL.size <= MOST_DRAWN < LARGE.size
    small, large = figures(SMALL).lattice, figures(LARGE).lattice
    assert small is not None and large is not None
    fates = dict(small.nodes)
    assert len(fates) == SMALL.size and fates[(0, 0)] == "fails" and fates[(1, 1)] == "holds"
    assert fates[(2, 1)] == "marked" and fates[(0, 2)] == "pruned"
    assert small.lowest == 0 and sum(map(sum, small.by_height)) == SMALL.size and small.by_height[0] == (0, 1, 0, 0)
    assert large.nodes == () and large.lowest == 1 and sum(map(sum, large.by_height)) == LARGE.size
    assert large.by_height[4] == (1, 0, 0, sum(1 for p in range(LARGE.size) if sum(LARGE.steps(p)) == 4) - 1)


def test_ticks_are_few_and_reach_both_ends() -> None:
    assert plots._some(1, 6) == [0] and plots._some(3, 6) == [0, 1, 2]
    assert plots._some(24, 6)[0] == 0 and plots._some(24, 6)[-1] == 23 and len(plots._some(24, 6)) == 6
