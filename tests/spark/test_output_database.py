"""PostgreSQL as input and output: a real server, one transaction that publishes, and passwords that are shown nowhere."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from postgresql_server import PASSWORD, Server
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from anon_spark import Policy, Release, anonymize
from anon_spark.audit.release import audit_release
from anon_spark.domain.errors import AnonError, AuditError, ConfigurationError, DataError, OutputHeldError, PlatformError
from anon_spark.domain.policy import Source
from anon_spark.io import postgresql_tables as tables
from anon_spark.io.tables import read, read_release
from anon_spark.job import output, output_database, run
from anon_spark.job.destination import open_destination
from jobs import policy, quasi

pytestmark = [pytest.mark.spark, pytest.mark.postgresql]

ROWS = [("f", 30), ("f", 31), ("m", 30), ("m", 31)]
OTHERS = [("f", 7), ("f", 8), ("f", 9)]


@pytest.fixture
def db(postgresql: Server) -> Iterator[Server]:
    """The server with an empty schema ``out``."""
    postgresql.run("CREATE SCHEMA out")
    yield postgresql
    postgresql.run("DROP SCHEMA out CASCADE")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "QUIET", 0)


def to(db: Server, table: str = "out.t", mode: str = "error", column: str = "sex", **more: object) -> Policy:
    columns = [quasi(column), {"name": "pay", "role": "insensitive"}]
    return policy(columns, output={"format": "jdbc", "options": db.options(table), "mode": mode}, **more)


def old_table(db: Server) -> None:
    db.run("CREATE TABLE out.t (sex text, pay int)", "INSERT INTO out.t VALUES ('x', 1), ('y', 2)")


OLD = Counter([("x", 1), ("y", 2)])


def shown(db: Server, table: str = "out.t") -> Counter[tuple]:
    return Counter(tuple(row) for row in db.run(f"SELECT * FROM {table}"))


def names(db: Server) -> list[str]:
    return [row[0] for row in db.run("SELECT relname FROM pg_class WHERE relnamespace = 'out'::regnamespace AND relkind = 'r' ORDER BY 1")]


def publish(spark: SparkSession, asked: Policy, rows: list[tuple] = ROWS) -> Release:
    schema = T.StructType([T.StructField(asked.columns[0].name, T.StringType()), T.StructField("pay", T.IntegerType())])
    return anonymize(spark.createDataFrame(rows, schema), asked)


def put(spark: SparkSession, asked: Policy, rows: list[tuple] = OTHERS, schema: str = "sex string, pay int") -> None:
    """Publish these rows as a job does, without the job."""
    place = open_destination(spark, asked, uuid4().hex)
    with place.held():
        try:
            place.write(spark.createDataFrame(rows, schema))
            place.publish()
        except BaseException as error:
            place.withdraw(lambda: None, interrupted=not isinstance(error, Exception))
            raise


@pytest.mark.parity
def test_a_table_is_published_and_published_again(spark: SparkSession, db: Server) -> None:
    asked = to(db)
    release = publish(spark, asked)
    assert shown(db) == Counter(ROWS) == Counter(tuple(row) for row in release.table.collect()) and names(db) == ["t"]
    with pytest.raises(ConfigurationError, match=r"output\.options\.dbtable: found out\.t, which exists already"):
        publish(spark, asked)
    db.run("CREATE VIEW out.v AS SELECT pay FROM out.t", "CREATE INDEX i ON out.t (pay)", "GRANT SELECT ON out.t TO PUBLIC")
    publish(spark, to(db, mode="overwrite"), OTHERS)
    assert shown(db) == Counter(OTHERS) and names(db) == ["t"]
    kept = "SELECT relacl::text, (SELECT count(*) FROM pg_indexes WHERE tablename = 't'), (SELECT sum(pay) FROM out.v) FROM pg_class"
    ((grants, indexes, total),) = db.run(f"{kept} WHERE oid = 'out.t'::regclass")
    assert ("=r/" in grants, indexes, total) == (True, 1, 24)
    assert audit_release(read_release(spark, asked.output, "job.yaml"), asked).ok


@pytest.mark.parametrize(
    "name", [pytest.param("a`b; drop table x", marks=pytest.mark.parity), 'a"b"; DROP TABLE out.other; --', "Mixed Case", "ü:x", "c1"]
)
def test_names_are_names(spark: SparkSession, db: Server, name: str) -> None:
    db.run("CREATE TABLE out.other (x int)")
    table = 'out."T; drop ""x"""'
    for mode, rows in (("error", ROWS), ("overwrite", OTHERS)):
        place = open_destination(spark, to(db, table, mode, name), uuid4().hex)
        schema = T.StructType([T.StructField(name, T.StringType()), T.StructField("pay", T.IntegerType())])
        with place.held():
            place.refuse_columns([name, "pay"])
            place.write(spark.createDataFrame(rows, schema))
            place.publish()
        read = read_release(spark, to(db, table, column=name).output, "job.yaml")
        assert read.columns == [name, "pay"] and Counter(tuple(row) for row in read.collect()) == Counter(rows)
    assert names(db) == ['T; drop "x"', "other"]


