"""Entropy and recursive l-diversity read again (METHODS 1.5, 1.6)."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

from pyspark.sql import Row
from pyspark.sql import functions as F

from anon_spark.audit.check import EXACT, NEAR, TINY, Check, digits, fraction, real, teller, whole
from anon_spark.audit.classes import Cells
from anon_spark.domain.policy import ModelSpec


def entropy(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """Entropy of the values >= log(l), but for a relative 1e-9 (METHODS 1.5): ln N - sum(n ln n) / N. No value, no entropy."""
    asked = log(Fraction(str(spec.parameters["l"])))
    rows, logs = F.col(f"{name}.rows").cast("double"), F.col(f"{name}.logs")
    found = F.when(rows > 0, F.log(rows) - logs / rows).otherwise(F.lit(-1.0))
    breaks = found < F.lit(asked * (1 - NEAR) - TINY)
    statistic = F.struct(cells.rows().alias("rows"), cells.logs().alias("logs"))
    told = teller(lambda row: f"entropy of {_effective(row[name]):.4g} values")
    return Check(spec, column, name, statistic, breaks, found.asc(), F.min(F.exp(found)), real, told)


def _effective(found: Row) -> float:
    return exp(log(found["rows"]) - found["logs"] / found["rows"]) if found["rows"] else 0.0


def recursive(spec: ModelSpec, column: str, cells: Cells, name: str) -> Check:
    """r_1 < c (r_l + ... + r_m), r the rows of the values, largest first (METHODS 1.6)."""
    c, counts = Fraction(str(spec.parameters["c"])), F.col(name)
    rare = F.slice(counts, whole(spec, "l"), F.greatest(F.size(counts), F.lit(1)))
    rest = F.aggregate(rare, F.lit(0).cast("bigint"), lambda sum_, n: sum_ + n)
    first = F.when(F.size(counts) > 0, F.element_at(counts, 1)).otherwise(0)
    breaks = first.cast(EXACT) * digits(c.denominator) >= rest.cast(EXACT) * digits(c.numerator)
    ratio = F.when(rest > 0, first / rest).otherwise(F.lit(float("inf")))
    worst = F.max_by(F.struct(first.alias("most"), rest.alias("of")), ratio)
    told = teller(lambda row: f"rows by value {', '.join(map(str, row[name][:5]))}{', ...' if len(row[name]) > 5 else ''}")
    return Check(spec, column, name, cells.ordered(), breaks, ratio.desc(), worst, fraction, told)
