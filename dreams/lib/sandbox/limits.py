"""What one command line may use, and the meter that every loop and read reports to."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


class Refused(Exception):
    """The line asks for something that is not on offer. The message names the refused part; nothing was run."""


class UsageError(Exception):
    """A command was called in a way that the ordinary tool, too, answers with an error and no output."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class SandboxLimit(Exception):
    """A cap on time, bytes, names or memory was met; what was printed until then is kept."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class LineTooLong(SandboxLimit):
    """One line is more than can be looked at; where files are searched one by one, the next one still is."""


MIB = 1024 * 1024
TIMED_OUT = 124  # the status that timeout(1) gives


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one command line."""

    seconds: float = 10.0
    output_chars: int = 30_000
    read_bytes: int = 4096 * MIB
    names: int = 500_000
    held_bytes: int = 64 * MIB  # what sort, tail, uniq and the like keep in memory
    line_bytes: int = 32 * MIB
    open_files: int = 100_000


@dataclass(slots=True)
class Meter:
    """Counts what one command line has used. Every method raises LimitReached at its cap."""

    limits: Limits = field(default_factory=Limits)
    deadline: float = field(init=False)
    read: int = 0
    names: int = 0
    held: int = 0

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.limits.seconds

    def tick(self) -> None:
        """Call this inside every loop whose length depends on the files."""
        if time.monotonic() > self.deadline:
            raise SandboxLimit(
                f"stopped after {self.limits.seconds:g} seconds; narrow the command", TIMED_OUT
            )

    def took(self, count: int) -> None:
        """`count` bytes were read from a file."""
        self.read += count
        if self.read > self.limits.read_bytes:
            raise SandboxLimit(f"stopped after reading {self.limits.read_bytes:,} bytes; name fewer files")
        self.tick()

    def saw(self, count: int = 1) -> None:
        """`count` names of a directory were looked at."""
        self.names += count
        if self.names > self.limits.names:
            raise SandboxLimit(f"stopped after {self.limits.names:,} names; name a smaller directory")
        self.tick()

    def hold(self, count: int) -> None:
        """`count` more bytes are kept in memory (negative: let go)."""
        self.held += count
        if self.held > self.limits.held_bytes:
            raise SandboxLimit(f"stopped: more than {self.limits.held_bytes:,} bytes to keep in memory")
