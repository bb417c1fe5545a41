"""What several values of one key would cost and give: one decision each, nothing published. As JSON and as a table of the terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rich.console import Group
from rich.table import Table
from rich.text import Text

from anon_spark.report import words
from anon_spark.report.parts import LossFigures, Number
from anon_spark.report.plain import plain
from anon_spark.report.summary import as_text, grid, places

SCHEMA_VERSION = 1
Outcome = Literal["holds", "infeasible", "none-found"]
TOLD: Mapping[str, str] = {"infeasible": "proven impossible", "none-found": "none found, which proves nothing"}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One value and what it leads to; where no release was found, why, and no figures.

    suppressed: share of the rows; risk_max, risk_mean: 1 / smallest class and classes / rows; utility: as in report.json.
    """

    value: str
    outcome: Outcome = "holds"
    why: str | None = None
    seconds: float = 0.0
    loss: LossFigures | None = None
    rows: int | None = None
    classes: int | None = None
    smallest: int | None = None
    largest: int | None = None
    suppressed: Number | None = None
    risk_max: Number | None = None
    risk_mean: Number | None = None
    utility: Mapping[str, object] = field(default_factory=dict)

    @property
    def query_error(self) -> float | None:
        """Mean relative error over all kinds of queries; None where it was not measured."""
        found = plain(self.utility.get("query_error"))
        kinds = found.get("kinds") if isinstance(found, Mapping) else None
        return sum(float(kind["mean"]) for kind in kinds) / len(kinds) if kinds else None

    @property
    def divergence(self) -> float | None:
        """KL divergence of all columns; None where it was not measured."""
        found = plain(self.utility.get("kl_divergence"))
        return float(found) if isinstance(found, (int, float)) else None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """key: the one that was varied; rows: of the input."""

    where: str
    job: str
    key: str
    started: str
    seconds: float
    rows: int
    choices: tuple[Choice, ...]
    warnings: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; what has no meaning is null."""
        return {
            "schema_version": SCHEMA_VERSION,
            "configuration": self.where,
            "job": self.job,
            "key": self.key,
            "started": self.started,
            "seconds": round(self.seconds, 3),
            "input": {"rows": self.rows},
            "published": False,
            "choices": [{**_plain(choice), "seconds": round(choice.seconds, 3)} for choice in self.choices],
            "warnings": list(self.warnings),
            "versions": dict(self.versions),
        }

    def to_json(self) -> str:
        """The text of compare.json."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _plain(choice: Choice) -> dict[str, Any]:
    found = plain(choice)
    assert isinstance(found, dict)
    return found


COLUMNS = ("lost", "at least", "classes", "smallest", "suppressed", "risk", "query error", "KL")


def cells(choice: Choice) -> list[str]:
    """The figures of one line, in the order of COLUMNS."""
    loss = choice.loss or LossFigures()
    return [
        words.share(loss.gcp), words.share(loss.gcp_lower_bound), words.count(choice.classes), words.count(choice.smallest),
        words.share(choice.suppressed), words.share(choice.risk_max), words.share(choice.query_error), words.figure(choice.divergence),
    ]  # fmt: skip


def render_comparison(found: Comparison, written: Sequence[str] = ()) -> str:
    """Plain text of at most 100 columns. written: where the files lie."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column(found.key, overflow="fold", max_width=22)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    failed = {}
    for choice in found.choices:
        if choice.outcome == "holds":
            table.add_row(Text(choice.value), *cells(choice))
        else:
            table.add_row(Text(choice.value), *[words.NONE] * len(COLUMNS))
            failed[choice.value] = [f"{TOLD[choice.outcome]}: {choice.why}"]
    head = Text(f"{found.where}: job {found.job}, {words.count(found.rows)} rows", style="bold")
    told = {**failed, "warnings": list(found.warnings)}
    meaning = (
        "lost: GCP; at least: its lower bound; risk: 1 / smallest class; query error: mean of random range counts; KL: divergence in nats. "
        "Decided, not audited: nothing was published."
    )
    lines = grid({name: texts for name, texts in told.items() if texts})
    where = [line for path in written for line in places({"written": path})]
    return as_text(Group(head, table, lines, *where, Text(meaning, style="dim")))
