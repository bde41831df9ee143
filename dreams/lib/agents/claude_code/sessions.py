"""Transcript files below one project folder, their working directory and sub-agents, and the registry of running sessions,
`<root>/sessions/<pid>.json`. Pure: no Django.

Newer versions name a sub-agent in a file next to its transcript; with older ones the main transcript names it, in the call
that started the agent and in the result that names its transcript.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any

import msgspec

from dreams.lib.agents.base import (
    FoundNotes,
    FoundTranscript,
    FoundUnchanged,
    LiveSession,
    Mark,
    Skipped,
    printable,
    why,
)
from dreams.lib.agents.claude_code.listing import entries, odd, open_folder, read_small
from dreams.lib.agents.transcripts.reader import opened
from dreams.lib.agents.transcripts.records import DECODE_ERRORS
from dreams.lib.files.seen import seen, storable_ns

MOST_BYTES = 256 * 1024 * 1024  # read of one main transcript
LONGEST_LINE = 4 * 1024 * 1024  # of a line, read at once; chosen
_META_BYTES = 1 << 16  # of the small file next to a sub-agent's transcript; chosen
_TELLS = re.compile(rb'"(?:subagent_type|agentId)"')
SUFFIX = ".jsonl"
AGENT_PREFIX = "agent-"
MAX_DEPTH = 6  # folders of sub-agents; chosen
_PEEK_BYTES = 1 << 16  # the first lines of a transcript; chosen
_PEEK_FILES = 5  # that are asked for a working directory; chosen
_NOTES = "session-memory"
#: The entries of a project folder that we use.
Listed = FoundTranscript | FoundUnchanged | FoundNotes | Skipped


class _Where(msgspec.Struct):
    cwd: str | None = None


_decode_where = msgspec.json.Decoder(_Where).decode


def transcripts_in(folder: str, known: Set[Mark] = frozenset()) -> Iterator[Listed]:
    """Sessions of a project folder, the transcripts of their sub-agents, and the notes that older versions of the agent
    kept on each; other files are ignored. Transcripts with a `known` mark are yielded last, as one item."""
    listing = _Listing(folder, known)
    try:
        with open_folder(folder) as fd:
            yield from listing.sessions(fd)
    except OSError as error:
        yield Skipped(printable(folder), why(error))
    if unchanged := listing.unchanged():
        yield unchanged


@dataclass(slots=True)
class _Listing:
    """One listing of a project folder. `same` and `same_agents` are paths of transcripts with a `known` mark."""

    folder: str
    known: Set[Mark]
    same: list[str] = field(default_factory=list)
    same_agents: list[str] = field(default_factory=list)

    def unchanged(self) -> FoundUnchanged | None:
        is_agents = methodcaller("startswith", f"{self.folder}/{AGENT_PREFIX}")
        mains = len(self.same) - sum(map(is_agents, self.same))
        paths = self.same + self.same_agents
        return FoundUnchanged(paths, mains) if paths else None

    def sessions(self, fd: int) -> Iterator[FoundTranscript | FoundNotes | Skipped]:
        for entry in entries(fd, self.folder, self.known, self.same):
            if isinstance(entry, Skipped):
                yield entry
                continue
            name, found = entry
            if name.startswith("."):
                continue  # `._NAME.jsonl` is what macOS adds to a copy on another file system
            if name.endswith(SUFFIX):
                yield _transcript(self.folder, name, found, parent="")
            elif stat.S_ISDIR(found.st_mode) and name != "memory" and not odd(name, found):
                yield from self._beside(fd, name)

    def _beside(self, fd: int, session: str) -> Iterator[FoundTranscript | FoundNotes | Skipped]:
        """The contents of one session's folder: notes, and transcripts of sub-agents."""
        base = f"{self.folder}/{session}"
        try:
            with open_folder(session, fd) as inner:
                yield from _notes(inner, self.folder, session)
                with open_folder("subagents", inner) as agents:
                    yield from self._agents_below(agents, f"{base}/subagents", session, MAX_DEPTH)
        except FileNotFoundError:
            return  # no sub-agents: the usual case
        except OSError as error:
            yield Skipped(printable(base), why(error))

    def _agents_below(
        self, fd: int, base: str, session: str, depth: int
    ) -> Iterator[FoundTranscript | Skipped]:
        for entry in entries(fd, base, self.known, self.same_agents):
            if isinstance(entry, Skipped):
                yield entry
                continue
            name, found = entry
            if stat.S_ISDIR(found.st_mode) and depth > 0:
                yield from self._deeper(fd, f"{base}/{name}", name, session, depth)
            elif name.startswith(AGENT_PREFIX) and name.endswith(SUFFIX):
                yield _transcript(base, name, found, parent=session)

    def _deeper(
        self, fd: int, path: str, name: str, session: str, depth: int
    ) -> Iterator[FoundTranscript | Skipped]:
        try:
            with open_folder(name, fd) as inner:
                yield from self._agents_below(inner, path, session, depth - 1)
        except OSError as error:
            yield Skipped(printable(path), why(error))


