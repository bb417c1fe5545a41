"""A bar a step for those who wait: in a terminal and in a notebook (rich), silent wherever nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

COMPILING, MAY_COMPILE = WAITS = ("groups, compiled first", "groups, elsewhere")
"""Steps that last longer the first time, since loops are compiled: here, or perhaps on executors."""
DOING: Mapping[str, str] = {
    "frequency set": "reading the table: how many rows have each combination of values",
    "encode": "finding each value in its hierarchy",
    "lattice": "searching for the least loss that holds what was asked",
    "groups": "making groups that hold what was asked",
    COMPILING: "compiling the loops that make groups (once in this environment, about a minute), then making them",
    MAY_COMPILE: "making groups that hold what was asked (executors that are new compile the loops first, about a minute)",
    "write": "writing to a staging place",
    "audit": "auditing what was written",
    "risk": "reading the table: how many rows have each combination of values",
    "sets of columns": "counting what fewer columns tell",
    "measures": "measuring what the release can still answer",
    "publish": "publishing",
}
"""What a step is for."""


def watched_console() -> Console | None:
    """Where a program shows its progress unasked: a notebook, or a Python that a person types into; None elsewhere."""
    console = Console(stderr=True)
    if console.is_jupyter:
        # without widgets rich has no place that it could write to again
        return Console() if find_spec("ipywidgets") else None
    return console if console.is_terminal and hasattr(sys, "ps1") else None


class Bars:
    """A context manager; each step ends where the next begins, the last with the body. console: None shows nothing.

    How long a step takes is known to nobody: the bar moves while it lasts, and is full when it is done.
    """

    def __init__(self, console: Console | None):
        self._progress = Progress(
            SpinnerColumn(finished_text="[green]✓[/green]"), TextColumn("{task.description}", markup=False), BarColumn(bar_width=12),
            TimeElapsedColumn(), console=console, disable=console is None, redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self.shown = console is not None
        self._now: TaskID | None = None

    def start(self, step: str) -> None:
        """A step begins; the one before it is done."""
        self._end()
        self._now = self._progress.add_task(DOING.get(step, step), total=None)

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self._end()
        self._progress.stop()

    def _end(self) -> None:
        if self._now is not None:
            self._progress.update(self._now, total=1, completed=1)
        self._now = None
