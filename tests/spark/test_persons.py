"""Jobs over tables of several rows a person: classes counted in persons, ids that go nowhere, an audit that counts them itself."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import persons
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from anon_spark import Policy, anonymize
from anon_spark.algorithms.lattice import decide_with, whole_table
from anon_spark.algorithms.spark_checker import SparkChecker
from anon_spark.algorithms.templates import with_templates
from anon_spark.audit.release import audit_release
from anon_spark.domain.errors import AuditError, ConfigurationError, InfeasibleError, NoneFoundError
from anon_spark.domain.frequency import FrequencySet
from anon_spark.domain.policy import ModelSpec
from anon_spark.domain.problem import Problem
from anon_spark.job import decide_groups, run
from anon_spark.job.check import check
from anon_spark.models import registry
from anon_spark.models.k_anonymity import KAnonymity
from anon_spark.models.registry import models_of
from anon_spark.plans.frequency import ROWS, cell_names
from anon_spark.plans.local import local_table
from anon_spark.plans.persons import DIGITS
from anon_spark.plans.waves import encode
from anon_spark.report.plan import render_plan
from jobs import policy, quasi

pytestmark = pytest.mark.spark

SCHEMA = "patient string, zip string, sex string, illness string, id int"
COLUMNS = [
    {"name": "patient", "role": "person"}, quasi("zip", {"mask": "right"}), quasi("sex"),
    {"name": "illness", "role": "sensitive"}, {"name": "id", "role": "insensitive"},
]  # fmt: skip
HERE, THERE = {"driver_megabytes": 64}, {"driver_megabytes": 0, "block_combinations": 10}


def rows_of(seed: int, count: int = 80, patients: int = 30) -> list[tuple]:
    """Persons of one to many rows, most of them near home, and rows without an id."""
    draw = Random(seed)
    homes = {f"patient-{i}": draw.choice(["5371", "5372", "6100"]) for i in range(patients)}
    rows = []
    for i in range(count):
        patient = None if draw.random() < 0.1 else f"patient-{int(patients * draw.random() ** 2)}"
        home = homes[patient] if patient and draw.random() < 0.8 else draw.choice(["5371", "5372", "6100", "6101"])
        rows.append((patient, home, draw.choice("MF"), draw.choice(["flu", "flu", "cough", "HIV", None]), i))
    return rows


def classes_of(table: DataFrame, rows: Sequence[tuple]) -> list[list[tuple]]:
    """The rows of the input class by class of what was printed of them, told by the column that passes."""
    printed = {row["id"]: (row["zip"], row["sex"]) for row in table.collect()}
    classes: dict[tuple, list[tuple]] = defaultdict(list)
    for row in rows:
        if row[-1] in printed:
            classes[printed[row[-1]]].append(row)
    return list(classes.values())


def in_persons(members: Sequence[tuple]) -> int:
    return persons.persons_in([[row[0]] for row in members])


MODELS: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 5},
    {"model": "alpha-deassociation", "alpha": 0.6, "values": ["HIV", "flu"]},
    {"model": "alpha-deassociation", "alpha": 0.5, "refined": True},
    {"model": "l-diversity", "kind": "frequency", "l": 1},
    {"model": "lambda-alpha-k", "k": 4, "alpha": 0.8, "lambda": {1: 1, 2: 0.8}, "levels": 2},
    {"model": "confidence-bound", "value": "HIV", "h": 0.5, "given": ["zip"]},
]

LOOSER: list[dict[str, Any]] = [
    {"model": "alpha-deassociation", "alpha": 0.9, "values": ["HIV"]},
    {"model": "alpha-deassociation", "alpha": 0.9, "values": ["HIV", "cough"], "refined": True},
    {"model": "lambda-alpha-k", "k": 4, "alpha": 1, "lambda": {1: 1, 2: 0.9}, "levels": 2},
    {"model": "confidence-bound", "value": "HIV", "h": 0.8, "given": ["zip"]},
]
"""Where rows are counted against persons, shares must have room."""


def cases(models: Sequence[dict[str, Any]], *there: str) -> list[Any]:
    """Each model here, and on Spark: some of them at every commit, all in the long run."""
    found = []
    for asked in models:
        name = f"{asked['model']}{'-refined' if asked.get('refined') else ''}"
        found.append(pytest.param(asked, HERE, id=f"{name}-here", marks=[pytest.mark.long] if name in there else []))
        found.append(pytest.param(asked, THERE, id=f"{name}-there", marks=[] if name in there else [pytest.mark.long]))
    return found


@pytest.mark.parametrize(("asked", "place"), cases(MODELS, "confidence-bound"))
def test_every_class_of_a_lattice_holds_in_persons(spark: SparkSession, asked: dict[str, Any], place: dict) -> None:
    rows = rows_of(1)
    models = [asked] if asked["model"] == "k-anonymity" else [{"model": "k-anonymity", "k": 3}, asked]
    found = anonymize(spark.createDataFrame(rows, SCHEMA), policy(COLUMNS, k=None, models=models, settings=place))
    assert found.table.columns == ["zip", "sex", "illness", "id"]
    assert [model.holds for model in found.report.models] == [True] * len(models)
    classes = classes_of(found.table, rows)
    assert sum(map(len, classes)) == len(rows) and len(classes) > 1
    smallest = min(in_persons(members) for members in classes)
    assert found.report.models[0].worst == smallest >= models[0]["k"]
    spec = Policy(columns=COLUMNS, privacy=models).privacy[-1]
    own = [[row[1], row[3], row[0]] for row in rows]
    for members in classes:
        held = [[row[1], row[3], row[0]] for row in members]
        if asked["model"] == "confidence-bound":
            labels = {row["id"]: row["zip"] for row in found.table.collect()}
            held = [[row[1], row[3], row[0]] for row in rows if labels[row[-1]] == labels[members[0][-1]]]
        assert persons.holds(_defaults(spec), held, own, 1, False)


def _defaults(spec: ModelSpec) -> ModelSpec:
    return ModelSpec(model=spec.model, column="illness", parameters={"values": None, "refined": False, **spec.parameters})


def test_rows_of_one_person_are_no_crowd(spark: SparkSession) -> None:
    """METHODS 1.17 on case C15: by rows the regions are classes of 6 and 4, by persons of 1 and 2."""
    rows = [*[("P1", "N")] * 6, *[("P2", "S")] * 2, *[("P3", "S")] * 2]
    table = spark.createDataFrame(rows, "person string, region string")
    columns = [{"name": "person", "role": "person"}, quasi("region")]
    for job in ("lattice", "top-down"):
        for place in (HERE, THERE):
            released = anonymize(table, policy(columns, k=2, job=job, settings=place))
            assert Counter(row["region"] for row in released.table.collect()) == {"*": 10}
            assert released.report.models[0].worst == 3, "persons, not rows"
            assert released.report.output is not None and released.report.output.class_size is not None
            assert released.report.output.class_size.min == 10, "rows stay rows"
            with pytest.raises(InfeasibleError, match="3 persons < k = 4"):
                anonymize(table, policy(columns, k=4, job=job, settings=place))
    rows_alone = [{"name": "person", "role": "identifier"}, quasi("region")]
    assert anonymize(table, policy(rows_alone, k=2)).report.models[0].worst == 4
    nobody = spark.createDataFrame([(None, region) for _, region in rows], "person string, region string")
    for job in ("lattice", "top-down"):
        assert anonymize(nobody, policy(columns, k=4, job=job)).report.models[0].worst == 4, "each row without an id is its own person"


def cells_of(spark: SparkSession, problem: Problem, frequency: FrequencySet) -> DataFrame:
    """The frequency set as the raw texts that a scan would give, persons last."""
    keys, others = cell_names(len(problem.hierarchies), problem.held)
    texts = [*([h.leaves[code] for code in frequency.codes[:, i]] for i, h in enumerate(problem.hierarchies))]
    texts += [[known[number] for number in frequency.sensitive[:, j]] for j, known in enumerate(problem.values)]
    texts += [[f"p{number}" if number else None for number in frequency.sensitive[:, -1]]]
    columns = {name: pa.array(line, pa.string()) for name, line in zip([*keys, *others], texts, strict=True)}
    return local_table(spark, pa.table({**columns, ROWS: pa.array(frequency.count, pa.int64())}))


def test_waves_count_persons_as_exhaustive_search_does(spark: SparkSession, full: bool) -> None:
    feasible = 0
    for seed in range(500, 560 if full else 503):
        problem, frequency, rows = persons.random_problem(Random(seed))
        right = persons.exhaustive(problem, frequency, rows)
        encoded = encode(cells_of(spark, problem, frequency), problem.hierarchies, problem.held)
        checker = with_templates(problem, models_of(problem), lambda some, _: SparkChecker(problem, some, encoded, most_cells=5))  # noqa: B023
        try:
            found = decide_with(problem, checker, whole_table(problem, frequency))
        except InfeasibleError:
            assert right.best is None, seed
            continue
        feasible += 1
        assert right.best is not None and found.levels == right.best[2], seed
        assert found.suppressed_rows == right.holding[found.levels], seed
    assert feasible > (3 if full else 0)


@pytest.mark.parametrize(("asked", "place"), cases(LOOSER, "alpha-deassociation"))
def test_every_class_of_a_local_job_holds_in_persons(spark: SparkSession, asked: dict[str, Any], place: dict) -> None:
    """By bounds that add up: rows with a value are no fewer than its persons, rows that stand for a person no more than all."""
    rows = rows_of(7, 120, 100)
    models = [{"model": "k-anonymity", "k": 3}, asked]
    found = anonymize(spark.createDataFrame(rows, SCHEMA), policy(COLUMNS, k=None, job="top-down", models=models, settings=place))
    assert [model.holds for model in found.report.models] == [True, True]
    classes = classes_of(found.table, rows)
    assert min(map(in_persons, classes)) >= 3 and len(classes) > 1
    own = [[row[1], row[3], row[0]] for row in rows]
    spec = _defaults(Policy(columns=COLUMNS, privacy=models).privacy[-1])
    for members in classes:
        assert persons.holds(spec, [[row[1], row[3], row[0]] for row in members], own, 1, False)


def test_what_a_bound_can_not_show_is_not_found_and_not_denied(spark: SparkSession) -> None:
    """Two of four persons are ill, in four rows: by rows over persons that is all of them. The lattice counts, and publishes."""
    rows = [*[("p1", "N", "flu")] * 2, *[("p2", "N", "flu")] * 2, ("p3", "N", "cough"), ("p4", "N", "cough")]
    table = spark.createDataFrame(rows, "patient string, zip string, illness string")
    columns = [{"name": "patient", "role": "person"}, quasi("zip"), {"name": "illness", "role": "sensitive"}]
    models = [{"model": "alpha-deassociation", "alpha": 0.5, "values": ["flu"]}]
    assert anonymize(table, policy(columns, k=4, models=models)).report.models[1].worst == persons.Fraction(1, 2)
    with pytest.raises(NoneFoundError):
        anonymize(table, policy(columns, k=4, models=models, job="top-down"))


@pytest.mark.parametrize(
    ("place", "more"),
    [
        pytest.param(place, more, id=f"{name}-{'here' if place == HERE else 'there'}", marks=[] if name in kept else [pytest.mark.long])
        for place, kept in ((HERE, ("nulls",)), (THERE, ("star",)))
        for name, more in (("rows", {}), ("star", {"suppression": {"limit": 0.2, "show": "star"}}), ("nulls", {"nulls": "suppress"}))
    ],
)
def test_every_class_of_a_local_job_has_k_persons(spark: SparkSession, place: dict, more: dict[str, Any]) -> None:
    rows = [row if i % 9 else (row[0], None, *row[2:]) for i, row in enumerate(rows_of(2, 120))]
    asked = policy(COLUMNS, k=4, job="top-down", settings=place, **more)
    tables = [spark.createDataFrame(lines, SCHEMA).repartition(parts) for lines, parts in ((rows, 1), (rows[::-1], 5))]
    releases = [anonymize(table, asked) for table in tables]
    assert {tuple(row) for row in releases[0].table.collect()} == {tuple(row) for row in releases[1].table.collect()}
    classes = classes_of(releases[0].table, rows)
    assert min(map(in_persons, classes)) == releases[0].report.models[0].worst >= 4
    assert len(classes) > 2 and any(in_persons(members) < len(members) for members in classes)
    published = sum(map(len, classes))
    assert published == (sum(row[1] is not None for row in rows) if "nulls" in more else len(rows)) or "suppression" in more


def test_the_audit_counts_persons_itself(spark: SparkSession) -> None:
    """A class of three rows of two persons is refused at k = 3; so is a value that one of two persons has at alpha = 0.4."""
    rows = [*[("N", "flu", "p1")] * 2, ("N", "cough", "p2"), *[("S", "cough", None)] * 3, *[(None, "cough", f"q{i}") for i in range(3)]]
    table = spark.createDataFrame(rows, "region string, illness string, who string")
    columns = [{"name": "who", "role": "person"}, quasi("region"), {"name": "illness", "role": "sensitive"}]

    def audited(*models: dict[str, Any], told: bool = True, **more: Any) -> Any:
        asked = Policy(columns=columns, privacy=list(models), **more)
        return audit_release(table.select("region", "illness"), asked, rows_of_input=9, suppressed=0, persons=table if told else None)

    assert audited({"model": "k-anonymity", "k": 2}).ok
    refused = audited({"model": "k-anonymity", "k": 3})
    assert [finding.rule for finding in refused.findings] == ["k-anonymity"] and refused.models[0].worst == 2
    assert "1 class of 3 rows" in refused.findings[0].message and "N" in refused.findings[0].message
    flu = {"model": "alpha-deassociation", "values": ["flu"]}
    half = audited({**flu, "alpha": 0.5})
    assert half.ok and half.models[0].worst == persons.Fraction(1, 2), "one of two persons, though two of three rows"
    assert not audited({**flu, "alpha": 0.4}).ok
    bound = {"model": "confidence-bound", "value": "flu", "given": ["region"]}
    assert audited({**bound, "h": 0.5}).ok and not audited({**bound, "h": 0.4}).ok
    alone = audited({"model": "k-anonymity", "k": 2}, told=False)
    assert not alone.ok and [finding.rule for finding in alone.findings] == ["person"]
    assert any("of how many persons" in sentence for sentence in alone.cannot_know)
    few = audited({"model": "k-anonymity", "k": 4}, told=False)
    assert {finding.rule for finding in few.findings} == {"person", "k-anonymity"}, "fewer rows than k are fewer persons, too"


def test_a_person_of_several_classes_of_some_labels_is_one(spark: SparkSession) -> None:
    """Given the region alone: its classes by sex hold the same ill person, who is one of two there and not two of four."""
    rows = [("N", "M", "flu", "p1"), ("N", "F", "flu", "p1"), ("N", "M", "cough", "p2"), ("N", "F", "cough", "p2"), ("N", "F", "flu", "p3")]
    table = spark.createDataFrame(rows, "region string, sex string, illness string, who string")
    columns = [{"name": "who", "role": "person"}, quasi("region"), quasi("sex"), {"name": "illness", "role": "sensitive"}]
    for h, ok in ((0.67, True), (0.66, False)):
        asked = Policy(columns=columns, privacy=[{"model": "confidence-bound", "value": "flu", "h": h, "given": ["region"]}])
        found = audit_release(table.drop("who"), asked, rows_of_input=5, suppressed=0, persons=table)
        assert found.ok is ok and found.models[0].worst == persons.Fraction(2, 3)


def test_a_release_that_lost_persons_is_refused(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decider that counts rows after all: the audit, which counts persons, stops it."""
    rows = [*[("P1", "N")] * 6, *[("P2", "S")] * 2, *[("P3", "S")] * 2]
    table = spark.createDataFrame(rows, "person string, region string")
    monkeypatch.setitem(registry.OF_PERSONS, "k-anonymity", lambda asked: (KAnonymity(asked.whole("k")),))
    with pytest.raises(AuditError, match=r"k-anonymity.*1 class of 6 rows"):
        anonymize(table, policy([{"name": "person", "role": "person"}, quasi("region")], k=2))


