"""A fault in the code that labels and cuts out the release is met by the counts of the write pass: nothing is published, exit 5."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from anon_spark import anonymize
from anon_spark.domain.errors import AuditError
from anon_spark.job import decide, decide_groups, write
from anon_spark.plans.publish import SUPPRESSED, Labelled
from jobs import policy, printed, quasi

pytestmark = pytest.mark.spark
Mutation = Callable[[DataFrame], DataFrame]
ROWS = [(20 + i % 7, "abc"[i % 3], "flu" if i % 2 else "cold", 0.5 * i, i) for i in range(42)] + [(99, "z", "rare", 1e9, 42)]
SCHEMA = "age int, town string, illness string, pay double, id int"
ROWS_TRAVEL = -1
JOBS = [("lattice", 64), ("top-down", 64), ("top-down", 0), ("top-down", ROWS_TRAVEL)]
"""Megabytes for the driver, which tell where it is decided: here, on Spark; and on Spark where rows travel themselves."""


def swapped(frame: DataFrame) -> DataFrame:
    """The pay of two rows exchanged: every column holds what it held, and so do all quasi-identifiers."""
    return frame.withColumn("pay", F.when(F.col("id") == 3, F.lit(2.0)).when(F.col("id") == 4, F.lit(1.5)).otherwise(F.col("pay")))


def exchanged(frame: DataFrame) -> DataFrame:
    """All that passes unchanged exchanged between two rows with unlike quasi-identifiers, whole."""
    one, other = F.col("id") == 3, F.col("id") == 4
    moved = {"id": (4, 3), "pay": (2.0, 1.5), "illness": ("cold", "flu")}
    return frame.withColumns(
        {name: F.when(one, F.lit(a)).when(other, F.lit(b)).otherwise(F.col(name)) for name, (a, b) in moved.items()}
    )


CHANGES: dict[str, Mutation] = {
    "an insensitive value": lambda frame: frame.withColumn("pay", F.when(F.col("id") == 3, F.lit(7.25)).otherwise(F.col("pay"))),
    "a sensitive value": lambda frame: frame.withColumn(
        "illness", F.when(F.col("id") == 3, F.lit("cold")).otherwise(F.col("illness"))
    ),
    "a value made null": lambda frame: frame.withColumn("pay", F.when(F.col("id") != 3, F.col("pay"))),
    "two values of a column swapped": swapped,
    "two rows' own values exchanged": exchanged,
    "a row lost": lambda frame: frame.where("id != 3"),
    "a row doubled": lambda frame: frame.unionByName(frame.where("id = 3")),
    "a row lost and another doubled": lambda frame: frame.where("id != 3").unionByName(frame.where("id = 4")),
    "all rows lost": lambda frame: frame.where("id < 0"),
}
AFTER = [name for name in CHANGES if name != "two rows' own values exchanged"]
"""Where the release is cut out its rows have labels alone: rows of one class can be exchanged, which changes nothing there."""


def asked(folder: Path, job: str, place: int) -> Any:
    columns = [
        quasi("age", {"intervals": [2, 4]}), quasi("town"), {"name": "illness", "role": "sensitive"},
        {"name": "pay", "role": "insensitive"}, {"name": "id", "role": "insensitive"},
    ]  # fmt: skip
    more = {"suppression": {"limit": 0.1}, "settings": {"driver_megabytes": max(place, 0)}}
    return policy(columns, job=job, k=4, output={"path": str(folder / "out/release")}, **more)


def refuses(spark: SparkSession, folder: Path, job: str, place: int) -> str:
    with pytest.raises(AuditError) as raised:
        anonymize(spark.createDataFrame(ROWS, SCHEMA), asked(folder, job, place))
    assert raised.value.exit_code == 5 and not (folder / "out/release").exists()
    assert not (folder / "out").exists() or list((folder / "out").iterdir()) == []
    return str(raised.value)


@pytest.fixture(autouse=True)
def rows_travel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they do, as the test's place says."""
    place = getattr(request.node, "callspec", None)
    travel = place is not None and place.params.get("place") == ROWS_TRAVEL
    monkeypatch.setattr(decide_groups, "rows_travel", lambda *_: travel)


