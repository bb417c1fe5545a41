"""A drawing of matplotlib's as a part of a page: no script, no reference, no style of its own; colours are the page's variables."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: Mapping[str, str] = {
    "ink": "#010101", "soft": "#010102", "line": "#010103", "track": "#010104", "card": "#010105",
    "blue": "#010106", "teal": "#010107", "violet": "#010108", "good": "#010109", "bad": "#01010a",
}  # fmt: skip
"""Name of a page's variable -> the colour that stands for it while matplotlib draws."""
_VARIABLE = {colour: f"var(--{name})" for name, colour in COLOURS.items()}
_KEPT = {"g": ("transform",), "path": ("d", "style", "transform"), "text": ("x", "y", "style", "transform"), "tspan": ("x", "y", "style")}
_FONT = re.compile(r"font: (?:[a-z]+ )?([0-9.]+px)[^;]*")
_FAMILY = re.compile(r"font-family: [^;]*(?:; )?")
_NUMBER = re.compile(r"-?\d+\.\d+")
LONGEST = 26
"""Characters of a label that are drawn; the table beside has all of it."""


@contextmanager
def drawing() -> Iterator[None]:
    """The settings that all drawings share, of this one call: the host's own stay."""
    import matplotlib as mpl

    settings = {"svg.fonttype": "none", "svg.hashsalt": "anon-spark", "font.size": 11, "axes.unicode_minus": False}
    with mpl.rc_context(settings), warnings.catch_warnings():
        # a font without some script's letters: the page's own font is what shows them
        warnings.simplefilter("ignore")
        yield


def inline(figure: Figure, name: str, title: str, description: str) -> str:
    """The figure as an <svg> of a page, which reads its title and description to those who do not see it. name: unique in the page."""
    held = io.StringIO()
    figure.savefig(held, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    root = ElementTree.fromstring(held.getvalue())
    _, _, width, height = root.attrib["viewBox"].split()
    parts = "".join(_copied(child) for child in root)
    return (
        f'<svg role="img" viewBox="0 0 {width} {height}" style="max-width:{width}px" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{escape(printable(title))}</title><desc id="{name}-d">{escape(printable(description))}</desc>{parts}</svg>'
    )


def short(label: str | None) -> str:
    """A label as it can be drawn: one line of printable characters."""
    text = "(null)" if label is None else printable(label) or "(empty)"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def printable(text: str) -> str:
    """The text without line ends and what a page may not hold."""
    return "".join(c if c.isprintable() else " " for c in text)


def _copied(element: ElementTree.Element) -> str:
    tag = element.tag.rpartition("}")[2]
    if tag not in _KEPT:
        return ""
    attributes = "".join(f" {key}={quoteattr(_plain(key, element.attrib[key]))}" for key in _KEPT[tag] if key in element.attrib)
    inside = "".join(_copied(child) for child in element)
    text = escape(element.text) if element.text and tag in ("text", "tspan") else ""
    return f"<{tag}{attributes}>{text}{inside}</{tag}>" if inside or text or tag == "path" else ""


def _plain(key: str, value: str) -> str:
    """Coordinates of two decimals, the page's font and colours."""
    if key == "style":
        # versions of matplotlib differ in whether the font is one property
        value = _FAMILY.sub("", _FONT.sub(r"font-size: \1", value))
        for colour, variable in _VARIABLE.items():
            value = value.replace(colour, variable)
        return value
    return " ".join(_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", value).split())
