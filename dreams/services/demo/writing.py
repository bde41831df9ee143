"""Writes the demo to disk: a config folder with transcripts and memory directories, and small repositories next to it."""

import datetime as dt
import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dreams.lib.agents.claude_code import slug_of

# The parts of a demo before it is written: projects, notes, talks. Pure: no Django.


@dataclass(frozen=True, slots=True)
class You:
    """Something a person typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Agent:
    """One turn of the agent: its words and, if it used one, a tool with its input and result."""

    text: str
    tool: str = ""
    given: Mapping[str, object] = field(default_factory=dict)
    result: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Helper:
    """A sub-agent that the talk started: its task and its answer."""

    task: str
    answer: str
    turns: tuple[Agent, ...] = ()


Turn = You | Agent


@dataclass(frozen=True, slots=True)
class Talk:
    """One session. `ago` is the time since its last line; `title` is written into it as the agent would."""

    title: str
    ago: dt.timedelta
    turns: tuple[Turn, ...]
    branch: str = "main"
    helper: Helper | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A file of a memory directory, last written `ago`."""

    path: str
    text: str
    ago: dt.timedelta


@dataclass(frozen=True, slots=True)
class DemoProject:
    """A repository folder with notes and talks. `consolidated` is how long ago its notes were last tidied."""

    name: str
    notes: tuple[Note, ...]
    talks: tuple[Talk, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    consolidated: dt.timedelta | None = None


def days(number: float) -> dt.timedelta:
    return dt.timedelta(days=number)


# Talks as the JSON lines that Claude Code writes. Pure: no Django.


VERSION = "2.1.44"
MODEL = "claude-sonnet-5-5"
Line = dict[str, object]


@dataclass(frozen=True, slots=True)
class Transcript:
    """The lines of one session and of its sub-agent, ready to be written."""

    session_id: str
    lines: list[str]
    helper_id: str = ""
    helper_lines: list[str] = field(default_factory=list)


def transcript(talk: Talk, cwd: str, seed: str, now: dt.datetime) -> Transcript:
    """The transcript of a talk that ended `talk.ago` before `now`."""
    ids = _Ids(f"{seed}/{talk.title}")
    session = ids.uuid()
    last = now - talk.ago
    writer = _Writer(ids, session, cwd, talk.branch, last - _length(talk))
    main = [_dumped(line) for line in writer.talk(talk)]
    if talk.helper is None:
        return Transcript(session, main)
    helper = ids.hex(8)
    aside = _Writer(ids, session, cwd, talk.branch, last - _length(talk) / 2, helper)
    return Transcript(session, main, helper, [_dumped(line) for line in aside.helper(talk.helper)])


def _length(talk: Talk) -> dt.timedelta:
    return _STEP * (2 * len(talk.turns) + 2)


_STEP = dt.timedelta(seconds=41)  # between two turns; chosen


def _dumped(line: Line) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


class _Ids:
    """Ids that look random but are the same every time."""

    def __init__(self, seed: str) -> None:
        self._seed, self._count = seed, 0

    def hex(self, length: int) -> str:
        self._count += 1
        return hashlib.sha256(f"{self._seed}/{self._count}".encode()).hexdigest()[:length]

    def uuid(self) -> str:
        return str(uuid.UUID(self.hex(32), version=4))


class _Writer:
    def __init__(
        self, ids: _Ids, session: str, cwd: str, branch: str, start: dt.datetime, helper: str = ""
    ) -> None:
        self._ids, self._at, self._parent = ids, start, ""
        self._common: Line = {"isSidechain": bool(helper), "userType": "external", "cwd": cwd}
        self._common |= {"sessionId": session, "version": VERSION, "gitBranch": branch}
        self._session = session
        if helper:
            self._common["agentId"] = helper
        self._tokens = 11_000

    def talk(self, talk: Talk) -> Iterator[Line]:
        yield {"type": "permission-mode", "permissionMode": "acceptEdits", "sessionId": self._session}
        yield self._reminder()
        typed = ""
        for number, turn in enumerate(talk.turns):
            if isinstance(turn, You):
                typed = turn.text
                yield self._user(turn.text)
            else:
                yield from self._agent(turn)
            if number == 1:
                yield {"type": "ai-title", "aiTitle": talk.title, "sessionId": self._session}
        yield {"type": "last-prompt", "lastPrompt": typed, "sessionId": self._session}

    def helper(self, helper: Helper) -> Iterator[Line]:
        yield self._user(helper.task)
        for turn in helper.turns:
            yield from self._agent(turn)
        yield from self._agent(Agent(helper.answer))

    def _line(self, kind: str, **more: object) -> Line:
        own = self._ids.uuid()
        line: Line = {"parentUuid": self._parent or None, **self._common, "type": kind, **more}
        line |= {"uuid": own, "timestamp": self._at.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")}
        self._parent = own
        self._at += _STEP
        return line

    def _reminder(self) -> Line:
        """A hook's text at the start: its role is the person's, its words are not."""
        text = "<system-reminder>\nThe working tree is clean.\n</system-reminder>"
        return self._line("user", isMeta=True, message={"role": "user", "content": text})

    def _user(self, text: str) -> Line:
        return self._line("user", message={"role": "user", "content": text})

    def _agent(self, turn: Agent) -> Iterator[Line]:
        blocks: list[Line] = [{"type": "text", "text": turn.text}] if turn.text else []
        call = f"toolu_{self._ids.hex(24)}"
        if turn.tool:
            blocks.append({"type": "tool_use", "id": call, "name": turn.tool, "input": dict(turn.given)})
        message = f"msg_{self._ids.hex(24)}"
        request = f"req_{self._ids.hex(24)}"
        usage = self._usage(turn)
        for block in blocks:
            body: Line = {
                "id": message,
                "type": "message",
                "role": "assistant",
                "model": MODEL,
                "content": [block],
            }
            body |= {"stop_reason": "tool_use" if turn.tool else "end_turn", "usage": usage}
            yield self._line("assistant", message=body, requestId=request)
        if turn.tool:
            yield self._result(turn, call)

    def _result(self, turn: Agent, call: str) -> Line:
        block: Line = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": turn.result,
            "is_error": turn.failed,
        }
        seen: Line = {"stdout": turn.result, "stderr": "", "interrupted": False}
        return self._line(
            "user",
            message={"role": "user", "content": [block]},
            toolUseResult=f"Error: {turn.result}" if turn.failed else seen,
        )

    def _usage(self, turn: Agent) -> Line:
        written = 40 + len(turn.text) // 3 + len(str(turn.given)) // 3
        read, self._tokens = self._tokens, self._tokens + written + len(turn.result) // 3
        return {
            "input_tokens": 6,
            "output_tokens": written,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": self._tokens - read,
        }


README = """# Demo

Everything in this folder was invented by memoryweb, because no config folder of a coding agent was found on this
machine. Delete the folder to be rid of it; nothing else refers to it.
"""
GIT = {
    "HEAD": "ref: refs/heads/main\n",
    "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
}


@dataclass(frozen=True, slots=True)
class Demo:
    """All projects, with dates relative to one time."""

    now: dt.datetime
    projects: tuple[DemoProject, ...]


def write(folder: Path, final: Path, demo: Demo) -> None:
    """Writes `demo` into `folder`, which will be moved to `final`."""
    _file(folder / "README.md", README, demo.now)
    for project in demo.projects:
        home = final / "code" / project.name
        _repository(folder / "code" / project.name, project, demo.now)
        _transcripts(folder / "projects" / slug_of(str(home)), str(home), project, demo.now)
        _memory(folder / "projects" / slug_of(str(home)) / "memory", project, demo.now)


def _repository(folder: Path, project: DemoProject, now: dt.datetime) -> None:
    for part in ("objects", "refs/heads"):
        (folder / ".git" / part).mkdir(parents=True)
    files = {f".git/{name}": text for name, text in GIT.items()} | dict(project.files)
    for path, text in files.items():
        _file(folder / path, text, now)


def _transcripts(folder: Path, cwd: str, project: DemoProject, now: dt.datetime) -> None:
    for talk in project.talks:
        _transcript(folder, cwd, project.name, talk, now)


def _transcript(folder: Path, cwd: str, seed: str, talk: Talk, now: dt.datetime) -> None:
    made = transcript(talk, cwd, seed, now)
    at = now - talk.ago
    _file(folder / f"{made.session_id}.jsonl", "".join(made.lines), at)
    if made.helper_id:
        aside = folder / made.session_id / "subagents" / f"agent-{made.helper_id}.jsonl"
        _file(aside, "".join(made.helper_lines), at)


def _memory(folder: Path, project: DemoProject, now: dt.datetime) -> None:
    for note in project.notes:
        _file(folder / note.path, note.text, now - note.ago)
    if project.consolidated is not None:
        _file(folder / ".consolidate-lock", "", now - project.consolidated)
    newest = min((note.ago for note in project.notes), default=dt.timedelta())
    _set_time(folder, now - newest)


def _file(path: Path, text: str, at: dt.datetime) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    _set_time(path, at)


def _set_time(path: Path, at: dt.datetime) -> None:
    os.utime(path, (at.timestamp(), at.timestamp()))
