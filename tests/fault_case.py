"""A job in a process of its own, in the middle of which something is killed: fault_case.py FOLDER MASTER JOB K WHAT STEP.

WHAT: nothing, driver (this process), executor (one of ``local-cluster``), worker (a Python process of an executor). STEP: a step of the
job, or the name of a call of the file system, behind which this process is killed. Prints what was killed.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from anon_spark import Policy
from anon_spark.io.local_files import LocalFiles
from anon_spark.job.run import run

ROWS = 60_000
QUERY = (
    f"SELECT CAST(id * id % 8191 AS int) AS age, concat('t', id % 7) AS town, concat('s', id % 5) AS ill, id FROM range(0, {ROWS}, 1, 6)"
)


def asked(folder: Path, job: str, k: int) -> Policy:
    """The policy of these runs; local recoding goes through blocks on Spark."""
    age: dict[str, Any] = {"name": "age", "role": "quasi-identifier"}
    return Policy(
        job=job,
        input={"query": QUERY, "snapshot": "none"},
        output={"path": str(folder / "out/release"), "mode": "overwrite"},
        columns=[
            age if job == "top-down" else {**age, "hierarchy": {"intervals": [64, 1024]}},
            {"name": "town", "role": "quasi-identifier", "hierarchy": "flat"},
            {"name": "ill", "role": "sensitive"},
            {"name": "id", "role": "insensitive"},
        ],
        privacy=[{"model": "k-anonymity", "k": k}],
        settings={"driver_megabytes": 0, "block_combinations": 2000} if job == "top-down" else {},
    )


def processes() -> Iterator[tuple[int, int, str]]:
    """Number, parent and command of every process."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            yield int(entry.name), parent, command


def victim(what: str, application: str) -> int | None:
    """An executor of this application, or a Python worker of one."""
    known = list(processes())
    executors = {number for number, _, command in known if "CoarseGrainedExecutorBackend" in command and application in command}
    if what == "executor":
        return min(executors, default=None)
    daemons = {number for number, parent, command in known if parent in executors and "pyspark" in command}
    return min((number for number, parent, _ in known if parent in daemons), default=None)


def kill(what: str, application: str) -> None:
    """Kill one as soon as there is one."""
    for _ in range(600):
        if (number := victim(what, application)) is not None:
            print(f"killed {what} {number}", flush=True)
            os.kill(number, signal.SIGKILL)
            return
        time.sleep(0.05)


def main(folder: Path, master: str, job: str, k: int, what: str, step: str) -> None:
    """Run the job."""
    spark = SparkSession.builder.master(master).appName("faults").config("spark.ui.enabled", "false").getOrCreate()
    application = spark.sparkContext.applicationId

    def begin(name: str) -> None:
        if name == step and what == "driver":
            os.kill(os.getpid(), signal.SIGKILL)
        elif name == step and what != "nothing":
            threading.Thread(target=kill, args=(what, application), daemon=True).start()

    if what == "driver" and hasattr(LocalFiles, step):
        real = getattr(LocalFiles, step)

        def call(self: LocalFiles, *given: Any) -> Any:
            answer = real(self, *given)
            os.kill(os.getpid(), signal.SIGKILL)
            return answer

        setattr(LocalFiles, step, call)
        if step == "rename":
            # as on a file system without that step
            LocalFiles.exchange = lambda *_: False  # type: ignore[method-assign]
    run(spark, asked(folder, job, k), on_start=begin)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5], sys.argv[6])
