"""Help that reads whole, at any width of a terminal."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from anon_spark.cli.main import cli

COMMANDS = ["run", "check", "audit", "risk"]


@pytest.mark.parametrize("width", ["60", "80", "200"])
@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=lambda given: " ".join(given) or "all")
def test_no_text_is_cut(command: list[str], width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    shown = CliRunner().invoke(cli, [*command, "--help"], terminal_width=int(width))
    assert shown.exit_code == 0 and "..." not in re.sub(r"\[ARGS\]\.\.\.", "", shown.output)
    told = " ".join(shown.output.split())
    group = cli.commands[command[0]] if command else cli
    assert " ".join((group.help or "").split()) in told
    for option in group.params:
        assert " ".join((getattr(option, "help", None) or "").split()) in told
    for name in COMMANDS if not command else ():
        assert f"{name} {cli.commands[name].short_help}" in told
