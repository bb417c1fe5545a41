"""How much memory this process, its JVM and its Python workers have, looked at twice a second."""

from __future__ import annotations

import threading
import time
from pathlib import Path


class Memory(threading.Thread):
    """The most memory in MB since the last ``reset``: this process, its JVM, the Python workers together, the largest of them, all."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.reset()

    def reset(self) -> None:
        """Forget what was seen."""
        self.most = dict.fromkeys(("driver", "JVM", "workers", "largest worker", "all"), 0)

    def run(self) -> None:
        while True:
            found = self._now()
            self.most = {name: max(most, found[name]) for name, most in self.most.items()}
            time.sleep(0.5)

    def _now(self) -> dict[str, int]:
        sizes: dict[str, list[int]] = {"driver": [], "JVM": [], "workers": []}
        family = descendants(threading.main_thread().native_id or 0)
        for process in family:
            try:
                command = (Path("/proc") / str(process) / "cmdline").read_bytes().split(b"\0")
                pages = int((Path("/proc") / str(process) / "statm").read_text().split()[1])
            except (OSError, IndexError, ValueError):
                continue
            megabytes = pages * 4096 >> 20
            if process == threading.main_thread().native_id:
                sizes["driver"].append(megabytes)
            elif command[0].endswith(b"java"):
                sizes["JVM"].append(megabytes)
            elif b"pyspark.daemon" in command:
                sizes["workers"].append(megabytes)
        sums = {name: sum(found) for name, found in sizes.items()}
        return {**sums, "largest worker": max(sizes["workers"], default=0), "all": sum(sums.values())}


def descendants(root: int) -> list[int]:
    """The process and all below it: another run on the machine is not ours."""
    children: dict[int, list[int]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            # the name in brackets may hold blanks
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children.setdefault(parent, []).append(int(process.name))
    found, at = [root], 0
    while at < len(found):
        found += children.get(found[at], [])
        at += 1
    return found
