"""What an adapter for one coding agent tells the rest: plain facts found on disk. Pure: no Django.

Everything specific to an agent stays in its adapter. Iterators yield what was found and, in between, a `Skipped` for
what could not be used: one odd entry never stops the others, and no method raises for what it finds on disk.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from typing import Generic, Literal, Protocol, TypeVar

import msgspec

ProjectKind = Literal["auto", "agent"]
Scope = Literal["user", "project", "local"]
TranscriptKind = Literal["main", "subagent"]
T = TypeVar("T")

#: The note of a quote whose prompt only the agent's prompt history has: the transcript is gone, and the answer with it.
NO_ANSWER = "prompt history, no answer kept"
InstructionScope = Literal["managed", "user", "project", "local", "rule"]
MemoryKind = Literal["index", "topic", "team", "log"]


#: Why a file is passed over that nobody takes for a memory.
NOT_MARKDOWN = "not a Markdown file"


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was passed over. `path` is printable text; `reason` names the thing in plain words."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class FoundRoot:
    """An agent's config folder. `path` is as chosen, `real_path` with links resolved once."""

    agent: str
    path: str
    real_path: str


@dataclass(frozen=True, slots=True)
class FoundProject:
    """One memory directory (which may not exist yet) with the transcript folders that belong to it.

    `kind` is auto (the agent's own memory of a project) or agent (a sub-agent's, then `agent` is its name). `cwd` is
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


#: What tells a transcript from any other state of it: path, inode, size and mtime in nanoseconds.
Mark = tuple[str, int, int, int]


class FoundTranscript(msgspec.Struct, frozen=True, gc=False):
    """One transcript file. `parent` is a sub-agent's session id, empty where only its records tell it."""

    path: str
    kind: TranscriptKind
    size: int
    mtime_ns: int
    inode: int
    parent: str = ""

    @property
    def session_id(self) -> str:
        """Of a hundred thousand that are found at once each is kept: what the path says is not kept beside it."""
        return self.path.rpartition("/")[2].rpartition(".")[0]

    @property
    def mark(self) -> Mark:
        return self.path, self.inode, self.size, self.mtime_ns


class FoundUnchanged(msgspec.Struct, frozen=True, gc=False):
    """Transcripts of one folder that are as the caller knows them. `mains` of these are main transcripts."""

    paths: list[str]
    mains: int


class FoundNotes(msgspec.Struct, frozen=True, gc=False):
    """Notes that the agent kept on one session. `path` is relative to the transcript folder `folder`."""

    transcript: str
    folder: str
    path: str
    size: int
    mtime_ns: int


class FoundMemory(msgspec.Struct, frozen=True, gc=False):
    """One file of a memory directory; `path` is relative to it, with `/`. `links` is its number of hard links."""

    path: str
    kind: MemoryKind
    size: int
    mtime_ns: int
    inode: int
    links: int = 1


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A session that runs now, by the agent's own registry."""

    session_id: str
    pid: int


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """A file of instructions that the agent loads, in loading order: later ones win.

    `included_by` names it in its `line`, `depth` counts such hops. `text` is what the agent sees of it, `size` the bytes of
    the file. `when` is empty where it is always loaded, else the folder or the paths that the agent must work at. A file
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

    def with_text(self, text: str, size: int) -> "InstructionFile":
        return replace(self, text=text, size=size)

    def with_problem(self, problem: str, size: int = 0) -> "InstructionFile":
        return replace(self, problem=problem, size=size)

    def only_when(self, when: str) -> "InstructionFile":
        return replace(self, when=when)


@dataclass(frozen=True, slots=True)
class Setting(Generic[T]):
    """A value and where it comes from ("default", an environment variable's name, a settings file's path)."""

    value: T
    source: str = "default"


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The agent's own switches, as they hold for one project. `auto_dream` is None where nobody set it."""

    auto_memory: Setting[bool]
    auto_dream: Setting[bool | None]
    cleanup_days: Setting[int]
    remote: Setting[bool]


class AgentSource(Protocol):
    """One agent's config folder, read. All paths are text; a name that is not UTF-8 is skipped, not passed on."""

    root: FoundRoot

    def projects(self, known: Set[Mark] = frozenset()) -> Iterator[FoundProject | Skipped]:
        """Every memory directory, each once. Of transcripts that are as they are `known` the caller wants to hear no more,
        when it asks for them next, than that they are."""

    def transcripts(self, folder: str) -> Iterator[FoundTranscript | FoundUnchanged | FoundNotes | Skipped]:
        """Transcripts of one transcript folder, those of sub-agents too, and notes that the agent kept on sessions, in no
        particular order."""

    def memories(self, memory_dir: str) -> Iterator[FoundMemory | Skipped]:
        """Files of a memory directory; nothing when it does not exist."""

    def live_sessions(self) -> Iterator[LiveSession | Skipped]:
        """Sessions that run now."""

    def settings(self, project_dir: str | None = None) -> AgentSettings:
        """The agent's switches, with what a project's own settings add."""

    def instruction_files(
        self, cwd: str, *, repo: str = "", trusted: bool = False, conditional: bool = True
    ) -> list[InstructionFile]:
        """The instruction files that the agent loads in `cwd`, with what they include.

        Files of `repo` include what is outside of it only when it is `trusted`; `conditional` adds those that are loaded
        only while the agent works at certain files."""
