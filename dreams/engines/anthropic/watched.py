"""Work on another thread, so that a cancel or a limit never waits for it. PURE."""

import concurrent.futures
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from dreams.engines.types import LOOK_SECONDS

Result = TypeVar("Result")


def watched(
    work: Callable[[], Result],
    watch: Callable[[], None],
    *,
    too_late: Callable[[Result], None] = lambda result: None,
) -> Result:
    """What `work` returns or raises; or, promptly, what `watch` raises.

    Then `work` goes on in its thread, and its result is passed to `too_late` for disposal.
    """
    future: concurrent.futures.Future[Result] = concurrent.futures.Future()
    # A daemon thread: the program waits for a pool's threads when it exits.
    threading.Thread(target=_run, args=(work, future), name="dream-wait", daemon=True).start()
    try:
        return awaited(future, watch)
    except BaseException:
        future.add_done_callback(lambda done: _put_away(done, too_late))
        raise


def awaited(future: concurrent.futures.Future[Result], watch: Callable[[], None]) -> Result:
    while not concurrent.futures.wait([future], timeout=LOOK_SECONDS).done:
        watch()
    return future.result()


def _run(work: Callable[[], Result], future: concurrent.futures.Future[Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


def _put_away(done: concurrent.futures.Future[Result], too_late: Callable[[Result], None]) -> None:
    with suppress(Exception):
        too_late(done.result())