@pytest.mark.parity
def test_values_come_back_as_they_were(spark: SparkSession, db: Server) -> None:
    """Null, empty and quoted text, every type that the database has, in the types of the input."""
    schema = "sex string, b boolean, y tinyint, s smallint, l bigint, f float, d double, n decimal(38,10), x binary, t timestamp"
    schema += ", u timestamp_ntz, a date, r array<string>"
    row = "'{}', true, 1Y, 2S, 3L, float('nan'), 0.5D, 1.0000000001BD, X'00FF', timestamp'1890-02-03 04:05:06.789'"
    row += ", timestamp_ntz'2020-03-29 02:30:00', date'1582-10-04', array('a\"b', null, '')"
    values = ["f", "f", "", "", r"it''s \\N", r"it''s \\N"]
    rows = " UNION ALL ".join(f"SELECT {row.format(value)}" for value in values)
    fields = spark.createDataFrame([], schema).schema
    frame = spark.sql(rows).toDF(*fields.names)
    empty = spark.createDataFrame([(None,) * len(fields)] * 2, fields)
    frame = frame.union(empty)
    others = [{"name": name, "role": "insensitive"} for name in frame.columns[1:]]
    asked = policy([quasi("sex"), *others], output={"format": "jdbc", "options": db.options("out.t")})
    release = anonymize(frame, asked)
    assert [f.dataType for f in release.table.schema.fields] == [f.dataType for f in fields.fields]
    assert Counter(map(str, release.table.collect())) == Counter(map(str, frame.collect()))


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (["CREATE VIEW out.t AS SELECT 'a' AS sex, 1 AS pay"], "which is no table of its own"),
        (["CREATE TABLE out.t (sex text)"], "the columns 'sex' in out.t; expected those of the release: 'sex', 'pay'"),
        (["CREATE TABLE out.t (sex text, pay int, id serial)"], "the columns 'sex', 'pay', 'id'"),
        (["CREATE TABLE out.t (sex text, pay int GENERATED ALWAYS AS (1) STORED)"], "'pay' of out.t, which the server computes"),
        (["CREATE TABLE out.t (sex text, pay int)", "CREATE TABLE out.u () INHERITS (out.t)"], "other tables inherit"),
        (["CREATE TABLE out.t (sex text, pay int PRIMARY KEY)", "CREATE TABLE out.u (x int REFERENCES out.t)"], "foreign keys"),
    ],
)
def test_what_a_transaction_can_not_exchange_is_refused(spark: SparkSession, db: Server, made: list[str], told: str) -> None:
    db.run(*made)
    with pytest.raises(ConfigurationError, match=rf"output\.options\.dbtable: found .*{told}"):
        publish(spark, to(db, mode="overwrite"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"url": "jdbc:mysql://h/d"}, "a database of the kind mysql; expected jdbc:postgresql.*not tried yet"),
        ({"url": "jdbc:postgresql://a:1,b:2/d"}, "several hosts"),
        ({"url": "jdbc:postgresql://h/d?user=a&options=-c%20role%3Dx"}, "found options"),
        ({"user": "", "password": ""}, "output.options.user: found nothing"),
        ({"dbtable": "(SELECT 1) AS x"}, r"'\(SELECT 1\) AS x'; expected a table's name"),
        ({"dbtable": "nowhere.t"}, "no schema 'nowhere'"),
        ({"dbtable": "out." + "x" * 64}, "names of at most 63 bytes"),
        ({"createTableOptions": "x"}, "createtableoptions"),
        ({"sslmode": "maybe"}, "'maybe'"),
        ({"password": "wrong"}, r"a user or password that the server refuses \(SQLSTATE 28P01\)"),
        ({"password_env": "ANON_SPARK_TEST_PASSWORD"}, "password and password_env"),
    ],
)
def test_addresses_that_are_refused(spark: SparkSession, db: Server, options: dict[str, str], told: str) -> None:
    sink = {"format": "jdbc", "options": {**db.options("out.t"), **options}}
    asked = policy([quasi("sex"), {"name": "pay", "role": "insensitive"}], output=sink)
    with pytest.raises(ConfigurationError, match=told) as refused:
        publish(spark, asked)
    assert PASSWORD not in str(refused.value)


