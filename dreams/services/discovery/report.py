"""What a discovery found, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dreams.lib.agents.base import Skipped


@dataclass(frozen=True, slots=True)
class Skip:
    """Something that was passed over, and why, in plain words."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reading of transcripts is: files and bytes of those that changed."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int


OnProgress = Callable[[Progress], None]
IsCancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Report:
    """`projects`, `sessions` and `memories` are totals now on disk; `bytes_read` is what was read of transcripts.

    A session is a main transcript (sub-agents' are part of their parent's); a memory is one topic file, so neither
    an index nor a log. `ms` is the whole time in milliseconds.
    """

    projects: int
    sessions: int
    memories: int
    skipped: tuple[Skip, ...]
    bytes_read: int
    ms: int
    cancelled: bool = False


@dataclass(slots=True)
class Tally:
    """A report while it is gathered."""

    projects: int = 0
    sessions: int = 0
    memories: int = 0
    bytes_read: int = 0
    cancelled: bool = False
    skips: dict[tuple[str, str], None] = field(default_factory=dict)
    _places: set[str] = field(default_factory=set)

    def skip(self, path: str, reason: str) -> None:
        self.skips[path, reason] = None
        self._places.add(path)

    def pass_over(self, found: Skipped) -> None:
        self.skip(found.path, found.reason)

    def unsure(self, path: str) -> bool:
        """Whether `path` or a folder above it could not be read: what is missing below it need not be gone."""
        here = path
        while here not in self._places:
            above = here.rpartition("/")[0]
            if not above:
                return False
            here = above
        return True

    def report(self, ms: int) -> Report:
        skipped = tuple(Skip(path, reason) for path, reason in self.skips)
        return Report(
            self.projects, self.sessions, self.memories, skipped, self.bytes_read, ms, self.cancelled
        )