def test_check_tells_persons(spark: SparkSession) -> None:
    columns = [{"name": "patient", "role": "person"}, quasi("zip", {"mask": "right"}), quasi("sex"), *COLUMNS[3:]]
    rows = rows_of(3)
    models = [{"model": "alpha-deassociation", "values": ["HIV"], "alpha": 0.9}]
    told = render_plan(check(spark, policy(columns, k=200, models=models), spark.createDataFrame(rows, SCHEMA)))
    whole, ill = in_persons(rows), in_persons([row for row in rows if row[3] == "HIV"])
    assert f"k-anonymity: k up to {whole} persons" in told and f"{whole} persons < k = 200" in told
    assert re.search(rf"a share from 0\.{str(ill / whole)[2:5]}", told)
    local = render_plan(check(spark, policy(columns, k=200, job="top-down"), spark.createDataFrame(rows, SCHEMA)))
    assert f"k up to {whole} persons" in local


def test_ids_go_nowhere(spark: SparkSession, tmp_path: Path) -> None:
    """Neither ids nor their hashes are in the release, its footers, the report or what remains."""
    rows = [(f"zq7patient{row[0]}" if row[0] else None, *row[1:]) for row in rows_of(4)]
    table = spark.createDataFrame(rows, SCHEMA)
    for job in ("lattice", "top-down"):
        for staging in (False, True):
            folder = tmp_path / f"{job}-{staging}"
            (folder / "staging").mkdir(parents=True)
            more: dict[str, Any] = {"staging": folder / "staging"} if staging else {}
            output = {"path": str(folder / "out"), "format": "parquet", "options": {"compression": "none"}}
            asked = policy(COLUMNS, k=3, job=job, output=output, report={"path": str(folder / "report")}, **more)
            anonymize(table, asked)
            files = [path for path in folder.rglob("*") if path.is_file()]
            assert {path.relative_to(folder).parts[0] for path in files} == {"out", "report"}
            assert not [path for path in folder.rglob("*persons*")]
            # an UUID in a file's name has no 32 digits in a row; the report's own sums are named
            for path in files:
                data = path.read_bytes()
                assert b"zq7" not in data and b"__anon" not in data, path
                if path.suffix == ".parquet":
                    assert not re.search(rb"(?<![0-9a-f])[0-9a-f]{%d}(?![0-9a-f])" % DIGITS, data), path


