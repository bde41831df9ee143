"""Reports the progress of long work to a watcher, which may stop it. PURE.

Work calls `step`, which costs almost nothing without a watcher. An exception from the watcher ends the work and is raised
from its `watched` block; no handler of errors in between catches it. Where it is too late to stop, work is `finishing`.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import current_thread, main_thread
from typing import TypeVar

#: The activity ("Checking changes"), the number done, the total (0: unknown).
Watcher = Callable[[str, int, int], None]
Item = TypeVar("Item")

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
_finishing: ContextVar[bool] = ContextVar("finishing", default=False)


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
def finishing(what: str) -> Iterator[None]:
    """Neither a step in the block nor a first Ctrl-C stops it: what was begun must be ended. Steps are reported as `what`."""
    watcher = _watcher.get()

    def tell(_: str, done: int, total: int) -> None:
        if watcher is not None:
            with suppress(Exception):
                watcher(what, done, total)

    token = _finishing.set(True)
    try:
        with _without_ctrl_c(), watched(tell):
            step(what)
            yield
    finally:
        _finishing.reset(token)


def can_stop() -> bool:
    """Whether the step that is being reported may stop the work."""
    return not _finishing.get()


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Ignores Ctrl-C once, where it would raise KeyboardInterrupt."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: signal.signal(signal.SIGINT, before))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