def _transcript(folder: str, name: str, found: os.stat_result, parent: str) -> FoundTranscript | Skipped:
    path = f"{folder}/{name}"
    if not stat.S_ISREG(found.st_mode) or not name.isprintable():
        return Skipped(printable(path), odd(name, found) or "not a regular file")
    return FoundTranscript(
        path,
        "subagent" if parent or name.startswith(AGENT_PREFIX) else "main",
        found.st_size,
        storable_ns(found.st_mtime_ns),
        found.st_ino,
        parent,
    )


def _notes(fd: int, folder: str, session: str) -> Iterator[FoundNotes]:
    # Usually there are no notes; a link in their place is ignored.
    with suppress(OSError), open_folder(_NOTES, fd) as notes:
        found = os.stat("summary.md", dir_fd=notes, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode):
            path = f"{session}/{_NOTES}/summary.md"
            size, mtime_ns, _ = seen(found)
            yield FoundNotes(f"{folder}/{session}{SUFFIX}", folder, path, size, mtime_ns)


def cwd_of(paths: list[str]) -> str | None:
    """The first working directory in these transcripts; reads the first 64 KB of at most five."""
    return next(filter(None, map(_first_cwd, paths[:_PEEK_FILES])), None)


def _first_cwd(path: str) -> str | None:
    try:
        head = read_small(path, _PEEK_BYTES)
    except OSError:
        return None
    for line in head.split(b"\n"):
        if b'"cwd"' not in line:
            continue
        with suppress(*DECODE_ERRORS):
            where = _decode_where(line).cwd
            if where and os.path.isabs(where) and "\0" not in where:
                return where
    return None


# --- Running sessions ------------------------------------------------------------------------------------------------

MAX_ENTRIES = 2_000  # of the agent's registry of processes; chosen
_ENTRY_BYTES = 1 << 16  # an entry has a few hundred; chosen


class _Entry(msgspec.Struct, rename="camel"):
    session_id: str
    pid: int | None = None


_decode = msgspec.json.Decoder(_Entry).decode


def live_sessions(root: str, alive: Callable[[int], bool]) -> Iterator[LiveSession | Skipped]:
    """Sessions whose process is alive; none without a registry (older versions)."""
    folder = os.path.join(root, "sessions")
    try:
        with open_folder(folder) as fd:
            for count, entry in enumerate(entries(fd, folder)):
                if count >= MAX_ENTRIES:
                    return
                if isinstance(entry, Skipped):
                    yield entry
                elif entry[0].endswith(".json") and stat.S_ISREG(entry[1].st_mode):
                    yield from _live(fd, folder, entry[0], alive)
    except FileNotFoundError:
        return
    except OSError as error:
        yield Skipped(printable(folder), why(error))


def _live(fd: int, folder: str, name: str, alive: Callable[[int], bool]) -> Iterator[LiveSession | Skipped]:
    path = printable(f"{folder}/{name}")
    try:
        entry = _decode(read_small(name, _ENTRY_BYTES, dir_fd=fd))
    except FileNotFoundError:
        return
    except OSError as error:
        yield Skipped(path, why(error))
        return
    except DECODE_ERRORS:
        yield Skipped(path, "not an entry of a running session that we can read")
        return
    stem = name.removesuffix(".json")
    pid = entry.pid if entry.pid is not None else int(stem) if stem.isascii() and stem.isdigit() else 0
    if pid > 0 and alive(pid):
        yield LiveSession(entry.session_id, pid)


def agent_beside(path: str) -> str:
    """The agent named in `agent-<id>.meta.json`, else ""."""
    try:
        found = json.loads(read_small(path.removesuffix(".jsonl") + ".meta.json", _META_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    return memory_name(found.get("agentType")) if isinstance(found, dict) else ""


def memory_name(agent: object) -> str:
    """The folder name of an agent's memory: `plugin-reviewer` for `plugin:reviewer`."""
    return agent.strip().replace(":", "-")[:200] if isinstance(agent, str) else ""


def agents_in(main: str) -> dict[str, str]:
    """Maps the id of each sub-agent in a main transcript to the agent's name. Never raises: unreadable lines are skipped."""
    kinds: dict[str, str] = {}
    calls: dict[str, str] = {}
    for line in _telling_lines(main):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and record.get("isSidechain") is not True:
            kinds.update(_started(record))
            calls.update(_answered(record))
    return {agent: kinds[call] for agent, call in calls.items() if kinds.get(call)}


def _telling_lines(main: str) -> Iterator[bytes]:
    try:
        with opened(main) as fd, open(fd, "rb", closefd=False) as file:
            left = MOST_BYTES
            while left > 0 and (line := file.readline(LONGEST_LINE)):
                left -= len(line)
                if _TELLS.search(line):
                    yield line
    except (OSError, ValueError):
        return


def _started(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(call id, agent) of every call in a record that starts an agent."""
    for block in _blocks(record):
        given = block.get("input")
        if block.get("type") == "tool_use" and isinstance(given, dict) and isinstance(block.get("id"), str):
            agent = memory_name(given.get("subagent_type"))
            if agent:
                yield block["id"], agent


def _answered(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(sub-agent id, call id) if the record is a sub-agent's result or progress."""
    for told, call in (
        (record.get("toolUseResult"), next((b.get("tool_use_id") for b in _blocks(record)), None)),
        (record.get("data"), record.get("parentToolUseID")),
    ):
        if isinstance(told, dict) and isinstance(told.get("agentId"), str) and isinstance(call, str):
            yield told["agentId"], call


def _blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
