"""Where a database is: what JDBC's address says is what another connection is told, or it is refused."""

from __future__ import annotations

import builtins
import ssl
from types import SimpleNamespace
from typing import cast

import pytest
from pyspark.sql import SparkSession

from anon_spark.domain.errors import ConfigurationError
from anon_spark.io import postgresql
from anon_spark.io.jdbc_options import for_spark, with_password
from anon_spark.io.postgresql import Address, Database, address_of

NO_SESSION = cast(SparkSession, None)
"""What names no setting asks no session."""
URL = "jdbc:postgresql://db.example:5433/people"


@pytest.mark.parametrize(
    ("options", "address"),
    [
        ({"url": URL, "user": "ann"}, Address("db.example", 5433, "people", "ann")),
        ({"URL": "jdbc:postgresql:people", "User": "ann", "password": "x"}, Address("localhost", 5432, "people", "ann", "x")),
        ({"url": "jdbc:postgresql://[::1]/a%20b?user=ann"}, Address("::1", 5432, "a b", "ann")),
        ({"url": "jdbc:postgresql://h/", "user": "ann"}, Address("h", 5432, "ann", "ann")),
        ({"url": f"{URL}?user=bob&currentSchema=out", "user": "ann"}, Address("db.example", 5433, "people", "ann", schema="out")),
        ({"url": f"{URL}?ssl=true", "user": "ann"}, Address("db.example", 5433, "people", "ann", mode="verify-full")),
        ({"url": f"{URL}?sslmode=disable&tcpKeepAlive=true", "user": "a"}, Address("db.example", 5433, "people", "a", mode="disable")),
        ({"url": URL, "user": "a", "dbtable": "t", "driver": "d", "batchsize": "9"}, Address("db.example", 5433, "people", "a")),
    ],
)
def test_an_address(options: dict[str, str], address: Address) -> None:
    assert address_of(options, "job.yaml") == address


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"url": "jdbc:oracle:thin:@h", "user": "a"}, "a database of the kind oracle"),
        ({"url": "postgres://h/d", "user": "a"}, "a url of no kind that is known"),
        ({"url": "jdbc:postgresql://a,b/d", "user": "a"}, "several hosts"),
        ({"url": "jdbc:postgresql://ann:hunter2@h/d", "user": "a"}, "a user before @"),
        ({"url": URL}, "output.options.user: found nothing"),
        ({"url": f"{URL}?targetServerType=primary&options=x", "user": "a"}, "found options, targetservertype;"),
        ({"url": URL, "user": "a", "keytab": "k"}, "found keytab;"),
        ({"url": f"{URL}?sslmode=yes", "user": "a"}, "'yes'; expected disable"),
    ],
)
def test_what_another_connection_can_not_be_told_is_refused(options: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        address_of(options, "job.yaml")
    assert told in str(refused.value) and "hunter2" not in str(refused.value)


def test_a_password_is_in_no_text_of_an_address() -> None:
    assert "hunter2" not in repr(address_of({"url": URL, "user": "a", "password": "hunter2"}, "job.yaml"))


def test_what_certificates_are_asked_for() -> None:
    def asked(mode: str) -> object:
        return postgresql._ssl(Address("h", 1, "d", "u", mode=mode))

    assert (asked("disable"), asked("prefer"), asked("require")) == (False, None, True)
    for mode, name in (("verify-ca", False), ("verify-full", True)):
        context = asked(mode)
        assert isinstance(context, ssl.SSLContext) and context.verify_mode == ssl.CERT_REQUIRED and context.check_hostname is name


def test_a_password_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"url": URL, "Password_Env": "ANON_SPARK_TEST_WORD"}
    with pytest.raises(ConfigurationError, match=r"input\.options\.password_env: found 'ANON_SPARK_TEST_WORD', which is not set"):
        with_password(NO_SESSION, options, "job.yaml", "input")
    monkeypatch.setenv("ANON_SPARK_TEST_WORD", "hunter2")
    assert with_password(NO_SESSION, options, "job.yaml", "input") == {"url": URL, "password": "hunter2"}
    with pytest.raises(ConfigurationError, match="password and password_env; expected password_env alone") as refused:
        with_password(NO_SESSION, {**options, "password": "hunter2"}, "job.yaml", "input")
    assert "hunter2" not in str(refused.value)


def test_a_password_comes_from_the_sessions_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    class Conf:
        held = {"spark.people.password": "hunter2"}  # noqa: RUF012

        def get(self, name: str, default: str) -> str:
            return self.held.get(name, default)

    session = cast(SparkSession, SimpleNamespace(conf=Conf()))
    options = {"url": URL, "password_conf": "spark.people.password"}
    assert with_password(session, options, "job.yaml", "input") == {"url": URL, "password": "hunter2"}
    for more, told in (
        ({"password_conf": "spark.x"}, "'spark.x', which is not set; expected a setting of the Spark session"),
        ({"password": "hunter2"}, "password and password_conf; expected password_conf alone"),
        ({"password_env": "X"}, "password_conf and password_env; expected password_env alone"),
    ):
        with pytest.raises(ConfigurationError) as refused:
            with_password(session, {**options, **more}, "job.yaml", "input")
        assert told in str(refused.value) and "hunter2" not in str(refused.value)


def test_options_of_the_user_win() -> None:
    driver = "org.postgresql.Driver"
    assert for_spark(NO_SESSION, {"url": URL}, "job.yaml", "input") == {"url": URL, "driver": driver, "fetchsize": "10000"}
    assert for_spark(NO_SESSION, {"url": URL, "Driver": "x", "fetchSize": "1"}, "", "") == {"url": URL, "Driver": "x", "fetchSize": "1"}
    assert for_spark(NO_SESSION, {"url": "jdbc:h2:mem"}, "", "") == {"url": "jdbc:h2:mem", "fetchsize": "10000"}


def test_a_driver_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *more: object) -> object:
        if name.startswith("pg8000"):
            raise ImportError(name)
        return real(name, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigurationError, match=r"expected the Python driver pg8000; install anon-spark\[postgresql\]"):
        Database(Address("h", 1, "d", "u"), "job.yaml")
