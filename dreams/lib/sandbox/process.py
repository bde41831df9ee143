"""The environment of a running command: its folder, input, error output, files, and the meter that limits a command line,
to which every loop and read reports. Nothing of the host.
"""

import io
import os
import stat as st
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.mounts import FolderEntry, Tree, trouble
from dreams.lib.secrets import redact

CHUNK = 128 * 1024  # read at once; chosen
DEEPEST = 64  # folders that a command goes down; chosen
Result = TypeVar("Result")


class Refused(Exception):
    """The line uses something unsupported. The message names the refused part; nothing was run."""


class UsageError(Exception):
    """A call for which the real tool also prints only an error."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class SandboxLimit(Exception):
    """A limit on time, bytes, names or memory was reached; the output so far is kept."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class LineTooLong(SandboxLimit):
    """One line is too long; a search of several files continues with the next."""


MIB = 1024 * 1024  # in bytes
TIMED_OUT = 124  # the exit status of timeout(1)


@dataclass(frozen=True, slots=True)
class CommandLimits:
    seconds: float = (
        9.0  # a second before the worker is ended (`tool_worker.CALL_SECONDS`), so that output is kept
    )
    output_chars: int = 30_000
    read_bytes: int = 4096 * MIB
    names: int = 500_000
    held_bytes: int = 64 * MIB  # memory used by sort, tail, uniq and the like
    line_bytes: int = 32 * MIB
    masked_bytes: int = 4 * MIB  # half a second of work; what follows is counted or sorted rather than shown


@dataclass(slots=True)
class CommandMeter:
    """Counts the resources that one command line uses. Each method raises SandboxLimit at its limit."""

    limits: CommandLimits = field(default_factory=CommandLimits)
    deadline: float = field(init=False)
    read: int = 0
    names: int = 0
    held: int = 0
    masked: int = 0

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.limits.seconds

    def tick(self) -> None:
        """To be called in every loop whose length depends on the files."""
        if time.monotonic() > self.deadline:
            raise SandboxLimit(
                f"stopped after {self.limits.seconds:g} seconds; narrow the command", TIMED_OUT
            )

    def took(self, count: int) -> None:
        """Counts bytes read from a file."""
        self.read += count
        if self.read > self.limits.read_bytes:
            raise SandboxLimit(f"stopped after reading {self.limits.read_bytes:,} bytes; name fewer files")
        self.tick()

    def saw(self, count: int = 1) -> None:
        """Counts names read from a directory."""
        self.names += count
        if self.names > self.limits.names:
            raise SandboxLimit(f"stopped after {self.limits.names:,} names; name a smaller directory")
        self.tick()

    def masks(self, count: int) -> int:
        """How many of so many bytes are searched for secrets: not all of much text, as that takes longer than all else."""
        left = max(0, self.limits.masked_bytes - self.masked)
        self.masked += count
        return min(count, left)

    def hold(self, count: int) -> None:
        """Counts bytes kept in memory (negative: freed)."""
        self.held += count
        if self.held > self.limits.held_bytes:
            raise SandboxLimit(f"stopped: more than {self.limits.held_bytes:,} bytes to keep in memory")


class Chunks:
    """The bytes of an open file. Not a generator: one that is never started would never close its file."""

    def __init__(self, fd: int, meter: CommandMeter) -> None:
        self._fd: int | None = fd
        self._meter = meter

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        data = os.read(self._fd, CHUNK) if self._fd is not None else b""
        if not data:
            self.close()
            raise StopIteration
        self._meter.took(len(data))
        return data

    def size(self) -> int:
        return os.fstat(self._fd).st_size if self._fd is not None else 0

    def peek(self, start: int, length: int) -> bytes:
        """Bytes of the file from `start` on; keeps the position."""
        data = os.pread(self._fd, length, start) if self._fd is not None else b""
        self._meter.took(len(data))
        return data

    def go(self, start: int) -> None:
        """Moves the position."""
        if self._fd is not None:
            os.lseek(self._fd, start, os.SEEK_SET)

    def close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def __del__(self) -> None:
        with suppress(OSError):
            self.close()