def test_a_server_that_is_down_may_be_up_again(spark: SparkSession, db: Server) -> None:
    sink = {"format": "jdbc", "options": {**db.options("out.t"), "url": "jdbc:postgresql://127.0.0.1:1/postgres"}}
    with pytest.raises(PlatformError, match="it could not be reached"):
        publish(spark, policy([quasi("sex"), {"name": "pay", "role": "insensitive"}], output=sink))


ENDS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'anon-spark' AND pid <> pg_backend_pid()"


def killing(db: Server) -> None:
    db.run(ENDS)


@pytest.mark.parametrize("step", ["before", "before commit", "in commit", "behind commit", "trigger"])
def test_a_connection_that_is_lost_leaves_one_whole_release(
    spark: SparkSession, db: Server, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    old_table(db)
    if step == "trigger":
        db.run(
            "CREATE FUNCTION out.die() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$",
            "CREATE TRIGGER die BEFORE INSERT ON out.t FOR EACH STATEMENT EXECUTE FUNCTION out.die()",
        )
    real: Callable[..., None] = output_database.commit
    if step == "before":
        monkeypatch.setattr(output_database, "write_staged", after(output_database.write_staged, lambda: killing(db)))
    if step in ("before commit", "behind commit"):

        def around(link: object) -> None:
            if step == "behind commit":
                real(link)
            killing(db)
            link.run("SELECT 1", "lost")  # type: ignore[attr-defined]

        monkeypatch.setattr(output_database, "commit", around)
    if step == "in commit":
        # the server ends the transaction, and its answer never comes
        def deaf(link: object) -> None:
            link._connection._usock.shutdown(0)  # type: ignore[attr-defined]
            real(link)

        monkeypatch.setattr(output_database, "commit", deaf)
    asked = to(db, mode="overwrite")
    if step in ("in commit", "behind commit"):
        put(spark, asked)
        assert shown(db) == Counter(OTHERS)
    elif step == "before":
        # the lock is taken again
        put(spark, asked)
        assert shown(db) == Counter(OTHERS)
    else:
        with pytest.raises(PlatformError, match="the database"):
            put(spark, asked)
        assert shown(db) == OLD
    assert names(db) == ["t"]
    monkeypatch.undo()
    db.run("DROP TRIGGER IF EXISTS die ON out.t")
    put(spark, asked, ROWS)
    assert shown(db) == Counter(ROWS) and names(db) == ["t"]


def after(real: Callable[..., None], happens: Callable[[], None]) -> Callable[..., None]:
    """The function, then something else."""

    def both(*given: object) -> None:
        real(*given)
        happens()

    return both


def test_readers_see_the_old_rows_or_the_new(spark: SparkSession, db: Server) -> None:
    """A transaction that began before publication goes on seeing the old release; TRUNCATE or a rename would show it nothing."""
    old_table(db)
    reader = db.connection()
    reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
    reader.run("SELECT 1 FROM pg_class")
    put(spark, to(db, mode="overwrite"))
    assert Counter(tuple(row) for row in reader.run("SELECT * FROM out.t")) == OLD
    reader.run("COMMIT")
    assert Counter(tuple(row) for row in reader.run("SELECT * FROM out.t")) == Counter(OTHERS)
    reader.close()


def test_a_table_that_changes_what_it_is_given_is_not_published(spark: SparkSession, db: Server) -> None:
    old_table(db)
    db.run(
        "CREATE FUNCTION out.round() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.pay := 0; RETURN NEW; END $$",
        "CREATE TRIGGER round BEFORE INSERT ON out.t FOR EACH ROW EXECUTE FUNCTION out.round()",
    )
    with pytest.raises(AuditError, match="other rows than were audited"):
        put(spark, to(db, mode="overwrite"))
    assert shown(db) == OLD and names(db) == ["t"]
    db.run("DROP TRIGGER round ON out.t", "DELETE FROM out.t", "ALTER TABLE out.t ADD CHECK (pay < 9)")
    with pytest.raises(ConfigurationError, match=r"a constraint of the table that the release breaks \(SQLSTATE 23514\)"):
        put(spark, to(db, mode="overwrite"))
    assert shown(db) == Counter() and names(db) == ["t"]


def test_what_dead_runs_left_is_removed_and_one_run_writes_at_a_time(spark: SparkSession, db: Server) -> None:
    old_table(db)
    left = tables.Place("out", "t").staging(uuid4().hex)
    other = tables.Place("out", "u").staging(uuid4().hex)
    db.run(f"CREATE TABLE {left.quoted} (x int)", f"CREATE TABLE {other.quoted} (x int)")
    first, second = (open_destination(spark, to(db, mode="overwrite"), uuid4().hex) for _ in range(2))
    with first.held():
        assert names(db) == [other.name, "t"]
        with pytest.raises(OutputHeldError, match=r"out\.t is being written by another run") as refused, second.held():
            raise AssertionError("two runs hold it")
        assert refused.value.exit_code == 8
    with second.held():
        pass


def test_a_release_that_is_refused_leaves_nothing(spark: SparkSession, db: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **more: object) -> None:
        assert len(names(db)) == 1 and names(db)[0].startswith("anon_spark_")
        raise KeyboardInterrupt

    monkeypatch.setattr(output.atexit, "register", lambda call: None)
    monkeypatch.setattr(run, "audit_release", refuse)
    with pytest.raises(KeyboardInterrupt):
        publish(spark, to(db))
    assert names(db) == []


SETTING = "spark.anon_spark.test.password"


def source(db: Server, **more: object) -> dict[str, object]:
    options = {name: value for name, value in db.options("out.people").items() if name != "password"}
    return {"format": "jdbc", "options": {**options, "password_env": "ANON_SPARK_TEST_PASSWORD"}, **more}


@pytest.mark.parity
def test_an_input_is_read_whole_or_not_at_all(spark: SparkSession, db: Server) -> None:
    made = 'CREATE TABLE out.people ("a`b; drop table x" text, n numeric, m numeric(38, 18))'
    db.run(made, "INSERT INTO out.people VALUES ('f', 1.5, 2)")
    asked = Source(format="jdbc", options=db.options("out.people"))
    table = read(spark, asked, "job.yaml")
    assert [tuple(map(str, row)) for row in table.collect()] == [("f", "1.500000000000000000", "2.000000000000000000")]
    assert table.columns == ["a`b; drop table x", "n", "m"]
    db.run("INSERT INTO out.people VALUES ('m', 0.0000000000000000001, 1), ('m', -1.0000000000000000010, 1), (NULL, NULL, NULL)")
    with pytest.raises(DataError, match=r"input: column n: found 1 number of more than 18 decimals"):
        read(spark, asked, "job.yaml")
    chosen = "(SELECT CAST(n AS numeric(38, 30)) AS n FROM out.people) AS t"
    read_again = read(spark, Source(format="jdbc", options=db.options(chosen)), "job.yaml")
    assert read_again.where("n > 0 and n < 1e-15").count() == 1


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"driver": "no.such.Driver"}, ConfigurationError, "a database without its JDBC driver"),
        ({"password": f"not {PASSWORD}"}, PlatformError, "input: "),
        ({"url": "jdbc:postgresql://127.0.0.1:1/x"}, PlatformError, "input: "),
        ({"dbtable": "nowhere"}, PlatformError, "input: "),
    ],
)
def test_a_database_that_does_not_answer(
    spark: SparkSession, db: Server, options: dict[str, str], kind: type[AnonError], told: str
) -> None:
    with pytest.raises(kind, match=told) as failed:
        read(spark, Source(format="jdbc", options=db.options("t", **options)), "job.yaml")
    assert PASSWORD not in str(failed.value) and "nowhere" not in str(failed.value)


