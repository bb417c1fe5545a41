"""What Spark's event log says of a span of time: jobs, stages, tasks, bytes shuffled and spilled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Work:
    """What ended in a span of time."""

    jobs: int = 0
    stages: int = 0
    tasks: int = 0
    shuffled: int = 0
    spilled: int = 0


def work_between(log: Path, started: float, ended: float) -> Work:
    """What the session whose event log lies in this folder did between two times (seconds since 1970)."""
    jobs = stages = tasks = shuffled = spilled = 0
    for event in _events(log):
        kind = event.get("Event")
        if kind == "SparkListenerJobEnd" and _inside(event["Completion Time"], started, ended):
            jobs += 1
        elif kind == "SparkListenerStageCompleted" and _inside(event["Stage Info"].get("Completion Time", 0), started, ended):
            stages += 1
        elif kind == "SparkListenerTaskEnd" and _inside(event["Task Info"]["Finish Time"], started, ended):
            tasks += 1
            figures = event.get("Task Metrics") or {}
            shuffled += figures.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
            spilled += figures.get("Disk Bytes Spilled", 0)
    return Work(jobs, stages, tasks, shuffled, spilled)


def _inside(milliseconds: int, started: float, ended: float) -> bool:
    return started <= milliseconds / 1000 <= ended


def _events(log: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(path for path in log.rglob("*") if path.is_file() and not path.name.startswith(("appstatus", "."))):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                try:
                    yield json.loads(line)
                except ValueError:
                    # the last line, while it is being written
                    continue
