"""From a table to a problem: the frequency set, the hierarchies bound to its values, and the place where it will be decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from anon_spark.domain.bind import bind
from anon_spark.domain.box_labels import as_published
from anon_spark.domain.counting import counted
from anon_spark.domain.errors import ConfigurationError, DataError, Fault, InfeasibleError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.hierarchy import Hierarchy
from anon_spark.domain.policy import Column, FileHierarchy, Policy
from anon_spark.domain.problem import Problem
from anon_spark.domain.unmapped import OutsideError, UnmappedError
from anon_spark.io.hierarchy_files import read_tree
from anon_spark.job.auditable import too_large
from anon_spark.job.bind_models import Trees, bind_models, model_tree
from anon_spark.job.cells import Values, encode, ordered, values_in
from anon_spark.job.hierarchy_hints import with_hierarchy_hint
from anon_spark.job.look_over import Travel, looked_over
from anon_spark.job.persons import in_persons, set_bytes
from anon_spark.job.reading_hints import with_reading_hint
from anon_spark.job.schema import BoundSchema
from anon_spark.job.steps import Steps
from anon_spark.models.base import Whole
from anon_spark.plans.columns import named
from anon_spark.plans.fetch import fetch_arrow, fetch_row
from anon_spark.plans.frequency import ROWS, cell_names, frequencies, not_utf8, totals, values_of
from anon_spark.plans.materialise import Materialised
from anon_spark.plans.survey import every_row

FREQUENCY_SET = "frequency-set"
"""The name that the cells are kept under."""
MAX_VALUES = 2_000_000
"""Distinct values of all quasi-identifiers and counted columns together that may come to the driver (some 300 MB)."""


@dataclass(frozen=True)
class RawCells:
    """A frequency set as it was grouped: columns ``cell_names`` of texts and __anon_n; place: (lines,) int64 cell of each line."""

    table: pa.Table
    place: np.ndarray


@dataclass(frozen=True)
class Gathered:
    """A table's problem and its frequency set: in this process (``local``) or as a DataFrame of raw texts (``cells``) on Spark.

    table: the rows that are to be published. fingerprint: of the first scan, to be met again by the second. combinations: distinct
    cells, or about how many where every row is a cell; largest: rows of the largest, or about what it has no more than. raw: the
    texts of the cells of ``local``, kept for jobs that send every cell its own way.
    """

    table: DataFrame
    problem: Problem
    whole: Whole
    cells: DataFrame
    local: FrequencySet | None
    fingerprint: int
    combinations: int
    largest: int
    raw: RawCells | None = None


def near_of(policy: Policy) -> Path | None:
    """The directory of the configuration, if it came from a file."""
    return Path(policy.where).parent if Path(policy.where).is_file() else None


def read_trees(policy: Policy) -> dict[str, list[list[str]]]:
    """The hierarchy files of the policy by column, and of its models (``model_tree``), all faults at once; no Spark."""
    near = near_of(policy)
    trees: dict[str, list[list[str]]] = {}
    faults: list[Fault] = []
    asked = [(column.name, column.hierarchy) for column in policy.quasi_identifiers]
    asked += [(model_tree(place), spec.parameters.get("hierarchy")) for place, spec in enumerate(policy.privacy)]  # type: ignore[misc]
    for name, tree in asked:
        if isinstance(tree, FileHierarchy):
            try:
                trees[name] = read_tree(tree.path, tree.sep, near=near)
            except ConfigurationError as error:
                faults += error.faults
    if faults:
        raise ConfigurationError(faults)
    return trees


def without_null_rows(table: DataFrame, policy: Policy) -> DataFrame:
    """The rows that ``nulls: suppress`` leaves: those with no null in a quasi-identifier."""
    if policy.nulls != "suppress":
        return table
    for column in policy.quasi_identifiers:
        table = table.where(named(column.name).isNotNull())
    return table


def gather(
    table: DataFrame, policy: Policy, bound: BoundSchema, trees: Trees, kept: Materialised, steps: Steps, travel: Travel | None = None
) -> Gathered:
    """One scan of the table, one shuffle; then the distinct values, and the cells themselves where they are few.

    travel: whether a table of so many rows, about so many combinations, the largest of so many rows, needs no frequency set: then it is
    not made, and every row is a cell. None: it is made without asking.
    Raises DataError (values outside a hierarchy, nulls where they fail, too many distinct values), InfeasibleError (no rows).
    """
    d, s, held = len(bound.quasi_identifiers), len(bound.counted), len(bound.grouped)
    with steps.step("frequency set") as said:
        looked = looked_over(table, policy, bound, travel)
        if looked is not None:
            cells, total = every_row(table, bound.quasi_identifiers, bound.grouped), looked
            about = f"about {counted(total['cells'], 'distinct combination')}: too many to be worth grouping"
            said.append(f"{counted(total['rows'], 'row')} of {about}.")
        else:
            cells = kept.keep(frequencies(table, bound.quasi_identifiers, bound.grouped), FREQUENCY_SET)
            total = fetch_row(totals(cells, d, held))
            said.append(f"Grouped {counted(total['rows'], 'row')} into {counted(total['cells'], 'distinct combination')}.")
    if total["rows"] == 0:
        raise InfeasibleError(f"{policy.where}: the input has no rows: there is nothing to publish")
    in_driver = set_bytes(total["cells"], d, bound) <= policy.settings.driver_megabytes * 1_000_000
    with steps.step("encode") as said, _texts_refused(cells, policy, bound):
        names = sum(cell_names(d, s), [])
        person = cell_names(d, held)[1][-1] if bound.tells_persons else None
        fetched = fetch_arrow(cells) if in_driver else None
        values = values_in(fetched, names, ROWS) if fetched is not None else _distinct(cells, d, s, policy)
        _refuse_nulls(values[:d], policy)
        hierarchies = bind_all(policy, bound, values[:d], trees)
        problem = bind_models(policy, bound, _problem(policy, bound, hierarchies, values, int(total["rows"])), trees)
        local, raw = None, None
        if fetched is not None:
            local, place = encode(fetched, names[:d], hierarchies, names[d:], problem.values, ROWS, person)
            raw = None if policy.job == "lattice" else RawCells(fetched, place)
        said.append(f"Bound {counted(d, 'hierarchy', 'hierarchies')}; deciding {'in the driver process' if in_driver else 'on Spark'}.")
        if bound.ids is not None:
            problem = in_persons(problem, table, bound, cells, local, person)
            said.append(f"Classes are counted in persons: {counted(problem.persons or 0, 'person')}.")
    whole, fingerprint = _whole(problem), int(total["fingerprint"])
    return Gathered(table, problem, whole, cells, local, fingerprint, int(total["cells"]), int(total["largest"]), raw)


@contextmanager
def _texts_refused(cells: DataFrame, policy: Policy, bound: BoundSchema) -> Iterator[None]:
    """Texts that are no UTF-8, which Spark takes as they come and nothing else can read, as DataError with the rows of each column."""
    try:
        yield
    except UnicodeDecodeError:
        columns = (*bound.quasi_identifiers, *bound.counted)
        rows = fetch_row(not_utf8(cells, len(bound.quasi_identifiers), len(bound.counted)))
        advice = "decode it in a query, such as decode(cast(x AS binary), 'ISO-8859-1')"
        faults = [
            Fault(policy.where, f"column {raw.name}", f"text that is not UTF-8 in {counted(int(n), 'row')}", "text in UTF-8", advice)
            for raw, n in zip(columns, rows, strict=True)
            if n
        ]
        raise DataError(faults or [Fault(policy.where, "input", "text that is not UTF-8", "text in UTF-8", advice)]) from None


def _distinct(cells: DataFrame, d: int, s: int, policy: Policy) -> list[Values]:
    pairs = values_of(cells, d, s)
    table: pa.Table = fetch_arrow(pairs.limit(MAX_VALUES + 1))
    if len(table) > MAX_VALUES:
        counts = {row["place"]: row["count"] for row in pairs.groupBy("place").count().collect()}
        names = [c.name for c in policy.quasi_identifiers]
        widest = max(range(d), key=lambda i: counts.get(i, 0))
        found = f"{counts[widest]:,} distinct values of {names[widest]!r}"
        expected, advice = f"at most {MAX_VALUES:,} of all columns together", "round or shorten it in a query"
        raise DataError([Fault(policy.where, "input", found, expected, advice)])
    result: list[Values] = [{} for _ in range(d + s)]
    for place, value, rows in zip(*(table[name].to_pylist() for name in ("place", "value", "rows")), strict=True):
        result[place][value] = rows
    return result


def _refuse_nulls(values: Sequence[Values], policy: Policy) -> None:
    advice = "clean the input, or set nulls to value or suppress"
    faults = [
        Fault(policy.where, f"column {column.name}", f"null in {counted(known[None], 'row')}", "no null (nulls: fail)", advice)
        for column, known in zip(policy.quasi_identifiers, values, strict=True)
        if None in known
    ]
    if faults and policy.nulls == "fail":
        raise DataError(faults)


def bind_all(policy: Policy, bound: BoundSchema, values: Sequence[Values], trees: Trees) -> list[Hierarchy]:
    """Every hierarchy bound to its column's values; the faults of all columns at once, the configuration's first."""
    hierarchies: list[Hierarchy] = []
    wrong: list[Fault] = []
    large: list[Fault] = too_large(policy.quasi_identifiers, values, policy.where)
    outside: list[Fault] = []
    unmapped: list[UnmappedError] = []
    by_column = dict(zip(bound.names, values, strict=True))
    for column, raw, known in zip(policy.quasi_identifiers, bound.quasi_identifiers, values, strict=True):
        try:
            hierarchy = bind(column, raw.kind, known, tree=trees.get(column.name), where=policy.where)
            hierarchies.append(hierarchy if policy.job == "lattice" else as_published(hierarchy, column, policy.bounds))
        except UnmappedError as error:
            unmapped.append(error)
            outside += [with_hierarchy_hint(fault, column, by_column, trees) for fault in with_reading_hint(error, column, policy)]
        except ConfigurationError as error:
            wrong += error.faults
        except DataError as error:
            outside += error.faults
    if wrong:
        raise ConfigurationError(wrong)
    if large:
        raise DataError([*large, *outside])
    if outside:
        raise OutsideError(outside, unmapped)
    return hierarchies


def _problem(
    policy: Policy, bound: BoundSchema, hierarchies: Sequence[Hierarchy], values: Sequence[Values], rows: int
) -> Problem:
    columns = policy.quasi_identifiers
    ignored = {c.name for c in policy.of_role("sensitive") if c.nulls == "ignore"}
    names = tuple(raw.name for raw in bound.counted)
    counts = values[len(hierarchies) :]
    texts = tuple(ordered(known) for known in counts)
    return Problem(
        rows=rows,
        hierarchies=tuple(hierarchies),
        weights=tuple(c.weight for c in columns),
        min_levels=tuple(c.min_level for c in columns),
        max_levels=_max_levels(columns, hierarchies, policy),
        leaf_rows=tuple(_leaf_rows(h, known) for h, known in zip(hierarchies, values, strict=False)),
        models=policy.privacy,
        sensitive=names,
        values=texts,
        totals=tuple(np.array([known[text] for text in line], np.int64) for known, line in zip(counts, texts, strict=True)),
        ignores_null=tuple(name in ignored for name in names),
        limit=policy.suppression.limit,
        loss=policy.loss,
    )


def _whole(problem: Problem) -> Whole:
    counts = {}
    for name, known, rows, ignores in zip(problem.sensitive, problem.values, problem.totals, problem.ignores_null, strict=True):
        pairs = zip(known, rows.tolist(), strict=True)
        counts[name] = {text: count for text, count in pairs if not (ignores and text is None)}
    return Whole(problem.rows, counts, problem.persons)


def _leaf_rows(hierarchy: Hierarchy, values: Values) -> np.ndarray:
    rows = np.zeros(len(hierarchy.leaves), np.int64)
    for text, count in values.items():
        rows[hierarchy.codes[text]] += count
    return rows


def _max_levels(columns: Sequence[Column], hierarchies: Sequence[Hierarchy], policy: Policy) -> tuple[int, ...]:
    faults = [
        Fault(
            policy.where,
            f"columns ({column.name}).{key}",
            str(level),
            f"at most {hierarchy.levels - 1}, the root of its hierarchy",
        )
        for column, hierarchy in zip(columns, hierarchies, strict=True)
        for key, level in (("min_level", column.min_level), ("max_level", column.max_level))
        if level is not None and level >= hierarchy.levels
    ]
    if faults:
        raise ConfigurationError(faults)
    return tuple(h.levels - 1 if c.max_level is None else c.max_level for c, h in zip(columns, hierarchies, strict=True))


def null_rows_of(table: DataFrame, policy: Policy) -> int:
    """Rows of the input that hold a null in a quasi-identifier: one scan, only where ``nulls: suppress`` asks for it."""
    if policy.nulls != "suppress":
        return 0
    holds = F.lit(False)
    for column in policy.quasi_identifiers:
        holds = holds | named(column.name).isNull()
    return int(fetch_row(table.where(holds).agg(F.count(F.lit(1)).alias("n")))["n"])
