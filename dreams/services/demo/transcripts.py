"""Talks as the JSON lines that Claude Code writes. Pure: no Django.

The shapes are those of real transcripts, with their habits: a turn of the agent stands on several lines that repeat
one usage, tool results arrive as user lines, and much of what has the role "user" was typed by nobody.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

from dreams.services.demo.model import Agent, Helper, Talk, You

VERSION = "2.1.44"
MODEL = "claude-sonnet-5-5"
Line = dict[str, object]


@dataclass(frozen=True, slots=True)
class Transcript:
    """Lines of one session, and those of its sub-agent, each ready to be written."""

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


_STEP = dt.timedelta(seconds=41)


def _dumped(line: Line) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


class _Ids:
    """Ids that look random and are the same every time."""

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
        """What a hook says at the start: the role is the person's, the words are not."""
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
