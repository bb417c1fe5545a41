"""A headless Chromium that is told over a pipe what to open (the DevTools protocol): what a page asks for, says, draws and looks like."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 60.0
FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync", "--mute-audio",
)  # fmt: skip


def browser() -> str | None:
    """The browser's command, None where there is none."""
    return next((found for name in (os.environ.get("ANON_SPARK_CHROMIUM"), *NAMES) if name and (found := shutil.which(name))), None)


class Tab:
    """One page. requests: addresses that it asked for; errors: what its console, its scripts and its policy complained of."""

    def __init__(self, out: int, into: int) -> None:
        self._out, self._into, self._held, self._number = out, into, b"", 0
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._loaded = False
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session: str | None = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.ask(f"{domain}.enable")

    _session = None

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one command; events that come before it are noted."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._into, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == number:
                assert "error" not in found, found
                return dict(found["result"])
            self._note(found)

    def open(self, page: Path) -> None:
        """Load a file and wait until it is there, and a moment more for what it may ask for late."""
        self.requests, self.errors, self._loaded = [], [], False
        self.ask("Page.navigate", url=page.resolve().as_uri())
        while not self._loaded:
            self._note(self._next())
        self.run("new Promise(done => setTimeout(done, 200))")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)["result"].get("value")

    def looks(self, width: int, *, dark: bool = False, medium: str = "screen") -> None:
        """The width of the window, the scheme of colours, screen or print."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=medium, features=[scheme])

    def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        taken = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def tree(self) -> list[tuple[str, str]]:
        """(role, name) of all that a screen reader meets."""
        nodes = self.ask("Accessibility.getFullAXTree")["nodes"]
        return [(n["role"]["value"], str(n.get("name", {}).get("value", ""))) for n in nodes if not n.get("ignored") and "role" in n]

    def _next(self) -> Mapping[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._out], [], [], max(end - time.monotonic(), 0))
            if not ready:
                raise TimeoutError("the browser does not answer")
            part = os.read(self._out, 1 << 20)
            if not part:
                raise ConnectionError("the browser ended")
            self._held += part
        message, _, self._held = self._held.partition(b"\0")
        found: Mapping[str, Any] = json.loads(message)
        return found

    def _note(self, event: Mapping[str, Any]) -> None:
        told = event.get("params", {})
        match event.get("method"):
            case "Page.loadEventFired":
                self._loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
                self.errors.append(told["entry"]["text"])
            case "Runtime.consoleAPICalled":
                self.errors.append(str(told["args"]))
            case "Runtime.exceptionThrown":
                self.errors.append(str(told["exceptionDetails"]))


@contextmanager
def opened() -> Iterator[Tab]:
    """A tab of a browser of its own, which is gone afterwards."""
    command = browser()
    assert command is not None
    to_browser, into = os.pipe()
    out, from_browser = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:

        def as_three_and_four() -> None:
            # the browser reads commands from 3 and answers on 4; first out of the way, then to their places
            reads, writes = os.dup(to_browser), os.dup(from_browser)
            high = os.dup2(reads, 103), os.dup2(writes, 104)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        process = subprocess.Popen(
            [command, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=as_three_and_four, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Tab(out, into)
        finally:
            os.close(into)
            os.close(out)
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
