"""A bar a step where somebody looks, and nothing where nobody does."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from anon_spark.cli import streams
from anon_spark.report import progress
from anon_spark.report.progress import DOING, Bars, watched_console


def test_each_step_has_a_bar_and_the_last_ends_with_the_body(capsys: pytest.CaptureFixture[str]) -> None:
    held = io.StringIO()
    with Bars(Console(file=held, force_terminal=True, width=120)) as bars:
        for step in ("frequency set", "lattice", "[red]odd[/red]"):
            bars.start(step)
        print("the job's own words stay where they are")
    last = held.getvalue()[held.getvalue().rindex(DOING["frequency set"]) :]
    for told in (DOING["frequency set"], DOING["lattice"], "[red]odd[/red]"):
        assert told in last
    assert held.getvalue().count("✓") >= 3 and "━" in last
    assert capsys.readouterr().out == "the job's own words stay where they are\n"


def test_a_failure_leaves_the_step_that_failed_unfinished_and_the_terminal_as_it_was() -> None:
    held = io.StringIO()
    with pytest.raises(ValueError), Bars(Console(file=held, force_terminal=True, width=120)) as bars:
        bars.start("frequency set")
        bars.start("encode")
        raise ValueError
    last = held.getvalue()[held.getvalue().rindex(DOING["frequency set"]) :]
    assert "\x1b[?25h" in held.getvalue(), "the cursor is back"
    assert "✓" not in last[last.index(DOING["encode"]) :]


def test_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with Bars(None) as bars:
        bars.start("lattice")
    assert not bars.shown
    assert capsys.readouterr() == ("", "")


def test_who_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watched_console() is None, "pytest is no person"
    console = Console(file=io.StringIO(), force_terminal=True)
    monkeypatch.setattr(progress, "Console", lambda **_: console)
    monkeypatch.delattr(sys, "ps1", raising=False)
    assert watched_console() is None, "a program in a terminal is not asked for it"
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert watched_console() is console
    notebook = Console(file=io.StringIO(), force_jupyter=True)
    monkeypatch.setattr(progress, "Console", lambda **_: notebook)
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    assert watched_console() is None, "without widgets there is no place to draw"
    monkeypatch.setattr(progress, "find_spec", lambda name: object())
    assert watched_console() is notebook


def test_the_command_draws_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(streams, "_ours", [Terminal()])
    assert streams.terminal() is not None
    monkeypatch.setenv("TERM", "dumb")
    assert streams.terminal() is None
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(streams, "_ours", [io.StringIO()])
    assert streams.terminal() is None
