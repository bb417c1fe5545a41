"""What the owner should know of a decision before the release is handed out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from anon_spark.audit.result import AuditResult
from anon_spark.domain.counting import counted
from anon_spark.domain.policy import FlatHierarchy, IntervalHierarchy, MaskHierarchy, Policy
from anon_spark.domain.problem import Problem
from anon_spark.domain.recoding import LocalRecoding, LocalSummary, Recoding
from anon_spark.kernels.compiled import IS_COMPILED
from anon_spark.plans.box_tables import CLASSES, END, PLACE, rare_codes, rare_ends
from anon_spark.plans.fetch import fetch_rows

DELIMITER = re.compile(r"[,;|]")
_CHANGED = {True: "and masks and labels differ from the text's (02169 is 2169, 21**)", False: "and the release has 2169 for 02169"}
"""By whether a column is a quasi-identifier: what numbers change that were texts."""
_NOTHING = "*, or what all values of the table have in common"
FEW_UNCOMPILED = 500
"""Combinations that are grouped soon enough by loops that are not compiled."""


def asks_nothing(policy: Policy) -> tuple[str, ...]:
    """A warning where any table would do: k = 1 may be a slip for 10."""
    if any(model.model != "k-anonymity" or model.parameters["k"] != 1 for model in policy.privacy):
        return ()
    return ("k = 1 asks for nothing: every row may be alone in its class, and the release be the table itself. Ask for 2 at the least.",)


def changes_nothing(policy: Policy) -> tuple[str, ...]:
    """A warning of ``bounds: intervals`` without a hierarchy of intervals: ranges end at values of rows all the same."""
    ranged = [column.hierarchy for column in policy.quasi_identifiers]
    if policy.bounds != "intervals" or any(isinstance(hierarchy, IntervalHierarchy) for hierarchy in ranged):
        return ()
    return (
        "bounds: intervals changes nothing: no quasi-identifier has a hierarchy of intervals. Give one to each number or date whose "
        "values are not to be printed as bounds, such as hierarchy: {intervals: {widths: [5, 20]}}.",
    )


def unprotected(policy: Policy) -> tuple[str, ...]:
    """A warning of sensitive columns that no model reads: a class of k rows may have one and the same value."""
    read = {model.column for model in policy.privacy}
    names = [column.name for column in policy.of_role("sensitive") if column.name not in read]
    if not names:
        return ()
    return (
        f"{', '.join(names)}: sensitive, and no model reads {'it' if len(names) == 1 else 'them'}: in a class whose rows all have one "
        f"value, whoever finds the class learns it. Add a model, such as {{model: alpha-deassociation, column: {names[0]}, alpha: 0.5}}.",
    )


def flat_to_root(problem: Problem, policy: Policy) -> tuple[str, ...]:
    """A warning a flat hierarchy of job lattice that can publish nothing but *: too many rows have a value of fewer than k."""
    if policy.job != "lattice" or problem.k is None or problem.persons is not None:
        return ()
    told = []
    for column, h, rows in zip(policy.quasi_identifiers, problem.hierarchies, problem.leaf_rows, strict=True):
        rare = int(rows[rows < problem.k].sum())
        if isinstance(column.hierarchy, FlatHierarchy) and rare > problem.may_suppress:
            told.append(
                f"{h.column}: hierarchy flat can only print * here: {counted(rare, 'row')} {'has' if rare == 1 else 'have'} a value of "
                f"fewer than k = {problem.k} rows. A hierarchy with steps between (intervals, date, mask, a file) may keep more."
            )
    return tuple(told)


def few_suppressed(recoding: Recoding, k: int | None) -> tuple[str, ...]:
    """A warning where the rows left out are a group smaller than k: the table's total less the published rows tells its size."""
    lost = recoding.suppressed_rows
    if not k or not 0 < lost < k:
        return ()
    return (
        f"Suppressed rows: {lost}, fewer than k = {k}. Do not publish the table's total: less the published rows it discloses "
        "that so small a group was left out.",
    )


def nothing_left(policy: Policy, recoding: Recoding) -> tuple[str, ...]:
    """A warning where nothing is left of every quasi-identifier, or of some of a local recoding, whose levels no table shows.

    A mask or a period that holds all values of the table tells no more than *, and costs as much.
    """
    names = [column.name for column in policy.quasi_identifiers]
    gone = [name for name, lost in zip(names, recoding.by_column, strict=True) if lost == 1]
    advice = "Ask for less (a smaller k, weaker models), set suppression.limit, or take fewer columns for quasi-identifiers."
    if names and gone == names:
        return (f"Nothing is left of any quasi-identifier: every row prints {_NOTHING}. {advice}",)
    if gone and isinstance(recoding, LocalSummary):
        return (f"{', '.join(gone)}: nothing is left, every row prints {_NOTHING}. {advice}",)
    return ()


def rows_of_persons(policy: Policy, audit: AuditResult) -> tuple[str, ...]:
    """A warning that sizes and risks of a release are of rows, where models count persons."""
    if not policy.of_role("person"):
        return ()
    least = next((model.worst for model in audit.models if model.model == "k-anonymity"), None)
    told = ""
    if least is not None:
        told = f" The smallest class has {counted(int(least), 'person')}: the risk of one is at most 1 in {int(least):,}."
    return (f"Class sizes and risks are told in rows, of which a person may have several; the models count persons.{told}",)


