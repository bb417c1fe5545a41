"""Where loops are not compiled, or not yet, whoever waits is told why."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anon_spark.job import cautions, decide_groups
from anon_spark.kernels.compiled import IS_COMPILED
from anon_spark.report.progress import COMPILING, DOING, MAY_COMPILE

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("compiled", "combinations", "told"), [(False, 501, 1), (False, 500, 0), (True, 10**7, 0)])
def test_many_combinations_without_numba(monkeypatch: pytest.MonkeyPatch, compiled: bool, combinations: int, told: int) -> None:
    monkeypatch.setattr(cautions, "IS_COMPILED", compiled)
    found = cautions.uncompiled(combinations)
    assert len(found) == told
    assert all("501 combinations" in line and "pip install 'anon-spark[compiled]'" in line for line in found)


@pytest.mark.parametrize(
    ("compiled", "cold", "here", "master", "told"),
    [
        (True, True, True, "spark://host:7077", COMPILING),
        (True, False, True, "spark://host:7077", None),
        (True, True, False, "local[2]", COMPILING),
        (True, False, False, "local[2]", None),
        (True, True, False, "spark://host:7077", MAY_COMPILE),
        (True, False, False, "yarn", MAY_COMPILE),
        (False, False, False, "yarn", None),
    ],
)
def test_who_compiles_is_told_as_far_as_it_is_known(
    monkeypatch: pytest.MonkeyPatch, compiled: bool, cold: bool, here: bool, master: str, told: str | None
) -> None:
    """What lies on the disks of executors elsewhere, nobody knows here."""
    monkeypatch.setattr(decide_groups, "IS_COMPILED", compiled)
    monkeypatch.setattr(decide_groups, "waits_for_compiler", lambda function: cold)
    spark: Any = SimpleNamespace(conf=SimpleNamespace(get=lambda name, default: master))
    gathered: Any = SimpleNamespace(local=object() if here else None)
    assert decide_groups._waited_for(spark, gathered) == told
    assert told is None or "compil" in DOING[told]


LOOP = """
from anon_spark.kernels.compiled import compiled, waits_for_compiler

@compiled
def twice(n):
    return 2 * n

before = waits_for_compiler(twice)
print(before, twice(2), waits_for_compiler(twice))
"""


@pytest.mark.skipif(not IS_COMPILED, reason="nothing waits for a compiler that is not there")
def test_whoever_waits_for_the_compiler_is_told_so_once(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(LOOP)

    def told(**more: str) -> str:
        places = os.pathsep.join([str(ROOT), *sys.path])
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": places, **more}
        ran = subprocess.run([sys.executable, tmp_path / "loop.py"], capture_output=True, text=True, env=environment, check=True)
        return ran.stdout.strip()

    assert told() == "True 4 False"
    assert told() == "False 4 False"
    assert told(NUMBA_DISABLE_JIT="1") == "False 4 False"
