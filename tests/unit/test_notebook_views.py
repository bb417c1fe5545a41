"""What a notebook shows of a policy and of a raw table's risk: everything asked, escaped, no credentials."""

from __future__ import annotations

from fractions import Fraction

from test_report_html import EVIL, Page

from anon_spark import Policy
from anon_spark.config.shown import MOST_COLUMNS, policy_html
from anon_spark.metrics.subsets import SubsetRisk
from anon_spark.metrics.table_risk import table_risk
from anon_spark.report.table_risk import RiskReport, render_risk


def test_a_policy_tells_what_is_asked() -> None:
    policy = Policy(
        input={"format": "jdbc", "options": {"url": "jdbc:postgresql://host/db", "dbtable": "t", "password": "hush"}},
        columns=[
            {"name": "age", "role": "quasi-identifier", "hierarchy": {"intervals": [5, 10]}, "weight": "1/3"},
            {"name": EVIL, "role": "sensitive"},
        ],
        privacy=[{"model": "k-anonymity", "k": 7}, {"model": "alpha-deassociation", "alpha": "1/3", "values": ["flu", "cold"]}],
    )
    text = policy._repr_html_()
    page = Page(text)
    assert page.open == [] and page.tags[0] == "div" and "<script" not in text and "<b>bold" not in text and "hush" not in text
    for told in (
        "Policy: job lattice", "age quasi-identifier", "intervals = [5, 10]", "weight = 1/3", "model = k-anonymity, k = 7",
        "alpha = 1/3", "values = [flu, cold]", "loss gcp", "suppression limit = 0", "bold",
    ):  # fmt: skip
        assert told in page.text, told


def test_a_wide_table_is_cut() -> None:
    made = {"job": "lattice", "columns": [{"name": f"c{i}", "role": "insensitive"} for i in range(MOST_COLUMNS + 2)]}
    text = Page(policy_html(made)).text
    assert f"c{MOST_COLUMNS - 1} " in text and f"c{MOST_COLUMNS} " not in text and "and 2 more" in text


def test_the_risk_of_a_table_tells_what_the_terminal_tells() -> None:
    report = RiskReport(
        where=EVIL, started="2026-01-02T03:04:05+00:00", seconds=1.0, columns=3, quasi_identifiers=("age", EVIL),
        risk=table_risk({1: 4, 6: 1}, [3]), k=3, warnings=(EVIL,), not_counted=("note",),
        subsets=(
            SubsetRisk((0,), 3, Fraction(1, 10), Fraction(2, 5), Fraction(1)),
            SubsetRisk((0, 1), 5, Fraction(2, 5), Fraction(2, 5), Fraction(1)),
        ),
    )  # fmt: skip
    text = report._repr_html_()
    page = Page(text)
    assert page.open == [] and "<script" not in text and "<b>bold" not in text
    assert "10 rows in 5 distinct combinations of 2 quasi-identifiers" in page.text and "age 3 10 % 40 %" in page.text
    assert "40 % of the rows in classes below 3, which the policy asks for" in page.text and "all 5 40 % 40 %" in page.text
    told = " ".join(render_risk(report).split())
    for line in ("40 % of the rows are alone with their combination", "note: taken for no quasi-identifier", "all 5 40 % 40 %"):
        assert line in told and line in page.text
