"""Calls side by side: another worker is started where all are busy with something long.

Most calls take a few milliseconds and do well one after the other in one worker; a slow search must not hold up the
nine others of its turn. A worker that hangs is killed alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from dreams.lib.sandbox.tool_worker.eyes import Eyes, EyesFailed
from dreams.lib.sandbox.tool_worker.tools import NAMES, Reply

MOST_WORKERS = 3
PATIENCE_SECONDS = 0.2


class Several:
    """`first` and up to two more of the same, made by `another` when they are needed. `run` never raises."""

    names = NAMES

    def __init__(
        self, first: Eyes, another: Callable[[], Eyes], *, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self.state = first.state
        self._another = another
        self._patience = patience_seconds
        self._all, self._free = [first], [first]
        self._planned = 1
        self._closed = False
        self._changed = threading.Condition()

    def run(self, name: str, given: Mapping[str, Any]) -> Reply:
        eyes = self._take()
        try:
            return eyes.run(name, given)
        finally:
            with self._changed:
                self._free.append(eyes)
                self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            every = list(self._all)
        for eyes in every:
            eyes.close()

    def _take(self) -> Eyes:
        with self._changed:
            if self._changed.wait_for(lambda: self._free, self._patience):
                return self._free.pop()
            if self._may_start():
                self._planned += 1
                self._changed.release()
                try:
                    made = self._made()
                finally:
                    self._changed.acquire()
                if made is not None:
                    self._all.append(made)
                    return made
            # Each call ends by itself after a while, also when everything was closed meanwhile.
            self._changed.wait_for(lambda: self._free)
            return self._free.pop()

    def _may_start(self) -> bool:
        return self._planned < MOST_WORKERS and not self._closed

    def _made(self) -> Eyes | None:
        """None where it cannot be started, is worse fenced than the first, or is not wanted any more."""
        try:
            made = self._another()
        except EyesFailed:
            return None
        if self._closed or made.state.layers != self.state.layers:
            made.close()
            return None
        return made
