"""What the options of the input may have to do with columns that are not there and values that can't be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from anon_spark.domain.errors import Fault
from anon_spark.domain.policy import Column, Policy, Source
from anon_spark.domain.unmapped import UnmappedError
from anon_spark.io.input_options import folded, kind_of_format

_MARKS = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "(null)", "none", "nil", "missing", "\\n", "-", "--", "?", "."))
"""How files write that a value is missing, in small letters."""
_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+")
"""How numbers are written where the comma stands before the fraction."""
_SEPARATORS = (";", "\t", "|", ",", ":")
_PATTERNS = {"date": ("dateFormat", "dd.MM.yyyy", "to_date"), "timestamp": ("timestampFormat", "dd.MM.yyyy HH:mm", "to_timestamp")}


def misread_header(names: Sequence[str], policy: Policy) -> Fault | None:
    """The fault of a CSV that was read as one column, or without the names in its first line; None where that is not to be seen."""
    wanted = {column.name for column in policy.columns}
    if not _is_csv(policy.input) or policy.input is None or not wanted.isdisjoint(names):
        return None
    given = folded(policy.input.options)
    without = given.get("header", "").lower() != "true" and all(re.fullmatch(r"_c\d+", name) for name in names)
    header = "header: true where the first line holds the names of the columns"
    if len(names) == 1 and len(wanted) > 1:
        sep = given.get("sep", given.get("delimiter", ","))
        likely = max((one for one in _SEPARATORS if one != sep), key=names[0].count)
        # the name itself may be a row of a file that has no header
        advice = f"set sep: {_shown(likely)}" if likely in names[0] else "set sep to what stands between two fields"
        found = f"a single column, with sep {_shown(sep)}"
        return Fault(policy.where, "input.options.sep", found, "the columns of the policy", advice + f", and {header}" * without)
    if without:
        found = "no header: the first line was taken for data"
        return Fault(policy.where, "input.options.header", found, "the columns of the policy", f"set {header}")
    return None


def with_reading_hint(error: UnmappedError, column: Column, policy: Policy) -> tuple[Fault, ...]:
    """The faults of values outside a hierarchy, the first with what may be said of marks of missing values and of written dates."""
    marks = sum(text.strip().lower() in _MARKS for text in error.unmapped)
    pattern = _PATTERNS.get(error.kind or column.type or "")
    is_csv, hints = _is_csv(policy.input), []
    if marks:
        kinds = "looks like a mark of a missing value" if marks == 1 else "look like marks of missing values"
        advice = "name it in input.options.nullValue" if is_csv else "make it null in a query"
        if marks > 1:
            advice = f"{'name one in input.options.nullValue, or ' * is_csv}make them null in a query"
        hints.append(f"{marks} of them {kinds}, as NA, n/a, NULL or - do: {advice}")
    if pattern is not None and len(error.unmapped) > marks:
        option, example, function = pattern
        asked = f"name it in input.options.{option}, such as {example}, beside inferSchema: true"
        hints.append(f"where they follow another pattern, {asked if is_csv else f'read them by it in a query ({function})'}")
    commas = sum(bool(_COMMA.fullmatch(text.strip())) for text in error.unmapped)
    if commas and (error.kind or column.type) in ("integer", "decimal", "double"):
        query = "turn it into a point in a query: cast(replace(x, ',', '.') AS decimal(18, 2))"
        hints.append(f"{commas:,} of them {'looks' if commas == 1 else 'look'} like numbers with a decimal comma: {query}")
    if not hints:
        return error.faults
    first, *others = error.faults
    return (replace(first, advice="; ".join([first.advice, *hints])), *others)


def _is_csv(source: Source | None) -> bool:
    return source is not None and source.path is not None and kind_of_format(source.format) == "csv"


def _shown(sep: str) -> str:
    return '"\\t"' if sep == "\t" else repr(sep)
