"""The audit's own statements over many releases in one frame, by their numbers ``m``: a mutation costs rows, no Spark job of its own.

Columns: m int, r0.. the raw values and l0.. the labels of the quasi-identifiers in their order, sick the sensitive value.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

from anon_spark.audit.checks import check_of
from anon_spark.audit.classes import SIZE, Cells, classes_of
from anon_spark.audit.containment import containment
from anon_spark.audit.fingerprint import fingerprint
from anon_spark.audit.labels import with_validity
from anon_spark.domain.policy import Policy


def found_without_input(frame: Any, policy: Policy) -> set[int]:
    """The releases with a class that breaks a model, or a label of no hierarchy."""
    column = policy.of_role("sensitive")[0].name
    checks = [check_of(spec, column, Cells(0, False, frame.sparkSession), f"s{place}") for place, spec in enumerate(policy.privacy)]
    statistics = {check.name: check.statistic for check in checks if check.statistic is not None}
    quasi = range(len(policy.quasi_identifiers))
    classes = classes_of([*(F.col(f"l{place}") for place in quasi), F.col("m").cast("string")], [F.col("sick")], frame, statistics)
    wrong = F.lit(False)
    for check in checks:
        wrong = wrong | check.breaks
    for place, column_of in enumerate(policy.quasi_identifiers):
        classes, valid = with_validity(classes, f"q{place}", column_of, policy)
        wrong = wrong | ~valid
    assert SIZE in classes.columns
    return {int(row[0]) for row in classes.where(wrong).select(f"q{len(quasi)}").distinct().collect()}


def found_with_input(frame: Any, policy: Policy, kinds: dict[str, str], of: str) -> tuple[set[int], set[int]]:
    """The releases with a raw value that is not under its label, and those whose rows are not those of release 0: as they are
    printed (of: ``l``) or as they came in (``r``)."""
    names = [column.name for column in policy.quasi_identifiers]
    raw, label = ({name: f"{part}{place}" for place, name in enumerate(names)} for part in ("r", "l"))
    checked, outside = containment(frame, policy, raw, label, kinds)
    sums = fingerprint(frame.schema, [*(f"{of}{place}" for place in range(len(names))), "sick"])
    figures = {row["m"]: row for row in checked.groupBy("m").agg(F.sum(outside).alias("outside"), *sums).collect()}
    same = [name for name in figures[0].asDict() if name not in ("m", "outside")]
    changed = {m for m, row in figures.items() if any(row[name] != figures[0][name] for name in same)}
    return {m for m, row in figures.items() if row["outside"]}, changed
