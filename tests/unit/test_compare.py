"""Values of one key side by side: which key, which values, and how they are told."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from test_report_html import EVIL, Page

from anon_spark.config.sweep import MOST_VALUES, sweep
from anon_spark.domain.errors import ConfigurationError
from anon_spark.report.compare_page import render_page
from anon_spark.report.comparison import Choice, Comparison, render_comparison
from anon_spark.report.parts import LossFigures


def kinds(error: float) -> dict[str, object]:
    return {"query_error": {"kinds": [{"mean": error}, {"mean": 3 * error}]}, "kl_divergence": 0.5}


def choice(value: str, gcp: Fraction, smallest: int) -> Choice:
    return Choice(
        value=value, loss=LossFigures(gcp=gcp, gcp_lower_bound=gcp / 4, by_column={"age": gcp}), rows=90, classes=9, smallest=smallest,
        largest=20, suppressed=Fraction(1, 10), risk_max=Fraction(1, smallest), risk_mean=Fraction(1, 10), utility=kinds(0.75),
        seconds=1.23456,
    )  # fmt: skip


FOUND = Comparison(
    where="job.yaml", job="lattice", key="privacy.0.k", started="2026-01-02T03:04:05+00:00", seconds=3.21, rows=100,
    choices=(
        choice("2", Fraction(1, 5), 2), choice("5", Fraction(2, 5), 5), Choice(value="200", outcome="infeasible", why="100 rows < k = 200"),
        Choice(value="50", outcome="none-found", why="no groups"),
    ),
    warnings=("a view",), versions={"spark": "4.3.0"},
)  # fmt: skip


def test_the_key_with_several_values() -> None:
    found = sweep(["suppression.limit=0.01", "privacy.0.k=2, 5,10,5", "privacy.1.values=[a,b]", 'columns.x.name="a,b"'], "job.yaml")
    assert (found.key, found.values) == ("privacy.0.k", ("2", "5", "10"))
    assert found.sets("5") == ["suppression.limit=0.01", "privacy.1.values=[a,b]", 'columns.x.name="a,b"', "privacy.0.k=5"]


@pytest.mark.parametrize(
    ("sets", "told"),
    [
        ([], "found no key with several values; expected exactly one"),
        (["privacy.0.k=2"], "found no key with several values"),
        (["privacy.0.k=2,3", "suppression.limit=0,0.1"], "found 2 keys with several values"),
        (["privacy.0.k=2,,3"], "--set privacy.0.k: found an empty value"),
        (["privacy.0.k=" + ",".join(map(str, range(MOST_VALUES + 1)))], f"found {MOST_VALUES + 1} values"),
        (["input.path=a,b"], "expected a key of what is decided"),
    ],
)
def test_what_is_no_sweep_is_one_line(sets: list[str], told: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        sweep(sets, "job.yaml")
    assert told in str(caught.value) and str(caught.value).startswith("job.yaml: ") and "\n" not in str(caught.value)


def test_the_table_of_the_terminal() -> None:
    text = render_comparison(FOUND, ["r/compare.html"])
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0] == "job.yaml: job lattice, 100 rows"
    assert lines[2].split() == ["2", "20", "%", "5", "%", "9", "2", "10", "%", "50", "%", "150", "%", "0.5"]
    assert lines[4].split() == ["200", *["–"] * 8]
    assert "200         proven impossible: 100 rows < k = 200" in text and "none found, which proves nothing: no groups" in text
    assert "nothing was published" in " ".join(text.split()) and "r/compare.html" in text


def test_the_document() -> None:
    found = json.loads(FOUND.to_json())
    assert found["key"] == "privacy.0.k" and found["published"] is False and found["input"] == {"rows": 100}
    assert [(c["value"], c["outcome"]) for c in found["choices"]] == [
        ("2", "holds"), ("5", "holds"), ("200", "infeasible"), ("50", "none-found"),
    ]  # fmt: skip
    assert found["choices"][1]["loss"]["gcp"] == 0.4 and found["choices"][1]["seconds"] == 1.235
    assert found["choices"][2]["loss"] is None and found["choices"][2]["why"] == "100 rows < k = 200"


def test_the_page_tells_the_same_and_loads_nothing() -> None:
    text = render_page(FOUND)
    page = Page(text)
    assert page.open == [] and "<script" not in text and "http" not in text.replace("http-equiv", "")
    for told in ("2 20 % 5 % 9 2 10 % 50 % 150 % 0.5", "200 : proven impossible. 100 rows < k = 200", "Nothing was audited or published"):
        assert told in page.text, told


def test_the_curves() -> None:
    pytest.importorskip("matplotlib")
    text = render_page(FOUND)
    assert text.count("<svg") == 3
    for told in ("information lost (GCP): 2 20 %, 5 40 %", "at least (bound): 2 5 %, 5 10 %", "highest risk: 2 50 %, 5 20 %"):
        assert told in text


@pytest.mark.parametrize("choices", [(), FOUND.choices[:1], FOUND.choices[2:]])
def test_few_or_no_releases_are_no_curve(choices: tuple[Choice, ...]) -> None:
    text = render_page(replace(FOUND, choices=choices))
    assert "<svg" not in text and Page(text).open == []


def test_every_text_of_the_page_is_escaped() -> None:
    bad = replace(
        FOUND, where=EVIL, key=EVIL, warnings=(EVIL,), versions={EVIL: EVIL},
        choices=(replace(FOUND.choices[0], value=EVIL), FOUND.choices[1], Choice(value=EVIL, outcome="infeasible", why=EVIL)),
    )  # fmt: skip
    text = render_page(bad)
    assert "<script" not in text and "<b>bold" not in text and Page(text).open == []
