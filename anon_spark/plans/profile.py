"""What published columns give away: values that are nearly unique, and values that tell a quasi-identifier whatever its level.

Three small results at most, each of one lazy frame that the caller collects: a screening pass over the table (approximate
distinct counts), exact counts of the columns that look unique, and one pass that compares all pairs of columns at once. Only
counts leave Spark, never a value. A heuristic: it warns, it decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from anon_spark.plans.columns import named

UNIQUE_SHARE = Fraction(1, 2)
"""A column is nearly unique when its distinct values are more than this share of the rows."""
ENOUGH_ROWS = 20
"""Tables, and values of a column, with fewer rows show nothing: equal companions may be chance."""
TELLS = Fraction(99, 100)
"""A value tells a quasi-identifier when this share of its rows has one and the same value there."""
PARTIAL_SHARE = Fraction(3, 10)
"""Share of the rows with telling values from which a warning is due."""
SKEWED = Fraction(9, 10)
"""A quasi-identifier whose commonest value has more than this share of the rows is told by chance: not compared."""
MOST_PAIRS = 500
MOST_CELLS = 10_000_000
"""Bound of the comparison: pairs x rows; beyond it a seeded sample of the rows is read."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Screened:
    """Rows of the table and each column's distinct values, a null being one; approximate (error 5 %) but where made exact."""

    rows: int
    distinct: Mapping[str, int]

    def looks_unique(self, name: str) -> bool:
        """Whether the exact count is worth its shuffle: the approximate one is above the threshold less four errors."""
        return self.rows >= ENOUGH_ROWS and self.distinct[name] > UNIQUE_SHARE * Fraction(8, 10) * self.rows

    def unique(self, name: str) -> bool:
        """Whether the column is nearly unique."""
        return self.rows >= ENOUGH_ROWS and self.distinct[name] > UNIQUE_SHARE * self.rows


@dataclass(frozen=True)
class Comparison:
    """(column, quasi-identifier) pairs that are compared, how many had to be left out, the share of the rows read, in (0, 1]."""

    pairs: tuple[Pair, ...]
    left_out: int
    fraction: float


@dataclass(frozen=True)
class Told:
    """``column`` tells ``quasi_identifier`` for ``share`` of the rows."""

    column: str
    quasi_identifier: str
    share: Fraction


@dataclass(frozen=True)
class Profile:
    """Findings: nearly unique columns with their exact distinct counts, and what tells a quasi-identifier."""

    rows: int
    unique: Mapping[str, int]
    told: tuple[Told, ...]
    compared: Comparison


def profile(
    table: DataFrame, quasi_identifiers: Sequence[str], others: Sequence[str], ask: Callable[[DataFrame], Sequence[Row]]
) -> Profile:
    """Profile ``others`` (published as they are) against the quasi-identifiers; ``ask`` collects small frames, three at most."""
    columns = [*quasi_identifiers, *others]
    if not others:
        return Profile(0, {}, (), Comparison((), 0, 1.0))
    screened = read_screen(ask(screen(table, columns))[0], columns)
    suspects = [name for name in others if screened.looks_unique(name)]
    if suspects:
        exact = ask(exact_distinct(table, suspects))[0]
        counted = {name: int(exact[i]) for i, name in enumerate(suspects)}
        screened = Screened(screened.rows, {**screened.distinct, **counted})
    compared = choose(screened, quasi_identifiers, others)
    told = read_told(ask(comparison(table, compared)), compared) if compared.pairs else ()
    unique = {name: screened.distinct[name] for name in suspects if screened.unique(name)}
    return Profile(screened.rows, unique, told, compared)


def screen(table: DataFrame, columns: Sequence[str]) -> DataFrame:
    """One row: rows, then each column's approximate distinct count, by position."""
    return table.agg(F.count(F.lit(1)).alias("rows"), *distinct_counts(table.schema, columns))


def distinct_counts(schema: T.StructType, columns: Sequence[str]) -> list[Column]:
    """Aggregates d0, d1, ..: about how many distinct values each column has (error 5 %), a null being one."""
    types = {field.name: field.dataType for field in schema.fields}
    return [F.approx_count_distinct(_code(named(name), types.get(name))).alias(f"d{i}") for i, name in enumerate(columns)]


def nearly_unique(distinct: Mapping[str, int], rows: int, roles: Mapping[str, str]) -> list[str]:
    """A sentence a column that is nearly unique by a count of about ``distinct`` values."""
    screened = Screened(rows, distinct)
    return [_unique_sentence(name, roles[name], count, rows, "about ") for name, count in distinct.items() if screened.unique(name)]


def read_screen(row: Row, columns: Sequence[str]) -> Screened:
    """The row of ``screen`` by column name."""
    return Screened(int(row[0]), {name: int(row[i + 1]) for i, name in enumerate(columns)})


def exact_distinct(table: DataFrame, columns: Sequence[str]) -> DataFrame:
    """One row: each column's distinct values, by position (exact up to a collision of 64-bit hashes)."""
    coded = _coded(table, columns)
    return coded.agg(*[F.countDistinct(f"c{i}").alias(f"d{i}") for i in range(len(columns))])


