"""Reads transcripts ahead on the other cores and returns them in the requested order. Pure: no Django.

The order is kept because it decides which of two forks owns the lines both have. Small groups of files and a window limit
what is read and not yet taken. The parent reads too instead of waiting. A child process that dies only costs time:
its files are returned as None, and the caller reads them.

A child (`main`) gets tasks on standard input and answers on standard output; it ends with its input, so none
outlives its parent. A plain pipe, because `multiprocessing` does not work in the queue's daemonic workers, and runs
the parent's main module again.
"""

import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

import msgspec

from .reader import Reader
from .whole_file import TooMuch, Whole, read_small, read_whole

MIN_BYTES = 192 << 20  # reading less is faster than starting processes; chosen
MAX_CHILDREN = 3  # one core is left for writing the rows; chosen
GROUP_BYTES = 4 << 20  # sent at once; chosen
GROUP_FILES = 24  # the paths of all groups of a child must fit into a pipe
GROUPS_AT_ONCE = 24  # for each child, so that it has enough to do while rows are written
WINDOW = 96  # groups that are read ahead; chosen
MAX_FILE_BYTES = 256 << 20  # larger ones are read in place, line by line; chosen
MAX_FRAME = 1 << 30  # a length above it is garbage; chosen
_SIZE_BYTES = 4  # of the length before each frame
WAIT_SECONDS = 0.1  # between two checks whether a child lives; chosen
PATIENCE_SECONDS = 60  # then the files are read in place; chosen
# The cost of opening and describing one file, as the number of bytes read in that time.
FILE_COST = 16 << 10
# A child needs no secrets.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "HOME", "TMPDIR")
_CODE = "from dreams.lib.agents.transcripts.read_ahead import main; main()"

log = logging.getLogger(__name__)

Files = list[bytes | Whole | None]


def children_for(sizes: Iterable[int]) -> int:
    """How many child processes to start for files of these sizes: none for little, never more than cores."""
    cost = sum(size + FILE_COST for size in sizes)
    return min(cores() - 1, MAX_CHILDREN) if cost >= MIN_BYTES and sys.executable else 0


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class FilesToRead(msgspec.Struct, array_like=True):
    """Files to read, in order."""

    number: int
    paths: list[bytes]


class ReadFiles(msgspec.Struct, array_like=True):
    """One packed `Whole` for each path; None if the caller must read the file."""

    number: int
    files: list[bytes | None]


_pack = msgspec.msgpack.Encoder().encode
_task = msgspec.msgpack.Decoder(FilesToRead).decode
_answer = msgspec.msgpack.Decoder(ReadFiles).decode
unpack = msgspec.msgpack.Decoder(Whole).decode
"""Packed `Whole` → Whole. Raises msgspec.DecodeError."""


def send(target: IO[bytes], message: FilesToRead | ReadFiles) -> None:
    """Raises OSError when the other end is closed."""
    data = _pack(message)
    target.write(len(data).to_bytes(_SIZE_BYTES, "big") + data)
    target.flush()


def receive(source: IO[bytes]) -> bytes | None:
    """The next message, None at the end of the input (also in the middle of a message). Raises OSError."""
    head = source.read(_SIZE_BYTES)
    size = int.from_bytes(head, "big")
    if len(head) < _SIZE_BYTES or size > MAX_FRAME:
        return None
    data = source.read(size)
    return data if len(data) == size else None