@pytest.mark.parametrize("snapshot", ["none", pytest.param("auto", marks=pytest.mark.parity), "stage"])
def test_an_input_that_changes_is_copied_or_refused(
    spark: SparkSession, db: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: str
) -> None:
    db.run("CREATE TABLE out.people (sex text, pay int)", "INSERT INTO out.people VALUES ('f', 1), ('f', 2), ('m', 3), ('m', 4)")
    monkeypatch.setenv("ANON_SPARK_TEST_PASSWORD", PASSWORD)
    real = run.stage

    def changing(table: DataFrame, *given: object) -> DataFrame:
        assert [path.name.endswith("-input") for path in tmp_path.iterdir() if path.is_dir()] == ([] if snapshot == "none" else [True])
        db.run("INSERT INTO out.people VALUES ('f', 5)")
        return real(table, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "stage", changing)
    columns = [quasi("sex"), {"name": "pay", "role": "insensitive"}]
    out = {"format": "jdbc", "options": db.options("out.t")}
    asked = policy(columns, staging=tmp_path, input=source(db, snapshot=snapshot), output=out)
    if snapshot == "none":
        with pytest.raises(DataError, match="a table that changed between two scans"):
            run.run(spark, asked)
        assert names(db) == ["people"]
    else:
        run.run(spark, asked)
        assert shown(db) == Counter([("f", 1), ("f", 2), ("m", 3), ("m", 4)])
    assert list(tmp_path.iterdir()) == []


