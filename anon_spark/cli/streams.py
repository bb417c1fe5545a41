"""The person's standard error shows our own lines alone: what libraries and Java print is noise, or the text of a failure with values
of the data in it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO

import click
from rich.console import Console

_ours: list[TextIO] = []


@contextlib.contextmanager
def ours_alone(debug: bool) -> Iterator[None]:
    """In the body only ``say`` reaches standard error: PySpark's threads print traces there when their JVM is gone. debug: all does."""
    before = sys.stderr
    _ours.append(before)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stderr = before if debug else nowhere
        try:
            yield
        finally:
            sys.stderr = _ours.pop()


def say(line: str) -> None:
    """One line of ours on standard error."""
    click.echo(line, file=_ours[-1] if _ours else sys.stderr)


@contextlib.contextmanager
def summing_up() -> Iterator[None]:
    """The body tells on standard output of what is done: where nobody can be told, it is done all the same."""
    try:
        yield
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError) as error:
        # what is left in its buffer would fail once more as Python ends
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        with contextlib.suppress(OSError, ValueError):
            say(f"anon-spark: published; the summary could not be printed ({type(error).__name__})")


def spell_all() -> None:
    """A name that a stream's encoding lacks is printed with marks in its place."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def terminal() -> Console | None:
    """The person's terminal; None where standard error is none, or one that can't move its cursor."""
    console = Console(file=_ours[-1] if _ours else sys.stderr, highlight=False)
    return console if console.is_terminal and not console.is_dumb_terminal else None


@contextlib.contextmanager
def children_unheard() -> Iterator[None]:
    """Processes that the body starts, and theirs, have no standard error: a JVM tells of its modules, logs and profiles there."""
    try:
        kept = os.dup(2)
    except OSError:  # there is none
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
