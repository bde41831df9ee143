"""Bash, Read, Grep and Glob over mounts, run by a separate process that can do nothing else. PURE: no Django.

This is the caller's side: it starts workers (`ToolWorker`, or several: `ToolWorkers`), sends calls, and kills a worker if
a call takes too long or all is done. `worker` is the process, `tools` are the tools, `fences` the protection by the
operating system.
"""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dreams.lib.sandbox.process import TIMED_OUT
from dreams.lib.sandbox.shell import CommandOutput
from dreams.lib.sandbox.tool_worker import fences
from dreams.lib.sandbox.tool_worker.fences import Fences
from dreams.lib.sandbox.tool_worker.tools import NAMES, ToolReply

CALL_SECONDS = 10.0  # the tools stop a second before; compiled code (jq) cannot, and is killed here
START_SECONDS = 30.0  # also on a busy machine; chosen
LONGEST = 4 * 1024 * 1024  # of one request; chosen
MOST_STARTS = 5  # of one dream; chosen


class ToolWorkerFailed(Exception):
    """The worker cannot be started or does not answer."""


class _TooLong(ToolWorkerFailed):
    """The worker did not answer in time."""


@dataclass(frozen=True, slots=True)
class Mounts:
    """The mounts: (name, folder, the real paths that lead to it)."""

    rows: tuple[tuple[str, str, tuple[str, ...]], ...]

    @property
    def folders(self) -> list[str]:
        return [folder for _, folder, _ in self.rows]

    def as_json(self) -> bytes:
        return (
            json.dumps([{"name": n, "folder": f, "stands_for": s} for n, f, s in self.rows]).encode() + b"\n"
        )


class ToolWorker:
    """Bash, Read, Grep and Glob. Calls from several threads run one after the other."""

    names = NAMES

    def __init__(
        self,
        mounts: Mounts,
        *,
        call_seconds: float = CALL_SECONDS,
        most_starts: int = MOST_STARTS,
        bwrap: str | None = None,
    ) -> None:
        """`bwrap` is the path of bubblewrap, "" for none; by default, the installed one. Raises ToolWorkerFailed."""
        self._mounts = mounts
        self._call_seconds = call_seconds
        self._most_starts = most_starts
        self._bwrap = fences.bubblewrap_found() if bwrap is None else bwrap
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self._closed = False
        self.fences = Fences()
        self._start()

    def run(self, name: str, given: Mapping[str, Any]) -> ToolReply:
        """Runs one call. Never raises: if a worker died or hung, the answer says so, and a new one is started."""
        try:
            answer = self._ask({"name": name, "input": dict(given)})
            return ToolReply(str(answer["text"]), bool(answer["refused"]))
        except ToolWorkerFailed as error:
            return ToolReply(f"Not done: {error}. Make the call smaller.", refused=True)

    def run_line(self, line: str, cwd: str = "/") -> CommandOutput:
        """Runs a person's command line; returns its status too. Never raises."""
        started = time.perf_counter()
        try:
            answer = self._ask({"name": "line", "input": {"line": line, "cwd": cwd}})
            return CommandOutput(answer["output"], answer["exit_code"], answer["refused"], answer["ms"])
        except (ToolWorkerFailed, KeyError) as error:
            status = TIMED_OUT if isinstance(error, _TooLong) else 1
            ms = round((time.perf_counter() - started) * 1000, 3)
            return CommandOutput(f"[stopped: {error}; narrow the command]\n", status, refused=False, ms=ms)

    def close(self) -> None:
        """Ends the worker at once, even during a call."""
        self._closed = True
        process = self._process
        if process is not None:
            _kill(process)
        with self._lock:
            self._end()

    # --- The process ----------------------------------------------------------------------------------------------

    def _ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The worker's answer; a failed worker is ended, and the next call starts another."""
        data = json.dumps(asked).encode() + b"\n"
        if len(data) > LONGEST:
            raise ToolWorkerFailed("the call is too long")
        with self._lock:
            try:
                if self._process is None:
                    self._start()
                return self._exchange(data, self._call_seconds)
            except ToolWorkerFailed:
                self._end()
                raise

    def _start(self) -> None:
        self._starts += 1
        if self._closed or self._starts > self._most_starts:
            raise ToolWorkerFailed("the reading tools are not available any more")
        trouble = fences.bubblewrap_trouble(self._bwrap)
        if not trouble:
            try:
                self._launch(fences.command(self._bwrap, self._mounts.folders, root=os.geteuid() == 0), "")
                return
            except ToolWorkerFailed:
                # bubblewrap works, but not with these folders (one below a link, say): better no bubblewrap than no dream.
                self._end()
                trouble = "bubblewrap does not take these folders"
        self._launch((), trouble)

    def _launch(self, around: Sequence[str], trouble: str) -> None:
        # Its environment has no keys and no paths, only options of Python.
        self._process = subprocess.Popen(
            [*around, sys.executable, "-m", "dreams.lib.sandbox.tool_worker.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=fences.BASE,
            env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "TZ": "UTC"},
            close_fds=True,
            # A separate process group, so that bubblewrap's children are ended with it.
            start_new_session=True,
        )
        hello = self._exchange(self._mounts.as_json(), START_SECONDS)
        self.fences = Fences(int(hello.get("landlock", 0)), bool(around), trouble)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        _kill(process)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.wait(10)

    def _exchange(self, asked: bytes, seconds: float) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise ToolWorkerFailed("the reading tools are gone")
        until = time.monotonic() + seconds
        try:
            process.stdin.write(asked)
            process.stdin.flush()
            line = self._line(process.stdout.fileno(), until)
            answer = json.loads(line)
        except (OSError, ValueError) as error:
            raise ToolWorkerFailed(f"the reading tools broke off ({type(error).__name__})") from error
        if not isinstance(answer, dict):
            raise ToolWorkerFailed("the reading tools answered with nonsense")
        return answer

    def _line(self, fd: int, until: float) -> bytes:
        parts: Sequence[bytes] = [b""]
        while not parts[-1].endswith(b"\n"):
            if not select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
                raise _TooLong("it took too long")
            data = os.read(fd, 1 << 16)
            if not data:
                raise ToolWorkerFailed("the reading tools ended")
            parts = [*parts, data]
        return b"".join(parts)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kills the group: after bubblewrap's death alone, the worker would finish its call."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


