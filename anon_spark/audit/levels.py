"""(epsilon,k)-sensitivity, (l,alpha)-diversity and (lambda*alpha,k) read again (METHODS 1.11 to 1.13), with the levels of 1.16."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import lcm

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from anon_spark.audit.check import EXACT, Check, NotAuditableError, digits, real, teller, whole
from anon_spark.audit.classes import COUNTED, ROWS, WHICH, Cells
from anon_spark.audit.table import Known
from anon_spark.domain.policy import ModelSpec

WIDEST = 2**62


def epsilon_k(spec: ModelSpec, column: str, cells: Cells, known: Callable[[], Known], name: str) -> Check:
    """|E| >= k, and of each row the rows within epsilon of its sensitivity number at most max(1, ceil((1 - D) |E|))."""
    table, levels = _levels(spec, column, cells, known)
    weights, unit = _weights(spec, levels)
    wide = int(Fraction(str(spec.parameters["epsilon"])) * unit)

    def prepare(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
        frame = table.joined(frame, {f"{name}_w": {text: weights[level] for text, level in levels.items()}})
        mine = Window.partitionBy(*keys, WHICH)
        near = F.sum(F.when(F.col(f"{name}_w").isNotNull(), F.col(ROWS))).over(mine.orderBy(f"{name}_w").rangeBetween(-wide, wide))
        frame = frame.withColumns({f"{name}_near": near, f"{name}_all": F.sum(ROWS).over(mine)})
        most = F.col(f"{name}_all").cast(EXACT) * (F.lit(unit) - F.col(f"{name}_w")).cast(EXACT)
        above = (F.col(f"{name}_near") > 1) & ((F.col(f"{name}_near") - 1).cast(EXACT) * digits(unit) >= most)
        return frame.withColumn(f"{name}_above", above.cast("bigint"))

    return _check(spec, column, cells, name, prepare, cells.summed(F.col(f"{name}_above")), F.col(COUNTED) < whole(spec, "k"), None)


def lambda_alpha_k(spec: ModelSpec, column: str, cells: Cells, known: Callable[[], Known], name: str) -> Check:
    """|E| >= k, and |(E,s)| <= lambda of the value's level * alpha * |E|."""
    table, levels = _levels(spec, column, cells, known)
    given: Mapping[str, object] = spec.parameters["lambda"]  # type: ignore[assignment]
    alpha = Fraction(str(spec.parameters["alpha"]))
    caps = {level: Fraction(str(given.get(str(level), 0))) * alpha for level in set(levels.values())}
    unit = lcm(*(cap.denominator for cap in caps.values())) if caps else 1
    _fits(unit, *(int(cap * unit) for cap in caps.values()))

    def prepare(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
        frame = table.joined(frame, {f"{name}_w": {text: int(caps[level] * unit) for text, level in levels.items()}})
        frame = frame.withColumn(f"{name}_all", cells.of_class(keys))
        above = F.col(ROWS).cast(EXACT) * digits(unit) > F.col(f"{name}_all").cast(EXACT) * F.col(f"{name}_w").cast(EXACT)
        return frame.withColumn(f"{name}_above", above.cast("bigint"))

    return _check(spec, column, cells, name, prepare, cells.summed(F.col(f"{name}_above")), F.col(COUNTED) < whole(spec, "k"), None)


def l_alpha(spec: ModelSpec, column: str, cells: Cells, known: Callable[[], Known], name: str) -> Check:
    """At least l values, and the sum over rows of 1 - D at least alpha."""
    table, levels = _levels(spec, column, cells, known)
    weights, unit = _weights(spec, levels)
    alpha = Fraction(str(spec.parameters["alpha"]))

    def prepare(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
        return table.joined(frame, {f"{name}_w": {text: unit - weights[level] for text, level in levels.items()}})

    weight = cells.summed(F.col(ROWS).cast(EXACT) * F.col(f"{name}_w").cast(EXACT))
    light = F.col(f"{name}.weight").cast(EXACT) * digits(alpha.denominator) < digits(alpha.numerator) * digits(unit)
    few = F.col(f"{name}.values") < whole(spec, "l")
    return _check(spec, column, cells, name, prepare, F.lit(0), few | light, (weight, unit))


def _check(
    spec: ModelSpec, column: str, cells: Cells, name: str, prepare: Callable[[DataFrame, Sequence[str]], DataFrame], above: Column,
    otherwise: Column, weight: tuple[Column, int] | None,
) -> Check:  # fmt: skip
    """A check that a class breaks where some of its values are ``above`` their bound, ``otherwise``, or of no level."""
    strange = cells.summed(F.col(f"{name}_w").isNull().cast("bigint"))
    heavy, unit = weight or (F.lit(0), 1)
    parts = [above.alias("above"), heavy.alias("weight"), cells.distinct().alias("values"), strange.alias("strange")]
    breaks = F.coalesce(F.col(f"{name}.above") > 0, F.lit(True)) | F.coalesce(otherwise, F.lit(True)) | (F.col(f"{name}.strange") > 0)
    figure = F.col(f"{name}.above").cast("double") if weight is None else F.col(f"{name}.weight").cast("double") / F.lit(float(unit))
    if weight is None:
        told = teller(lambda row: f"{row[name]['above']} values above their bound")
        return Check(spec, column, name, F.struct(*parts), breaks, figure.desc(), F.min(F.col(COUNTED)), real, told, prepare)
    told = teller(lambda row: f"{row[name]['values']} values that weigh {float(row[name]['weight']) / unit:.4g}")
    return Check(spec, column, name, F.struct(*parts), breaks, figure.asc(), F.min(figure), real, told, prepare)


def _levels(spec: ModelSpec, column: str, cells: Cells, known: Callable[[], Known]) -> tuple[Known, dict[str | None, int]]:
    """The level of each value, 1 for the least sensitive: as given, or from the table's frequencies."""
    asked = spec.parameters["levels"]
    if isinstance(asked, Mapping):
        found: dict[str | None, int] = {str(value): int(Fraction(str(level))) for value, level in asked.items()}
        return Known(cells.session, cells.which, dict.fromkeys(found, 1)), found
    table = known()
    return table, segments(table.rows, int(str(asked)))


def segments(rows: Mapping[str | None, int], most: int) -> dict[str | None, int]:
    """Values by frequency, descending; the adjacent segments of least range are joined, the first of several, until there are ``most``."""
    line = sorted(rows, key=lambda text: (-rows[text], text is None, text or ""))
    parts = [(place, place) for place in range(len(line))]
    count = [rows[text] for text in line]
    ranges = [count[place] - count[place + 1] for place in range(len(line) - 1)]
    while len(parts) > most:
        at = ranges.index(min(ranges))
        parts[at : at + 2] = [(parts[at][0], parts[at + 1][1])]
        del ranges[at]
        for place in (at - 1, at):
            if 0 <= place < len(ranges):
                ranges[place] = count[parts[place][0]] - count[parts[place + 1][1]]
    return {text: level for level, (first, last) in enumerate(parts, start=1) for text in line[first : last + 1]}


def _weights(spec: ModelSpec, levels: Mapping[str | None, int]) -> tuple[dict[int, int], int]:
    """Sensitivity of each level in whole units, and how many units 1 is."""
    asked = spec.parameters["levels"]
    given = [int(Fraction(str(level))) for level in asked.values()] if isinstance(asked, Mapping) else list(levels.values())
    most = max(given, default=1)
    power = Fraction(str(spec.parameters.get("b") or 1))
    steps = [Fraction(1)] * (most - 1)
    if spec.parameters.get("weights") == "height":
        exact = power.denominator == 1
        steps = [Fraction(1, j ** int(power)) if exact else Fraction(f"{j ** -float(power):.12f}") for j in range(1, most)]
    found = {1: Fraction(0)}
    for level, step in enumerate(steps, start=2):
        found[level] = found[level - 1] + step / sum(steps)
    unit = lcm(*(one.denominator for one in found.values()))
    _fits(unit)
    return {level: int(one * unit) for level, one in found.items()}, unit


def _fits(*numbers: int) -> None:
    if max(numbers, default=0) >= WIDEST:
        raise NotAuditableError("its weights are too fine to be compared exactly")
