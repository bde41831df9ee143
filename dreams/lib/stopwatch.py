"""Where the time of one piece of work goes, by part. Pure: no Django."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


def ms_since(started: float) -> int:
    """Whole milliseconds since this moment of `time.monotonic`."""
    return int((time.monotonic() - started) * 1000)


class Stopwatch:
    """Seconds by part. What a part does inside another one counts for the inner one alone, so that they add up."""

    def __init__(self, parts: Iterable[str], first: str) -> None:
        self._seconds = dict.fromkeys(parts, 0.0)
        self._part, self._since = first, time.perf_counter()

    def turn_to(self, part: str) -> str:
        """The part that is under way from now on; returns the one before it."""
        now, before = time.perf_counter(), self._part
        self._seconds[before] = self._seconds.get(before, 0.0) + now - self._since
        self._part, self._since = part, now
        return before

    def ms(self) -> dict[str, int]:
        """Whole milliseconds by part, up to now."""
        self.turn_to(self._part)
        return {part: round(seconds * 1000) for part, seconds in self._seconds.items()}


_running: ContextVar[Stopwatch | None] = ContextVar("stopwatch", default=None)


@contextmanager
def running(*parts: str) -> Iterator[Stopwatch]:
    """Parts named while this runs are counted; the first of these where none is."""
    watch = Stopwatch(parts, parts[0])
    token = _running.set(watch)
    try:
        yield watch
    finally:
        _running.reset(token)


@contextmanager
def part(name: str) -> Iterator[None]:
    """Counts for `name`, where a stopwatch runs; nothing where none does. Also a decorator."""
    watch = _running.get()
    if watch is None:
        yield
        return
    before = watch.turn_to(name)
    try:
        yield
    finally:
        watch.turn_to(before)
