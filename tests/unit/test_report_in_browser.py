"""report.html as Chromium shows it: all drawings, no complaint, no request, nothing wider than the screen, told to a screen reader."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Tab, opened
from test_compare import FOUND
from test_report_html import EVIL
from test_report_plots import DRAWINGS, LARGE, SMALL, figures, report

from anon_spark.report.compare_page import render_page
from anon_spark.report.html import render_html
from anon_spark.report.words import Example

pytestmark = pytest.mark.browser
LOOKS = {"light": (1000, False, "screen"), "dark": (1000, True, "screen"), "narrow": (390, False, "screen"), "print": (800, False, "print")}
SEEN = """[...document.querySelectorAll('svg')].map(svg => {
  const box = svg.getBoundingClientRect();
  return [svg.getAttribute('aria-labelledby').split('-t ')[0], box.width > 100 && box.height > 20];
})"""


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with opened() as found:
        yield found


@pytest.fixture(scope="module", params=["small", "large", "evil"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    space = LARGE if request.param == "large" else SMALL
    label = EVIL if request.param == "evil" else "illness"
    path = tmp_path_factory.mktemp("page") / f"{request.param}.html"
    path.write_text(render_html(report(space), [Example("a", "raw", label)], figures(space, label)), encoding="utf-8")
    return path


@pytest.mark.parametrize("look", LOOKS)
def test_the_page_is_whole_and_quiet(tab: Tab, page: Path, look: str, tmp_path: Path) -> None:
    width, dark, medium = LOOKS[look]
    tab.looks(width, dark=dark, medium=medium)
    tab.open(page)
    assert tab.errors == []
    assert tab.requests == [page.as_uri()]
    assert sorted(tab.run(SEEN)) == sorted([name, True] for name in DRAWINGS)
    assert tab.run("document.documentElement.scrollWidth") <= width
    assert tab.run("performance.getEntriesByType('resource').length") == 0
    tab.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000


@pytest.mark.parametrize("look", LOOKS)
def test_the_comparison_is_whole_and_quiet(tab: Tab, look: str, tmp_path: Path) -> None:
    width, dark, medium = LOOKS[look]
    path = tmp_path / "compare.html"
    path.write_text(render_page(FOUND), encoding="utf-8")
    tab.looks(width, dark=dark, medium=medium)
    tab.open(path)
    assert tab.errors == [] and tab.requests == [path.as_uri()]
    assert sorted(tab.run(SEEN)) == [["plot-answers", True], ["plot-risk", True], ["plot-utility", True]]
    assert tab.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True])
def test_words_stand_out_from_their_ground(tab: Tab, page: Path, dark: bool) -> None:
    """Contrast of at least 4.5 (WCAG 2, level AA) for text, in drawings too: on the card's own colour."""
    tab.looks(1000, dark=dark)
    tab.open(page)
    colours = tab.run("""(() => {
      const found = {}; const card = getComputedStyle(document.querySelector('.tile')).backgroundColor;
      for (const e of document.querySelectorAll('section:not(.verdict):not(.warnings) :is(p, td, th, h2, h3, summary, svg text)')) {
        const style = getComputedStyle(e); found[e instanceof SVGElement ? style.fill : style.color] = e.textContent; }
      return [card, Object.entries(found)]; })()""")
    ground, texts = colours
    assert len(texts) >= 2
    for colour, told in texts:
        assert contrast(colour, ground) >= 4.5, (colour, ground, told)


def test_a_screen_reader_is_told_everything(tab: Tab, page: Path) -> None:
    tab.looks(1000)
    tab.open(page)
    met = tab.tree()
    assert tab.run("document.documentElement.lang") == "en"
    images = [name for role, name in met if role in ("image", "img", "graphics-document")]
    assert len(images) == len(DRAWINGS) and all(images)
    levels = tab.run("[...document.querySelectorAll('h1, h2, h3')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert tab.run("[...document.querySelectorAll('thead th')].every(th => th.scope === 'col')")
    # what scrolls sideways can be reached by the keyboard, and says what it is
    assert tab.run("[...document.querySelectorAll('.wide')].every(e => e.tabIndex === 0 && e.getAttribute('aria-label'))")


def contrast(one: str, other: str) -> float:
    """Of two colours as ``rgb(1, 2, 3)``."""
    lights = sorted(_light(colour) for colour in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _light(colour: str) -> float:
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
