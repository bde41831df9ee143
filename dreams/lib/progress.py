"""Reports the progress of long work to a watcher, which may stop it. PURE.

Work calls `step`, which costs almost nothing without a watcher. An exception from the watcher ends the work and is raised
from its `watched` block; no handler of errors in between catches it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

#: The activity ("Checking changes"), the number done, the total (0: unknown).
Watcher = Callable[[str, int, int], None]
Item = TypeVar("Item")

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


class _Halted(BaseException):
    """Not an `Exception`, like KeyboardInterrupt: code that catches those would continue."""

    def __init__(self, why: Exception) -> None:
        self.why = why


def step(what: str, done: int = 0, total: int = 0) -> None:
    """Reports progress; the watcher may stop the work here."""
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
    """Reports every step in the block to `watcher`. Its exceptions are raised from here."""
    token = _watcher.set(watcher)
    try:
        yield
    except _Halted as halted:
        raise halted.why from None
    finally:
        _watcher.reset(token)
