"""A privacy model as a question to a table of classes: what every check of the audit is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from anon_spark.audit.classes import COUNTED
from anon_spark.audit.words import figure
from anon_spark.domain.policy import ModelSpec

EXACT = "decimal(38, 0)"
MOST_DIGITS = 18
NEAR, TINY = 1e-9, 1e-12


Prepare = Callable[[DataFrame, Sequence[str]], DataFrame]
"""(cells, the columns of labels) -> cells with more columns."""


class NotAuditableError(ValueError):
    """The audit can't judge a model as it is asked for; the text says why."""


@dataclass(frozen=True)
class Check:
    """One model over a table of classes.

    statistic: aggregate over the cells of a class, named ``name`` there (None: the size serves); prepare: adds what it needs to the
    cells; breaks: whether a class breaks the model; tightness: what to sort by, worst class first; worst: aggregate over classes;
    read: its value -> the verdict's figure; told: what to say of one class beside its size.
    """

    spec: ModelSpec
    column: str | None
    name: str
    statistic: Column | None
    breaks: Column
    tightness: Column
    worst: Column
    read: Callable[[Any], int | Fraction | float | None]
    told: Callable[[Row], str]
    prepare: Prepare | None = None

    @property
    def title(self) -> str:
        """``alpha-deassociation (occupation, alpha = 0.5)``."""
        parts = [self.column] if self.column else []
        parts += [f"{key} = {figure(value)}" for key, value in self.spec.parameters.items() if value not in (None, False)]
        return f"{self.spec.model} ({', '.join(parts)})"

    @property
    def parameters(self) -> Mapping[str, object]:
        """As asked, the sensitive column among them."""
        return {"column": self.column, **self.spec.parameters} if self.column else dict(self.spec.parameters)


def of_shares(spec: ModelSpec, column: str, name: str, statistic: Column, breaks: Column) -> Check:
    ratio = F.col(name).cast("double") / F.col(COUNTED).cast("double")
    worst = F.max_by(F.struct(F.col(name).alias("most"), F.col(COUNTED).alias("of")), ratio)
    told = teller(lambda row: f"{row[name]} with one value")
    return Check(spec, column, name, statistic, breaks, ratio.desc(), worst, fraction, told)


def teller(tell: Callable[[Row], str]) -> Callable[[Row], str]:
    return lambda row: f", {tell(row)}"


def same(value: Any) -> int | None:
    return None if value is None else int(value)


def fraction(value: Any) -> Fraction | None:
    return None if value is None or not value["of"] else Fraction(value["most"], value["of"])


def real(value: Any) -> float | None:
    return None if value is None else float(value)


def whole(spec: ModelSpec, key: str) -> int:
    return int(str(spec.parameters[key]))


def digits(number: int) -> Column:
    """An exact literal; with as many digits as leave room to be multiplied by any count of rows."""
    if len(str(number)) > MOST_DIGITS:
        raise NotAuditableError(f"a parameter of more than {MOST_DIGITS} digits can't be compared exactly")
    return F.lit(str(number)).cast(f"decimal({MOST_DIGITS}, 0)")
