"""t-closeness, delta-disclosure and beta-likeness read again (METHODS 1.8 to 1.10): classes against the table's distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from anon_spark.audit.check import EXACT, NEAR, Check, NotAuditableError, Prepare, digits, real, teller
from anon_spark.audit.classes import ROWS, WHICH, Cells
from anon_spark.audit.files import by_value, key_of, read_hierarchy
from anon_spark.audit.table import Known
from anon_spark.domain.policy import ROOT, FileHierarchy, ModelSpec
from anon_spark.domain.policy import Column as PolicyColumn
from anon_spark.plans.columns import kind_of
from anon_spark.plans.local import local_table

BUCKETS = 65_536
"""Parts of the scale of cumulated rows in which the audit looks a number up."""


def closeness(spec: ModelSpec, column: str, cells: Cells, known: Known, name: str, where: str) -> Check:
    """EMD(E, T) <= t (METHODS 1.8), in units of 1 / (rows of the class * rows of the table * steps)."""
    distance = spec.parameters.get("distance") or "equal"
    if distance == "equal":
        steps, prepare = 1, _equal(cells, known, name)
    elif distance == "ordered":
        steps, prepare = max(len(known.rows) - 1, 1), _ordered(cells, known, name)
    else:
        levels = _levels(spec, column, known, where)
        steps, prepare = max(len(levels), 1), _hierarchical(cells, known, name, levels)
    t = Fraction(str(spec.parameters["t"]))
    unit = F.col(f"{name}.rows").cast(EXACT) * digits(known.total) * digits(steps)
    gap = F.col(f"{name}.gap").cast(EXACT)
    breaks = gap * digits(t.denominator) > unit * digits(t.numerator)
    figure = F.when(F.col(f"{name}.rows") > 0, gap.cast("double") / unit.cast("double")).otherwise(F.lit(0.0))
    return _check(spec, column, cells, name, prepare, cells.summed(F.col(f"{name}_gap")), breaks, figure, "distance")


def delta(spec: ModelSpec, column: str, cells: Cells, known: Known, name: str) -> Check:
    """|log(p_E(s) / p_T(s))| < delta for every s that occurs, but for a relative 1e-9 (METHODS 1.9)."""
    asked = float(Fraction(str(spec.parameters["delta"])))

    def prepare(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
        return _with_total(frame, keys, cells, known, name).withColumn(f"{name}_gap", F.abs(F.log(_ratio(known, name))))

    figure = F.coalesce(F.col(f"{name}.gap"), F.lit(0.0))
    return _check(
        spec, column, cells, name, prepare, cells.most(F.col(f"{name}_gap")), figure >= asked * (1 + NEAR), figure, "log ratio"
    )


def beta(spec: ModelSpec, column: str, cells: Cells, known: Known, name: str) -> Check:
    """(p_E(s) - p_T(s)) / p_T(s) <= beta, or <= min(beta, -ln p_T(s)) but for a relative 1e-9 of the logarithm (METHODS 1.10)."""
    asked = Fraction(str(spec.parameters["beta"]))

    def prepare(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
        frame = _with_total(frame, keys, cells, known, name)
        mine, size = F.col(ROWS).cast(EXACT) * digits(known.total), F.col(f"{name}_size").cast(EXACT) * F.col(f"{name}_t").cast(EXACT)
        above = mine * digits(asked.denominator) > size * digits(asked.numerator + asked.denominator)
        if spec.parameters.get("kind") == "enhanced":
            share = F.col(f"{name}_t") / F.lit(float(known.total))
            above = above | (_ratio(known, name) - 1 > -F.log(share) * (1 + NEAR) + 1e-12)
        frame = frame.withColumn(f"{name}_above", F.coalesce(above, F.lit(True)).cast("bigint"))
        return frame.withColumn(f"{name}_gap", _ratio(known, name) - 1)

    figure = F.greatest(F.coalesce(F.col(f"{name}.gap"), F.lit(0.0)), F.lit(0.0))
    above = cells.summed(F.col(f"{name}_above"))
    return _check(
        spec, column, cells, name, prepare, cells.most(F.col(f"{name}_gap")), F.col(f"{name}.above") > 0, figure, "relative gain",
        above=above,
    )  # fmt: skip


def _check(
    spec: ModelSpec, column: str, cells: Cells, name: str, prepare: Prepare, gap: Column, breaks: Column, figure: Column, called: str,
    above: Column | None = None,
) -> Check:  # fmt: skip
    """A check whose classes break it too where they hold a value that the table has not, or where a number overflows."""
    strange = cells.summed(F.col(f"{name}_t").isNull().cast("bigint"))
    parts = [gap.alias("gap"), cells.rows().alias("rows"), strange.alias("strange")]
    parts += [above.alias("above")] if above is not None else []
    sure = F.coalesce(breaks, F.lit(True)) | (F.col(f"{name}.strange") > 0)
    told = teller(lambda row: f"{called} {_shown(row[name])}")
    return Check(spec, column, name, F.struct(*parts), sure, figure.desc(), F.max(figure), real, told, prepare)


def _shown(found: object) -> str:
    gap = found["gap"]  # type: ignore[index]
    return f"{float(gap):.4g}" if isinstance(gap, float) else "above t"


def _with_total(
    frame: DataFrame, keys: Sequence[str], cells: Cells, known: Known, name: str, more: Mapping[str, Mapping[str | None, int]] = {}
) -> DataFrame:
    """Cells with the table's rows of their value (``name_t``), more figures of it, and the counted rows of their class
    (``name_size``)."""
    frame = known.joined(frame, {f"{name}_t": known.rows, **more})
    return frame.withColumn(f"{name}_size", cells.rows_beside(keys))


def _ratio(known: Known, name: str) -> Column:
    share = F.col(ROWS).cast("double") / F.col(f"{name}_size").cast("double")
    return share / (F.col(f"{name}_t").cast("double") / F.lit(float(known.total)))


def _equal(cells: Cells, known: Known, name: str) -> Prepare:
    def prepare(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
        frame = _with_total(frame, keys, cells, known, name)
        return frame.withColumn(f"{name}_gap", _above(F.col(ROWS), F.col(f"{name}_t"), F.col(f"{name}_size"), known))

    return prepare


def _above(rows: Column, total: Column, size: Column, known: Known) -> Column:
    """What a count is above the table's share of its class: rows * N - total * size, nothing where it is below."""
    return F.greatest(rows.cast(EXACT) * digits(known.total) - total.cast(EXACT) * size.cast(EXACT), F.lit(0).cast(EXACT))


