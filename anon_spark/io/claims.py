"""One run at a time writes an output: a small file beside it tells who does, and by the time of its last change that the run lives.

The file is made only where none is, which is one step on local disks, mounts and HDFS; on an object store two runs that start within
the same moment could both make it, and the later one then finds at publication that it holds nothing. A run that was killed leaves its
file: on the same machine it is known to be dead at once, elsewhere when it has not changed for ``DEAD`` seconds.
"""

from __future__ import annotations

import json
import logging
import os
import posixpath
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from anon_spark.domain.errors import OutputHeldError
from anon_spark.io.files import FILE_ERRORS, Files, file_faults
from anon_spark.io.staging import HIDDEN, bring_back, staging_of

BEAT, DEAD = 20.0, 300.0
"""Seconds between two signs of life, and without one after which a run is taken for dead."""
TRIES, PAUSE = 20, 0.05
"""How often, and how many seconds apart, a run tries again where others are about to take over a dead one's claim."""
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Claim:
    """A run's claim on the output ``target``, which its messages call ``name``, by its ``key``.

    torn: set once a sign of life could not be written (a full disk): the file may be empty since then, and is this run's all the same.
    """

    files: Files
    target: str
    release_id: str
    where: str
    key: str = "output.path"
    name: str = ""
    torn: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    @property
    def path(self) -> str:
        """The file that tells who writes the output."""
        parent, name = posixpath.split(self.target.rstrip("/"))
        return posixpath.join(parent, f"{HIDDEN}{name}.held")

    def take(self) -> None:
        """Make the file. Raises OutputHeldError where a run that lives has made one."""
        for _ in range(TRIES):
            try:
                if self.files.create(self.path, self._text()):
                    return
            except FILE_ERRORS:
                # it may have been made before the answer was lost
                self.leave()
                raise
            self._judge()
        raise OutputHeldError(self._told({}))

    def confirm(self) -> None:
        """Raises OutputHeldError where this run holds the output no more."""
        with file_faults(self.where, self.key, "its claim could not be read"):
            holder = self._holder(self.path)
        if not self._is_ours(holder):
            raise OutputHeldError(self._told(holder))

    def beat(self, stop: threading.Event) -> None:
        """Signs of life until stopped."""
        while not stop.wait(BEAT):
            try:
                if self._is_ours(self._holder(self.path)):
                    self.files.write(self.path, self._text())
            except FILE_ERRORS:
                self.torn.set()

    def leave(self) -> None:
        """Remove the file, if it is this run's."""
        with suppress(*FILE_ERRORS):
            if self._is_ours(self._holder(self.path)):
                self.files.delete(self.path)

    def _is_ours(self, holder: dict[str, object]) -> bool:
        return holder.get("run") == self.release_id or (not holder and self.torn.is_set())

    def lives(self) -> bool:
        """Whether a run that lives has made the file."""
        try:
            self._refuse_living()
        except OutputHeldError:
            return True
        return False

    def _judge(self) -> None:
        """Remove the file of a dead run. Raises OutputHeldError for one that lives.

        Only who has made a second file may remove the first, having looked at it again: else two runs that saw the same dead one
        could each remove what the other had made by then.
        """
        self._refuse_living()
        if not self.files.create(self._takeover, ""):
            with suppress(*FILE_ERRORS):
                if self._age(self._takeover) >= DEAD:
                    self.files.delete(self._takeover)
            time.sleep(PAUSE)
            return
        try:
            if self._refuse_living():
                self.files.delete(self.path)
                log.warning("a run that did not end left its claim on %s: it was removed", self.target)
        finally:
            with suppress(*FILE_ERRORS):
                self.files.delete(self._takeover)

    @property
    def _takeover(self) -> str:
        return f"{self.path}-removed"

    def _refuse_living(self) -> bool:
        """Whether a dead run's file is there. Raises OutputHeldError for that of a run that lives."""
        try:
            holder, age = self._holder(self.path), self._age(self.path)
        except FILE_ERRORS:
            if self.files.exists(self.path):
                raise
            return False
        if age < DEAD and not _is_gone(holder):
            raise OutputHeldError(self._told(holder))
        return True

    def _age(self, path: str) -> float:
        """Seconds since a file was changed, by the file system's own clock: those of machines differ."""
        probe = f"{self.path}-{self.release_id}"
        try:
            self.files.write(probe, "")
            return self.files.changed(probe) - self.files.changed(path)
        finally:
            with suppress(*FILE_ERRORS):
                self.files.delete(probe)

    def _text(self) -> str:
        return json.dumps({"run": self.release_id, **_self()})

    def _holder(self, path: str) -> dict[str, object]:
        try:
            found = json.loads(self.files.read(path))
        except ValueError:  # it is being written
            return {}
        return found if isinstance(found, dict) else {}

    def _told(self, holder: dict[str, object]) -> str:
        who = f" (process {holder['process']} on {holder['host']})" if {"process", "host"} <= set(holder) else ""
        advice = f"wait for it; one that was killed on another machine is taken for dead after {DEAD / 60:.0f} minutes"
        return f"{self.where}: {self.key}: {self.name or self.target} is being written by another run{who}; {advice}"


@contextmanager
def held(claim: Claim, clear: Callable[[Files, str], None] | None = None) -> Iterator[None]:
    """Hold an output; what dead runs left beside it is removed, an old release that one of them had moved aside is brought back.

    clear: removes it, where the output is no directory. Raises OutputHeldError where another run holds it, PlatformError where that
    can't be found out.
    """
    files, target = claim.files, claim.target
    made = _missing(files, target)
    with file_faults(claim.where, claim.key, "it could not be claimed", makes=True):
        claim.take()
    stop = threading.Event()
    beats = threading.Thread(target=claim.beat, args=(stop,), name="anon-spark-claim", daemon=True)
    beats.start()
    try:
        with suppress(*FILE_ERRORS):
            (clear or _clear)(files, target)
        yield
    finally:
        stop.set()
        beats.join()
        claim.leave()
        for folder in made:
            files.delete_empty(folder)


def _self() -> dict[str, object]:
    return {"host": socket.gethostname(), "place": _place(), "process": os.getpid(), "born": _born(os.getpid())}


def _place() -> str:
    """What two processes share that can see each other: the machine since it was started, and its space of process numbers."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() + os.readlink("/proc/self/ns/pid")
    return socket.gethostname()


def _born(process: int) -> str:
    """When a process started, where that is told; a number that is used again has another start."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[19]
    return ""


def _is_gone(holder: dict[str, object]) -> bool:
    """Whether the process that made a claim can be seen to be dead from here."""
    process = holder.get("process")
    if holder.get("place") != _place() or not isinstance(process, int):
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return _born(process) != holder.get("born")


def _clear(files: Files, target: str) -> None:
    """Remove the staging directories of runs that wrote this output and are dead, since it is held by this one."""
    parent, name = posixpath.split(target.rstrip("/"))
    ours = re.compile(re.escape(posixpath.basename(staging_of(name, ""))) + "[0-9a-f]{32}")
    for other in files.names(parent or "."):
        if ours.fullmatch(other):
            staging = posixpath.join(parent, other)
            bring_back(files, staging, target.rstrip("/"))
            files.delete(staging)


def _missing(files: Files, target: str) -> list[str]:
    """Directories above the output that are not there yet, the innermost first."""
    found, above = [], posixpath.dirname(target.rstrip("/"))
    with suppress(*FILE_ERRORS):
        while above and not above.endswith((":", ":/", "//")) and not files.exists(above):
            found.append(above)
            above = posixpath.dirname(above)
    return found
