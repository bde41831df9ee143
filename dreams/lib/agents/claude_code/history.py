"""The prompt history (`history.jsonl`): every prompt as typed, one JSON object per line. Pure: no Django.

A prompt shows a paste as `[Pasted text #1 +20 lines]`; a short text is in the line, a longer one in a file that the
agent names by a hash. Pictures are only counted.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

import msgspec

from dreams.lib.agents.transcripts.reader import opened
from dreams.lib.agents.transcripts.records import DECODE_ERRORS, instant
from dreams.lib.secrets.redact import cut

FILE = "history.jsonl"
PASTES = "paste-cache"
INLINE_CHARS = 1_024  # the agent's own constant: longer pasted text is stored in a file
TEXT_CHARS = 16_000  # of a prompt, as of one in a transcript (`transcripts/typed.py`)
MOST_PASTES = 50  # of one prompt; chosen
MAX_LINE_BYTES = 4 << 20  # a prompt with its pastes; chosen
SHOWN_BYTES = 64 << 10  # of a kept paste; chosen
_HASH = re.compile(r"[0-9a-f]{4,128}")
_COMMAND = re.compile(r"/[\w:.-]+(?:\s|\Z)|!")


@dataclass(frozen=True, slots=True)
class Paste:
    """A pasted text: the text, at most 1,024 characters, or the hash under which the agent stores it."""

    number: int
    text: str = ""
    hash: str = ""


@dataclass(frozen=True, slots=True)
class PromptEntry:
    """One prompt. `project` is the working folder; old lines have no `session_id`."""

    offset: int
    line: int
    display: str
    at: datetime | None
    project: str
    session_id: str
    pastes: tuple[Paste, ...] = ()
    images: int = 0

    @property
    def whole(self) -> str:
        """The prompt with its known pastes filled in."""
        text = self.display
        for paste in self.pastes:
            if paste.text:
                place = re.search(rf"\[Pasted text #{paste.number}\b[^\]]*\]", text)
                text = text.replace(place[0], paste.text) if place else text
        return text


class History:
    """One open history, read from `offset` on. Afterwards `offset` and `line` are where to continue."""

    def __init__(self, fd: int, offset: int = 0, line: int = 0) -> None:
        self._fd, self.offset, self.line = fd, offset, line
        self.malformed = 0

    def entries(self) -> Iterator[PromptEntry]:
        """Every prompt except the agent's commands. A half-written last line waits for the next reading. Raises OSError."""
        with os.fdopen(os.dup(self._fd), "rb") as file:
            file.seek(self.offset)
            while raw := file.readline(MAX_LINE_BYTES):
                start, is_whole = self.offset, raw.endswith(b"\n")
                if not is_whole and len(raw) < MAX_LINE_BYTES:
                    return
                while raw and not raw.endswith(b"\n"):
                    self.offset += len(raw)
                    raw = file.readline(MAX_LINE_BYTES)
                self.offset += len(raw)
                self.line += 1
                if entry := self._entry(raw if is_whole else b"?", start):
                    yield entry

    def _entry(self, raw: bytes, start: int) -> PromptEntry | None:
        if not raw.strip():
            return None
        try:
            found = msgspec.json.decode(raw)
        except DECODE_ERRORS:
            found = None
        if not isinstance(found, dict) or not isinstance(found.get("display"), str):
            self.malformed += 1
            return None
        display = cut(found["display"].strip(), TEXT_CHARS)
        if not display or _COMMAND.match(display):
            return None
        pasted = list(_pasted(found.get("pastedContents")))
        return PromptEntry(
            start,
            self.line,
            display,
            _moment(found.get("timestamp")),
            _text(found.get("project")),
            _text(found.get("sessionId")),
            tuple(_pastes(pasted)),
            sum(one.get("type") == "image" for one in pasted),
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _moment(value: object) -> datetime | None:
    return instant(value) if isinstance(value, str | int | float) else None


def _pasted(found: object) -> Iterator[dict[str, object]]:
    """A map by number; early versions wrote a list."""
    values: Iterable[object] = (
        found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    )
    for number, value in enumerate(values, 1):
        if number > MOST_PASTES:
            return
        if isinstance(value, dict):
            yield {"id": number, **value}


def _pastes(pasted: Iterable[dict[str, object]]) -> Iterator[Paste]:
    for one in pasted:
        number = one["id"] if isinstance(one["id"], int) else 0
        text, key = _text(one.get("content")), _text(one.get("contentHash"))
        if one.get("type") == "image":
            continue
        if text:
            yield Paste(number, cut(text, INLINE_CHARS))
        elif _HASH.fullmatch(key):
            yield Paste(number, hash=key)


def pasted_text(root: str, key: str) -> str | None:
    """A paste that the agent stores by its hash, at most 64 KB of it; None if it no longer exists."""
    if not _HASH.fullmatch(key):
        return None
    try:
        with opened(os.path.join(root, PASTES, f"{key}.txt")) as fd:
            return os.read(fd, SHOWN_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