def _hierarchical(cells: Cells, known: Known, name: str, levels: Sequence[dict[str | None, str]]) -> Prepare:
    """Each node of a level once in a class: at the first of its values that occurs there."""
    numbers = [{label: i for i, label in enumerate(dict.fromkeys(level.values()))} for level in levels]
    totals = []
    for level in levels:
        held: dict[str, int] = {}
        for text, label in level.items():
            held[label] = held.get(label, 0) + known.rows[text]
        totals.append(held)

    def prepare(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
        figures = {f"{name}_g{h}": {text: numbers[h][label] for text, label in level.items()} for h, level in enumerate(levels)}
        figures |= {f"{name}_t{h}": {text: totals[h][label] for text, label in level.items()} for h, level in enumerate(levels)}
        frame, gap = _with_total(frame, keys, cells, known, name, figures), F.lit(0).cast(EXACT)
        for h in range(len(levels)):
            node = Window.partitionBy(*keys, WHICH, f"{name}_g{h}")
            rows, place = F.sum(ROWS).over(node), F.row_number().over(node.orderBy(F.col(f"{name}_g0")))
            part = _above(rows, F.col(f"{name}_t{h}"), F.col(f"{name}_size"), known)
            frame = frame.withColumn(f"{name}_p{h}", F.when(place == 1, part).otherwise(F.lit(0).cast(EXACT)))
            gap = gap + F.col(f"{name}_p{h}")
        return frame.withColumn(f"{name}_gap", gap)

    return prepare


def _levels(spec: ModelSpec, column: str, known: Known, where: str) -> list[dict[str | None, str]]:
    """Of each level below the root, the node of each value."""
    tree = spec.parameters.get("hierarchy")
    kind = kind_of(known.data_type)
    if not isinstance(tree, FileHierarchy) or kind is None:
        raise NotAuditableError("the audit reads hierarchies of values from files alone")
    asked = PolicyColumn(name=column, role="sensitive", hierarchy=tree)
    paths = by_value(read_hierarchy(tree, asked, where), asked, where, kind)
    height = max((len(path) for path in paths.values()), default=1)
    found: dict[str | None, tuple[str, ...]] = {}
    for text in known.rows:
        path = None if text is None else paths.get(key_of(text, kind))
        if path is None and text is not None:
            raise NotAuditableError(f"a value of {column} is not in {tree.path}")
        found[text] = (*(path or ("\0null",)), *[ROOT] * height)[:height]
    return [{text: path[h] for text, path in found.items()} for h in range(height)]


def _ordered(cells: Cells, known: Known, name: str) -> Prepare:
    """Between a value of the class and its next one, up to the last rank, the class's cumulated rows C stay: there the table's prefix
    sums P below C's share count as C * N - P * size, those above as P * size - C * N. How many are below is looked up in buckets."""
    values = known.ranked()
    prefix = list(accumulate(known.rows[text] for text in values))
    sums = [0, *accumulate(prefix)]
    last, rows = len(values) - 1, known.total
    parts, inside_of, lines, below = min(BUCKETS, 4 * len(values)), dict[int, list[int]](), list[tuple[int, int, int, str]](), 0
    for held in prefix:
        inside_of.setdefault(held * parts // max(rows, 1), []).append(held)
    for bucket in range(parts + 1):
        lines.append((bucket, below, sums[below], ",".join(map(str, inside_of.get(bucket, ())))))
        below += len(inside_of.get(bucket, ()))

    def prepare(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
        col = lambda part: F.col(f"{name}_{part}")  # noqa: E731
        places = {f"{name}_r": {text: i for i, text in enumerate(values)}, f"{name}_s": {text: sums[i] for i, text in enumerate(values)}}
        frame = _with_total(frame, keys, cells, known, name, places)
        line = Window.partitionBy(*keys, WHICH).orderBy(F.col(f"{name}_r").asc_nulls_first())
        so_far = line.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        frame = frame.withColumns({
            f"{name}_c": F.sum(F.when(col("r").isNotNull(), F.col(ROWS))).over(so_far),
            f"{name}_e": F.coalesce(F.lead(col("r")).over(line), F.lit(last)).cast("bigint"),
            f"{name}_es": F.coalesce(F.lead(col("s")).over(line), F.lit(sums[last])).cast("bigint"),
            f"{name}_first": F.coalesce(F.lag(col("r")).over(line).isNull(), F.lit(True)),
        })  # fmt: skip
        share = f"CAST(CAST({name}_c AS {EXACT}) * {rows} AS {EXACT}) DIV {name}_size"
        frame = frame.withColumn(f"{name}_cut", F.expr(share).cast("bigint"))
        frame = frame.withColumn(f"{name}_b", F.expr(f"CAST({name}_cut AS {EXACT}) * {parts} DIV {rows}").cast("int"))
        table = pa.table({
            f"{name}_b": pa.array([line[0] for line in lines], pa.int32()),
            f"{name}_x": pa.array([line[1] for line in lines], pa.int64()),
            f"{name}_xs": pa.array([line[2] for line in lines], pa.int64()),
            f"{name}_in": pa.array([line[3] for line in lines], pa.string()),
        })  # fmt: skip
        frame = frame.join(F.broadcast(local_table(known.spark, table)), f"{name}_b", "left")
        inside = F.filter(
            F.transform(F.filter(F.split(col("in"), ","), lambda one: one != ""), lambda one: one.cast("bigint")),
            lambda one: one <= col("cut"),
        )
        frame = frame.withColumn(f"{name}_in2", inside)
        met = col("x") + F.size(col("in2"))
        met_sum = col("xs") + F.aggregate(col("in2"), F.lit(0).cast("bigint"), lambda sum_, one: sum_ + one)
        frame = frame.withColumn(f"{name}_m", F.greatest(F.least(met, col("e")), col("r")))
        frame = frame.withColumn(f"{name}_ms", F.when(met < col("r"), col("s")).when(met > col("e"), col("es")).otherwise(met_sum))
        exact = {part: col(part).cast(EXACT) for part in ("c", "r", "s", "e", "es", "m", "ms", "size")}
        over = exact["c"] * digits(rows) * (exact["m"] * 2 - exact["r"] - exact["e"])
        under = exact["size"] * (exact["es"] - exact["ms"] * 2 + exact["s"])
        first = F.when(col("first"), exact["size"] * exact["s"]).otherwise(F.lit(0).cast(EXACT))
        return frame.withColumn(f"{name}_gap", (over + under + first).cast(EXACT))

    return prepare
