"""How far long work has come, told from wherever it is done to whoever waits for it, who may stop it there. PURE.

Work calls `step`, which costs next to nothing while nobody watches. Whatever a watcher raises ends the work and comes out
of its `watched` block; no check and no retry in between takes it for a failure of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

#: What is being done ("Checking changes"), how many are done, of how many (0: not known).
Watcher = Callable[[str, int, int], None]
Item = TypeVar("Item")

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


class _Halted(BaseException):
    """As KeyboardInterrupt no `Exception`: what catches those goes on after them."""

    def __init__(self, why: Exception) -> None:
        self.why = why


def step(what: str, done: int = 0, total: int = 0) -> None:
    """Say how far the work has come; a place where it may be stopped."""
    watcher = _watcher.get()
    if watcher is not None:
        try:
            watcher(what, done, total)
        except Exception as why:
            raise _Halted(why) from why


def each(what: str, items: Sequence[Item]) -> Iterator[Item]:
    """The items, with a step before each."""
    for done, item in enumerate(items):
        step(what, done, len(items))
        yield item


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell `watcher` of every step in the block. What it raises is raised from here."""
    token = _watcher.set(watcher)
    try:
        yield
    except _Halted as halted:
        raise halted.why from None
    finally:
        _watcher.reset(token)