def test_credentials_and_values_are_nowhere(
    spark: SparkSession, db: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The report, the policy, the log and every message, of runs that end well and of runs that do not."""
    for name in ("anon_spark", "pyspark"):
        caplog.set_level(logging.DEBUG, name)
    db.run("CREATE TABLE out.people (sex text, pay int)", "INSERT INTO out.people VALUES ('f-marked', 1), ('f-marked', 2)")
    monkeypatch.setenv("ANON_SPARK_TEST_PASSWORD", PASSWORD)
    columns = [quasi("sex"), {"name": "pay", "role": "insensitive"}]
    spark.conf.set(SETTING, PASSWORD)
    options = {name: value for name, value in db.options("out.t").items() if name != "password"}
    out = {"format": "jdbc", "options": {**options, "password_conf": SETTING}, "mode": "overwrite"}
    report = tmp_path / "report"
    asked = policy(columns, input=source(db), output=out, report={"path": str(report)})
    told = [run.run(spark, asked).release.report.to_json(), json.dumps(asked.to_dict())]
    assert json.loads((report / "report.json").read_text())["policy"]["input"]["options"]["password_env"] == "ANON_SPARK_TEST_PASSWORD"
    assert json.loads((report / "report.json").read_text())["policy"]["output"]["options"]["password_conf"] == SETTING
    db.run("DELETE FROM out.t", "ALTER TABLE out.t ALTER sex TYPE varchar(3)")
    with pytest.raises(ConfigurationError, match=r"SQLSTATE 22001") as refused:
        run.run(spark, asked)
    told.append(str(refused.value))
    wrong = policy(columns, input={**source(db), "options": {**db.options("out.people"), "password": f"not {PASSWORD}"}}, output=out)
    with pytest.raises(AnonError) as failed:
        run.run(spark, wrong)
    told += [str(failed.value), *[path.read_text() for path in report.iterdir()]]
    written = [record.getMessage() for record in caplog.records]
    for text in [*told, *written]:
        assert PASSWORD not in text
        assert "f-marked" not in text or text.startswith(("{", "<"))
