"""What the audit says of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Finding:
    """Something wrong with the release, in one sentence. rule: columns, rows, labels or the name of a model.

    Names classes and labels as they are published, never a raw row.
    """

    rule: str
    message: str


@dataclass(frozen=True)
class ModelVerdict:
    """One model as asked. holds: in every published class; worst: the tightest figure seen, None where there was none to see.

    worst is the smallest class for k-anonymity, the largest share of a sensitive value in a class (exact) for alpha-deassociation
    and l-diversity by frequency, the fewest values of a class for distinct l-diversity, the fewest equally common values of the same
    entropy for entropy l-diversity, the largest r_1 / (r_l + ..) for recursive l-diversity.
    """

    model: str
    parameters: Mapping[str, object]
    holds: bool
    worst: int | Fraction | float | None


@dataclass(frozen=True)
class AuditResult:
    """ok: nothing was found. rows to largest: of the published classes; None where the columns did not allow to group them.

    median, mean: rows a class. cannot_know: what an audit of the published columns alone leaves open, a sentence each.
    """

    ok: bool
    findings: tuple[Finding, ...]
    models: tuple[ModelVerdict, ...]
    rows: int | None
    classes: int | None
    smallest: int | None
    median: float | None
    mean: float | None
    largest: int | None
    cannot_know: tuple[str, ...]
