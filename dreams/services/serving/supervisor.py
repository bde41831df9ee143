"""Starts the queue as a child process, starts it again when it ends, and ends it with all its processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from django.conf import settings

from dreams.services.serving import groups
from dreams.services.serving.cluster import GRACE_SECONDS, REFUSED
from memoryweb import BASE_DIR

COMMAND = (sys.executable, str(BASE_DIR / "manage.py"), "cluster", "--parent-on-stdin")
FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0
HEALTHY_SECONDS = 60.0


class Supervisor:
    """One child at a time. `say` takes a line for a person."""

    def __init__(
        self,
        say: Callable[[str], None],
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] = COMMAND,
        first_wait: float = FIRST_WAIT,
    ) -> None:
        self._say = say
        self._command = command
        self._environment = {**os.environ, **(environment or {})}
        self._child: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._first_wait = self._wait = first_wait
        self._start_at: float | None = None

    @property
    def pid(self) -> int | None:
        """The child's PID, which is its process group too."""
        return self._child.pid if self._child else None

    def start(self) -> None:
        # A session of its own: Ctrl-C in a terminal goes to us alone, and its whole group can be ended at once.
        # Its standard input is the pipe that tells it of our death.
        self._child = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            env=self._environment,
            cwd=BASE_DIR,
            start_new_session=True,
        )
        self._started_at = time.monotonic()
        self._start_at = None

    def look(self) -> None:
        """Call now and then: starts the child again when it has ended, a little later each time."""
        if self._start_at is not None:
            if time.monotonic() >= self._start_at:
                self.start()
        elif self._child is not None and self._child.poll() is not None:
            self._ended(self._child)

    def _ended(self, child: subprocess.Popen[bytes]) -> None:
        groups.end(child.pid, 0)
        if time.monotonic() - self._started_at > HEALTHY_SECONDS:
            self._wait = self._first_wait
        if child.returncode != REFUSED:
            self._say(
                f"The queue ended (exit code {child.returncode}). It starts again in {self._wait:.3g} s."
            )
        self._start_at = time.monotonic() + self._wait
        self._wait = min(self._wait * 2, LONGEST_WAIT)

    def stop(self) -> None:
        """End the child and everything it started, in about three seconds at most."""
        child, self._child, self._start_at = self._child, None, None
        if child is None:
            return
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_SECONDS + 0.8)
        groups.end(child.pid, 0)
        child.wait()
        if child.stdin:
            child.stdin.close()


def roots_environment() -> dict[str, str]:
    """The config folders in use, for the child: those given to `serve` stand in no other place."""
    return {"MEMORYWEB_ROOTS": os.pathsep.join(map(str, settings.ROOTS))}
