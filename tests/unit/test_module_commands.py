"""The command without its script: as a module it does what it is asked, and says so where it can't."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("module", ["anon_spark", "anon_spark.cli.main"])
def test_a_module_is_the_command(module: str, tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run([sys.executable, "-m", module, "run", str(tmp_path / "no.yaml")], capture_output=True, text=True, cwd=root)
    assert ran.returncode == 2 and ran.stdout == ""
    assert ran.stderr == f"error: {tmp_path}/no.yaml: found no such file; expected a YAML file\n"
