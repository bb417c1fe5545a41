"""Releases of both jobs under every model, spoilt after their publication, their manifests taken away.

What the audit of the published columns finds is what brute force finds; with the input every one is found. The long run makes more
than 500 and prints the table of docs/FIGURES.md.
"""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from keyed_audit import found_with_input, found_without_input
from mutations import Cover, Published, breaks, is_outside, mutations, of_paths, of_ranges

from anon_spark import Policy
from anon_spark.audit.fingerprint import fingerprint
from anon_spark.audit.release import audit_release
from anon_spark.domain.errors import AnonError
from anon_spark.io.manifest import MANIFEST
from anon_spark.io.spark_errors import job_faults
from anon_spark.io.tables import read_back, read_release
from jobs import policy, quasi, released, tree

pytestmark = pytest.mark.spark

K, SEED = 3, 11
MODELS: dict[str, list[dict[str, Any]]] = {
    "k-anonymity": [],
    "alpha": [{"model": "alpha-deassociation", "alpha": "1/2"}],
    "alpha, refined": [{"model": "alpha-deassociation", "alpha": "2/5", "refined": True}],
    "frequency": [{"model": "l-diversity", "kind": "frequency", "l": 2}],
    "distinct": [{"model": "l-diversity", "kind": "distinct", "l": 3}],
}
ALL = [(job, model) for job in ("lattice", "top-down") for model in MODELS]
FEW = [("lattice", "alpha, refined"), ("top-down", "frequency")]
PLACES = {
    "Bern": ["Bern", "West", "Europe", "*"], "Genf": ["Genf", "West", "Europe", "*"], "Oslo": ["Oslo", "North", "Europe", "*"],
    "Lima": ["Lima", "South", "America", "*"], "Quito": ["Quito", "South", "America", "*"], "": ["", "*"],
}  # fmt: skip
ZIPS = ("53711", "53712", "53801", "61001", "61002", "6100")
AGES = ("21", "23", "24", "38", "39", "57", "61")
SICK = ("flu", "cold", "hiv", "cough")
SCHEMA = "id int, age int, city string, zip string, sex string, sick string"


def table() -> list[tuple[int, str, str, str, str, str]]:
    """Rows in groups that lie near each other: six of each, four sicknesses."""
    random, rows = Random(SEED), []
    for group in range(24):
        age, city, zip_, sex = (random.choice(values) for values in (AGES, tuple(PLACES), ZIPS, "FM"))
        for _ in range(6):
            near = AGES[max(0, AGES.index(age) - random.randrange(2))]
            row = (near, random.choice((city, city, "Bern")), random.choice((zip_, zip_, "53711")), sex)
            rows.append((len(rows), *row, SICK[(group + len(rows)) % 4]))
    return rows


def masked(value: str) -> list[str]:
    padded = value.ljust(5, "*")
    return list(dict.fromkeys([value, *(padded[:kept] + "*" * (5 - kept) for kept in range(4, 0, -1)), "*"]))


def intervals(value: str) -> list[str]:
    return [value, *(f"[{int(value) // w * w}, {int(value) // w * w + w - 1}]" for w in (5, 20)), "*"]


def covers(job: str) -> list[Cover]:
    age = of_paths({age: intervals(age) for age in AGES}) if job == "lattice" else of_ranges(AGES)
    return [age, of_paths(PLACES), of_paths({code: masked(code) for code in ZIPS}), of_paths({sex: [sex, "*"] for sex in "FM"})]


def asked(folder: Path, job: str, model: str) -> Policy:
    """CSV for one job and Parquet for the other, so that files of both are cut."""
    city = tree(folder, "city", *(";".join(path) for path in PLACES.values()))
    age = quasi("age", {"intervals": [5, 20]}) if job == "lattice" else {"name": "age", "role": "quasi-identifier"}
    columns = [
        {"name": "id", "role": "insensitive"}, age, quasi("city", city), quasi("zip", {"mask": "right"}), quasi("sex"),
        {"name": "sick", "role": "sensitive"},
    ]  # fmt: skip
    output = {"format": "csv" if job == "lattice" else "parquet", "path": str(folder / f"{job} {model}")}
    return policy(columns, k=K, job=job, models=MODELS[model], output=output, suppression={"limit": 0.1})


def release_of(spark: Any, policy_: Policy) -> list[Published]:
    """A release beside its raw rows, which the number of each tells."""
    rows = table()
    given = [(number, int(age), *rest) for number, age, *rest in rows]
    found = released(spark, given, SCHEMA, policy_).table.collect()
    assert len({tuple(row)[1:5] for row in found}) > 3
    return [Published(rows[row[0]][1:5], tuple(row)[1:5], row[5]) for row in found]


Figures = dict[str, Counter[str]]
"""Kind of mutation -> how many were tried, found without the input, found only with it, by neither."""


