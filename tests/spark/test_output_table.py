"""Tables of the catalogue (Hive's metastore, embedded) as outputs: one statement publishes, whatever fails leaves one whole release."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from anon_spark import Policy, Release, anonymize
from anon_spark.audit.release import audit_release
from anon_spark.domain.errors import AnonError, ConfigurationError, OutputHeldError, PlatformError
from anon_spark.io.claims import held
from anon_spark.io.tables import read_release
from anon_spark.job import output, output_table, run
from anon_spark.job.check import check
from anon_spark.job.destination import open_destination
from jobs import policy, quasi

pytestmark = pytest.mark.spark

ROWS = [("f", 30), ("f", 31), ("m", 30), ("m", 31)]
OTHERS = [("f", 7), ("f", 8), ("f", 9)]
RELEASED, OLD = Counter([("f", 30), ("f", 31), ("m", 30), ("m", 31)]), Counter([("x", 1), ("y", 2)])


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """The location of a database ``published``."""
    place = tmp_path / "published.db"
    spark.sql(f"CREATE DATABASE published LOCATION '{place}'")
    yield place
    spark.sql("DROP DATABASE published CASCADE")


def to(table: str, mode: str = "error", column: str = "sex", **more: object) -> Policy:
    columns = [quasi(column), {"name": "pay", "role": "insensitive"}]
    return policy(columns, output={"table": table, "mode": mode, **more})


def publish(spark: SparkSession, asked: Policy, rows: list[tuple] = ROWS) -> Release:
    return anonymize(spark.createDataFrame(rows, f"`{asked.columns[0].name.replace('`', '``')}` string, pay int"), asked)


def put(spark: SparkSession, asked: Policy, rows: list[tuple]) -> None:
    """Publish these rows as a job does, without the job."""
    place = open_destination(spark, asked, uuid4().hex)
    with place.held():
        try:
            place.write(spark.createDataFrame(rows, "sex string, pay int"))
            place.publish()
        except BaseException as error:
            place.withdraw(lambda: None, interrupted=not isinstance(error, Exception))
            raise


def shown(spark: SparkSession, table: str) -> Counter[tuple]:
    spark.catalog.refreshTable(table)
    return Counter(tuple(row) for row in spark.table(table).collect())


def about(spark: SparkSession, table: str) -> dict[str, str]:
    return {row[0]: row[1] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()}


def named(folder: Path) -> set[str]:
    """What lies in a directory, the name of a run's directory without the run's id."""
    return {path.name[:-32] if len(path.name) > 32 else path.name for path in folder.iterdir()}


def old_table(spark: SparkSession, kind: str, folder: Path) -> Path:
    """A table ``published.t`` with an old release, managed or external; its directory."""
    place = folder / "t" if kind == "managed" else folder.parent / "elsewhere" / "data"
    where = "" if kind == "managed" else f"LOCATION '{place}'"
    stored = "STORED AS PARQUET" if kind == "hive" else "USING orc" if kind == "orc" else "USING parquet"
    spark.sql(f"CREATE TABLE published.t (sex STRING, pay INT) {stored} {where}")
    spark.sql("INSERT INTO published.t VALUES ('x', 1), ('y', 2)")
    assert shown(spark, "published.t") == OLD and place.is_dir()
    return place


@pytest.mark.parity
def test_a_new_table_is_made_by_one_statement_and_published_again(spark: SparkSession, folder: Path) -> None:
    asked = to("published.t")
    first = publish(spark, asked)
    assert shown(spark, "published.t") == RELEASED == Counter(tuple(row) for row in first.table.collect())
    assert about(spark, "published.t")["Type"] == "EXTERNAL" and named(folder) == {"t-"}
    with pytest.raises(ConfigurationError, match=r"output\.table: found published\.t, which exists already; expected a new name"):
        publish(spark, asked, OTHERS)
    assert shown(spark, "published.t") == RELEASED
    before = about(spark, "published.t")["Location"]
    publish(spark, to("published.t", "overwrite"), OTHERS)
    assert shown(spark, "published.t") == Counter(OTHERS) and named(folder) == {"t-"}
    assert about(spark, "published.t")["Location"] != before
    assert audit_release(read_release(spark, asked.output, "job.yaml"), asked).ok


@pytest.mark.parametrize(
    "kind",
    [
        "managed", pytest.param("hive", marks=pytest.mark.parity),
        *(pytest.param(kind, marks=pytest.mark.long) for kind in ("external", "orc")),
    ],
)
def test_a_table_that_is_there_gets_other_files(spark: SparkSession, folder: Path, kind: str) -> None:
    place = old_table(spark, kind, folder)
    spark.sql("CACHE TABLE published.t")
    spark.sql("ANALYZE TABLE published.t COMPUTE STATISTICS FOR ALL COLUMNS")
    facts = ("Type", "Provider", "Serde Library", "InputFormat", "Owner")
    before = {name: about(spark, "published.t").get(name) for name in facts}
    publish(spark, to("published.t", "overwrite"))
    assert Counter(tuple(row) for row in spark.table("published.t").collect()) == RELEASED
    assert {name: about(spark, "published.t").get(name) for name in facts} == before
    assert "2 rows" not in about(spark, "published.t").get("Statistics", "")
    assert not place.exists() and named(place.parent) == {"t-"}
    spark.sql("DROP TABLE published.t")
    # what was the metastore's to remove still is, what was its owner's is his
    assert named(place.parent) == (set() if kind == "managed" else {"t-"})


@pytest.mark.parity
def test_names_are_names(spark: SparkSession, folder: Path) -> None:
    """A column may be called like a statement; a table is named by its parts."""
    name = "a`b; drop table x"
    publish(spark, to("`published`.`t`", column=name))
    assert spark.table("published.t").columns == [name, "pay"] and shown(spark, "published.t") == RELEASED
    publish(spark, to("published.t", "overwrite", column=name), OTHERS)
    assert shown(spark, "published.t") == Counter(OTHERS)
    for table in ("published.t; drop table published.t", "published.`t", "a.b.c.d"):
        with pytest.raises(ConfigurationError, match=r"output\.table: found .*; expected a table's name"):
            publish(spark, to(table))


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("CREATE VIEW published.t AS SELECT 'a' AS sex, 1 AS pay", "which is a view"),
        ("CREATE TABLE published.t (sex STRING, pay INT) USING csv", "a table of the format csv"),
        ("CREATE TABLE published.t (sex STRING, pay INT) STORED AS TEXTFILE", "a table of the format unknown"),
        ("CREATE TABLE published.t (sex STRING, pay INT) USING parquet PARTITIONED BY (pay)", "partitioned or bucketed"),
        ("CREATE TABLE published.t (sex STRING, pay INT) USING parquet CLUSTERED BY (sex) INTO 2 BUCKETS", "partitioned or bucketed"),
        ("CREATE TABLE published.t (sex STRING) USING parquet", "the columns 'sex' in published.t; expected .*'sex', 'pay'"),
        ("CREATE TABLE published.t (pay INT, sex STRING) USING parquet", "the columns 'pay', 'sex'"),
        ("CREATE TABLE published.t (sex STRING, pay BIGINT) USING parquet", "'pay' of type bigint in published.t; expected .*int"),
        ("CREATE TABLE published.t (sex VARCHAR(1), pay INT) USING parquet", r"'sex' of type varchar\(1\)"),
    ],
)
def test_what_one_statement_can_not_publish_is_refused(spark: SparkSession, folder: Path, made: str, told: str) -> None:
    spark.sql(made)
    before = sorted(folder.iterdir())
    with pytest.raises(ConfigurationError, match=rf"output\.table: found .*{told}"):
        publish(spark, to("published.t", "overwrite"))
    assert sorted(folder.iterdir()) == before


def test_other_places_are_refused(spark: SparkSession, folder: Path) -> None:
    for asked, told in (
        (to("elsewhere.published.t"), "a table of the catalogue 'elsewhere'"),
        (to("published.t", format="csv"), "a new table of the format csv"),
        (to("nowhere.t"), "SCHEMA_NOT_FOUND"),
    ):
        with pytest.raises(ConfigurationError, match=f"found {told}"):
            publish(spark, asked)
    place = old_table(spark, "external", folder)
    (place / "notes.docx").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"which holds 'notes\.docx'"):
        publish(spark, to("published.t", "overwrite"))
    (place / "notes.docx").unlink()
    with pytest.raises(ConfigurationError, match=r"output\.table: found .*which holds the input"):
        anonymize(spark.table("published.t"), to("published.t", "overwrite"))
    with pytest.raises(ConfigurationError, match="the columns 'sex', 'pay'"):
        check(spark, to("published.t", "overwrite", column="x"), spark.createDataFrame(ROWS, "x string, pay int"))
    assert shown(spark, "published.t") == OLD


class Lost(AnalysisException):
    """What a metastore that does not answer looks like."""


@pytest.mark.parametrize("kind", ["new", "managed", "external"])
@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("error", [Lost("lost"), KeyboardInterrupt()], ids=["lost", "interrupted"])
def test_a_statement_that_fails_publishes_all_or_nothing(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, done: bool, error: BaseException
) -> None:
    place = folder / "t" if kind == "new" else old_table(spark, kind, folder)
    name = "create_table" if kind == "new" else "set_location"
    real: Callable[..., None] = getattr(output_table, name)

    def failing(*given: object) -> None:
        if done:
            real(*given)
        raise error

    monkeypatch.setattr(output_table, name, failing)
    monkeypatch.setattr(output, "QUIET", 0)
    asked = to("published.t", "error" if kind == "new" else "overwrite")
    if done and isinstance(error, Lost):
        put(spark, asked, ROWS)
    else:
        with pytest.raises((PlatformError, KeyboardInterrupt)):
            put(spark, asked, ROWS)
    monkeypatch.undo()
    if done:
        assert shown(spark, "published.t") == RELEASED and named(place.parent) == {"t-"}
    elif kind == "new":
        assert not spark.catalog.tableExists("published.t") and named(folder) == set()
    else:
        assert shown(spark, "published.t") == OLD and list(place.parent.iterdir()) == [place]
    put(spark, to("published.t", "overwrite"), OTHERS)
    assert shown(spark, "published.t") == Counter(OTHERS) and named(place.parent) == {"t-"}


def test_a_run_that_fails_leaves_the_table_as_it_was(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = old_table(spark, "external", folder)

    def refuse(*given: object, **more: object) -> None:
        assert named(place.parent) == {"data", "t-", ".anon-spark-published.t.held", next(n for n in named(place.parent) if "-of-" in n)}
        raise PlatformError("the disk is full")

    monkeypatch.setattr(run, "audit_release", refuse)
    with pytest.raises(PlatformError):
        publish(spark, to("published.t", "overwrite"))
    assert shown(spark, "published.t") == OLD and list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize("reads", ["old", "new"])
def test_what_a_dead_run_left_is_removed_by_the_next(spark: SparkSession, folder: Path, reads: str) -> None:
    """Killed before its statement, or behind it: the directory that the table does not read goes, and no other."""
    place = old_table(spark, "external", folder)
    beside = place.parent
    dead = beside / f"t-{uuid4().hex}"
    spark.createDataFrame(ROWS, "sex string, pay int").write.parquet(str(dead))
    (beside / f".anon-spark-published.t-of-{dead.name}.note").write_text(json.dumps({"old": str(place)}))
    # what another table of this name reads, in another database
    other = beside / f"t-{uuid4().hex}"
    other.mkdir()
    if reads == "new":
        spark.sql(f"ALTER TABLE published.t SET LOCATION '{dead}'")
    seen = []

    def look(*given: object) -> None:
        seen.append({path.name for path in beside.iterdir() if not path.name.startswith(".")})

    with open_destination(spark, to("published.t", "overwrite"), uuid4().hex).held():
        look()
    assert seen == [{other.name, dead.name if reads == "new" else place.name}]
    assert {path.name for path in beside.iterdir()} == seen[0]
    put(spark, to("published.t", "overwrite"), OTHERS)
    assert shown(spark, "published.t") == Counter(OTHERS) and other.is_dir() and len(list(beside.iterdir())) == 2


def test_one_run_at_a_time_writes_a_table(spark: SparkSession, folder: Path) -> None:
    asked = to("published.t")
    first = open_destination(spark, asked, uuid4().hex)
    assert first.claim is not None
    with held(first.claim), pytest.raises(OutputHeldError, match=r"output\.table: published\.t is being written by another run"):
        publish(spark, asked)
    assert not spark.catalog.tableExists("published.t") and named(folder) == set()


def test_a_table_that_others_change_meanwhile_is_left_alone(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = run.audit_release

    def meddling(*given: object, **more: object) -> object:
        spark.sql("CREATE TABLE published.t (sex STRING) USING parquet")
        return real(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "audit_release", meddling)
    with pytest.raises(AnonError, match="appeared during the run") as refused:
        publish(spark, to("published.t"))
    assert refused.value.exit_code == 2 and spark.table("published.t").columns == ["sex"] and named(folder) == {"t"}