# --- Several workers --------------------------------------------------------------------------------------------------

MOST_WORKERS = 3  # that run in parallel; chosen
PATIENCE_SECONDS = 0.2  # of waiting for a free one; then another is started; chosen


class ToolWorkers:
    """`first` and up to two more, made by `another` if all are busy with long calls.

    Most calls take a few milliseconds and need only one worker; a slow search must not delay the nine others of its
    turn. A worker that hangs is killed alone. `run` never raises.
    """

    names = NAMES

    def __init__(
        self,
        first: ToolWorker,
        another: Callable[[], ToolWorker],
        *,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self.fences = first.fences
        self._another = another
        self._patience = patience_seconds
        self._all, self._free = [first], [first]
        self._planned = 1
        self._closed = False
        self._changed = threading.Condition()

    def run(self, name: str, given: Mapping[str, Any]) -> ToolReply:
        worker = self._take()
        try:
            return worker.run(name, given)
        finally:
            with self._changed:
                self._free.append(worker)
                self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            every = list(self._all)
        for worker in every:
            worker.close()

    def _take(self) -> ToolWorker:
        with self._changed:
            if self._changed.wait_for(lambda: self._free, self._patience):
                return self._free.pop()
            if self._planned < MOST_WORKERS and not self._closed:
                self._planned += 1
                self._changed.release()
                try:
                    made = self._made()
                finally:
                    self._changed.acquire()
                if made is not None:
                    self._all.append(made)
                    return made
            # Each call ends within its time limit, even if everything was closed meanwhile.
            self._changed.wait_for(lambda: self._free)
            return self._free.pop()

    def _made(self) -> ToolWorker | None:
        """Another worker; None if it cannot be started, is less protected than the first, or is no longer needed."""
        try:
            made = self._another()
        except ToolWorkerFailed:
            return None
        if self._closed or made.fences.layers != self.fences.layers:
            made.close()
            return None
        return made