@dataclass(slots=True)
class Process:
    """One command of a pipeline. Commands are generators of bytes; they set `status` at the end."""

    name: str
    tree: Tree
    cwd: str
    stdin: Iterator[bytes]
    meter: CommandMeter
    now: float
    stderr: Callable[[bytes], None]
    # Set by `cd`; the shell uses it when the command is not part of a pipeline.
    new_cwd: str | None = None
    status: int = 0

    def complain(self, message: str, status: int = 1) -> None:
        """Prints one line of error, and keeps the worst status."""
        self.stderr(f"{self.name}: {message}\n".encode("utf-8", "surrogateescape"))
        self.status = max(self.status, status)

    # Files

    def stat(self, path: str) -> os.stat_result:
        return self.tree.stat(self.tree.place(path, self.cwd))

    def chunks(self, path: str) -> Iterator[bytes]:
        """The bytes of a file, or of the input for `-`. Raises OSError or SafeFsError before the first one."""
        if path == "-":
            return self.stdin
        return Chunks(self.tree.open(self.tree.place(path, self.cwd)), self.meter)

    def entries(self, path: str) -> list[FolderEntry]:
        """The entries of a folder. Raises OSError or SafeFsError."""
        found = self.tree.entries(self.tree.place(path, self.cwd))
        self.meter.saw(len(found))
        return found

    def link_target(self, path: str) -> str:
        """The text of a link; "" if it is none or cannot be read."""
        try:
            return self.tree.link_target(self.tree.place(path, self.cwd))
        except (OSError, SafeFsError):
            return ""

    def attempt(
        self, read: Callable[[str], Result], path: str, status: int = 1, wording: str = "{}: {}"
    ) -> Result | None:
        """What `read` returns for a path; None, with an error line, if it fails."""
        try:
            return read(path)
        except (OSError, SafeFsError) as error:
            self.complain(wording.format(path, trouble(error)), status)
            return None

    def inputs(self, paths: Iterable[str], status: int = 1) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Each operand that can be opened, with its bytes; the input if there is no operand."""
        for path in list(paths) or ["-"]:
            chunks = self.attempt(self.chunks, path, status)
            if chunks is not None:
                yield path, chunks

    def lines(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Lines with their ends; the last one may lack it."""
        for block in self.blocks(chunks):
            yield from io.BytesIO(block)

    def blocks(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Blocks of complete lines; the last line may lack its end."""
        kept: list[bytes] = []
        size, limit = 0, self.meter.limits.line_bytes
        for chunk in chunks:
            self.meter.tick()
            stop = chunk.rfind(b"\n") + 1
            if not stop:
                kept.append(chunk)
                size += len(chunk)
                if size > limit:
                    raise LineTooLong(f"stopped at a line of more than {limit:,} bytes")
                continue
            yield b"".join([*kept, chunk[:stop]])
            kept, size = [chunk[stop:]], len(chunk) - stop
        rest = b"".join(kept)
        if rest:
            yield rest

    def masked(self, lines: bytes) -> bytes:
        """Lines without their secrets, for a command that makes other text of them, in which none would be recognised."""
        most = self.meter.masks(len(lines))
        return raw(redact.redact(lines[:most].decode("utf-8", "surrogateescape"))) + lines[most:]

    def part(self, data: bytes, start: int, end: int) -> bytes:
        """As `part`; as it is where no secrets are masked."""
        return part(data, start, end) if self.meter.limits.masked_bytes else data[start:end]

    def held(self, lines: Iterable[bytes]) -> list[bytes]:
        """All lines at once, within the memory limit."""
        kept: list[bytes] = []
        for line in lines:
            # 64: Python's overhead per string; a file of empty lines would otherwise count as nothing.
            self.meter.hold(len(line) + 64)
            kept.append(line)
        return kept


Runner = Callable[[Process], Iterator[bytes]]
Compile = Callable[[str, list[str]], Runner]


def is_folder(stat: os.stat_result) -> bool:
    return st.S_ISDIR(stat.st_mode)


def below(folder: str, name: str) -> str:
    """The path of an entry of a folder."""
    return folder + name if folder.endswith("/") else f"{folder}/{name}"


def raw(text: str) -> bytes:
    """An argument or a file name as bytes."""
    return text.encode("utf-8", "surrogateescape")


def part(data: bytes, start: int, end: int) -> bytes:
    """A part of a line or file, without a secret that it would cut in half: the half would be shown."""
    low = max(0, start - redact.LONGEST)
    around = data[low : end + redact.LONGEST].decode("latin-1")
    return redact.part(around, start - low, end - low).encode("latin-1")
