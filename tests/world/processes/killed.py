"""Runs an action in a process that may be killed in the middle.

Forking the test process, with all its imports, takes many times as long as most actions. So a small process forks for
each; action and arguments are pickled, so the action must be a module's function, not a closure.
"""

from __future__ import annotations

import functools
import gc
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

PROJECT = Path(__file__).resolve().parents[3]
SIZE, STATUS = 8, 4


def dies(action: Callable[..., object], *given: object) -> bool:
    """Runs `action(*given)` in a separate process; returns whether it was killed. Its failure fails the test."""
    status = _forking().do(pickle.dumps((action, given)))
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) == signal.SIGKILL
    assert os.WEXITSTATUS(status) == 0, "the child failed"
    return False


def fsync_at_once(file: int) -> None:
    """Replaces `os.fsync`: does not wait, but refuses a closed file."""
    os.fstat(file)


class Forking:
    """The small process; it ends when this one closes the pipe."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__], cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def do(self, work: bytes) -> int:
        asked, answered = self.process.stdin, self.process.stdout
        assert asked is not None and answered is not None
        asked.write(len(work).to_bytes(SIZE) + work)
        asked.flush()
        answer = answered.read(STATUS)
        assert answer, "the process that forks has ended"
        return int.from_bytes(answer)


@functools.cache
def _forking() -> Forking:
    return Forking()


def serve(asked: BinaryIO, answered: BinaryIO) -> None:
    while size := asked.read(SIZE):
        action, given = pickle.loads(asked.read(int.from_bytes(size)))  # noqa: S301 # written by ourselves
        gc.freeze()  # all children share the imported modules
        answered.write(in_child(action, *given).to_bytes(STATUS))
        answered.flush()


def in_child(action: Callable[..., object], *given: object) -> int:
    """Runs it in a fork of this process; returns its wait status. Errors are written to the terminal."""
    child = os.fork()
    if not child:
        code = 1
        try:
            action(*given)
            code = 0
        finally:
            if code:
                sys.excepthook(*sys.exc_info())  # type: ignore[arg-type] # there is one
            os._exit(code)
    return os.waitpid(child, 0)[1]


if __name__ == "__main__":
    os.fsync = fsync_at_once
    gc.disable()
    line = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a child's output must not mix with answers
    serve(sys.stdin.buffer, line)