def test_a_table_as_output_wants_a_place_of_its_own_for_persons(spark: SparkSession) -> None:
    asked = policy(COLUMNS, k=2, output={"table": "default.persons_released", "format": "parquet"})
    with pytest.raises(ConfigurationError, match=r"settings\.staging"):
        anonymize(spark.createDataFrame(rows_of(5), SCHEMA), asked)


@pytest.mark.parity
@pytest.mark.parametrize("job", ["lattice", "top-down"])
def test_persons_are_counted_alike_on_every_session(spark: SparkSession, tmp_path: Path, job: str) -> None:
    output = {"format": "parquet", "path": str(tmp_path / "out")}
    released = anonymize(spark.createDataFrame(rows_of(6), SCHEMA), policy(COLUMNS, k=4, job=job, output=output))
    classes = classes_of(released.table, rows_of(6))
    assert min(map(in_persons, classes)) == released.report.models[0].worst >= 4


def test_rows_on_their_way_through_blocks_keep_their_persons(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nearly all combinations are distinct the rows themselves travel: one of each person is marked before they go."""
    went = []
    real = decide_groups._with_rows
    monkeypatch.setattr(decide_groups, "MANY", 10)
    monkeypatch.setattr(decide_groups, "_with_rows", lambda *arguments: went.append(True) or real(*arguments))
    draw = Random(8)
    rows = [(f"p{draw.randint(0, 14)}", draw.randint(0, 999), i) for i in range(60)]
    columns = [{"name": "patient", "role": "person"}, quasi("n", None), {"name": "id", "role": "insensitive"}]
    asked = policy(columns, k=3, job="top-down", settings=THERE)
    found = anonymize(spark.createDataFrame(rows, "patient string, n int, id int"), asked)
    assert went == [True]
    label = {row["id"]: row["n"] for row in found.table.collect()}
    classes: dict[str, list[tuple]] = defaultdict(list)
    for row in rows:
        classes[label[row[-1]]].append(row)
    assert min(map(in_persons, classes.values())) == found.report.models[0].worst >= 3 and len(classes) > 1


def test_a_table_of_the_catalogue_is_published_without_persons(spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "persons.db"
    (tmp_path / "staging").mkdir()
    spark.sql(f"CREATE DATABASE persons LOCATION '{place}'")
    try:
        asked = policy(COLUMNS, k=3, staging=tmp_path / "staging", output={"table": "persons.t", "format": "parquet"})
        found = anonymize(spark.createDataFrame(rows_of(9), SCHEMA), asked)
        assert spark.table("persons.t").columns == ["zip", "sex", "illness", "id"]
        assert min(map(in_persons, classes_of(spark.table("persons.t"), rows_of(9)))) == found.report.models[0].worst
        assert not [path for path in (tmp_path / "staging").rglob("*") if path.is_file()]
    finally:
        spark.sql("DROP DATABASE persons CASCADE")


def test_what_failed_leaves_no_persons_behind(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit that fails while rows are staged with their persons."""
    seen = []

    def fails(*given: Any, **named: Any) -> Any:
        seen.extend(path for path in tmp_path.rglob("*.parquet") if "persons" in str(path.parent))
        raise RuntimeError("no")

    monkeypatch.setattr(run, "audit_release", fails)
    for staging in (None, tmp_path / "staging"):
        if staging is not None:
            staging.mkdir()
        asked = policy(COLUMNS, k=3, staging=staging, output={"path": str(tmp_path / "out"), "format": "parquet"})
        with pytest.raises(RuntimeError):
            anonymize(spark.createDataFrame(rows_of(10), SCHEMA), asked)
        assert seen and not [path for path in tmp_path.rglob("*") if path.is_file()]
        seen.clear()