def choose(screened: Screened, quasi_identifiers: Sequence[str], others: Sequence[str]) -> Comparison:
    """The pairs worth a comparison: neither constant, and enough rows a value of the column that would tell."""
    if screened.rows < ENOUGH_ROWS:
        return Comparison((), 0, 1.0)
    distinct = screened.distinct
    telling = [x for x in others if 2 <= distinct[x] <= screened.rows // ENOUGH_ROWS]
    told = [q for q in quasi_identifiers if distinct[q] >= 2 and not screened.unique(q)]
    pairs = [(x, q) for x in telling for q in told]
    kept = pairs[:MOST_PAIRS]
    cells = len(kept) * screened.rows
    fraction = min(1.0, MOST_CELLS / cells) if cells else 1.0
    # in a sample a value has fewer rows: what then has too few of them on average can tell by chance
    kept = [(x, q) for x, q in kept if distinct[x] * ENOUGH_ROWS <= screened.rows * fraction]
    return Comparison(tuple(kept), len(pairs) - len(kept), fraction)


def comparison(table: DataFrame, compared: Comparison) -> DataFrame:
    """A row a pair and a row a quasi-identifier alone: number, rows, rows of the commonest companions, rows of telling values.

    All pairs travel as (number, hash, hash) through one aggregation, so that the table is read once however many they are.
    """
    names = list(dict.fromkeys(name for pair in compared.pairs for name in pair))
    at = {name: f"c{i}" for i, name in enumerate(names)}
    rows = table if compared.fraction >= 1.0 else table.sample(withReplacement=False, fraction=compared.fraction, seed=0)
    whole = F.lit(0).cast("long")
    keys = [(F.col(at[x]), F.col(at[q])) for x, q in compared.pairs] + [(whole, F.col(at[q])) for q in _told_columns(compared)]
    cells = [F.struct(F.lit(i).alias("pair"), x.alias("x"), q.alias("q")) for i, (x, q) in enumerate(keys)]
    exploded = _coded(rows, names).select(F.explode(F.array(*cells)).alias("cell")).select("cell.pair", "cell.x", "cell.q")
    companions = exploded.groupBy("pair", "x", "q").agg(F.count(F.lit(1)).alias("n"))
    values = companions.groupBy("pair", "x").agg(F.sum("n").alias("rows"), F.max("n").alias("most"))
    telling = (F.col("rows") >= ENOUGH_ROWS) & (F.col("most") * TELLS.denominator >= F.col("rows") * TELLS.numerator)
    return values.groupBy("pair").agg(
        F.sum("rows").alias("rows"),
        F.sum("most").alias("most"),
        F.sum(F.when(telling, F.col("rows")).otherwise(F.lit(0))).alias("telling"),
    )


def read_told(rows: Sequence[Row], compared: Comparison) -> tuple[Told, ...]:
    """The pairs that tell, in their order: nearly all rows have their value's commonest companion, or enough rows tell."""
    found = {int(row["pair"]): row for row in rows}
    alone = {q: found.get(len(compared.pairs) + i) for i, q in enumerate(_told_columns(compared))}
    told = []
    for i, (x, q) in enumerate(compared.pairs):
        row, base = found.get(i), alone[q]
        if row is None or base is None or Fraction(int(base["most"]), int(base["rows"])) > SKEWED:
            continue
        whole, partial = Fraction(int(row["most"]), int(row["rows"])), Fraction(int(row["telling"]), int(row["rows"]))
        if whole >= TELLS or partial >= PARTIAL_SHARE:
            told.append(Told(x, q, whole if whole >= TELLS else partial))
    return tuple(told)


def warnings_from(found: Profile, roles: Mapping[str, str]) -> list[str]:
    """A sentence a column that gives something away, and what to do; roles: each column's role. No sentence holds a value."""
    sentences = [_unique_sentence(name, roles[name], distinct, found.rows) for name, distinct in found.unique.items()]
    for column in dict.fromkeys(told.column for told in found.told):
        told = [one for one in found.told if one.column == column]
        sentences.append(_told_sentence(column, roles[column], told, found.compared))
    if left_out := found.compared.left_out:
        sentences.append(
            f"{left_out:,} pairs of columns were not compared: whether they give a quasi-identifier away is not known."
        )
    return sentences


def _unique_sentence(name: str, role: str, distinct: int, rows: int, about: str = "") -> str:
    return (
        f"{name} ({role}) is nearly unique: {about}{min(distinct, rows):,} distinct values in {rows:,} rows. Whoever knows a person's "
        f"value finds the row in the release. {_advice(role)}"
    )


def _told_sentence(name: str, role: str, told: Sequence[Told], compared: Comparison) -> str:
    parts = [f"{t.quasi_identifier} ({_percent(t.share)} of the rows)" for t in told]
    listed = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
    basis = "" if compared.fraction >= 1.0 else " (judged from a sample of the rows)"
    return f"{name} ({role}) gives away {listed}, whatever level they are published at{basis}. {_advice(role)}"


def _advice(role: str) -> str:
    if role == "sensitive":
        return "Make sure that nobody else can know it; if they can, make it a quasi-identifier."
    return "Make it a quasi-identifier, or drop it (role: identifier)."


def _percent(share: Fraction) -> str:
    return f"{int(share * 100)} %"


def _told_columns(compared: Comparison) -> list[str]:
    return list(dict.fromkeys(q for _, q in compared.pairs))


def _coded(table: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Each column as a 64-bit hash c0, c1, ..: one width for every type, no value beyond this point; null is a value."""
    types = {field.name: field.dataType for field in table.schema.fields}
    return table.select(*[_code(named(name), types.get(name)).alias(f"c{i}") for i, name in enumerate(columns)])


def _code(column: Column, data_type: T.DataType | None) -> Column:
    return F.xxhash64(_hashable(column, data_type))


def _hashable(column: Column, data_type: T.DataType | None) -> Column:
    """Text without its collation, maps and variants as JSON: Spark hashes neither as they are."""
    if isinstance(data_type, T.StringType):
        return column.cast("string")
    kind = "" if data_type is None else data_type.simpleString()
    return F.to_json(F.struct(column.alias("v"))) if "map<" in kind or "variant" in kind else column
