"""Markdown to HTML, in a separate process that is ended if a text takes too long. PURE.

`worker` is that process, `converter` handles the dialect. Each text is converted once: answers are cached by its sha256
and the addresses looked up for it.
"""

import atexit
import hashlib
import json
import os
import queue
import re
import select
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Any

from dreams.lib.markdown.converter import Resolver

# The worker stops after a second of processor time. This limit is for one that does not, or on a busy machine.
WALL_SECONDS = 5.0
START_SECONDS = 20.0
PROCESSES = 2  # so that one slow text does not delay every page
KEPT = 256
MOST_KEPT_CHARS = 200_000  # a longer answer is not cached
MOST_ANSWER = 16 * 1024 * 1024

# Long runs of opening brackets, which no note has and which are slow to parse: not tried.
_RUNS = re.compile(r"\[{40}|(?:!\[){40}|(?:\[\w*\]?\(){40}|\){400}|(?:\\[^\w\s]){400}")
_BASE = Path(__file__).resolve().parents[3]


class _Ended(Exception):
    """The worker died, hung or sent an invalid answer."""


class _Worker:
    def __init__(self) -> None:
        # Its environment has no keys and no paths, only options of Python.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dreams.lib.markdown.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_BASE,
            env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"},
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise _Ended
        self._input, self._output = self._process.stdin, self._process.stdout
        self._rest = b""
        self._receive(time.monotonic() + START_SECONDS)

    def ask(self, text: str, resolve: Resolver | None) -> tuple[str | None, dict[str, str | None]]:
        """(HTML or None, {looked-up name: address}). Raises _Ended."""
        end = time.monotonic() + WALL_SECONDS
        looked_up: dict[str, str | None] = {}
        self._send({"text": text, "resolves": resolve is not None})
        while True:
            answer = self._receive(end)
            if "resolve" not in answer:
                html = answer.get("html")
                return (None if html is None else str(html)), looked_up
            name = str(answer["resolve"])
            looked_up[name] = resolve(name) if resolve else None
            self._send({"address": looked_up[name]})

    def has_died(self) -> bool:
        """Whether it was killed since its last answer, for example for lack of memory."""
        return self._process.poll() is not None

    def end(self) -> None:
        with suppress(OSError):
            self._process.kill()
        for pipe in (self._input, self._output):
            with suppress(OSError):
                pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._input.write(json.dumps(message).encode() + b"\n")
            self._input.flush()
        except OSError as error:
            raise _Ended from error

    def _receive(self, end: float) -> dict[str, Any]:
        handle = self._output.fileno()
        parts = [self._rest]
        size = len(self._rest)
        while b"\n" not in parts[-1]:
            ready, _, _ = select.select([handle], [], [], max(0.0, end - time.monotonic()))
            data = self._read(handle) if ready else b""
            size += len(data)
            if not data or size > MOST_ANSWER:
                raise _Ended
            parts.append(data)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise _Ended from error
        if not isinstance(answer, dict):
            raise _Ended
        return answer

    @staticmethod
    def _read(handle: int) -> bytes:
        try:
            return os.read(handle, 65_536)
        except OSError:
            return b""


class _Pool:
    """At most PROCESSES workers, started on first use and again after one ended."""

    def __init__(self) -> None:
        self._free: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(PROCESSES):
            self._free.put(None)

    def ask(self, text: str, resolve: Resolver | None) -> tuple[str | None, dict[str, str | None]] | None:
        """As `_Worker.ask`; None if all workers are busy, whatever the text."""
        try:
            worker = self._free.get(timeout=WALL_SECONDS)
        except queue.Empty:
            return None
        try:
            if worker is not None and worker.has_died():
                worker.end()
                worker = None
            worker = worker or _Worker()
            return worker.ask(text, resolve)
        except (_Ended, OSError):
            if worker is not None:
                worker.end()
            worker = None
            return None, {}
        finally:
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
        self._answers: OrderedDict[tuple[bytes, bool], tuple[str | None, dict[str, str | None]]] = (
            OrderedDict()
        )

    def get(self, key: tuple[bytes, bool], resolve: Resolver | None) -> tuple[bool, str | None]:
        with self._lock:
            found = self._answers.get(key)
            if found is not None:
                self._answers.move_to_end(key)
        if found is None:
            return False, None
        html, looked_up = found
        if resolve is not None and any(resolve(name) != address for name, address in looked_up.items()):
            return False, None
        return True, html

    def put(self, key: tuple[bytes, bool], html: str | None, looked_up: dict[str, str | None]) -> None:
        if html is not None and len(html) > MOST_KEPT_CHARS:
            return
        with self._lock:
            self._answers[key] = html, looked_up
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
    known, html = _kept.get(key, resolve)
    if not known:
        answer = _pool.ask(text, resolve)
        if answer is None:
            return None
        html, looked_up = answer
        _kept.put(key, html, looked_up)
    return html