def uncompiled(combinations: int) -> tuple[str, ...]:
    """A warning where many combinations are grouped without numba. What workers of a cluster have can't be seen from here."""
    if IS_COMPILED or combinations <= FEW_UNCOMPILED:
        return ()
    return (
        f"{combinations:,} combinations are grouped by loops that are not compiled, which takes some hundred times as long: install the "
        "extra compiled (pip install 'anon-spark[compiled]'; on a cluster, pack it with the environment).",
    )


def lists(problem: Problem, texts: Sequence[str]) -> tuple[str, ...]:
    """A warning a column of texts, named in ``texts``, whose values are lists: each is one value, in whatever order it was written."""
    told = []
    for hierarchy, rows in zip(problem.hierarchies, problem.leaf_rows, strict=True):
        if hierarchy.column not in texts:
            continue
        held = [value for value, code in hierarchy.codes.items() if value and rows[code]]
        several = parts_shared(held)
        if several:
            told.append(
                f"{hierarchy.column}: {counted(several, 'value')} that {'looks like a list' if several == 1 else 'look like lists'}. "
                "Each is taken for one value, the same parts in another order for another: sort or split them in a query, if lists."
            )
    return tuple(told)


def uneven_masks(problem: Problem, policy: Policy) -> tuple[str, ...]:
    """A warning a masked column whose values differ in length: levels count from the longest, and hide less of a shorter one."""
    told = []
    for column, hierarchy, rows in zip(policy.quasi_identifiers, problem.hierarchies, problem.leaf_rows, strict=True):
        if not isinstance(column.hierarchy, MaskHierarchy):
            continue
        held = [(len(text), int(n)) for text, n in zip(hierarchy.leaves, rows.tolist(), strict=True) if text is not None and n]
        longest = max((length for length, _ in held), default=0)
        shorter = [(length, n) for length, n in held if length < longest]
        if shorter:
            least, count = min(shorter)[0], sum(n for _, n in shorter)
            told.append(
                f"{hierarchy.column}: values of {least} to {longest} characters. Masks count from the longest: a value of {least} is "
                f"padded with {longest - least} characters, and as many levels hide nothing of it ({counted(count, 'row')} "
                f"{'is' if count == 1 else 'are'} shorter than the longest). Bring them to one length in a query, or set min_level."
            )
    return tuple(told)


def numbers_as_text(schema: T.StructType, policy: Policy) -> tuple[str, ...]:
    """A warning a column that is declared as text while the table holds numbers: zeros that a text had in front are gone by then."""
    numbers = {field.name for field in schema.fields if isinstance(field.dataType, T.NumericType)}
    return tuple(
        f"{column.name}: declared as text (type: string), but the table holds numbers: where a text began with zeros they are gone, "
        f"{_CHANGED[column.role == 'quasi-identifier']}. Read the column as text."
        for column in policy.columns
        if column.type == "string" and column.name in numbers and column.role not in ("identifier", "person")
    )


def parts_shared(values: Sequence[str]) -> int:
    """How many of the distinct texts are lists (``,``, ``;`` or ``|`` between parts) that share a part with another text."""
    split = {value: frozenset(part.strip() for part in DELIMITER.split(value) if part.strip()) for value in values}
    held = Counter(part for parts in split.values() for part in parts)
    return sum(1 for parts in split.values() if len(parts) > 1 and any(held[part] > 1 for part in parts))


def rare_bounds(problem: Problem, found: Mapping[int, tuple[int, int]]) -> tuple[str, ...]:
    """A warning a column whose printed ranges end in values that fewer than k rows of the table have: a bound may tell of one person.

    found: column -> how many such values, and how many classes print one.
    """
    told = []
    for j, (bounds, classes) in sorted(found.items()):
        if bounds:
            told.append(
                f"{problem.hierarchies[j].column}: {counted(bounds, 'value')} that fewer than k = {problem.k} rows of the table have, "
                f"printed as a bound of {counted(classes, 'class', 'classes')}: who knows such a value may know whose it is. "
                "Beside an intervals hierarchy the top-level key bounds: intervals prints its bounds instead; a date hierarchy prints "
                "periods."
            )
    return tuple(told)


def rare_bounds_here(problem: Problem, recoding: LocalRecoding) -> dict[int, tuple[int, int]]:
    """``found`` of a recoding in this process; nothing without k."""
    found = {}
    for j, (h, rare) in enumerate(zip(problem.hierarchies, rare_leaves(problem), strict=True)):
        if problem.k and h.numeric:
            codes, classes = rare_codes(h, rare, recoding.low[:, j], recoding.high[:, j])
            found[j] = (len(codes), classes)
    return found


def rare_bounds_there(problem: Problem, boxes: DataFrame) -> dict[int, tuple[int, int]]:
    """``found`` of boxes on Spark."""
    if not problem.k or not any(h.numeric for h in problem.hierarchies):
        return {}
    rows = fetch_rows(rare_ends(boxes, problem.hierarchies, rare_leaves(problem)))
    return {row[PLACE]: (row[END], row[CLASSES]) for row in rows}


def rare_leaves(problem: Problem) -> list[np.ndarray]:
    """(m_i,) bool leaves of fewer rows than k, a quasi-identifier each."""
    return [rows < (problem.k or 0) for rows in problem.leaf_rows]
