"""What one transcript amounts to, kept so that the next reading goes on where this one stopped. Pure: no Django."""

from __future__ import annotations

from datetime import datetime
from typing import Self

import msgspec
from msgspec import Raw, Struct, field

from .records import Line, Message, present
from .times import Stamp, span

MAX_TYPES = 64
MAX_DISTINCT = 32
TITLE_CAP = 300
OTHER = "(other)"

_decode_text = msgspec.json.Decoder(str)


class Summary(Struct, omit_defaults=True):
    """Facts of one file, from its first byte to the cursor. Saved with `to_json`, continued with `from_json`.

    Times are aware UTC. `types` counts lines by type (at most 64 names, then "(other)"). Turns leave out
    sub-agents: `user_turns` are typed ones, `assistant_turns` distinct consecutive messages.
    """

    session_id: str = ""
    root_uuid: str = ""
    version: str = ""
    entrypoint: str = ""
    mode: str = ""
    agent_id: str = ""
    first_at: datetime | None = None
    last_at: datetime | None = None
    first_cwd: str = ""
    last_cwd: str = ""
    cwds: list[str] = field(default_factory=list)
    first_branch: str = ""
    last_branch: str = ""
    branches: list[str] = field(default_factory=list)
    custom_title: str = ""
    ai_title: str = ""
    last_prompt: str = ""
    summary: str = ""
    first_typed: str = ""
    first_text: str = ""
    types: dict[str, int] = field(default_factory=dict)
    lines: int = 0
    malformed: int = 0
    compactions: int = 0
    user_turns: int = 0
    assistant_turns: int = 0
    corrections: int = 0
    memory_writes: int = 0
    main_lines: int = 0
    sidechain_lines: int = 0
    last_message_id: str = ""

    @property
    def title(self) -> str:
        """The person's own title, else the agent's, else the last prompt, the summary, the first thing typed.

        A session with nothing typed (an accepted plan, a sub-agent) takes its first user text.
        """
        return (
            self.custom_title
            or self.ai_title
            or self.last_prompt
            or self.summary
            or self.first_typed
            or self.first_text
        )

    @property
    def is_sidechain_only(self) -> bool:
        """A sub-agent's transcript: it has conversation lines, none of them of the main conversation."""
        return self.sidechain_lines > 0 and self.main_lines == 0

    @property
    def remote(self) -> bool:
        """Whether the session ran in the agent's remote mode, as far as its lines tell."""
        return "remote" in self.entrypoint or "remote" in self.mode

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, saved: bytes | str) -> Self:
        """Raises msgspec.DecodeError for something that `to_json` did not write."""
        return msgspec.json.decode(saved, type=cls)

    def add(self, line: Line) -> None:
        """Count one record (times, typed text, corrections and memory writes are added by the scan that finds them)."""
        kind = line.type
        self.lines += 1
        types = self.types
        if kind in types:
            types[kind] += 1
        else:
            self._count_new_type(kind)
        cwd, branch = line.cwd, line.git_branch
        if cwd is not None and cwd != self.last_cwd:
            self._add_cwd(cwd)
        if branch and branch != self.last_branch:
            self._add_branch(branch)
        if kind == "progress":
            return
        if kind in ("assistant", "user"):
            self._add_turn(line)
        else:
            self._add_rare(line)

    def _count_new_type(self, kind: str) -> None:
        name = kind[:80] if len(self.types) < MAX_TYPES else OTHER
        self.types[name] = self.types.get(name, 0) + 1

    def add_times(self, stamps: list[Stamp]) -> None:
        """Widen the span by the timestamps of many records."""
        if (found := span(stamps)) is not None:
            self.first_at = min(self.first_at or found[0], found[0])
            self.last_at = max(self.last_at or found[1], found[1])

    def _add_cwd(self, cwd: str) -> None:
        self.first_cwd = self.first_cwd or cwd
        self.last_cwd = cwd
        _add_distinct(self.cwds, cwd)

    def _add_branch(self, branch: str) -> None:
        self.first_branch = self.first_branch or branch
        self.last_branch = branch
        _add_distinct(self.branches, branch)

    def _add_turn(self, line: Line) -> None:
        if line.session_id and line.session_id != self.session_id:
            self.session_id = line.session_id
        if line.version and line.version != self.version:
            self.version = line.version
        if line.entrypoint:
            self.entrypoint = line.entrypoint
        if not self.root_uuid and line.uuid:
            self.root_uuid = line.uuid
        if line.is_sidechain:
            self.sidechain_lines += 1
            self.agent_id = self.agent_id or line.agent_id or ""
            return
        self.main_lines += 1
        message = line.message
        if line.type == "assistant" and isinstance(message, Message):
            name = message.id or line.uuid or ""
            if name != self.last_message_id:
                self.last_message_id = name
                self.assistant_turns += 1

    def _add_rare(self, line: Line) -> None:
        if line.session_id and not self.session_id:
            self.session_id = line.session_id
        if line.type == "system":
            self.compactions += line.subtype == "compact_boundary"
        elif line.type == "custom-title":
            self.custom_title = _title(line.custom_title) or self.custom_title
        elif line.type == "ai-title":
            self.ai_title = _title(line.ai_title) or self.ai_title
        elif line.type == "last-prompt":
            self.last_prompt = _title(line.last_prompt) or self.last_prompt
        elif line.type == "summary":
            self.summary = _title(line.summary) or self.summary
        elif line.type == "mode":
            self.mode = _title(line.mode) or self.mode

    def add_typed(self, text: str, *, correction: bool) -> None:
        self.user_turns += 1
        self.corrections += correction
        self.first_typed = self.first_typed or one_line(text)


def _add_distinct(values: list[str], value: str) -> None:
    if len(values) < MAX_DISTINCT and value not in values:
        values.append(value)


def _title(raw: Raw) -> str:
    if not present(raw):
        return ""
    try:
        return one_line(_decode_text.decode(raw))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


def one_line(text: str) -> str:
    """Text as a title: one line, at most 300 characters."""
    return " ".join(text[: 4 * TITLE_CAP].split())[:TITLE_CAP]
