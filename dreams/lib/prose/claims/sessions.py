"""Reads the transcripts in a folder as evidence: messages, tool calls and their results, in file order. Pure.

Tool calls are read as values, not as escaped JSON. A result has its call as heading, so that a file's lines are found by its
name. Each transcript is read once, and a few are cached.
"""

import os
from collections import OrderedDict
from pathlib import Path

from dreams.lib.agents.transcripts.reader import MAX_LINE_BYTES, Source, opened
from dreams.lib.agents.transcripts.records import Json, objects
from dreams.lib.agents.transcripts.typed_prompts import parted
from dreams.lib.files import safefs
from dreams.lib.prose.claims.answers import ClaimCheck, check
from dreams.lib.prose.claims.evidence import SessionText

_HEADING = 400  # most code points of a value that describes a call
_DEEPEST = 8  # folders; chosen
_OF_THE_WEB = frozenset({"webfetch", "websearch"})  # tools that return text of strangers
# Lines recorded as the user's that the agent or hooks wrote: summaries, plans, prompts of sub-agents.
_OF_THE_AGENT = ("isCompactSummary", "isSidechain", "planContent")
_OF_HOOKS = ("isMeta", "isVisibleInTranscriptOnly", "toolUseResult")
_FIRST, _LAST = 60_000, 20_000  # code points kept of a result


def read(source: Source) -> SessionText:
    """The file as evidence; unreadable lines are skipped. Raises OSError."""
    reading = _Reading()
    with opened(source) as fd, open(fd, "rb", buffering=1 << 20, closefd=False) as file:
        number = 0
        while raw := file.readline(MAX_LINE_BYTES):
            number += 1
            for _, found in objects(raw):
                if isinstance(found, dict):
                    reading.record(found, number)
            # The rest of a too long line is skipped and not counted.
            while len(raw) >= MAX_LINE_BYTES and not raw.endswith(b"\n"):
                raw = file.readline(MAX_LINE_BYTES)
    return reading.evidence


class _Reading:
    def __init__(self) -> None:
        self.evidence = SessionText()
        self._calls: dict[str, tuple[range, str]] = {}  # tool call → its heading, and the role of its result
        self._seen: set[int] = set()  # progress lines repeat sub-agents' messages

    def record(self, found: dict[str, Json], line: int) -> None:
        data = found.get("data")
        nested = data.get("message") if isinstance(data, dict) else None
        if isinstance(nested, dict):
            self.record(nested, line)
            return
        message = found.get("message")
        if isinstance(message, dict):
            self._message(message, line, _author(found, str(message.get("role") or "")))
        elif isinstance(message, str):
            self._text(message, line, str(found.get("type") or ""))
        else:
            self._loose(found, line)

    def _message(self, message: dict[str, Json], line: int, role: str) -> None:
        content = message.get("content")
        for block in content if isinstance(content, list) else [content]:
            if isinstance(block, str):
                self._text(block, line, role)
            elif isinstance(block, dict):
                self._block(block, line, role)

    def _block(self, block: dict[str, Json], line: int, role: str) -> None:
        kind = block.get("type")
        if kind in ("text", "thinking"):
            self._text(_string(block.get(str(kind))), line, role)
        elif kind == "tool_use":
            self._call(block, line)
        elif kind == "tool_result":
            self._result(block, line)

    def _loose(self, found: dict[str, Json], line: int) -> None:
        for name in ("summary", "content", "planContent"):
            self._text(_string(found.get(name)), line, "system")
        attachment = found.get("attachment")
        if isinstance(attachment, dict):
            for _, value in _leaves(attachment):
                self._text(value, line, "system")

    def _text(self, text: str, line: int, role: str) -> None:
        if not text.strip() or not self._is_new(text):
            return
        said, wrapped = parted(text) if role == "user" else (text, "")
        for words, whose in ((said, role), (wrapped, "system")):
            if words.strip():
                self.evidence.add(words, line, whose, prose=True)

    def _call(self, block: dict[str, Json], line: int) -> None:
        leaves = list(_leaves(block.get("input")))
        short = [f"{name}: {value}" for name, value in leaves if len(value) <= _HEADING and "\n" not in value]
        about = "\n".join([_string(block.get("name")), *short])
        if not self._is_new(f"{about}{[v for _, v in leaves]}"):
            return
        heading = self.evidence.add(about, line, "assistant", prose=False, keyed=True)
        name = _string(block.get("name")).lower().replace("_", "")
        self._calls[_string(block.get("id"))] = heading, "web" if name in _OF_THE_WEB else "tool"
        long = [value for _, value in leaves if len(value) > _HEADING or "\n" in value]
        if long:
            self.evidence.add("\n".join(long), line, "assistant", prose=False, heading=heading)

    def _result(self, block: dict[str, Json], line: int) -> None:
        content = block.get("content")
        parts = content if isinstance(content, list) else [content]
        heading, role = self._calls.get(_string(block.get("tool_use_id")), (range(0), "tool"))
        for part in parts:
            text = _string(part.get("text")) if isinstance(part, dict) else _string(part)
            if len(text) > _FIRST + _LAST:
                text = f"{text[:_FIRST]}\n{text[-_LAST:]}"
            if text.strip() and self._is_new(text):
                self.evidence.add(text, line, role, prose=False, heading=heading)

    def _is_new(self, text: str) -> bool:
        """Whether a text is short or was not added yet; files are read again and progress lines repeat messages."""
        if len(text) < 200:
            return True
        key = hash(text)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


