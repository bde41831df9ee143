"""Progress of long work that a page waits for, visible to every process of this host, and stopping it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.core.cache import cache

from dreams.lib import progress

#: Seconds between two looks at whether somebody wants it stopped, and after which an entry of a killed process is over.
LOOK_SECONDS, LONGEST = 0.3, 600


class Stopped(Exception):
    """A person stopped the work; what it had begun was taken back."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` steps of `what` ("Checking changes"); `total` is 0 where it is not known."""

    what: str
    done: int
    total: int

    @property
    def words(self) -> str:
        return f"{self.what}: {self.done:,} of {self.total:,}" if self.total else f"{self.what}…"


@contextmanager
def told(name: str) -> Iterator[None]:
    """Keep under `name` how far the block has come. Raises Stopped once somebody asked for it and a step is reached."""
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


def of(name: str) -> Progress | None:
    """How far it is now; None where nothing of that name is under way."""
    found = cache.get(_key(name))
    return found if isinstance(found, Progress) else None


def stop(name: str) -> None:
    cache.set(_stop_key(name), True, LONGEST)


def _key(name: str) -> str:
    return f"work-{name}"


def _stop_key(name: str) -> str:
    return f"work-{name}-stop"
