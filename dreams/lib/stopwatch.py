"""Measures the time of the parts of a piece of work. Pure: no Django."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


def ms_since(started: float) -> int:
    """Milliseconds since this value of `time.monotonic`."""
    return int((time.monotonic() - started) * 1000)


class Stopwatch:
    """Seconds by part. Time in a nested part counts for the inner one only, so that the parts add up."""

    def __init__(self, parts: Iterable[str], first: str) -> None:
        self._seconds = dict.fromkeys(parts, 0.0)
        self._part, self._since = first, time.perf_counter()

    def turn_to(self, part: str) -> str:
        """Starts a part; returns the one before it."""
        now, before = time.perf_counter(), self._part
        self._seconds[before] = self._seconds.get(before, 0.0) + now - self._since
        self._part, self._since = part, now
        return before

    def ms(self) -> dict[str, int]:
        """Milliseconds by part, up to now."""
        self.turn_to(self._part)
        return {part: round(seconds * 1000) for part, seconds in self._seconds.items()}


_running: ContextVar[Stopwatch | None] = ContextVar("stopwatch", default=None)


@contextmanager
def running(*parts: str) -> Iterator[Stopwatch]:
    """Measures each `part` in the block; other time counts for the first of `parts`."""
    watch = Stopwatch(parts, parts[0])
    token = _running.set(watch)
    try:
        yield watch
    finally:
        _running.reset(token)


@contextmanager
def part(name: str) -> Iterator[None]:
    """Measures the block as `name` if a stopwatch runs. Also a decorator."""
    watch = _running.get()
    if watch is None:
        yield
        return
    before = watch.turn_to(name)
    try:
        yield
    finally:
        watch.turn_to(before)
