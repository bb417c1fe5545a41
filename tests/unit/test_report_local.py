"""How a local recoding is told: no levels, what each column lost, labels for instance."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

from anon_spark.domain.policy import Column, DateHierarchy, FlatHierarchy, IntervalHierarchy, ModelSpec, Policy, Settings
from anon_spark.report.document import Report
from anon_spark.report.html import render_html
from anon_spark.report.parts import AuditFindings, ClassSize, Input, LossFigures, ModelFinding, Output, Step, Suppressed
from anon_spark.report.plan import Plan, render_plan
from anon_spark.report.summary import render_summary
from anon_spark.report.words import Example

REPORT = Report(
    job="top-down",
    status="published",
    started="2026-01-02T03:04:05+00:00",
    steps=(Step("groups", 2.5, "Combinations in 1 block of 11,089. Strategy: peeling."),),
    input=Input(32_561, 15),
    output=Output(32_561, 1_601, ClassSize(10, 14, Fraction(32_561, 1_601), 1_377)),
    suppressed=Suppressed(0, Fraction(0)),
    models=(ModelFinding("k-anonymity", {"k": 10}, True, 10),),
    loss=LossFigures(Fraction(4, 100), Fraction(2, 100), Fraction(11, 100), by_column={"age": Fraction(17, 100), "sex": Fraction(0)}),
    audit=AuditFindings(True),
    policy={"loss": "gcp", "suppression": {"limit": 0.0}},
)
EXAMPLES = [Example("age", "37", "37"), Example("age", "24", "[23, 25]"), Example("sex", "Male", "*")]


def test_the_summary_tells_what_each_column_lost() -> None:
    lines = render_summary(REPORT, examples=EXAMPLES).splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= 100
    for told in (
        "            labels of each class's own, the least gcp that is found",
        "column  lost  before -> after",
        "age     17 %  37 (unchanged);  24 -> [23, 25]",
        "sex      0 %  Male -> *",
        "classes     1,601: 10 to 1,377 rows, median 14",
    ):
        assert told in lines, told
    assert not any("lattice" in line or "level" in line for line in lines)
    without = render_summary(REPORT).splitlines()
    assert any(line.split() == ["age", "17", "%"] for line in without)


def test_the_page_shows_labels_and_no_levels() -> None:
    page = render_html(REPORT, EXAMPLES)
    assert "<h2>Labels</h2>" in page and "[23, 25]" in page and "Each class has labels of its own" in page
    assert "Levels chosen" not in page and "The search" not in page and ">24<" not in page
    assert "Combinations in 1 block of 11,089." in page
    document = REPORT.to_dict()
    assert document["lattice"] is None and document["output"]["classes"] == 1601
    assert Report.from_dict(document).loss == LossFigures(0.04, 0.02, 0.11, by_column={"age": 0.17, "sex": 0})


def test_a_dry_run_tells_what_is_grouped() -> None:
    policy = Policy(
        job="top-down",
        columns=(
            Column(name="age", role="quasi-identifier"),
            Column(name="sex", role="quasi-identifier", hierarchy=FlatHierarchy()),
        ),
        privacy=(ModelSpec(model="k-anonymity", parameters={"k": 10}),),
    )
    plan = Plan(policy=policy, types={"age": "int", "sex": "string"}, combinations=11_089, rows=32_561)
    text = " ".join(render_plan(plan).split())
    assert "job top-down" in text and "lattice" not in text
    assert "of 11,089 distinct combinations; age as tight ranges; sex as labels of the hierarchy; the least gcp found is published" in text
    blocked = dataclasses.replace(policy, bounds="intervals", settings=Settings(block_combinations=500))
    text = " ".join(render_plan(dataclasses.replace(plan, policy=blocked)).split())
    assert "in blocks of at most 500; age as tight ranges; sex as labels of the hierarchy" in text
    stepped = Column(name="steps", role="quasi-identifier", hierarchy=IntervalHierarchy(widths=(Fraction(5),)))
    for bounds, told in (("intervals", "steps as the intervals of the hierarchy;"), ("tight", "age, steps as tight ranges;")):
        both = dataclasses.replace(policy, bounds=bounds, columns=(*policy.columns, stepped))
        assert told in " ".join(render_plan(dataclasses.replace(plan, policy=both)).split())
    birth = Column(name="birth", role="quasi-identifier", hierarchy=DateHierarchy(units=("month", "year")))
    dated = dataclasses.replace(policy, columns=(*policy.columns, birth))
    text = " ".join(render_plan(dataclasses.replace(plan, policy=dated)).split())
    assert "; birth as the periods of the hierarchy, without which dates are ranges and lose less; the least gcp" in text
