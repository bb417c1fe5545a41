"""A PostgreSQL server for tests: a cluster in a temporary directory, on a port of this machine alone, gone with the tests."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JDBC = Path("/usr/share/java/postgresql.jar")
"""The JDBC driver, where the distribution's package puts it."""
USER, PASSWORD = "releaser", "hunter2-sesame"


@dataclass(frozen=True)
class Server:
    """A server that runs. One user, one password, the database ``postgres``."""

    port: int

    def options(self, table: str, **more: str) -> dict[str, str]:
        """Spark's options of a table."""
        url = f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"
        return {**{"url": url, "dbtable": table, "user": USER, "password": PASSWORD}, **more}

    def connection(self) -> Any:
        from pg8000.native import Connection

        return Connection(USER, host="127.0.0.1", port=self.port, database="postgres", password=PASSWORD, ssl_context=False)

    def run(self, *statements: str) -> list[list[Any]]:
        """The rows of the last of some statements."""
        link = self.connection()
        try:
            rows = [link.run(statement) for statement in statements][-1]
        finally:
            link.close()
        return rows or []


def _programs() -> Path | None:
    """The directory of the server's programs; Debian keeps them off the PATH."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()), None)


def lacks() -> str:
    """What is absent for a server to be tried; empty where nothing is."""
    if _programs() is None:
        return "its server"
    if not JDBC.is_file():
        return f"its JDBC driver {JDBC}"
    return "" if importlib.util.find_spec("pg8000") else "the Python driver pg8000"


@contextmanager
def server() -> Iterator[Server]:
    """Start a server, and end it. It refuses to run as root: then it runs as another user of this machine."""
    programs = _programs()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="anon-spark-pg-", dir="/tmp"))
    who: dict[str, Any] = {}
    if os.getuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        other = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
        os.chown(folder, other.pw_uid, other.pw_gid)
        who = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}

    def call(program: str, *arguments: str) -> None:
        with open(os.devnull, "wb") as nothing:
            subprocess.run([programs / program, *arguments], check=True, cwd=folder, stdout=nothing, timeout=120, **who)

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data, word = str(folder / "data"), folder / "word"
    word.write_text(PASSWORD)
    word.chmod(0o644)
    try:
        call("initdb", "-D", data, "-U", USER, "-A", "scram-sha-256", "--pwfile", str(word), "-E", "UTF8", "--locale", "C", "-N")
        word.unlink()
        asked = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        call("pg_ctl", "-D", data, "-l", str(folder / "log"), "-w", "-o", asked, "start")
        yield Server(port)
    finally:
        if (folder / "data/postmaster.pid").exists():
            call("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)
