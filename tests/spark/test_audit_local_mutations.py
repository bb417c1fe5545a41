"""Mutations of correct local releases, over every kind of quasi-identifier: which the audit finds without the input, which with it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from keyed_audit import found_with_input, found_without_input
from local_labels import Quasi, Row, clusters, every_kind, loose
from mutations import Published, Rows

from anon_spark.audit.release import audit_release
from anon_spark.domain.policy import Column, ModelSpec, Policy

pytestmark = pytest.mark.spark

K, GROUPS, SEED = 3, 12, 7
SICK = "sick ness"


def policy_of(kinds: list[Quasi]) -> Policy:
    asked = (
        ModelSpec(model="k-anonymity", parameters={"k": K}),
        ModelSpec(model="alpha-deassociation", parameters={"alpha": Fraction(1, 2), "values": ("hiv",)}),
    )
    return Policy(job="top-down", columns=(*(kind.column for kind in kinds), Column(name=SICK, role="sensitive")), privacy=asked)


def correct(kinds: list[Quasi], random: Random) -> Rows:
    """Classes of K to 2K - 1 rows, each with one hiv."""
    rows, seen = [], set()
    for raw, labels in clusters(kinds, K, GROUPS, random):
        rows.append(Published(raw, labels, random.choice(("flu", "cold")) if labels in seen else "hiv"))
        seen.add(labels)
    return rows


# --- mutations: (what was done, the release then); each changes the multiset of printed rows ---


def relabelled(rows: Rows, whom: set[int], place: int, label: Any) -> Rows:
    def put(labels: Row) -> Row:
        return (*labels[:place], label, *labels[place + 1 :])

    return [Published(r.raw, put(r.labels), r.sick) if at in whom else r for at, r in enumerate(rows)]


def mutations(kinds: list[Quasi], rows: Rows, random: Random) -> Iterator[tuple[str, Rows]]:
    classes: dict[Row, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        classes[row.labels].append(at)
    yield from of_labels(kinds, rows, list(classes.values()), random)
    for at in random.sample(range(len(rows)), 10):
        yield "a row dropped", rows[:at] + rows[at + 1 :]
        yield "a row doubled", [*rows, rows[at]]
    for _ in range(40):
        at, other = random.sample(range(len(rows)), 2)
        if rows[at].sick != rows[other].sick and rows[at].labels != rows[other].labels:
            pair = {at: rows[other].sick, other: rows[at].sick}
            yield "sensitive values swapped", [Published(r.raw, r.labels, pair.get(n, r.sick)) for n, r in enumerate(rows)]


def of_labels(kinds: list[Quasi], rows: Rows, classes: list[list[int]], random: Random) -> Iterator[tuple[str, Rows]]:
    for place, kind in enumerate(kinds):
        for members in random.sample(classes, 6):
            values = [rows[at].raw[place] for at in members]
            half = set(members[: len(members) // 2])
            found = {"narrowed": kind.narrower(values), "widened": kind.wider(values), "given a sibling": kind.apart(values)}
            for name, labels in found.items():
                if labels:
                    label = random.choice(labels)
                    yield f"a class {name}", relabelled(rows, set(members), place, label)
                    yield f"a row {name}", relabelled(rows, {random.choice(members)}, place, label)
            if kind.wider(values):
                yield "a class halved", relabelled(rows, half, place, random.choice(kind.wider(values)))
            if kind.foreign is not None:
                yield "a class foreign", relabelled(rows, set(members), place, kind.foreign)


EXPECTED = {
    "a class narrowed": (35, 0, 35, 0, 0, 0),
    "a row narrowed": (35, 35, 15, 0, 35, 0),
    "a class given a sibling": (48, 0, 48, 0, 0, 0),
    "a row given a sibling": (48, 48, 48, 0, 48, 0),
    "a class foreign": (36, 36, 36, 0, 0, 0),
    "a class widened": (34, 0, 0, 0, 34, 0),
    "a row widened": (34, 34, 0, 0, 34, 0),
    "a class halved": (34, 34, 0, 0, 34, 0),
    "a row dropped": (10, 2, 0, 10, 5, 0),
    "a row doubled": (10, 0, 0, 10, 0, 0),
    "sensitive values swapped": (23, 2, 0, 23, 0, 0),
}
"""Mutation -> tried; found by the published columns alone; with the input by containment, by the fingerprint of the rows, and by the
tests' own look for labels wider than need be; found by none of them."""


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_no_mutation_of_a_local_release_passes_with_and_without_the_input(spark: Any, tmp_path: Path, ansi: str) -> None:
    random, kinds = Random(SEED), every_kind(tmp_path)
    policy = policy_of(kinds)
    rows = correct(kinds, random)
    tried: list[tuple[str, Rows]] = [("nothing", rows), *mutations(kinds, rows, random)]
    printed = Counter((row.labels, row.sick) for row in rows)
    assert all(Counter((row.labels, row.sick) for row in other) != printed for _, other in tried[1:])
    frame = spark.createDataFrame(
        [(m, *row.raw, *row.labels, row.sick) for m, (_, other) in enumerate(tried) for row in other],
        ", ".join(["m int", *(f"{part}{place} string" for part in "rl" for place in range(len(kinds))), "sick string"]),
    ).repartition(8)
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        without = found_without_input(frame, policy)
        outside, changed = found_with_input(frame, policy, {kind.column.name: kind.kind for kind in kinds}, "r")
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    wide = {m for m, (_, other) in enumerate(tried) if loose(kinds, [(row.raw, row.labels) for row in other])}
    assert 0 not in without | outside | changed | wide
    told = {name: [m for m, (other, _) in enumerate(tried) if other == name] for name, _ in tried[1:]}
    seen = [without, outside, changed, wide]
    table = {
        name: (len(ms), *(len(each.intersection(ms)) for each in seen), len(set(ms).difference(*seen))) for name, ms in told.items()
    }
    assert table == EXPECTED


def test_the_whole_audit_agrees_on_one_of_each(spark: Any, tmp_path: Path) -> None:
    random, kinds = Random(SEED), every_kind(tmp_path)
    policy = policy_of(kinds)
    rows = correct(kinds, random)
    schema = ", ".join(f"`{column.name.replace('`', '``')}` string" for column in policy.columns)

    def audited(release: Rows) -> Any:
        frame = spark.createDataFrame([(*row.labels, row.sick) for row in release], schema)
        return audit_release(frame, policy, rows_of_input=len(rows), suppressed=0)

    assert audited(rows).ok
    of_each = dict(mutations(kinds, rows, random))
    for name, rule in (
        ("a class halved", "k-anonymity"),
        ("a class foreign", "labels"),
        ("a row dropped", "rows"),
        ("a row doubled", "rows"),
    ):
        assert rule in {finding.rule for finding in audited(of_each[name]).findings}, name
