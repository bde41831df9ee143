"""The engine's side: starts the worker, hands calls over, and kills it when a call takes too long or the dream ends."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreams.lib.sandbox.tool_worker import bubble
from dreams.lib.sandbox.tool_worker.fence import State
from dreams.lib.sandbox.tool_worker.tools import NAMES, Reply

BASE = Path(__file__).resolve().parents[4]
CALL_SECONDS = 15.0  # the tools stop themselves after ten
START_SECONDS = 30.0
LONGEST = 4 * 1024 * 1024
MOST_STARTS = 5


class EyesFailed(Exception):
    """The worker cannot be started or does not answer."""


@dataclass(frozen=True, slots=True)
class Mounts:
    """What is mounted where: (name, folder, the real paths that mean it)."""

    rows: tuple[tuple[str, str, tuple[str, ...]], ...]

    @property
    def folders(self) -> list[str]:
        return [folder for _, folder, _ in self.rows]

    def as_json(self) -> bytes:
        return (
            json.dumps([{"name": n, "folder": f, "stands_for": s} for n, f, s in self.rows]).encode() + b"\n"
        )


class Eyes:
    """Bash, Read, Grep and Glob. Calls from several threads are answered one after the other."""

    names = NAMES

    def __init__(
        self, mounts: Mounts, *, call_seconds: float = CALL_SECONDS, bwrap: str | None = None
    ) -> None:
        """`bwrap` is the path of bubblewrap, "" for none; left out: what the system has. Raises EyesFailed."""
        self._mounts = mounts
        self._call_seconds = call_seconds
        self._bwrap = bubble.found() if bwrap is None else bwrap
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self._closed = False
        self.state = State()
        self._start()

    def run(self, name: str, given: Mapping[str, Any]) -> Reply:
        """Never raises: a worker that died or hung is an answer too, and a new one is started."""
        asked = json.dumps({"name": name, "input": dict(given)}).encode() + b"\n"
        if len(asked) > LONGEST:
            return Reply("Not done: the call is too long.", refused=True)
        with self._lock:
            try:
                if self._process is None:
                    self._start()
                answer = self._exchange(asked, self._call_seconds)
                return Reply(str(answer["text"]), bool(answer["refused"]))
            except (EyesFailed, KeyError) as error:
                self._end()
                return Reply(f"Not done: {error}. Make the call smaller.", refused=True)

    def close(self) -> None:
        """Ends the worker at once, also in the middle of a call."""
        self._closed = True
        process = self._process
        if process is not None:
            _kill(process)
        with self._lock:
            self._end()

    # --- The process ----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._starts += 1
        if self._closed or self._starts > MOST_STARTS:
            raise EyesFailed("the reading tools are not available any more")
        trouble = bubble.trouble(self._bwrap)
        if not trouble:
            try:
                self._launch(bubble.command(self._bwrap, self._mounts.folders, root=os.geteuid() == 0), "")
                return
            except EyesFailed:
                # It works, but not over these folders (one below a link, say): better without it than no dream.
                self._end()
                trouble = "bubblewrap does not take these folders"
        self._launch((), trouble)

    def _launch(self, around: Sequence[str], trouble: str) -> None:
        # No key and no path in its environment: only what Python itself shall do.
        self._process = subprocess.Popen(
            [*around, sys.executable, "-m", "dreams.lib.sandbox.tool_worker.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=BASE,
            env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "TZ": "UTC"},
            close_fds=True,
            # A group of its own: what bubblewrap starts is ended together with it.
            start_new_session=True,
        )
        hello = self._exchange(self._mounts.as_json(), START_SECONDS)
        self.state = State(int(hello.get("landlock", 0)), bool(around), trouble)

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
            raise EyesFailed("the reading tools are gone")
        until = time.monotonic() + seconds
        try:
            process.stdin.write(asked)
            process.stdin.flush()
            line = self._line(process.stdout.fileno(), until)
            answer = json.loads(line)
        except (OSError, ValueError) as error:
            raise EyesFailed(f"the reading tools broke off ({type(error).__name__})") from error
        if not isinstance(answer, dict):
            raise EyesFailed("the reading tools answered with nonsense")
        return answer

    def _line(self, fd: int, until: float) -> bytes:
        parts: Sequence[bytes] = [b""]
        while not parts[-1].endswith(b"\n"):
            if not select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
                raise EyesFailed("it took too long")
            data = os.read(fd, 1 << 16)
            if not data:
                raise EyesFailed("the reading tools ended")
            parts = [*parts, data]
        return b"".join(parts)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The whole group: bubblewrap's own death would leave the worker to finish its call."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
