"""report.html and the notebook's block: complete, of one file, escaped, without raw values."""

from __future__ import annotations

import dataclasses
import re
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from anon_spark.report.document import STATUS_OF_EXIT, Report
from anon_spark.report.html import render_html
from anon_spark.report.notebook import release_html, release_lines, release_text
from anon_spark.report.parts import (
    AuditFindings,
    ClassSize,
    Finding,
    Input,
    LatticeFigures,
    LossFigures,
    ModelFinding,
    Output,
    Risk,
    Step,
    Suppressed,
)
from anon_spark.report.words import Example

EVIL = "<b>bold</b><script>alert('x')</script>\"&"
REPORT = Report(
    job="lattice",
    status="published",
    release_id="r-1",
    started="2026-01-02T03:04:05+00:00",
    seconds=75.2,
    steps=(Step("search", 1.5, "Checked 21 nodes."), Step("write", 3.0, "Wrote 2 files.")),
    input=Input(32_561, 15),
    output=Output(32_561, 215, ClassSize(10, 37, Fraction(32_561, 215), 4_021)),
    suppressed=Suppressed(0, 0),
    models=(ModelFinding("k-anonymity", {"k": 10}, True, 10),),
    loss=LossFigures(
        Fraction(482, 1000),
        Fraction(166, 10_000),
        Fraction(11, 20),
        Fraction(1, 2),
        12_345_678,
        15.14,
        {"age": Fraction(1, 4), "sex": 1},
    ),
    lattice=LatticeFigures({"age": 2, "sex": 1}, 2_160, 21, 1_400, 739, tuple((i, 1) for i in range(25))),
    audit=AuditFindings(True, (Finding("labels", True, "0 rows outside their label"),)),
    risk=Risk.of(smallest=10, classes=215, rows=32_561, below_k_before=Fraction(2, 3)),
    warnings=("fnlwgt (insensitive) is nearly unique.",),
    versions={"spark": "4.3.0"},
    policy={"loss": "gcp", "suppression": {"limit": 0.0}},
)


class Page(HTMLParser):
    """Tags that are opened and closed, and the text between them."""

    VOID = ("meta", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def test_the_page_tells_everything() -> None:
    page = Page(render_html(REPORT, [Example("age", "37", "[30, 40)"), Example("sex", "Female", "*")]))
    assert page.open == []
    for told in (
        "Published: 32,561 rows in 215 classes. Every privacy model holds. The independent audit agrees. No row was suppressed.",
        "took 1 min 15 s",
        "release r-1",
        "k-anonymity (k = 10)",
        "✓ holds",
        "48.2 % information lost (GCP) at least 1.66 % by k alone",
        "Besides: no suppression; least gcp among all generalizations.",
        "age 2 [30, 40) sex 1 *",
        "smallest 10 median 37 mean 151.4 largest 4,021 k asked 10",
        "age 25 % – sex 100 % –",
        "discernibility 12,345,678",
        "2,160 combinations of levels",
        "checked 21 marked 1,400 pruned 739",
        "(0, 1) (1, 1)",
        "and 5 more in report.json",
        "Before 66.7 %",
        "Highest 10 %",
        "Mean 0.66 %",
        "✓ passed",
        "labels 0 rows outside their label",
        "search 1.50 s Checked 21 nodes.",
        "Warnings fnlwgt (insensitive) is nearly unique.",
        '"limit": 0.0',
        "spark 4.3.0.",
        "keep this report apart from the release",
    ):
        assert told in page.text, told


def test_the_page_loads_and_runs_nothing() -> None:
    text = render_html(REPORT)
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name in ("src", "href") or name.startswith("on")]
    assert not re.search(r"https?:|url\(|@import", text)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text and "@media print" in text


def test_raw_values_before_generalization_are_not_on_the_page() -> None:
    text = render_html(
        REPORT, [Example("age", "rawvalue37", "[30, 40)"), Example("sex", "rawfemale", "*"), Example("age", None, None)]
    )
    assert "[30, 40)" in text and "(null)" in text
    assert "rawvalue37" not in text and "rawfemale" not in text


