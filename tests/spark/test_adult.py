"""Real data: the proven optimum of Adult is the same from the driver process, from Spark, and on every kind of session."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from anon_spark import anonymize
from anon_spark.algorithms.checker import Checker, Verdict
from anon_spark.algorithms.tagging import Tagging
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import Levels
from jobs import policy, quasi

pytestmark = [pytest.mark.spark, pytest.mark.shared, pytest.mark.parity]
COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")


class Counted:
    """A checker that notes what it is asked."""

    def __init__(self, checker: Checker, asked: list[Levels]):
        self.checker = checker
        self.asked = asked

    def check(self, nodes: Sequence[Levels]) -> list[Verdict]:
        self.asked.extend(nodes)
        return self.checker.check(nodes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.checker, name)


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[Levels]:
    """Every node that the search asks for, subsets included."""
    asked: list[Levels] = []
    plain = Tagging.__init__

    def counted(self: Tagging, problem: Problem, checker: Checker) -> None:
        plain(self, problem, Counted(checker, asked))

    monkeypatch.setattr(Tagging, "__init__", counted)
    return asked


@pytest.mark.parametrize(
    ("models", "limit", "levels", "loss"),
    [
        ([], "0", (0, 4, 0, 1, 3, 2, 2), "0.6449"),
        pytest.param(
            [{"model": "alpha-deassociation", "alpha": 0.5}], "0.01", (0, 4, 0, 1, 3, 1, 1), "0.4587", marks=pytest.mark.long
        ),
    ],
)
def test_the_optimum_of_adult(
    spark: SparkSession, shared: Path, tmp_path: Path, checks: list[Levels],
    models: list[dict], limit: str, levels: tuple[int, ...], loss: str,
) -> None:  # fmt: skip
    table = spark.read.options(header=True, sep=";").csv(str(shared / "adult" / "adult.csv"))
    columns = [quasi(name, {"path": str(shared / "adult" / f"adult_hierarchy_{name}.csv")}) for name in COLUMNS]
    columns += [{"name": "occupation", "role": "sensitive"}, {"name": "salary-class", "role": "label"}]
    found = []
    for megabytes in (64, 0):
        settings = {"driver_megabytes": megabytes}
        asked = policy(columns, k=10, staging=tmp_path, models=models, suppression={"limit": limit}, settings=settings)
        checks.clear()
        with anonymize(table, asked) as release:
            report = release.report
            found.append((report.lattice.levels, report.loss.gcp, report.suppressed.rows, report.output))
            assert report.audit.ok and report.lattice.nodes == 2160
            if limit == "0":
                assert report.lattice.checked < len(checks) <= 150 and len(report.lattice.minimal) == 10
                said = next(step.text for step in report.steps if step.step == "lattice")
                assert f"{len(checks) - report.lattice.checked} checks of single columns" in said
                assert ("Spark jobs" in said) == (megabytes == 0)
    assert tuple(found[0][0].values()) == levels
    assert abs(found[0][1] - Fraction(loss)) < Fraction(1, 10_000)
    assert found[0] == found[1]
