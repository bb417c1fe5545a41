"""The risk of a raw table: the same in the driver process and on Spark, equal to plain loops, told without a value, in one scan."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
from collections import Counter
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from commands import runner
from pyspark.sql import SparkSession

from anon_spark.cli.main import cli
from anon_spark.config.load import load
from anon_spark.domain.errors import InfeasibleError
from anon_spark.domain.policy import Policy
from anon_spark.io.files import is_connect
from anon_spark.job import risk as job
from anon_spark.job.risk import risk_of
from anon_spark.metrics import subsets as sets
from anon_spark.plans import table_risk as plans
from anon_spark.plans.columns import raw_column
from anon_spark.report.table_risk import RiskReport

pytestmark = pytest.mark.spark
SCHEMA = "age int, pay double, zip string, born date, seen timestamp, sex string, illness string"
QIS = ("age", "pay", "zip", "born", "seen", "sex")
PLACES = [64, 0]


def rows(number: int = 300) -> list[tuple]:
    draws = random.Random(5)
    made: list[tuple] = []
    for _ in range(number):
        age, zip_code = draws.choice([20, 30, None]), draws.choice(["53711", "53712", "", None, "Ä"])
        pay = draws.choice([0.0, -0.0, 1.5, float("nan"), None])
        born, seen = draws.choice([date(1965, 5, 1), None]), datetime(2020, 1, draws.randint(1, 3), 5, 6)
        made.append((age, pay, zip_code, born, seen, draws.choice("fm"), f"secret{draws.randint(1, 9)}"))
    return made


def policy(folder: Path, place: int = 64, **more: Any) -> Policy:
    """A configuration with columns and roles alone, as it is read for this command."""
    columns = [{"name": name, "role": "quasi-identifier"} for name in QIS] + [{"name": "illness", "role": "sensitive"}]
    conf = folder / "roles.yaml"
    conf.write_text(json.dumps({"columns": columns, "settings": {"driver_megabytes": place}, **more}))
    return load(conf, roles_alone=True)


def normal(row: tuple) -> tuple:
    """The quasi-identifiers as Spark groups them: -0.0 is 0.0, and NaN is equal to itself."""
    pay = "NaN" if row[1] != row[1] else row[1] + 0.0 if row[1] is not None else None
    return (row[0], pay, *row[2:6])


def brute(table: list[tuple], columns: tuple[int, ...]) -> tuple[int, Fraction, Fraction]:
    sizes = Counter(tuple(normal(row)[i] for i in columns) for row in table).values()
    return len(sizes), Fraction(sum(n == 1 for n in sizes), len(table)), Fraction(sum(n for n in sizes if n < 5), len(table))


def without_times(report: RiskReport) -> dict[str, Any]:
    return {key: value for key, value in report.to_dict().items() if key not in ("started", "seconds")}


@pytest.mark.parity
def test_both_places_tell_what_plain_loops_count(spark: SparkSession, tmp_path: Path) -> None:
    table = rows()
    frame = spark.createDataFrame(table, SCHEMA)
    models = [{"model": "k-anonymity", "k": 7}]
    here, there = (risk_of(spark, policy(tmp_path, place, privacy=models), frame, population=900) for place in PLACES)
    assert without_times(here) == without_times(there)
    assert here.quasi_identifiers == QIS and len(here.subsets) == 6 + 15 + 20 + 6 + 1 and here.left_out == ()
    for found in here.subsets:
        assert (found.combinations, found.unique, found.below_5) == brute(table, found.columns) and found.counted == 1
    sizes = Counter(normal(row) for row in table).values()
    assert here.risk.classes == len(sizes) < len(set(map(repr, table))) and here.risk.rows == 300
    assert here.risk.below == {k: Fraction(sum(n for n in sizes if n < k), 300) for k in (2, 5, 7, 10)}
    assert here.risk.prosecutor_mean == here.risk.marketer == Fraction(len(sizes), 300)
    assert here.population is not None and 0 < here.population.unique < float(here.risk.unique)


def test_a_large_set_counted_in_part_is_near_the_truth(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = random.Random(8)
    table = [(draws.randrange(12), draws.randrange(12), draws.randrange(12), draws.randrange(12)) for _ in range(4_000)]
    frame = spark.createDataFrame(table, "a int, b int, c int, d int")
    asked = load(_roles(tmp_path, "abcd"), ["settings.driver_megabytes=0"], roles_alone=True)
    exact = risk_of(spark, asked, frame)
    monkeypatch.setattr(sets, "MOST_LINES", 4_000)
    monkeypatch.setattr(sets, "FEW_CLASSES", 200)
    part = risk_of(spark, asked, frame)
    assert part.risk == exact.risk
    known = {found.columns: found for found in exact.subsets}
    counted = {len(found.columns): found.counted for found in part.subsets}
    assert counted == {1: 1, 2: 1, 3: Fraction(1, 4), 4: 1}
    for found in part.subsets:
        true = known[found.columns]
        if found.counted == 1:
            assert found == true
        else:
            assert (
                abs(found.unique - true.unique) < 0.05 and abs(found.combinations - true.combinations) < 0.15 * true.combinations
            )


def _roles(folder: Path, names: str) -> Path:
    conf = folder / "letters.yaml"
    conf.write_text(json.dumps({"columns": [{"name": name, "role": "quasi-identifier"} for name in names]}))
    return conf


@pytest.mark.parametrize("place", PLACES)
def test_one_column_and_no_rows(spark: SparkSession, tmp_path: Path, place: int) -> None:
    asked = load(_roles(tmp_path, "a"), [f"settings.driver_megabytes={place}"], roles_alone=True)
    found = risk_of(spark, asked, spark.createDataFrame([("x", 1), ("x", 2), (None, 3)], "a string, b int"))
    assert found.risk.classes == 2 and found.risk.unique == Fraction(1, 3) and found.not_counted == ("b",)
    assert [(s.columns, s.combinations) for s in found.subsets] == [((0,), 2)]
    with pytest.raises(InfeasibleError, match="no rows"):
        risk_of(spark, asked, spark.createDataFrame([], "a string, b int"))


@pytest.mark.parity
def test_an_hour_that_comes_twice_is_one_value_as_it_is_to_the_deciders(spark: SparkSession, tmp_path: Path) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        frame = spark.sql("SELECT timestamp_seconds(s) AS a FROM VALUES (1603585800), (1603589400), (1603593000) AS t(s)")
        for place in PLACES:
            asked = load(_roles(tmp_path, "a"), [f"settings.driver_megabytes={place}"], roles_alone=True)
            assert risk_of(spark, asked, frame).risk.below[2] == Fraction(1, 3)
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))


@pytest.mark.parametrize("place", PLACES)
def test_the_table_is_read_once_and_shuffled_once(spark: SparkSession, tmp_path: Path, place: int) -> None:
    """The input is gone, or another, when sets of columns are counted: what is kept is all that they need."""
    path = tmp_path / "table"
    made = spark.createDataFrame(rows(40), SCHEMA)
    made.write.parquet(str(path))
    expected = risk_of(spark, policy(tmp_path, place), spark.read.parquet(str(path)))
    frame = spark.read.parquet(str(path))

    def spoil(step: str) -> None:
        if step == job.SETS and is_connect(spark):
            # Connect plans a read anew for every request, and would refuse a path that is gone
            for part in list(path.glob("part-*")):
                shutil.copy(part, part.with_name(f"part-9{part.name}"))
        elif step == job.SETS:
            shutil.rmtree(path)

    found = risk_of(spark, policy(tmp_path, place), frame, on_start=spoil)
    assert found.subsets == expected.subsets and len(found.subsets) == 48
    assert not path.exists() or spark.read.parquet(str(path)).count() == 80

    schema = spark.createDataFrame(rows(3), SCHEMA)
    raws = [raw_column(name, schema.schema[name].dataType) for name in QIS]
    held = io.StringIO()
    with contextlib.redirect_stdout(held):
        plans.hashed_cells(schema, raws).explain()
    assert held.getvalue().count("Exchange") == 1


class Door:
    """A CSV, and a configuration of roles alone."""

    def __init__(self, folder: Path):
        self.folder, self.conf = folder, folder / "job.yaml"
        table = ["f,53711,flu,1", "f,53712,cold,2", "m,53711,flu,3", "m,53711,cold,4"]
        (folder / "in.csv").write_text("\n".join(["sex,zip,illness,extra", *table]) + "\n")
        self.settings: dict[str, Any] = {
            "input": {"format": "csv", "path": str(folder / "in.csv"), "options": {"header": True}},
            "report": {"path": str(folder / "report")},
            "columns": [{"name": "sex", "role": "quasi-identifier"}, {"name": "zip", "role": "quasi-identifier"}],
        }

    def call(self, *more: str, **settings: Any) -> Result:
        self.conf.write_text(json.dumps({**self.settings, **settings}))
        return runner().invoke(cli, ["risk", str(self.conf), *more])


@pytest.fixture
def door(spark: SparkSession, tmp_path: Path) -> Door:
    return Door(tmp_path)


@pytest.mark.parity
def test_the_command_needs_roles_alone_and_writes_no_value(door: Door) -> None:
    told = door.call()
    assert told.exit_code == 0, told.output
    for line in ("4 rows in 3 distinct combinations", "50 % of the rows are alone", "extra", "report/risk.json"):
        assert line in told.stdout
    written = (door.folder / "report/risk.json").read_text()
    assert {path.name for path in (door.folder / "report").iterdir() if path.suffix != ".crc"} == {"risk.json"}
    found = json.loads(written)
    assert (found["unique"], found["combinations"], found["k"], found["population"]) == (0.5, 3, None, None)
    assert found["prosecutor"] == {"max": 1.0, "mean": 0.75} and found["marketer"] == 0.75
    assert found["journalist"]["mean"] == 0.75 and "whole population" in found["journalist"]["meaning"]
    assert found["below"] == {"2": 0.5, "5": 1.0, "10": 1.0}
    assert found["subsets"][0] == {"columns": ["zip"], "combinations": 2, "unique": 0.25, "below_5": 1.0, "counted": 1.0}
    for value in ("53711", "53712", "flu", "cold"):
        assert value not in written and value not in told.output


def test_a_whole_configuration_serves_whatever_is_not_built_in_it(door: Door) -> None:
    columns = [{**column, "hierarchy": {"path": "none.csv"}} for column in door.settings["columns"]]
    columns += [{"name": "illness", "role": "sensitive"}, {"name": "extra", "role": "insensitive"}]
    models = [{"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.2}]
    output = {"path": str(door.folder / "out")}
    told = door.call("--population", "400", columns=columns, privacy=models, job="anatomy", output=output)
    assert told.exit_code == 0, told.output
    assert "100 % of the rows in classes below 3, which the policy asks for" in told.stdout
    found = json.loads((door.folder / "report/risk.json").read_text())
    assert found["k"] == 3 and found["population"]["sampling_fraction"] == 0.01 and not (door.folder / "out").exists()


@pytest.mark.parametrize(
    ("more", "settings", "code", "expected"),
    [
        (["--population", "3"], {}, 2, "--population: found 3; expected at least the input's 4 rows"),
        (["--population", "0"], {}, 2, "--population"),
        ([], {"columns": [{"name": "sx", "role": "quasi-identifier"}]}, 2, "did you mean 'sex'?"),
        ([], {"columns": [{"name": "sex", "role": "sensitive"}]}, 2, "no quasi-identifier"),
        (
            [],
            {"columns": [{"name": "sex", "role": "quasi-identifier"}, {"name": "zip", "role": "person"}]},
            2,
            "role person is not built",
        ),
        ([], {"input": None}, 2, "input: found nothing"),
        ([], {"input": {"format": "csv", "path": "/nowhere/at/all"}}, 3, "input"),
        ([], {"privacy": [{"model": "k-anonymity", "k": 0}]}, 2, "privacy.0.k"),
        ([], {"privacy": {}}, 2, "privacy"),
    ],
)
def test_what_is_wrong_has_its_code_and_leaves_nothing(
    door: Door, more: list[str], settings: dict[str, Any], code: int, expected: str
) -> None:
    told = door.call(*more, **settings)
    assert (told.exit_code, expected in told.stderr) == (code, True), told.output
    assert "Traceback" not in told.output and not (door.folder / "report").exists()
