"""Whether the queue's workers still take tasks.

A worker that is killed while it waits for a task dies with the lock of the queue's pipe, and from then on no worker
takes anything: all processes live, and nothing happens. It shows only from outside: a tick is due every minute, so
a queue with nobody busy that begins nothing for two minutes hangs.

The workers write into shared memory without any lock (a killed one would take that with it too).
"""

from __future__ import annotations

import multiprocessing
import os
import time

from django_q.signals import post_execute_in_worker, post_spawn, pre_execute

from dreams.lib import process

QUIET_SECONDS = 120.0
_SLOTS = 1024


class Pulse:
    """Made before the queue's processes are forked, which share it. Times are monotonic seconds."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self._last = context.RawValue("d", time.monotonic())
        # Neighbouring PIDs never share a slot; each worker writes only its own.
        self._busy = context.RawArray("q", _SLOTS)
        self._handlers = (
            (post_spawn, self._seen),
            (pre_execute, self._begins),
            (post_execute_in_worker, self._ends),
        )
        for signal, handler in self._handlers:
            signal.connect(handler, weak=False)

    def close(self) -> None:
        """Listen no more."""
        for signal, handler in self._handlers:
            signal.disconnect(handler)

    def _seen(self, **_: object) -> None:
        self._last.value = time.monotonic()

    def _begins(self, **_: object) -> None:
        self._seen()
        self._busy[os.getpid() % _SLOTS] = os.getpid()

    def _ends(self, **_: object) -> None:
        self._seen()
        self._busy[os.getpid() % _SLOTS] = 0

    def busy(self) -> list[int]:
        """PIDs of living workers with a task."""
        return [pid for pid in self._busy if pid and process.is_alive(pid)]

    def hangs(self) -> bool:
        """True when nothing began for QUIET_SECONDS and nobody is at work.

        While somebody is, one waits: ending a dream costs more than a late tick, and a task's time is bounded.
        """
        return time.monotonic() - self._last.value > QUIET_SECONDS and not self.busy()
