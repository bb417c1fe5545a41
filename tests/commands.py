"""The command line called in this process, for tests."""

from __future__ import annotations

import inspect

from click.testing import CliRunner


def runner() -> CliRunner:
    """One that keeps the two outputs apart: click 8.2 always does, 8.1 where it is told to."""
    apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    return CliRunner(**apart)
