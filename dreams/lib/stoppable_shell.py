"""A shell in a process of its own, for lines that nobody else stops: what takes too long, or too much, ends it alone.

Commands in Python look at the clock by themselves. jq is a compiled library that looks at nothing.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import time
from contextlib import suppress
from multiprocessing.connection import Connection

from dreams.lib.sandbox.limits import TIMED_OUT, Limits
from dreams.lib.sandbox.mounts import Tree
from dreams.lib.sandbox.shell import Answer, Shell

#: A line may use this much memory; sort, the greediest of our own commands, holds 64 MiB.
MEMORY_BYTES = 1024**3
#: Seconds between the end that a command sets itself and ours.
GRACE = 2.0
# fork: the mounts are open directories, which another way of starting would not hand over.
_FORK = multiprocessing.get_context("fork")


class StoppableShell:
    """`Shell` behind a pipe. The process is made for the first line, and anew after one that ended it."""

    def __init__(self, tree: Tree, cwd: str = "/", limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._shell = Shell(tree, cwd, self._limits)
        self._process: multiprocessing.context.ForkProcess | None = None
        self._pipe: Connection | None = None

    def run(self, line: str) -> Answer:
        """Never raises for anything that stands in `line`."""
        started = time.perf_counter()
        pipe = self._pipe or self._start()
        try:
            pipe.send(line)
            if pipe.poll(self._limits.seconds + GRACE):
                answer: Answer = pipe.recv()
                return answer
            why, status = f"stopped after {self._limits.seconds:g} seconds; narrow the command", TIMED_OUT
        except (EOFError, OSError):
            why, status = "stopped: it took too much memory; narrow the command", 1
        self.close()
        ms = round((time.perf_counter() - started) * 1000, 3)
        return Answer(f"[{why}]\n", status, refused=False, ms=ms)

    def close(self) -> None:
        process, self._process = self._process, None
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()
        if process is not None:
            process.kill()
            process.join()
            process.close()

    def _start(self) -> Connection:
        self._pipe, theirs = _FORK.Pipe()
        self._process = _FORK.Process(target=_serve, args=(self._shell, theirs), daemon=True)
        self._process.start()
        theirs.close()
        return self._pipe


def _serve(shell: Shell, pipe: Connection) -> None:
    # No key is in reach, and jq does not read a program of its own from the home directory.
    os.environ.clear()
    # Its end is told in the answer; what the library says of it is not for the terminal.
    faulthandler.disable()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    limits = {resource.RLIMIT_AS: MEMORY_BYTES, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0}
    for kind, most in limits.items():
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))
    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            pipe.send(shell.run(pipe.recv()))
