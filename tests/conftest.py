"""Shared fixtures: one Spark session a test run, and the folder of real data where it is present."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARED = Path(os.environ.get("ANON_SPARK_SHARED") or Path(__file__).resolve().parents[2] / "shared")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "shared: reads the folder of real data beside the checkout; left out where it is absent")
    config.addinivalue_line("markers", "spark: needs a Spark session")
    config.addinivalue_line("markers", "parity: run again over Spark Connect and on PySpark 3.5 by scripts/parity")
    config.addinivalue_line("markers", "long: a long count, run by scripts/test --full alone")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="the long counts too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out, and count as deselected, what needs absent data, and the long counts unless asked for."""
    absent = not (SHARED / "data").is_dir()
    full = config.getoption("--full")
    out = [
        item for item in items if (item.get_closest_marker("shared") and absent) or (item.get_closest_marker("long") and not full)
    ]
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in set(out)]


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether the long counts were asked for."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data; tests that use it carry the mark ``shared``."""
    return SHARED / "data"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session for the whole run; ANON_SPARK_REMOTE (``local[2]`` or a Connect address) makes it a Connect session."""
    from pyspark.sql import SparkSession

    # workers would take the python3 of the PATH
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("anon-spark tests")
    remote = os.environ.get("ANON_SPARK_REMOTE")
    builder = builder.remote(remote) if remote else builder.master("local[2]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.default.parallelism": "4",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
