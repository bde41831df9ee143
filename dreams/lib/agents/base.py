"""The interface of an adapter for one coding agent: plain facts found on disk. Pure: no Django.

Everything specific to an agent stays in its adapter. Iterators yield what was found, and a `Skipped` for each entry
that could not be used: one odd entry never stops the others, and no method raises for what is on disk.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import msgspec

ProjectKind = Literal["auto", "agent"]
Scope = Literal["user", "project", "local"]
TranscriptKind = Literal["main", "subagent"]
T = TypeVar("T")

#: The note on a quote that only the agent's prompt history still has: the transcript and its answer are gone.
NO_ANSWER = "prompt history, no answer kept"
InstructionScope = Literal["managed", "user", "project", "local", "rule"]
MemoryKind = Literal["index", "topic", "team", "log"]


#: Why a file that is clearly no memory is skipped.
NOT_MARKDOWN = "not a Markdown file"


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was skipped. `path` is printable text; `reason` is in plain words."""

    path: str
    reason: str


def printable(path: str) -> str:
    """A path as text that any page or terminal can show."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in path
    )


def why(error: OSError) -> str:
    """An OS error in plain words."""
    return (error.strerror or type(error).__name__).lower()


@dataclass(frozen=True, slots=True)
class FoundRoot:
    """An agent's config folder. `path` is as configured, `real_path` has its links resolved, once."""

    agent: str
    path: str
    real_path: str


@dataclass(frozen=True, slots=True)
class FoundProject:
    """One memory directory (which may not exist yet) with the transcript folders that belong to it.

    `kind` is auto (the agent's memory of a project) or agent (a sub-agent's; `agent` is its name). `cwd` is
    the first working directory its sessions name, `repo` the repository's main folder; either may be gone from
    disk (`cwd_exists`).
    """

    memory_dir: str
    slug: str
    transcript_folders: tuple[str, ...] = ()
    repo: str | None = None
    cwd: str | None = None
    cwd_exists: bool = False
    kind: ProjectKind = "auto"
    scope: Scope = "user"
    agent: str = ""


#: Identifies one state of a transcript: path, inode, size and mtime in nanoseconds.
Mark = tuple[str, int, int, int]


class FoundTranscript(msgspec.Struct, frozen=True, gc=False):
    """One transcript file. `parent` is the session of a sub-agent, empty if only its records name it."""

    path: str
    kind: TranscriptKind
    size: int
    mtime_ns: int
    inode: int
    parent: str = ""

    @property
    def session_id(self) -> str:
        """Computed from the path, to save memory: a hundred thousand of these may exist at once."""
        return self.path.rpartition("/")[2].rpartition(".")[0]

    @property
    def mark(self) -> Mark:
        return self.path, self.inode, self.size, self.mtime_ns


class FoundUnchanged(msgspec.Struct, frozen=True, gc=False):
    """Transcripts of one folder that are unchanged for the caller. `mains` counts the main transcripts among them."""

    paths: list[str]
    mains: int


class FoundNotes(msgspec.Struct, frozen=True, gc=False):
    """The agent's notes on one session. `path` is relative to the transcript folder `folder`."""

    transcript: str
    folder: str
    path: str
    size: int
    mtime_ns: int


class FoundMemory(msgspec.Struct, frozen=True, gc=False):
    """One file of a memory directory; `path` is relative to it, with `/`."""

    path: str
    kind: MemoryKind
    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A running session, according to the agent's registry."""

    session_id: str
    pid: int


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """A file of instructions that the agent loads, in loading order: later ones win.

    `included_by` includes it in its `line`, `depth` counts the includes. `text` is what the agent sees, `size` the file's
    bytes. `when` is empty if it is always loaded, else the folder or paths the agent must work at. A file
    with a `problem` is not loaded: missing, circle, too deep, outside, doubled, binary, too large or unreadable.
    """

    path: str
    scope: InstructionScope
    depth: int = 0
    included_by: str = ""
    line: int | None = None
    when: str = ""
    text: str = ""
    size: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Setting(Generic[T]):
    """A value and its source ("default", an environment variable's name, a settings file's path)."""

    value: T
    source: str = "default"


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The agent's settings in effect for one project. `auto_dream` is None if it is not set."""

    auto_memory: Setting[bool]
    auto_dream: Setting[bool | None]
    cleanup_days: Setting[int]
    remote: Setting[bool]


class AgentSource(Protocol):
    """One agent's config folder, read. All paths are text; a name that is not UTF-8 is skipped, not passed on."""

    root: FoundRoot

    def projects(self, known: Set[Mark] = frozenset()) -> Iterator[FoundProject | Skipped]:
        """Every memory directory, each once. Transcripts with a `known` mark will be returned by `transcripts` as one
        `FoundUnchanged`."""

    def transcripts(self, folder: str) -> Iterator[FoundTranscript | FoundUnchanged | FoundNotes | Skipped]:
        """Transcripts of one transcript folder, including those of sub-agents, and the agent's notes on sessions, unordered."""

    def memories(self, memory_dir: str) -> Iterator[FoundMemory | Skipped]:
        """Files of a memory directory; nothing when it does not exist."""

    def live_sessions(self) -> Iterator[LiveSession | Skipped]:
        """The running sessions."""

    def settings(self, project_dir: str | None = None) -> AgentSettings:
        """The agent's settings, including those of a project."""

    def instruction_files(
        self, cwd: str, *, repo: str = "", trusted: bool = False, conditional: bool = True
    ) -> list[InstructionFile]:
        """The instruction files that the agent loads in `cwd`, with what they include.

        Files of `repo` may include files outside it only if it is `trusted`; `conditional` adds files that are loaded
        only while the agent works at certain files."""