def spoilt_rows(spark: Any, policy_: Policy, rows: list[Published], each: int, figures: Figures) -> None:
    """Mutations of one release, all in one frame."""
    random, over = Random(SEED), covers(policy_.job)
    tried = [("nothing", rows), *mutations(over, rows, random, each)]
    data = [(m, *row.raw, *row.labels, row.sick) for m, (_, other) in enumerate(tried) for row in other]
    columns = ["m int", *(f"{part}{place} string" for part in "rl" for place in range(len(over))), "sick string"]
    frame = spark.createDataFrame(data, ", ".join(columns)).repartition(4).cache()
    without = found_without_input(frame, policy_)
    outside, changed = found_with_input(frame, policy_, {"age": "integer", "city": "text", "zip": "text", "sex": "text"}, "l")
    frame.unpersist()
    assert without == {m for m, (_, other) in enumerate(tried) if breaks(other, policy_.privacy)}
    assert outside == {m for m, (_, other) in enumerate(tried) if is_outside(other, over)}
    assert 0 not in without | outside | changed
    for m, (name, _) in enumerate(tried[1:], start=1):
        told = "without" if m in without else "with" if m in outside | changed else "neither"
        figures[name].update(["tried", told])


def cuts(data: bytes, random: Random, each: int) -> Iterator[bytes]:
    """Anywhere, at the end of a line, and everything."""
    for _ in range(each):
        yield data[: random.randrange(1, len(data) - 1)]
    lines = [at for at, byte in enumerate(data) if byte == 10][1:-1]
    for at in random.sample(lines, min(each, len(lines))):
        yield data[: at + 1]
    yield b""


def spoilt_files(spark: Any, policy_: Policy, each: int, figures: Figures) -> None:
    """Files of one release cut; read again by what the run read it with, and as any audit reads it."""
    assert policy_.output is not None
    cut = Path(f"{policy_.output.path} cut")
    shutil.copytree(str(policy_.output.path), cut)
    (cut / MANIFEST).unlink()
    sink = replace(policy_.output, path=str(cut))
    (file,) = cut.glob("part-*")
    schema = read_back(spark, sink, str(policy_.output.path), spark.createDataFrame([], SCHEMA.replace("age int", "age string")).schema)

    def sums() -> Any:
        with job_faults("cut"):
            return read_back(spark, sink, str(cut), schema.schema).agg(*fingerprint(schema.schema, schema.columns)).collect()[0]

    def passes(audited: Any) -> bool:
        try:
            return bool(audited())
        except AnonError:
            return False

    whole, random = file.read_bytes(), Random(SEED)
    before = sums()
    for data in cuts(whole, random, each):
        (cut / f".{file.name}.crc").unlink(missing_ok=True)
        file.write_bytes(data)
        spark.catalog.refreshByPath(str(cut))
        with_input = passes(lambda: sums() == before)
        with_columns = passes(lambda: _audit(spark, sink, policy_))
        told = "without" if not with_columns else "with" if not with_input else "neither"
        figures["a file cut"].update(["tried", told])


def _audit(spark: Any, sink: Any, policy_: Policy) -> bool:
    with job_faults("cut"):
        return audit_release(read_release(spark, sink, "cut"), policy_).ok


def all_figures(spark: Any, folder: Path, releases: list[tuple[str, str]], each: int, files: int) -> Figures:
    figures: Figures = defaultdict(Counter)
    for job, model in releases:
        policy_ = asked(folder, job, model)
        rows = release_of(spark, policy_)
        spoilt_rows(spark, policy_, rows, each, figures)
        spoilt_files(spark, policy_, files, figures)
    return figures


KINDS = {
    *(f"a {whom} {what}" for whom in ("class", "row") for what in ("narrowed", "widened", "given a sibling")),
    "a class halved", "a row dropped", "a row doubled", "sensitive values swapped", "a file cut",
}  # fmt: skip


def checked(figures: Figures) -> int:
    """How many were tried; none may pass both audits, and each kind must be there."""
    assert set(figures) == KINDS
    assert {name: counts["neither"] for name, counts in figures.items()} == dict.fromkeys(KINDS, 0)
    assert all(counts["without"] + counts["with"] == counts["tried"] > 0 for counts in figures.values())
    return sum(counts["tried"] for counts in figures.values())


def test_no_mutation_passes_both_audits(spark: Any, tmp_path: Path) -> None:
    assert checked(all_figures(spark, tmp_path, FEW, each=2, files=1)) > 60


@pytest.mark.long
def test_no_mutation_of_hundreds_passes_both_audits(spark: Any, tmp_path: Path) -> None:
    figures = all_figures(spark, tmp_path, ALL, each=5, files=2)
    print("\n| mutation | tried | without the input | only with it | neither |\n|---|---|---|---|---|")
    for name in sorted(figures):
        print(f"| {name} | {' | '.join(str(figures[name][key]) for key in ('tried', 'without', 'with', 'neither'))} |")
    total = checked(figures)
    print(f"{total} in all, {len(ALL)} releases")
    assert total > 500
