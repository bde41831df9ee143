"""Writes the demo to disk: a config folder with transcripts and memory directories, and small repositories next to it."""

import datetime as dt
import hashlib
import json
import os
import re
import tomllib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dreams.lib.agents.claude_code import slug_of

#: The invented projects, each different and as untidy as real ones. `ago` is in days: since a file was last written, or since a
#: talk's last line.
PROJECTS = ("orders-api", "pocket-garden", "homelab", "bookshelf")
_DAYS_AGO = re.compile(r"\{(\d+) days ago\}")
Told = dict[str, Any]


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


def transcript(talk: Told, cwd: str, seed: str, last: dt.datetime) -> Transcript:
    """The transcript of a talk whose last line was written at `last`."""
    ids = _Ids(f"{seed}/{talk['title']}")
    session, branch, length = ids.uuid(), talk.get("branch", "main"), _STEP * (2 * len(talk["turns"]) + 2)
    writer = _Writer(ids, session, cwd, branch, last - length)
    main = [_dumped(line) for line in writer.talk(talk)]
    if "helper" not in talk:
        return Transcript(session, main)
    helper = ids.hex(8)
    aside = _Writer(ids, session, cwd, branch, last - length / 2, helper)
    return Transcript(session, main, helper, [_dumped(line) for line in aside.helper(talk["helper"])])


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

    def talk(self, talk: Told) -> Iterator[Line]:
        yield {"type": "permission-mode", "permissionMode": "acceptEdits", "sessionId": self._session}
        yield self._reminder()
        typed = ""
        for number, turn in enumerate(talk["turns"]):
            if "you" in turn:
                typed = turn["you"]
                yield self._user(typed)
            else:
                yield from self._agent(turn)
            if number == 1:
                yield {"type": "ai-title", "aiTitle": talk["title"], "sessionId": self._session}
        yield {"type": "last-prompt", "lastPrompt": typed, "sessionId": self._session}

    def helper(self, helper: Told) -> Iterator[Line]:
        """A sub-agent that the talk started: its task, and its turns, of which the last one is its answer."""
        yield self._user(helper["task"])
        for turn in helper["turns"]:
            yield from self._agent(turn)

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

    def _agent(self, turn: Told) -> Iterator[Line]:
        """Its words and, if it used one, a tool with its input and result."""
        blocks: list[Line] = [{"type": "text", "text": turn["agent"]}] if turn["agent"] else []
        call = f"toolu_{self._ids.hex(24)}"
        if "tool" in turn:
            blocks.append({"type": "tool_use", "id": call, "name": turn["tool"], "input": turn["input"]})
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
            body |= {"stop_reason": "tool_use" if "tool" in turn else "end_turn", "usage": usage}
            yield self._line("assistant", message=body, requestId=request)
        if "tool" in turn:
            yield self._result(turn["result"], call, failed=turn.get("failed", False))

    def _result(self, result: str, call: str, *, failed: bool) -> Line:
        block: Line = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": result,
            "is_error": failed,
        }
        seen: Line = {"stdout": result, "stderr": "", "interrupted": False}
        return self._line(
            "user",
            message={"role": "user", "content": [block]},
            toolUseResult=f"Error: {result}" if failed else seen,
        )

    def _usage(self, turn: Told) -> Line:
        written = 40 + len(turn["agent"]) // 3 + len(str(turn.get("input", {}))) // 3
        read, self._tokens = self._tokens, self._tokens + written + len(turn.get("result", "")) // 3
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


def write(folder: Path, final: Path, now: dt.datetime) -> None:
    """Writes the demo into `folder`, which will be moved to `final`, with all times relative to `now` (aware)."""
    _file(folder / "README.md", README, now)
    for name in PROJECTS:
        project = tomllib.loads((Path(__file__).parent / "projects" / f"{name}.toml").read_text("utf-8"))
        home = final / "code" / name
        _repository(folder / "code" / name, project["files"], now)
        for talk in project["talks"]:
            _transcript(folder / "projects" / slug_of(str(home)), str(home), name, talk, _before(now, talk))
        _memory(folder / "projects" / slug_of(str(home)) / "memory", project, now)


def _before(now: dt.datetime, told: Told) -> dt.datetime:
    return now - dt.timedelta(days=told["ago"])


def _repository(folder: Path, files: dict[str, str], now: dt.datetime) -> None:
    for part in ("objects", "refs/heads"):
        (folder / ".git" / part).mkdir(parents=True)
    for path, text in ({f".git/{name}": text for name, text in GIT.items()} | files).items():
        _file(folder / path, text, now)


def _transcript(folder: Path, cwd: str, seed: str, talk: Told, at: dt.datetime) -> None:
    made = transcript(talk, cwd, seed, at)
    _file(folder / f"{made.session_id}.jsonl", "".join(made.lines), at)
    if made.helper_id:
        aside = folder / made.session_id / "subagents" / f"agent-{made.helper_id}.jsonl"
        _file(aside, "".join(made.helper_lines), at)


def _memory(folder: Path, project: Told, now: dt.datetime) -> None:
    for note in project["notes"]:
        _file(folder / note["path"], _dated(note["text"], _before(now, note), now), _before(now, note))
    if "tidied" in project:
        _file(folder / ".consolidate-lock", "", now - dt.timedelta(days=project["tidied"]))
    _set_time(folder, max(_before(now, note) for note in project["notes"]))


def _dated(text: str, modified: dt.datetime, now: dt.datetime) -> str:
    """The text with the moment of its last change, and days before now, in place of `{modified}` and `{5 days ago}`."""
    text = text.replace("{modified}", modified.replace(microsecond=0).isoformat())
    return _DAYS_AGO.sub(lambda found: str((now - dt.timedelta(days=int(found[1]))).date()), text)


def _file(path: Path, text: str, at: dt.datetime) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    _set_time(path, at)


def _set_time(path: Path, at: dt.datetime) -> None:
    os.utime(path, (at.timestamp(), at.timestamp()))
