"""Markdown to HTML, in a separate process that is ended if a text takes too long. PURE.

`worker` is that process, `converter` handles the dialect. Each text is converted once: answers are cached by its sha256
and the addresses looked up for it.
"""

import atexit
import hashlib
import queue
import re
import threading
import time
from collections import OrderedDict
from contextlib import suppress

from dreams.lib.json_worker import JsonWorker, WorkerFailed
from dreams.lib.markdown.converter import Resolver

# The worker stops after a second of processor time. This limit is for one that does not, or on a busy machine.
WALL_SECONDS = 5.0
START_SECONDS = 20.0
PROCESSES = 2  # so that one slow text does not delay every page
KEPT = 256
MOST_KEPT_CHARS = 200_000  # a longer answer is not cached

# Long runs of opening brackets, which no note has and which are slow to parse: not tried.
_RUNS = re.compile(r"\[{40}|(?:!\[){40}|(?:\[\w*\]?\(){40}|\){400}|(?:\\[^\w\s]){400}")


#: HTML or None, and the names that were looked up with their addresses.
_Answer = tuple[str | None, dict[str, str | None]]


class _Worker(JsonWorker):
    def __init__(self) -> None:
        """Raises WorkerFailed."""
        super().__init__("dreams.lib.markdown.worker")
        try:
            self.receive(time.monotonic() + START_SECONDS)
        except WorkerFailed:
            self.end()
            raise

    def html(self, text: str, resolve: Resolver | None) -> _Answer:
        """Raises WorkerFailed."""
        until = time.monotonic() + WALL_SECONDS
        looked_up: dict[str, str | None] = {}
        self.send({"text": text, "resolves": resolve is not None})
        while "resolve" in (answer := self.receive(until)):
            name = str(answer["resolve"])
            looked_up[name] = resolve(name) if resolve else None
            self.send({"address": looked_up[name]})
        html = answer.get("html")
        return (None if html is None else str(html)), looked_up


class _Pool:
    """At most PROCESSES workers, started on first use and again after one ended."""

    def __init__(self) -> None:
        self._free: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(PROCESSES):
            self._free.put(None)

    def ask(self, text: str, resolve: Resolver | None) -> _Answer | None:
        """As `_Worker.html`; None if all workers are busy, whatever the text."""
        try:
            worker = self._free.get(timeout=WALL_SECONDS)
        except queue.Empty:
            return None
        used, worker = worker, None
        try:
            if used is not None and used.has_died():
                used.end()
                used = None
            used = used or _Worker()
            answer = used.html(text, resolve)
            worker, used = used, None
            return answer
        except WorkerFailed:
            return None, {}
        finally:
            if used is not None:  # it failed, or `resolve` did and it still waits for an address
                used.end()
            self._free.put(worker)

    def close(self) -> None:
        with suppress(queue.Empty):
            while True:
                worker = self._free.get_nowait()
                if worker is not None:
                    worker.end()


class _KeptAnswers:
    """A cache of answers. One is valid only while each name it looked up still has the same address."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[bytes, bool], _Answer] = OrderedDict()

    def get(self, key: tuple[bytes, bool], resolve: Resolver | None) -> _Answer | None:
        with self._lock:
            found = self._answers.get(key)
        if found and resolve and any(resolve(name) != address for name, address in found[1].items()):
            return None
        return found

    def put(self, key: tuple[bytes, bool], answer: _Answer) -> None:
        if len(answer[0] or "") > MOST_KEPT_CHARS:
            return
        with self._lock:
            self._answers[key] = answer
            self._answers.move_to_end(key)
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)


_pool = _Pool()
_kept = _KeptAnswers()
atexit.register(_pool.close)


def to_html(text: str, resolve: Resolver | None = None) -> str | None:
    """Unsafe HTML of `text`, to be sanitised; None if it takes too long, or nests too deep."""
    if _RUNS.search(text):
        return None
    key = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), resolve is not None)
    answer = _kept.get(key, resolve) or _pool.ask(text, resolve)
    if answer is None:
        return None
    _kept.put(key, answer)
    return answer[0]