def _author(found: dict[str, Json], role: str) -> str:
    """The author of a line; only typed text is a person's."""
    if role != "user":
        return role
    if any(map(found.get, _OF_THE_AGENT)):
        return "assistant"
    return "system" if any(map(found.get, _OF_HOOKS)) else role


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _leaves(value: Json, name: str = "", depth: int = 0) -> list[tuple[str, str]]:
    """All strings, numbers and booleans below a value as text, with their keys."""
    if isinstance(value, str):
        return [(name, value)]
    if isinstance(value, bool | int | float):
        return [(name, str(value).lower())]
    if depth > _DEEPEST:
        return []
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _leaves(item, key, depth + 1)]
    if isinstance(value, list):
        return [leaf for item in value[:500] for leaf in _leaves(item, name, depth + 1)]
    return []


KEPT = 64  # sessions in memory at a time, as rows of a batch come in any order
MOST_SESSIONS = 2_000  # of one question; chosen
MOST_UNITS = 600_000  # of all sessions kept together, about 300 MB
_ORDER = {"supported": 0, "contradicted": 1, "unsupported": 2}


class Sessions:
    """Checks claims in one named session, or in all below the folder. Raises OSError for the folder itself."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._root = safefs.Root.open(folder)
        self._read: OrderedDict[str, SessionText] = OrderedDict()

    def check(self, claim: str, session: str, before_line: int | None = None) -> ClaimCheck:
        """Raises ValueError, naming the session, when it cannot be read."""
        return check(self._evidence(session), claim, before_line)

    def check_all(self, claim: str) -> tuple[str, ClaimCheck]:
        """(session, answer): the first session that supports the claim, else the first that contradicts it, else the first."""
        best: tuple[str, ClaimCheck] = ("", ClaimCheck("unsupported", (), "there is no session"))
        for session in self.names():
            try:
                found = self.check(claim, session)
            except ValueError:
                continue
            if not best[0] or _ORDER[found.answer] < _ORDER[best[1].answer]:
                best = session, found
            if found.answer == "supported":
                break
        return best

    def names(self) -> list[str]:
        """The transcripts below the folder, by path."""
        entries = [entry for entry in self._root.walk(limit=200_000) if isinstance(entry, safefs.WalkedFile)]
        return [entry.rel for entry in entries if entry.rel.endswith(".jsonl")][:MOST_SESSIONS]

    def _evidence(self, session: str) -> SessionText:
        known = self._read.get(session)
        if known is None:
            known = self._read[session] = self._opened(session)
            while len(self._read) > 1 and (
                len(self._read) > KEPT or sum(len(each.units) for each in self._read.values()) > MOST_UNITS
            ):
                self._read.popitem(last=False)
        self._read.move_to_end(session)
        return known

    def _opened(self, session: str) -> SessionText:
        try:
            with self._root.open_file(Path(session).as_posix()) as file:
                return read(file.fileno())
        except (OSError, safefs.SafeFsError) as error:
            why = getattr(error, "strerror", None) or error
            raise ValueError(f"the transcript {session[:200]!r} cannot be read: {why}") from error
