"""The job's optimum of Adult is that of a script that shares no code with it, with and without alpha, at three limits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench" / "exhaustive_adult.py"


@pytest.mark.shared
@pytest.mark.long
def test_the_job_decides_what_exhaustive_search_finds(shared: Path) -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), str(shared / "adult"), "--compare"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("the job decides the same") == 6
