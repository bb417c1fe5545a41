"""The risk of a raw table as JSON and as a page of the terminal: shares, counts of combinations and names of columns, never a value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from anon_spark.domain.counting import counted
from anon_spark.metrics.population_uniques import ESTIMATOR
from anon_spark.metrics.subsets import SubsetRisk
from anon_spark.metrics.table_risk import TableRisk
from anon_spark.report import words
from anon_spark.report.notebook import risk_html
from anon_spark.report.plain import plain
from anon_spark.report.summary import as_text, grid, places

SCHEMA_VERSION = 1
MOST_SHOWN = 3
"""Sets of columns of each size that the terminal shows."""
SETS = ("who knows", "combinations", "unique", "below 5")
JOURNALIST = "equal to the prosecutor's where the table holds the whole population; where it is a sample, no more than that"


@dataclass(frozen=True)
class Population:
    """size: persons that the table is a sample of; unique: estimated share of its rows that are unique among them."""

    size: int
    unique: float


@dataclass(frozen=True, kw_only=True)
class RiskReport:
    """The risk of a raw table to those who know its quasi-identifiers, null being a value.

    k: the largest that the policy asks for; subsets: the most identifying of each size first, columns as places in quasi_identifiers;
    left_out: sizes of sets that were too many to look at; not_counted: columns that the policy does not name.
    """

    where: str
    started: str
    seconds: float
    columns: int
    quasi_identifiers: tuple[str, ...]
    risk: TableRisk
    k: int | None = None
    population: Population | None = None
    subsets: tuple[SubsetRisk, ...] = ()
    left_out: tuple[int, ...] = ()
    not_counted: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; what was not asked is null."""
        risk, known = self.risk, self.population
        return {
            "schema_version": SCHEMA_VERSION,
            "configuration": self.where,
            "started": self.started,
            "seconds": round(self.seconds, 3),
            "input": {"rows": risk.rows, "columns": self.columns},
            "quasi_identifiers": list(self.quasi_identifiers),
            "not_counted": list(self.not_counted),
            "combinations": risk.classes,
            "unique": plain(risk.unique),
            "k": self.k,
            "below": {str(k): plain(share) for k, share in risk.below.items()},
            "prosecutor": {"max": plain(risk.prosecutor_max), "mean": plain(risk.prosecutor_mean)},
            "journalist": {"max": plain(risk.prosecutor_max), "mean": plain(risk.prosecutor_mean), "meaning": JOURNALIST},
            "marketer": plain(risk.marketer),
            "population": None if known is None else {
                "size": known.size,
                "sampling_fraction": plain(Fraction(risk.rows, known.size)),
                "estimator": ESTIMATOR,
                "unique": plain(known.unique),
            },
            "subsets": [self._subset(found) for found in self.subsets],
            "subsets_left_out": list(self.left_out),
            "warnings": list(self.warnings),
            "versions": dict(self.versions),
        }  # fmt: skip

    def to_json(self) -> str:
        """The text of risk.json."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    def _repr_html_(self) -> str:
        return risk_html(_head(self), {**_facts(self), **_remarks(self)}, _sets(self), SETS)

    def names(self, found: SubsetRisk) -> list[str]:
        """The columns of a set by name."""
        return [self.quasi_identifiers[place] for place in found.columns]

    def _subset(self, found: SubsetRisk) -> dict[str, object]:
        return {
            "columns": self.names(found),
            "combinations": found.combinations,
            "unique": plain(found.unique),
            "below_5": plain(found.below_5),
            "counted": plain(found.counted),
        }


def render_risk(report: RiskReport, written: str | None = None) -> str:
    """Plain text of at most 100 columns. written: where risk.json lies."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column(SETS[0], overflow="fold")
    for name in SETS[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    for who, *figures in _sets(report):
        table.add_row(Text(who), *figures)
    end = Text("Nothing of the table was written.", style="dim")
    head, where = Text(_head(report), style="bold"), places({"written": written})
    return as_text(Group(head, grid(_facts(report)), table, grid(_remarks(report)), *where, end))


def _head(report: RiskReport) -> str:
    return f"{report.where}: re-identification risk of the raw table"


def _facts(report: RiskReport) -> dict[str, list[str]]:
    risk = report.risk
    qis = counted(len(report.quasi_identifiers), "quasi-identifier")
    highest, mean = words.share(risk.prosecutor_max), words.share(risk.prosecutor_mean)
    asked = {report.k: ", which the policy asks for"}
    below = [f"{words.share(share)} of the rows in classes below {k}{asked.get(k, '')}" for k, share in risk.below.items()]
    return {
        "rows": [f"{counted(risk.rows, 'row')} in {counted(risk.classes, 'distinct combination')} of {qis}"],
        "unique": [f"{words.share(risk.unique)} of the rows are alone with their combination"],
        "below k": below,
        "prosecutor": [f"highest risk {highest}, mean {mean}, for a person known to be in the table"],
        "journalist": [JOURNALIST],
        "marketer": [f"{words.share(risk.marketer)} of the rows linked right by guessing within each combination"],
        "population": _population(report),
    }


def _remarks(report: RiskReport) -> dict[str, list[str]]:
    told = {
        "left out": [f"sets of {_sizes(report.left_out)} columns: too many"] if report.left_out else [],
        "no role": [f"{', '.join(report.not_counted)}: taken for no quasi-identifier"] if report.not_counted else [],
        "warnings": list(report.warnings),
    }
    return {name: lines for name, lines in told.items() if lines}


def _population(report: RiskReport) -> list[str]:
    known = report.population
    if known is None:
        return ["not estimated: --population N says how many persons the table is a sample of"]
    of = f"of a population of {words.count(known.size)} (a sample of {words.share(Fraction(report.risk.rows, known.size))})"
    return [f"about {words.share(known.unique)} of the rows are unique {of}; estimator: {ESTIMATOR}"]


def _sets(report: RiskReport) -> list[tuple[str, ...]]:
    """The most identifying sets of each size; what was counted in part is about so much."""
    lines: list[tuple[str, ...]] = []
    shown: dict[int, int] = {}
    for found in report.subsets:
        size = len(found.columns)
        shown[size] = shown.get(size, 0) + 1
        if shown[size] <= MOST_SHOWN:
            about = "" if found.counted == 1 else "~ "
            figures = words.count(found.combinations), words.share(found.unique), words.share(found.below_5)
            lines.append((_who(report, found), *(about + figure for figure in figures)))
    return lines


def _who(report: RiskReport, found: SubsetRisk) -> str:
    names, every = report.names(found), len(report.quasi_identifiers)
    if len(names) == every and every > 1:
        return "all"
    if len(names) == every - 1 and every > 4:
        missing = next(name for name in report.quasi_identifiers if name not in names)
        return f"all but {missing}"
    return ", ".join(names)


def _sizes(sizes: Sequence[int]) -> str:
    return " and ".join(str(size) for size in sizes)