class Child:
    """One process. A thread puts its answers into `answers`, so that it never waits for us."""

    def __init__(self, answers: "queue.SimpleQueue[tuple[Child, ReadFiles | None]]") -> None:
        """Raises OSError when no process can be started."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).resolve().parents[4],
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )
        self.asked: set[int] = set()
        self._answers = answers
        self._listener = threading.Thread(target=self._listen, name="transcripts", daemon=True)
        self._listener.start()

    def ask(self, task: FilesToRead) -> bool:
        """Sends a task; False if the process is dead."""
        assert self.process.stdin is not None  # noqa: S101  # opened as a pipe above
        try:
            send(self.process.stdin, task)
        except OSError:
            return False
        self.asked.add(task.number)
        return True

    def _listen(self) -> None:
        assert self.process.stdout is not None  # noqa: S101  # opened as a pipe above
        try:
            while (data := receive(self.process.stdout)) is not None:
                self._answers.put((self, _answer(data)))
        except (OSError, ValueError, msgspec.DecodeError):
            pass  # reported below as the end
        self._answers.put((self, None))

    def close(self) -> None:
        """Ends it at once; it has nothing that could be lost."""
        self.process.kill()
        self.process.wait()
        self._listener.join()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # the rest of what was being written to a dead process
                if pipe is not None:
                    pipe.close()


@dataclass(slots=True)
class _Group:
    paths: list[str] = field(default_factory=list)
    bytes: int = 0
    given: bool = False
    files: Files | None = None


class Ahead:
    """Reads `files` (path, size) ahead with so many `children`; use it in a `with` statement."""

    def __init__(
        self, files: Sequence[tuple[str, int]], *, children: int, tick: Callable[[], None] | None = None
    ) -> None:
        """`tick` is called while waiting, and may raise to stop."""
        self._groups = _grouped(files) if children else []
        self._count, self._tick = children, tick
        self._reader = Reader()
        self._answers: queue.SimpleQueue[tuple[Child, ReadFiles | None]] = queue.SimpleQueue()
        self.children: list[Child] = []
        self._first = self._next = 0
        self._waited = 0.0

    def __enter__(self) -> Self:
        for _ in range(self._count if self._groups else 0):
            try:
                self.children.append(Child(self._answers))
            except OSError as error:
                log.warning("transcripts are read by one process: %s", error)
        self._give()
        return self

    def __exit__(self, *_: object) -> None:
        for child in self.children:
            child.close()

    def take(self, path: str) -> Whole | None:
        """The content of `path`; None if the caller must read it. Ask in the order of `files`, once for each."""
        number = next(
            (n for n in range(self._first, len(self._groups)) if path in self._groups[n].paths), None
        )
        if number is None:
            return self._read(path, read_small)
        for done in range(self._first, number):
            self._groups[done] = _Group(given=True, files=[])
        self._first = max(self._first, number)
        group = self._groups[number]
        while group.files is None:
            self._work(number)
        at = group.paths.index(path)
        found, group.files[at] = group.files[at], None
        return unpack(found) if isinstance(found, bytes) else found

    def _work(self, wanted: int) -> None:
        """One step towards the group `wanted`: takes in an answer, else reads a group, else waits."""
        self._give()
        if self._hear(block=False) or self._groups[wanted].files is not None:
            return
        number = wanted if not self._groups[wanted].given else self._unclaimed()
        if number is None:
            if self._hear(block=True):
                self._waited = 0.0
            else:
                self._waited += WAIT_SECONDS
            if self._waited > PATIENCE_SECONDS:
                for child in list(self.children):
                    self._lose(child)
            if self._tick:
                self._tick()
            return
        group = self._groups[number]
        group.given = True
        group.files = [self._read(path) for path in group.paths]

    def _unclaimed(self) -> int | None:
        while self._next < len(self._groups) and self._groups[self._next].given:
            self._next += 1
        within = self._next < min(len(self._groups), self._first + WINDOW)
        return self._next if within else None

    def _give(self) -> None:
        """Sends more tasks to the children, evenly."""
        # Fewer towards the end, where a full queue on one side would leave the others idle.
        left = (len(self._groups) - self._next) // (2 * len(self.children) + 1)
        for waiting in range(min(GROUPS_AT_ONCE, max(2, left))):
            for child in self.children:
                if len(child.asked) <= waiting and (number := self._unclaimed()) is not None:
                    group = self._groups[number]
                    group.given = child.ask(FilesToRead(number, [os.fsencode(path) for path in group.paths]))

    def _hear(self, *, block: bool) -> bool:
        """Takes in one answer if there is one."""
        try:
            child, answer = self._answers.get(block, WAIT_SECONDS if block else None)
        except queue.Empty:
            return False
        if child not in self.children:
            return True  # the last answer of one that was abandoned
        if answer is None:
            self._lose(child)
        elif answer.number in child.asked:
            child.asked.discard(answer.number)
            self._groups[answer.number].files = list(answer.files) if answer.number >= self._first else []
        return True

    def _lose(self, child: Child) -> None:
        log.warning(
            "a reading process ended (code %s); its transcripts are read without it", child.process.poll()
        )
        self.children.remove(child)
        child.close()
        for number in child.asked:
            self._groups[number].files = [None] * len(self._groups[number].paths)

    def _read(self, path: str, read: Callable[[str, Reader], Whole | None] = read_whole) -> Whole | None:
        try:
            return read(path, self._reader)
        except (OSError, TooMuch, ValueError, ArithmeticError, LookupError, TypeError, RecursionError):
            return None  # the caller meets the same error and reports it


def _grouped(files: Sequence[tuple[str, int]]) -> list[_Group]:
    """Groups neighbours, so that one message has many small files; very large ones are left to the caller."""
    groups: list[_Group] = []
    for path, size in files:
        if size > MAX_FILE_BYTES:
            continue
        if not groups or len(groups[-1].paths) >= GROUP_FILES or groups[-1].bytes >= GROUP_BYTES:
            groups.append(_Group())
        groups[-1].paths.append(path)
        groups[-1].bytes += size + FILE_COST
    return groups


# --- In the child -------------------------------------------------------------------------------------------------


def _read(path: bytes, reader: Reader) -> bytes | None:
    # Any problem with a file is found again, and reported, by the caller.
    try:
        return _pack(read_whole(path, reader))
    except (OSError, TooMuch, ValueError, ArithmeticError, LookupError, TypeError, RecursionError):
        return None


def main() -> None:
    # The terminal's Ctrl-C reaches this process too; its parent decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, target, reader = sys.stdin.buffer, sys.stdout.buffer, Reader()
    try:
        while (data := receive(source)) is not None:
            task = _task(data)
            send(target, ReadFiles(task.number, [_read(path, reader) for path in task.paths]))
    except BrokenPipeError:
        sys.stdout = None  # else the exit tries to flush it and prints an error
