"""A termination signal, or a closed terminal, ends a run as Ctrl-C does, with everything of it removed; past the last step a run is
finished instead."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_came: list[int] = []


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """In the body the signals interrupt the main thread; the handlers of before are put back."""
    _came.clear()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    listen()
    try:
        yield
    finally:
        if _in_main_thread():
            for number, handler in before.items():
                signal.signal(number, handler or signal.SIG_DFL)


def came() -> bool:
    """Whether a signal was heard since the last ``heard`` began: an interruption may be lost in code that catches everything."""
    return bool(_came)


def listen() -> None:
    """Let the signals interrupt the main thread, as they may no longer do once somebody else has set a handler; nohup stays nohup."""
    if _in_main_thread():
        for number in _SIGNALS:
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, _interrupt)


def ignore() -> None:
    """Let none interrupt what can't be taken back: renaming takes a moment, and half of it is worse than all of it."""
    if _in_main_thread():
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    # the removal of what was written is not to be interrupted by the same signal sent twice
    signal.signal(number, signal.SIG_IGN)
    _came.append(number)
    raise KeyboardInterrupt


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