def evil(report: Report) -> Report:
    """A report with hostile text wherever text of the outside can stand."""
    return dataclasses.replace(
        report,
        release_id=EVIL,
        steps=(Step(EVIL, 1, EVIL),),
        models=(ModelFinding("alpha-deassociation", {"values": (EVIL,), EVIL: 1}, True, EVIL),),
        loss=LossFigures(gcp=0.5, by_column={EVIL: 0.5}),
        lattice=LatticeFigures({EVIL: 1}, 1, 1, 0, 0, ((1,),)),
        audit=AuditFindings(True, (Finding(EVIL, True, EVIL),)),
        utility={EVIL: EVIL},
        warnings=(EVIL,),
        versions={EVIL: EVIL},
        policy={EVIL: EVIL, "loss": EVIL},
    )


def test_every_text_is_escaped() -> None:
    report = evil(REPORT)
    for text in (render_html(report, [Example(EVIL, EVIL, EVIL)]), release_html(report, {EVIL: 3})):
        assert "<script" not in text and "<b>bold" not in text
        assert "&lt;b&gt;bold&lt;/b&gt;&lt;script&gt;" in text
        assert Page(text).open == []


@pytest.mark.parametrize("code", [code for code in STATUS_OF_EXIT if code])
def test_what_was_not_published_says_so_and_has_no_empty_sections(code: int) -> None:
    report = Report(job="lattice", status=STATUS_OF_EXIT[code], started="2026-01-02T03:04:05+00:00")
    page = Page(render_html(report))
    assert "Not published: " in page.text and "Published:" not in page.text
    assert page.tags.count("section") == 2
    assert ("class", "verdict bad") in page.attributes
    assert "Not published: " in release_html(report)


def test_a_refused_release_shows_what_broke() -> None:
    refused = dataclasses.replace(
        REPORT,
        status="refused",
        audit=AuditFindings(False, (Finding("k-anonymity", False, "smallest class 3 < 10"),)),
        models=(ModelFinding("k-anonymity", {"k": 10}, False, 3),),
    )
    page = Page(render_html(refused))
    assert "Not published: the independent audit refused the release." in page.text
    assert "✗ broken 3" in page.text and "✗ refused" in page.text and "✗ k-anonymity smallest class 3 < 10" in page.text
    assert "Every privacy model holds" not in page.text


def test_a_report_without_classes_or_losses_is_drawn() -> None:
    nothing_left = dataclasses.replace(REPORT, output=Output(0, 0, None), loss=None, lattice=None, risk=Risk(None, None))
    page = Page(render_html(nothing_left))
    assert "Published: 0 rows in 0 classes." in page.text and page.open == []
    one = dataclasses.replace(REPORT, output=Output(1, 1, ClassSize(1, 1, 1, 1)), models=())
    assert "Published: 1 row in 1 class. The independent audit found nothing amiss." in Page(render_html(one)).text


def test_the_notebook_shows_the_same_verdict_and_no_row() -> None:
    page = Page(release_html(REPORT, {"table": 14}))
    assert page.open == [] and page.tags[0] == "div"
    assert "Published: 32,561 rows in 215 classes." in page.text
    assert "levels age 2, sex 1" in page.text.replace("\xa0", " ")
    assert "class sizes 10 to 4,021, median 37" in page.text and "GCP 48.2 %" in page.text and "table (14 columns)" in page.text
    assert release_text(REPORT) == (
        "<Release lattice: Published: 32,561 rows in 215 classes. Every privacy model holds. "
        "The independent audit agrees. GCP 48.2 %. 1 warning: .report.warnings>"
    )
    assert release_text(dataclasses.replace(REPORT, warnings=())).endswith("GCP 48.2 %.>")
    warned = release_lines(dataclasses.replace(REPORT, warnings=("zip: numbers", "age: rare"))).splitlines()
    assert warned[0].endswith("GCP 48.2 %. 2 warnings: .report.warnings>") and warned[1:] == ["warning: zip: numbers", "warning: age: rare"]
