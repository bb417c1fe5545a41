"""What was done, told by those who did it, with its time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

from anon_spark.report.parts import Step

log = logging.getLogger(__name__)
PUBLISH = "publish"
"""Told as the last step begins: from then on a run can't be taken back."""


@dataclass
class Steps:
    """The steps of one run, in order; each ends with its sentence.

    on_start: told the name of a step as it begins (progress); around: what a step runs in, by its name (tags of Spark's jobs).
    """

    on_start: Callable[[str], None] = lambda name: None
    around: Callable[[str], AbstractContextManager[object]] = lambda name: nullcontext()
    done: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, shown: str | None = None) -> Iterator[list[str]]:
        """Time one step; the body appends its sentences to what it is given. shown: what those who wait are told in place of the name."""
        self.on_start(shown or name)
        started, said = time.perf_counter(), list[str]()
        with self.around(name):
            yield said
        seconds = time.perf_counter() - started
        text = " ".join(said)
        log.info("%s: %s (%.1f s)", name, text, seconds)
        self.done.append(Step(name, seconds, text))