def labelling(monkeypatch: pytest.MonkeyPatch, job: str, place: int, mutate: Mutation) -> None:
    """The labelling of a job, with something done to its rows before it."""
    name = "labelled_rows" if place == ROWS_TRAVEL else "label_groups"
    module, name = (decide, "label") if job == "lattice" else (decide_groups, name)
    real = getattr(module, name)

    def labelled(table: DataFrame, *arguments: Any) -> Labelled:
        return real(mutate(table), *arguments)

    monkeypatch.setattr(module, name, labelled)


SOME = ("two values of a column swapped", "a row lost")
PUBLISHED = [
    *(pytest.param(*JOBS[0], show, marks=pytest.mark.parity if show == "drop" else ()) for show in ("drop", "star")),
    *(pytest.param(*JOBS[1], show, marks=pytest.mark.parity if show == "drop" else ()) for show in ("drop", "star")),
    *(pytest.param(*job, show, marks=() if show == "star" else pytest.mark.long) for job in JOBS[2:] for show in ("drop", "star")),
    *(pytest.param("lattice", 0, show, marks=() if show == "drop" else pytest.mark.long) for show in ("drop", "star")),
]


@pytest.mark.parametrize(
    ("job", "place", "change"),
    [
        *(pytest.param(*JOBS[0], change, marks=pytest.mark.parity if change in SOME else pytest.mark.long) for change in CHANGES),
        *(pytest.param(*JOBS[1], change, marks=pytest.mark.long if change in SOME else ()) for change in CHANGES),
        *(pytest.param(*JOBS[2], change, marks=() if change == SOME[1] else pytest.mark.long) for change in CHANGES),
        *(pytest.param(*JOBS[3], change, marks=() if change == SOME[0] else pytest.mark.long) for change in CHANGES),
    ],
)
def test_a_fault_of_the_labelling_is_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: str, place: int, change: str
) -> None:
    labelling(monkeypatch, job, place, CHANGES[change])
    assert "nothing was published" in refuses(spark, tmp_path, job, place)


@pytest.mark.parametrize("change", [*AFTER, "another label", "another row suppressed"])
@pytest.mark.parametrize("job", ["lattice", pytest.param("top-down", marks=pytest.mark.long)])
def test_a_fault_in_cutting_out_the_release_is_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: str, change: str
) -> None:
    real = write.published

    def cut(labelled: Labelled, quasi_identifiers: list[str], output: list[str], star: bool) -> DataFrame:
        if change in CHANGES:
            return CHANGES[change](real(labelled, quasi_identifiers, output, star))
        if change == "another row suppressed":
            other = labelled.frame.withColumn(SUPPRESSED, F.col(SUPPRESSED) | (F.col("id") == 3))
            return real(Labelled(other, labelled.raws, labelled.labels, labelled.unknown, True), quasi_identifiers, output, star)
        release = real(labelled, quasi_identifiers, output, star)
        return release.withColumn("town", F.when(F.col("id") == 3, F.lit("q")).otherwise(F.col("town")))

    monkeypatch.setattr(write, "published", cut)
    # of an empty release Spark runs, and counts, nothing at all
    expected = "0 were labelled" if change == "all rows lost" else "came back changed"
    assert expected in refuses(spark, tmp_path, job, 64)


@pytest.mark.parametrize(("job", "place", "show"), PUBLISHED)
def test_without_a_fault_all_is_published(spark: SparkSession, tmp_path: Path, job: str, place: int, show: str) -> None:
    rows = [*ROWS, (99, "z", "rare", -0.0, 43), (98, "y", None, float("nan"), 44), (97, None, None, None, 45)]
    columns = asked(tmp_path, job, place).columns
    names = [quasi("age", {"intervals": [2, 4]}), quasi("town")]
    names += [{"name": column.name, "role": column.role} for column in columns[2:]]
    limit = {"limit": 0.1, "show": show}
    more = {"suppression": limit, "settings": {"driver_megabytes": max(place, 0)}}
    with anonymize(spark.createDataFrame(rows, SCHEMA), policy(names, job=job, k=4, staging=tmp_path, **more)) as release:
        found = {row[-1]: row for row in printed(release)}
    assert len(found) + (0 if show == "star" and len(found) == len(rows) else release.report.suppressed.rows) == len(rows)
    assert all(str(row[2:4]) == str(rows[place_][2:4]) for place_, row in found.items())
