"""Keeps a held lock fresh from a thread while the dream works."""

import threading
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Self

from dreams.lib.locks.held import Held, LockLost

EVERY = timedelta(minutes=1)
_JOIN_SECONDS = 5.0


class Heartbeat:
    """Beats at once and then `every` so often, until the block ends or the lock is lost.

    `on_lost` is called once, in the beating thread; `lost` then says why. A beat that fails for another
    reason is tried again: if that lasts, the lock goes stale by itself and is lost.
    """

    def __init__(
        self, held: Held, *, every: timedelta = EVERY, on_lost: Callable[[LockLost], None] | None = None
    ) -> None:
        self.lost: LockLost | None = None
        self.problem: str = ""
        self._held = held
        self._seconds = every.total_seconds()
        self._on_lost = on_lost
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lock-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        # `on_lost` may end the block from the beating thread itself.
        if threading.current_thread() is not self._thread:
            self._thread.join(_JOIN_SECONDS)

    def _run(self) -> None:
        while self._beat() and not self._stop.wait(self._seconds):
            pass

    def _beat(self) -> bool:
        try:
            self._held.heartbeat()
        except LockLost as lost:
            # Released in the ordinary way, just before the block ended.
            if not self._stop.is_set() and not self._held.released:
                self.lost = lost
                if self._on_lost is not None:
                    self._on_lost(lost)
            return False
        except OSError as error:
            self.problem = str(error)
        else:
            self.problem = ""
        return True
