"""A separate process that answers each JSON line with a JSON line, and is killed if it takes too long. Pure: no Django."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

BASE = Path(__file__).resolve().parents[2]
MOST_ANSWER = 16 * 1024 * 1024  # bytes of one answer; chosen
END_SECONDS = 10  # for a killed process to be gone; chosen


class WorkerFailed(Exception):
    """The process cannot be started, has ended, or does not answer with JSON."""


class WorkerTooSlow(WorkerFailed):
    """The process did not answer in time."""


class JsonWorker:
    """`python -m module`, perhaps `around`ed by another command. Not for two calls at once. Its environment has no keys and
    no paths, only options of Python."""

    def __init__(self, module: str, around: Sequence[str] = ()) -> None:
        """Raises WorkerFailed."""
        try:
            self.process = subprocess.Popen(
                [*around, sys.executable, "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=BASE,
                env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "TZ": "UTC"},
                start_new_session=True,  # so that `around` and its children are killed together
            )
        except OSError as error:
            raise WorkerFailed(f"the process cannot be started ({type(error).__name__})") from error

    def ask(self, message: object, seconds: float) -> dict[str, Any]:
        """The answer to one message. Raises WorkerFailed."""
        self.send(message)
        return self.receive(time.monotonic() + seconds)

    def send(self, message: object) -> None:
        """Raises WorkerFailed."""
        assert self.process.stdin is not None  # noqa: S101  # opened as a pipe above
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError) as error:
            raise WorkerFailed(f"the process broke off ({type(error).__name__})") from error

    def receive(self, until: float) -> dict[str, Any]:
        """The next answer, until this time of the monotonic clock. Raises WorkerFailed."""
        assert self.process.stdout is not None  # noqa: S101  # opened as a pipe above
        try:
            answer = json.loads(_line(self.process.stdout.fileno(), until))
        except (OSError, ValueError) as error:
            raise WorkerFailed(f"the process broke off ({type(error).__name__})") from error
        if not isinstance(answer, dict):
            raise WorkerFailed("the process answered with nonsense")
        return answer

    def has_died(self) -> bool:
        """Whether it was killed since its last answer, for example for lack of memory."""
        return self.process.poll() is not None

    def kill(self) -> None:
        """Kills the group: after the death of `around` alone, the worker would finish its call."""
        if self.process.returncode is None:  # else its number may be another group's by now
            with suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> None:
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(END_SECONDS)


def _line(handle: int, until: float) -> bytes:
    parts: list[bytes] = [b""]
    size = 0
    reading = select.poll()  # `select` takes no handle above 1,023
    reading.register(handle, select.POLLIN)
    while not parts[-1].endswith(b"\n"):
        if not reading.poll(max(0.0, until - time.monotonic()) * 1_000):
            raise WorkerTooSlow("it took too long")
        data = os.read(handle, 1 << 16)
        size += len(data)
        if not data or size > MOST_ANSWER:
            raise WorkerFailed("the process ended" if not data else "its answer is too long")
        parts.append(data)
    return b"".join(parts)
