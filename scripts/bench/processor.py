"""Processor seconds of this process, its JVM and its Python workers: what a busy machine stretches less than wall time."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from memory import descendants

TICKS = os.sysconf("SC_CLK_TCK")


def spent() -> dict[str, float]:
    """Seconds since each began: the JVM's with its compiler and its collector, the workers' with those that have ended."""
    found = dict.fromkeys(("driver", "JVM", "workers"), 0.0)
    root = threading.main_thread().native_id or 0
    for process in descendants(root):
        place = Path("/proc") / str(process)
        try:
            command = (place / "cmdline").read_bytes().split(b"\0")
            # the name in brackets may hold blanks
            fields = (place / "stat").read_text().rpartition(")")[2].split()
        except (OSError, IndexError):
            continue
        own, ended = (sum(map(int, fields[a : a + 2])) / TICKS for a in (11, 13))
        if process == root:
            found["driver"] += own
        elif command[0].endswith(b"java"):
            found["JVM"] += own
        elif b"pyspark.daemon" in command:
            found["workers"] += own + ended
    return found


class Steps:
    """What each step took, printed as the next one begins."""

    def __init__(self) -> None:
        self.name, self.before = "", spent()

    def begin(self, name: str) -> None:
        """The step before has ended."""
        now = spent()
        if self.name:
            told = ", ".join(f"{part} {now[part] - before:.1f}" for part, before in self.before.items())
            total = sum(now.values()) - sum(self.before.values())
            print(f"    CPU s of {self.name}: {total:.1f} ({told})", flush=True)
        self.name, self.before = name, now
