"""Sessions that tell and take few settings, keep nothing and take no large table, as serverless ones: the jobs run to their end."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from anon_spark import anonymize
from anon_spark.algorithms.local_borders import tasks
from anon_spark.domain.errors import ConfigurationError
from anon_spark.io.catalog import SKIPS
from anon_spark.plans import local
from anon_spark.plans.fetch import fetch_rows
from anon_spark.plans.settings import is_true, setting, where_allowed
from jobs import class_sizes, policy, printed, quasi

pytestmark = [pytest.mark.spark, pytest.mark.parity]
PARTITIONS, BATCH = "spark.sql.shuffle.partitions", "spark.sql.execution.arrow.maxRecordsPerBatch"


def refusing(real: Callable[..., Any]) -> Callable[..., Any]:
    """What raises, but for a classic session's own code, which asks the settings by this door as well."""

    def asked(*arguments: Any, **named: Any) -> Any:
        if str(inspect.stack()[1].frame.f_globals.get("__name__")).startswith("pyspark."):
            return real(*arguments, **named)
        return refused()

    return asked


def refused() -> Any:
    raise AnalysisException("[CONFIG_NOT_AVAILABLE] Configuration is not available. SQLSTATE: 42K0I")


def kept_nowhere(*arguments: object, **named: object) -> Any:
    raise AnalysisException("[NOT_SUPPORTED_WITH_SERVERLESS] PERSIST TABLE is not supported on serverless compute. SQLSTATE: 0A000")


@pytest.fixture
def serverless(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    """The session, with whatever such a session refuses refused."""
    conf, frame = type(spark.conf), type(spark.range(1))
    for name in ("get", "set", "unset", "isModifiable"):
        monkeypatch.setattr(conf, name, refusing(getattr(conf, name)))
    for name in ("persist", "cache", "unpersist", "checkpoint", "localCheckpoint"):
        monkeypatch.setattr(frame, name, kept_nowhere)
    yield spark
    monkeypatch.undo()


def people(spark: SparkSession) -> DataFrame:
    rows = [(20 + i % 7, "abc"[i % 3], "flu" if i % 2 else "cold", i) for i in range(84)]
    return spark.createDataFrame(rows, "age int, town string, illness string, id int")


@pytest.mark.parametrize(
    ("job", "place"),
    [("top-down", 64), *(pytest.param(*case, marks=pytest.mark.long) for case in (("lattice", 0), ("lattice", 64), ("top-down", 0)))],
)
def test_a_job_runs_to_its_end_and_publishes_the_same(
    spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest, job: str, place: int
) -> None:
    columns = [
        quasi("age", {"intervals": [2, 4]}), quasi("town"), {"name": "illness", "role": "sensitive"},
        {"name": "id", "role": "insensitive"},
    ]  # fmt: skip
    models = [{"model": "alpha-deassociation", "alpha": "2/3"}]
    asked = policy(columns, job=job, k=6, models=models, staging=tmp_path, settings={"driver_megabytes": place})
    with anonymize(people(spark), asked) as release:
        expected = printed(release)
    serverless: SparkSession = request.getfixturevalue("serverless")
    with anonymize(people(serverless), asked) as release:
        assert printed(release) == expected and min(class_sizes(release)) >= 6
    assert sorted(row[-1] for row in expected) == list(range(84))
    assert list(tmp_path.iterdir()) == []


def test_a_setting_that_is_not_told_has_its_default(serverless: SparkSession) -> None:
    assert setting(serverless, PARTITIONS, "200") == "200" and not any(is_true(serverless, name) for name in SKIPS)
    assert tasks(serverless, 10) == 200
    with pytest.raises(AnalysisException, match="CONFIG_NOT_AVAILABLE"):
        serverless.conf.get(PARTITIONS, "200")
    with pytest.raises(AnalysisException, match="NOT_SUPPORTED_WITH_SERVERLESS"):
        serverless.range(1).persist()
    entered = False
    with where_allowed(serverless, BATCH, "7", "10000"):
        entered = True
    assert entered


def test_names_that_differ_by_capitals_are_refused_where_the_session_does_not_tell(serverless: SparkSession, tmp_path: Path) -> None:
    frame = serverless.createDataFrame([("x", "y")] * 2, "a string, b string").toDF("a", "A")
    with pytest.raises(ConfigurationError, match="columns 'a' and 'A', which Spark takes for one"):
        anonymize(frame, policy([quasi("a")], unlisted="drop", staging=tmp_path))


def test_a_setting_is_set_and_put_back_whatever_happens(spark: SparkSession) -> None:
    before = spark.conf.get(BATCH)
    with pytest.raises(KeyError), where_allowed(spark, BATCH, "7", "10000"):
        assert setting(spark, BATCH, "10000") == "7"
        raise KeyError
    assert spark.conf.get(BATCH) == before
    assert setting(spark, "spark.anon.never.set", "x") == "x"


def test_a_table_that_is_too_large_is_sent_in_halves(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    real, most, sent = local._sent, local.LEAST_SENT + 500, Counter[str]()

    def bounded(session: SparkSession, table: pa.Table) -> DataFrame:
        if len(table) > most:
            sent["refused"] += 1
            raise AnalysisException("[LOCAL_RELATION_SIZE_LIMIT_EXCEEDED] too large")
        sent["taken"] += 1
        return real(session, table)

    monkeypatch.setattr(local, "_sent", bounded)
    numbers = list(range(5_000))
    frame = local.local_table(spark, pa.table({"n": pa.array(numbers, pa.int64()), "t": pa.array(map(str, numbers))}))
    assert sorted((row["n"], row["t"]) for row in fetch_rows(frame)) == [(n, str(n)) for n in numbers]
    assert sent == {"refused": 3, "taken": 4}
    most = 0
    with pytest.raises(AnalysisException):
        local.local_table(spark, pa.table({"n": pa.array(numbers, pa.int64())}))
