"""Shows the progress of long work that a page waits for to every process of this host, and can stop it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.core.cache import cache

from dreams.lib import progress

#: Seconds between two checks for a request to stop, and until an entry of a killed process expires.
LOOK_SECONDS, LONGEST = 0.3, 600


class Stopped(Exception):
    """A person stopped the work; what it had started was undone."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` steps of `what` ("Checking changes"); `total` is 0 if unknown."""

    what: str
    done: int
    total: int

    @property
    def words(self) -> str:
        return f"{self.what}: {self.done:,} of {self.total:,}" if self.total else f"{self.what}…"


@contextmanager
def publishing(name: str) -> Iterator[None]:
    """Publishes the block's progress under `name`. Raises Stopped at the next step after somebody asked to stop."""
    cache.delete(_stop_key(name))
    looked_at = 0.0

    def tell(what: str, done: int, total: int) -> None:
        nonlocal looked_at
        if time.monotonic() - looked_at < LOOK_SECONDS:
            return
        looked_at = time.monotonic()
        cache.set(_key(name), Progress(what, done, total), LONGEST)
        if cache.get(_stop_key(name)):
            raise Stopped

    try:
        with progress.watched(tell):
            yield
    finally:
        cache.delete_many([_key(name), _stop_key(name)])


def current(name: str) -> Progress | None:
    """The current progress; None if no work of that name is running."""
    found = cache.get(_key(name))
    return found if isinstance(found, Progress) else None


def stop(name: str) -> None:
    cache.set(_stop_key(name), True, LONGEST)


def _key(name: str) -> str:
    return f"work-{name}"


def _stop_key(name: str) -> str:
    return f"work-{name}-stop"
