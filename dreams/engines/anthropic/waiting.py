"""Waiting for something that cannot be interrupted, without making a cancel wait for it too. PURE."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

LOOK_SECONDS = 0.1
Result = TypeVar("Result")


def watched(
    work: Callable[[], Result],
    watch: Callable[[], None],
    *,
    too_late: Callable[[Result], None] = lambda result: None,
) -> Result:
    """What `work` returns or raises; or, within a moment, what `watch` raises.

    Then `work` is left to itself on its thread, and what it still brings is handed to `too_late`, to be put away.
    """
    future: concurrent.futures.Future[Result] = concurrent.futures.Future()
    # A daemon: a pool's threads are waited for when the program ends.
    threading.Thread(target=_run, args=(work, future), name="dream-wait", daemon=True).start()
    try:
        while not concurrent.futures.wait([future], timeout=LOOK_SECONDS).done:
            watch()
    except BaseException:
        future.add_done_callback(lambda done: _put_away(done, too_late))
        raise
    return future.result()


def _run(work: Callable[[], Result], future: concurrent.futures.Future[Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


def _put_away(done: concurrent.futures.Future[Result], too_late: Callable[[Result], None]) -> None:
    with suppress(Exception):
        too_late(done.result())
