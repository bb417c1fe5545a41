"""Shared fixtures: one Spark session a test run, and the folder of real data where it is present."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser import browser
from hypothesis import settings
from postgresql_server import JDBC, Server, lacks, server
from sessions import JAVA, QUICK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# how long an example takes is the machine's affair
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

SHARED = Path(os.environ.get("ANON_SPARK_SHARED") or Path(__file__).resolve().parents[2] / "shared")
ADULT = Path(__file__).resolve().parents[1] / "data/adult.csv"
LEFT_OUT = pytest.StashKey[Counter[str]]()
"""Why tests are left out -> how many."""


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_OUT] = Counter()
    config.addinivalue_line("markers", "shared: reads the folder of real data beside the checkout; left out where it is absent")
    config.addinivalue_line("markers", "adult: reads the census table; left out where it is absent")
    config.addinivalue_line("markers", "postgresql: starts a PostgreSQL server; left out where it, its JDBC driver or pg8000 is absent")
    config.addinivalue_line("markers", "browser: opens the page in Chromium; left out where there is none, or no matplotlib to draw")
    config.addinivalue_line("markers", "kernel: runs a notebook in a kernel; left out where nbclient or ipykernel is absent")
    config.addinivalue_line("markers", "mount: mounts a small file system; left out where that is not allowed")
    config.addinivalue_line("markers", "spark: needs a Spark session")
    config.addinivalue_line("markers", "parity: run again over Spark Connect and on PySpark 3.5 by scripts/parity")
    config.addinivalue_line("markers", "long: a long count, run by scripts/test --full alone")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="the long counts too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, and count as deselected, what needs absent data, and the long counts unless asked for."""
    absent = not (SHARED / "data").is_dir()
    unfetched = absent and not ADULT.is_file()
    full = config.getoption("--full")
    lacking = lacks()
    no_browser = "Chromium" if browser() is None else None if find_spec("matplotlib") else "matplotlib"
    no_kernel = next((name for name in ("nbclient", "ipykernel") if find_spec(name) is None), None)
    reasons = {
        "shared": f"read the shared data ({SHARED / 'data'} is absent)" if absent else None,
        "adult": f"read the census table ({ADULT} is absent: scripts/demo fetches it)" if unfetched else None,
        "postgresql": f"need PostgreSQL ({lacking} is absent)" if lacking else None,
        "browser": f"open the page in a browser ({no_browser} is absent)" if no_browser else None,
        "kernel": f"run a notebook in a kernel ({no_kernel} is absent)" if no_kernel else None,
        "mount": None if may_mount() else "mount a file system (which is not allowed here)",
        "long": None if full else "take long (--full runs them)",
    }
    kept: list[pytest.Item] = []
    out: list[pytest.Item] = []
    for item in items:
        why = next((told for mark, told in reasons.items() if told and item.get_closest_marker(mark)), None)
        if why:
            config.stash[LEFT_OUT][why] += 1
            out.append(item)
        else:
            kept.append(item)
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = kept


def may_mount() -> bool:
    """Whether a file system in memory can be mounted."""
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    with tempfile.TemporaryDirectory() as place:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], capture_output=True).returncode == 0
        if mounted:
            subprocess.run(["umount", place], check=True)
    return mounted


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of a run in several processes tells the one that sums up what was left out."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None:
        told["left_out"] = dict(session.config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Every worker collects all tests, and leaves out the same."""
    told = getattr(node, "workeroutput", {})
    if "left_out" in told:
        node.config.stash[LEFT_OUT] = Counter(told["left_out"])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """How many tests ran, and which were left out and why."""
    ran = sum(len(terminalreporter.getreports(kind)) for kind in ("passed", "failed"))
    why = [f"{number} that {reason}" for reason, number in config.stash[LEFT_OUT].items()]
    terminalreporter.write_sep("-", f"{ran} tests ran; left out: {', '.join(why) or 'none'}")


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether the long counts were asked for."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data; tests that use it carry the mark ``shared``."""
    return SHARED / "data"


@pytest.fixture(scope="session")
def adult(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """UCI Adult as scripts/demo fetches it, or made so from the shared data; tests that use it carry the mark ``adult``."""
    if ADULT.is_file():
        return ADULT
    header = (
        "age,workclass,education,education-num,marital-status,occupation,relationship,race,sex,"
        "capital-gain,capital-loss,hours-per-week,native-country,income"
    )
    with gzip.open(shared / "adult_uci/adult.data.gz", "rt", encoding="utf-8") as file:
        cells = [line.rstrip("\n").split(",") for line in file if line.strip()]
    # the third column is a weight of the sample, which the fetched table leaves out
    rows = [",".join([first.strip(), second, *rest]) for first, second, _, *rest in cells]
    made = tmp_path_factory.mktemp("adult") / "adult.csv"
    made.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server of this test run's own; tests that use it carry the mark ``postgresql``."""
    with server() as started:
        yield started


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session for the whole run; ANON_SPARK_REMOTE (``local[2]`` or a Connect address) makes it a Connect session.

    The long run, that of ``scripts/parity``, and every test that starts a process of its own compile their plans, as users' sessions do.
    """
    from pyspark.sql import SparkSession

    # workers would take the python3 of the PATH
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("anon-spark tests")
    remote = os.environ.get("ANON_SPARK_REMOTE")
    builder = builder.remote(remote) if remote else builder.master("local[2]")
    settings = {
        "spark.ui.enabled": "false",
        # as the command's own sessions
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.default.parallelism": "4",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        # Hive's metastore, embedded and in memory: what it refuses a catalogue of Spark's own may allow, not the other way round
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:anon-spark-tests;create=true",
        "spark.driver.extraJavaOptions": f"{JAVA} -Dderby.stream.error.file={tmp_path_factory.mktemp('derby') / 'log'}",
    }
    if not request.config.getoption("--full") and request.config.getoption("markexpr") != "parity":
        settings |= QUICK
    if JDBC.is_file():
        settings["spark.jars"] = str(JDBC)
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
