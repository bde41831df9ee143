"""Ending a process group for certain: asked first, killed after that."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

import psutil

LOOK_SECONDS = 0.05
_DEAD = frozenset({psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD})


def end(group: int, seconds: float) -> None:
    """Ask every process of `group` to end, wait up to `seconds`, and kill what is left. The caller is spared."""
    _signal_all(group, signal.SIGTERM)
    until = time.monotonic() + seconds
    while members(group) and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
    _signal_all(group, signal.SIGKILL)


def members(group: int) -> list[int]:
    """PIDs of a group that still run, without the caller. A zombie has ended."""
    found = []
    for pid in psutil.pids():
        with suppress(OSError, psutil.Error):
            if pid != os.getpid() and os.getpgid(pid) == group and psutil.Process(pid).status() not in _DEAD:
                found.append(pid)
    return found


def _signal_all(group: int, number: signal.Signals) -> None:
    for pid in members(group):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
