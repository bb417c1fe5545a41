"""A connection to PostgreSQL beside Spark's: the statements that publish need one transaction, which Spark's writer does not give.

The driver is pg8000 (extra ``postgresql``), pure Python, so that it is packed with an environment for any cluster. It is told the
same address, user and password as Spark's. What the server says of an error is never shown, its SQLSTATE alone: the text may hold
values.
"""

from __future__ import annotations

import contextlib
import os
import re
import ssl
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from anon_spark.domain.errors import ConfigurationError, Fault, PlatformError
from anon_spark.io.input_options import folded

KEY = "output.options"
_URL = re.compile(r"jdbc:postgresql:(?://(?P<host>[^/?]*)/)?(?P<database>[^?/]*)(?:\?(?P<parameters>.*))?", re.DOTALL)
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^:,@\[\]]*)(?::(?P<port>\d+))?")
_UNDERSTOOD = frozenset({"user", "password", "ssl", "sslmode", "sslrootcert", "currentschema", "applicationname"})
_IDLE = frozenset(
    (
        # of how rows travel, or how long the driver waits: nothing that another connection has to be told
        "binarytransfer", "connecttimeout", "defaultrowfetchsize", "logintimeout", "preparethreshold", "rewritebatchedinserts",
        "sockettimeout", "tcpkeepalive",
    )
)  # fmt: skip
_SPARK = frozenset({"url", "dbtable", "driver", "batchsize", "fetchsize", "numpartitions", "querytimeout"})
_WRONG = {
    # classes of SQLSTATE
    "22": "values that the table's types can't hold",
    "23": "a constraint of the table that the release breaks",
    "28": "a user or password that the server refuses",
    "3D": "no database of this name",
    "3F": "no schema of this name",
    "42": "a name, type or right that the server refuses",
}


class DatabaseError(PlatformError):
    """A statement that failed. state: its SQLSTATE, empty where the connection broke."""

    def __init__(self, message: str, state: str):
        super().__init__(message)
        self.state = state


@dataclass(frozen=True)
class Address:
    """Where a database is and who asks. mode: as JDBC's sslmode; roots: a file of certificates, empty for the usual ones."""

    host: str
    port: int
    database: str
    user: str
    password: str | None = field(default=None, repr=False)
    mode: str = "prefer"
    roots: str = ""
    schema: str = ""


def address_of(options: Mapping[str, str], where: str) -> Address:
    """The address in Spark's options. Raises ConfigurationError for another database, and for what another connection can't be told."""
    given = folded(options)
    match = _URL.fullmatch(given.get("url", ""))
    if match is None:
        kind = re.match(r"jdbc:(\w+):", given.get("url", ""))
        found = f"a database of the kind {kind[1]}" if kind else "a url of no kind that is known"
        raise _fault(where, f"{KEY}.url", found, "jdbc:postgresql://host:port/database", "other databases are not tried yet as outputs")
    host = _HOST.fullmatch(match["host"] or "")
    if host is None:
        raise _fault(where, f"{KEY}.url", "several hosts, or a user before @", "one host, and user among the options", "")
    parameters = folded(dict(parse_qsl(match["parameters"] or "", keep_blank_values=True)))
    others = {name: value for name, value in given.items() if name not in _SPARK}
    unknown = sorted((parameters.keys() | others.keys()) - _UNDERSTOOD - _IDLE)
    if unknown:
        known = ", ".join(sorted(_SPARK | _UNDERSTOOD | {"password_env", "password_conf"}))
        raise _fault(where, KEY, ", ".join(unknown), f"options of an output that both connections know: {known}", "leave it out")
    said = {**parameters, **others}
    if not said.get("user"):
        raise _fault(where, f"{KEY}.user", "nothing", "the database's user", "add it")
    mode = said.get("sslmode", "verify-full" if said.get("ssl", "false").lower() in ("", "true") else "prefer").lower()
    if mode not in ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"):
        raise _fault(where, f"{KEY}.sslmode", repr(mode), "disable, prefer, require, verify-ca or verify-full", "")
    return Address(
        host=host["name"].strip("[]") or "localhost",
        port=int(host["port"] or 5432),
        database=unquote(match["database"]) or said["user"],
        user=said["user"],
        password=said.get("password"),
        mode=mode,
        roots=said.get("sslrootcert", ""),
        schema=said.get("currentschema", ""),
    )


class Database:
    """An open connection. It is of one thread; every failure is a DatabaseError, or a ConfigurationError where the server refuses."""

    def __init__(self, address: Address, where: str):
        self._driver, self._where = _driver(where), where
        self._failures = (self._driver.exceptions.Error, OSError, struct.error, EOFError)
        with self._told("it could not be reached"):
            self._connection = self._driver.native.Connection(
                address.user,
                host=address.host,
                port=address.port,
                database=address.database,
                password=address.password,
                ssl_context=_ssl(address),
                application_name="anon-spark",
                startup_params={"search_path": address.schema} if address.schema else None,
            )

    def run(self, statement: str, what: str, **values: object) -> list[list[Any]]:
        """The rows of a statement. what: says what failed, if it does. values: for ``:name`` in it."""
        with self._told(what):
            return list(self._connection.run(statement, **values) or [])

    def close(self) -> None:
        """End the connection, and with it its locks and its transaction; never raises."""
        with contextlib.suppress(Exception):
            self._connection.close()

    @contextlib.contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except self._failures as error:
            raise _as_ours(error, what, self._where) from None


def _as_ours(error: Exception, what: str, where: str) -> Exception:
    """A driver's exception without its text."""
    told = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    state = str(told.get("C", ""))
    wrong = _WRONG.get(state[:2])
    if wrong:
        return _fault(where, "output", f"{wrong} (SQLSTATE {state})", f"a database that takes the release: {what}", "see the server's log")
    said = f"SQLSTATE {state}" if state else "the connection broke or was refused"
    return DatabaseError(f"{where}: output: the database: {what} ({said}); running the job again may help", state)


def _driver(where: str) -> Any:
    try:
        import pg8000.exceptions
        import pg8000.native
    except ImportError:
        expected, advice = "the Python driver pg8000", "install anon-spark[postgresql]"
        raise _fault(where, "output.format", "jdbc to PostgreSQL without its driver", expected, advice) from None
    return pg8000


def _ssl(address: Address) -> object:
    """What pg8000 takes for JDBC's modes: False for none, None for what the server likes, True for any certificate."""
    if address.mode == "disable":
        return False
    if address.mode in ("allow", "prefer"):
        return None
    if address.mode == "require" and not address.roots:
        return True
    usual = os.path.expanduser("~/.postgresql/root.crt")
    context = ssl.create_default_context(cafile=address.roots or (usual if os.path.isfile(usual) else None))
    context.check_hostname = address.mode == "verify-full"
    return context


def _fault(where: str, key: str, found: str, expected: str, advice: str) -> ConfigurationError:
    return ConfigurationError([Fault(where, key, found, expected, advice)])
