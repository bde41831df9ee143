"""Full records by byte offset, bounded, for the session page and for evidence; and the agent's turn that a person
answered. Pure: no Django."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from dreams.lib.agents.transcripts.reader import Source, opened
from dreams.lib.agents.transcripts.records import Json, instant, line_from, objects, scrub, text_at
from dreams.lib.agents.transcripts.typed_prompts import typed_text
from dreams.lib.secrets.redact import cut

PartKind = Literal["text", "thinking", "tool_use", "tool_result", "image", "other"]
TEXT_CAP = 100_000  # characters of a text on a page; chosen
TOOL_CAP = 20_000  # of a call or its result; chosen
MAX_PAGE_BYTES = 8 << 20  # that one page reads; chosen
MAX_LINE_BYTES = 64 << 20  # as in `reader.py`
COUNT_BYTES = 1 << 30  # read to number a line; chosen
_CHUNK = 1 << 18  # read at once; chosen
_PROSE = ("summary", "lastPrompt", "customTitle", "aiTitle", "content", "planContent")


@dataclass(frozen=True, slots=True)
class TurnPart:
    """One block of a turn. `name` is the tool's, or describes an image; `tool_id` joins a call to its result; `cut`
    is true if the text was capped."""

    kind: PartKind
    text: str
    name: str = ""
    tool_id: str = ""
    is_error: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """One record. `offset` and `end` are the line's first byte and the one after its newline; `line` is 1-based.

    `line` is None if counting it would have meant reading more than a gigabyte. `type` and `subtype` are as the
    agent wrote them, including unknown ones; `agent_id` names the sub-agent that answered; `problem` is why
    a line has no content.
    """

    offset: int
    end: int
    line: int | None
    type: str
    subtype: str = ""
    role: str = ""
    at: datetime | None = None
    uuid: str = ""
    parent_uuid: str = ""
    sidechain: bool = False
    meta: bool = False
    compact_summary: bool = False
    model: str = ""
    typed: str | None = None
    parts: tuple[TurnPart, ...] = ()
    agent_id: str = ""
    problem: str = ""

    @property
    def text(self) -> str:
        """All text of the turn, including tool calls and results."""
        return "\n".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Page:
    """Turns in file order. `before` and `after` are the offsets of the neighbouring pages, None at an end.

    `line_after` is the line number that belongs to `after`.
    """

    turns: tuple[Turn, ...]
    size: int
    before: int | None
    after: int | None
    line_after: int | None


@dataclass(frozen=True, slots=True)
class _Span:
    offset: int
    end: int
    raw: bytes
    problem: str = ""


def page(
    source: Source,
    offset: int = 0,
    limit: int = 100,
    *,
    backward: bool = False,
    line: int | None = None,
    skip_types: frozenset[str] = frozenset(),
) -> Page:
    """Up to `limit` lines from `offset` on, or, if `backward`, those that end there.

    An offset inside a line means that line. `line` is the 1-based number of the line at `offset` if the caller
    knows it (from a link); else it is counted. At most 8 MB of lines are read, but always one line. Types in
    `skip_types` (such as progress) are skipped and do not count. Raises OSError.
    """
    with opened(source) as fd:
        size = os.fstat(fd).st_size
        at = _line_start(fd, min(max(offset, 0), size))
        spans = _backward(fd, at, limit) if backward else _forward(fd, at, size, limit, skip_types)
        first = spans[0].offset if spans else at
        end = spans[-1].end if spans else at
        number = _number_of(fd, first, at, len(spans), line, backward=backward)
    turns = _turns(spans, number, skip_types)
    lines = sum(span.raw.endswith(b"\n") or bool(span.problem) for span in spans)
    last = None if number is None else number + lines
    return Page(turns, size, first if first > 0 else None, end if end < size else None, last)


def line_at(source: Source, offset: int, *, line: int | None = None) -> Turn | None:
    """The turn whose line contains the byte at `offset`; None past the end of the file. Raises OSError."""
    found = page(source, offset, 1, line=line)
    return next((t for t in reversed(found.turns) if t.offset <= offset), None) or next(
        iter(found.turns), None
    )


def _number_of(fd: int, first: int, at: int, spans: int, line: int | None, *, backward: bool) -> int | None:
    if line is None:
        return _count_lines(fd, first)
    return line - spans if backward and first < at else line


def _count_lines(fd: int, offset: int) -> int | None:
    if offset > COUNT_BYTES:
        return None
    lines, pos = 1, 0
    while pos < offset:
        data = os.pread(fd, min(_CHUNK, offset - pos), pos)
        if not data:
            break
        lines += data.count(b"\n")
        pos += len(data)
    return lines


def _line_start(fd: int, offset: int) -> int:
    """The first byte of the line at `offset`; searches back at most one line cap."""
    pos = offset
    while pos > max(0, offset - MAX_LINE_BYTES):
        start = max(0, pos - _CHUNK)
        found = os.pread(fd, pos - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        pos = start
    return pos


def _line_end(fd: int, offset: int, size: int) -> int:
    """The byte after the newline of the line that starts at `offset`, or the file's end."""
    pos = offset
    while pos < size:
        data = os.pread(fd, _CHUNK, pos)
        found = data.find(b"\n")
        if found >= 0:
            return pos + found + 1
        if not data:
            break
        pos += len(data)
    return pos


def _span(fd: int, offset: int, end: int) -> _Span:
    if end - offset > MAX_LINE_BYTES:
        return _Span(offset, end, b"", f"the line is longer than {MAX_LINE_BYTES} bytes")
    return _Span(offset, end, os.pread(fd, end - offset, offset))


def _forward(fd: int, offset: int, size: int, limit: int, skip: frozenset[str]) -> list[_Span]:
    spans: list[_Span] = []
    wanted, budget = limit, MAX_PAGE_BYTES
    while offset < size and wanted > 0 and (budget > 0 or not spans):
        end = _line_end(fd, offset, size)
        span = _span(fd, offset, end)
        spans.append(span)
        budget -= end - offset
        wanted -= 0 if skip and _type_of(span) in skip else 1
        offset = end
    return spans


def _backward(fd: int, offset: int, limit: int) -> list[_Span]:
    spans: list[_Span] = []
    budget = MAX_PAGE_BYTES
    while offset > 0 and len(spans) < limit and (budget > 0 or not spans):
        start = _line_start(fd, offset - 1)
        spans.append(_span(fd, start, offset))
        budget -= offset - start
        offset = start
    return spans[::-1]


def _type_of(span: _Span) -> str:
    return text_at(next(iter(objects(span.raw)), (0, ""))[1], "type")


def _turns(spans: list[_Span], number: int | None, skip: frozenset[str]) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    for index, span in enumerate(spans):
        line = None if number is None else number + index
        turns.extend(turn for turn in _turns_of(span, line) if turn.type not in skip)
    return tuple(turns)


def _turns_of(span: _Span, line: int | None) -> list[Turn]:
    if span.problem:
        return [Turn(span.offset, span.end, line, "", problem=span.problem)]
    turns = []
    for at, found in objects(span.raw):
        if isinstance(found, dict):
            turns.append(turn_from(found, span.offset + at, span.end, line))
        else:
            turns.append(Turn(span.offset + at, span.end, line, "", problem=found))
    return turns


def turns_of_line(raw: bytes, offset: int, line: int | None) -> list[Turn]:
    """The turns of one line's bytes, its newline included."""
    return _turns_of(_Span(offset, offset + len(raw), raw), line)


def turn_from(found: dict[str, Json], offset: int, end: int, line: int | None) -> Turn:
    """A turn from a parsed record, whatever its type."""
    record = line_from(found)
    return Turn(
        offset=offset,
        end=end,
        line=line,
        type=record.type,
        subtype=record.subtype or "",
        role=text_at(found, "message", "role"),
        at=instant(record.timestamp),
        uuid=record.uuid or "",
        parent_uuid=record.parent_uuid or "",
        sidechain=bool(record.is_sidechain),
        meta=bool(record.is_meta),
        compact_summary=bool(record.is_compact_summary),
        model=text_at(found, "message", "model"),
        typed=typed_text(record),
        parts=_parts(found),
        agent_id=text_at(found, "toolUseResult", "agentId"),
    )


def _parts(found: dict[str, Json]) -> tuple[TurnPart, ...]:
    message = found.get("message")
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, list):
        return tuple(_part(block) for block in content)
    if isinstance(content, str):
        return (_capped("text", content),)
    texts = [value for name in _PROSE if isinstance(value := found.get(name), str) and value]
    if texts:
        return tuple(_capped("text", text) for text in texts)
    extra = found.get("attachment") or found.get("data")
    return (_capped("other", _compact(extra), cap=TOOL_CAP),) if extra else ()


def _part(block: Json) -> TurnPart:
    if not isinstance(block, dict):
        return _capped("text" if isinstance(block, str) else "other", _as_text(block))
    kind = block.get("type")
    if kind == "text":
        return _capped("text", _as_text(block.get("text")))
    if kind == "thinking":
        return _capped("thinking", _as_text(block.get("thinking")))
    if kind == "tool_use":
        name, tool = _as_text(block.get("name")), _as_text(block.get("id"))
        return _capped("tool_use", _compact(block.get("input")), cap=TOOL_CAP, name=name, tool_id=tool)
    if kind == "tool_result":
        return _tool_result(block)
    if kind in ("image", "document"):
        return TurnPart("image", "", name=_described(block))
    return _capped("other", _compact(block), cap=TOOL_CAP, name=_as_text(kind))


def _described(block: dict[str, Json]) -> str:
    """Describes a picture or document by media type and approximate size: "image/png, 34 KB"."""
    source = block.get("source")
    fields = source if isinstance(source, dict) else {}
    kind, data = _as_text(fields.get("media_type")), fields.get("data")
    size = f"{len(data) * 3 // 4 // 1024:,} KB" if isinstance(data, str) and len(data) > 1_400 else ""
    return ", ".join(filter(None, (kind[:60], size)))


def _tool_result(block: dict[str, Json]) -> TurnPart:
    content = block.get("content")
    if isinstance(content, list):
        content = "\n".join(_in_result(_part(item)) for item in content)
    return _capped(
        "tool_result",
        _as_text(content),
        cap=TOOL_CAP,
        tool_id=_as_text(block.get("tool_use_id")),
        is_error=block.get("is_error") is True,
    )


def _in_result(part: TurnPart) -> str:
    return part.text or (f"[image: {part.name}]" if part.name else "[image]")


def _capped(
    kind: PartKind,
    text: str,
    *,
    cap: int = TEXT_CAP,
    name: str = "",
    tool_id: str = "",
    is_error: bool = False,
) -> TurnPart:
    return TurnPart(kind, scrub(cut(text, cap)), name, tool_id, is_error, cut=len(text) > cap)


def _as_text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _compact(value)


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


# --- What was answered -----------------------------------------------------------------------------------------------

LINES_BACK = 40  # lines of the program between the two; a conversation has few
_TALK = frozenset({"user", "assistant", "attachment"})
_BY_THE_PROGRAM = "<synthetic>"  # the model's name on errors recorded instead of an answer


def answered(source: Source, offset: int, *, line: int | None = None) -> Turn | None:
    """The agent's turn that the typed line at `offset` answers, its text in the last part; None if that is uncertain.

    It is uncertain if the conversation has anything in between, or if the line was typed while the agent was busy and
    answers an earlier turn. After a rewind the line above is on another branch; the parent decides. Raises OSError.
    """
    typed = line_at(source, offset, line=line)
    if typed is None or typed.offset != offset or typed.type != "user" or typed.typed is None:
        return None
    before = page(source, offset, LINES_BACK, backward=True, line=line)
    return _above(reversed(before.turns), typed.parent_uuid)


def _above(turns: Iterable[Turn], wanted: str) -> Turn | None:
    """The closest earlier turn of the conversation, by parents where lines name them."""
    for turn in turns:
        if turn.sidechain or (wanted and turn.uuid != wanted):
            continue
        if turn.type in _TALK:
            return turn if _is_spoken(turn) else None
        wanted = turn.parent_uuid if wanted else ""
    return None


def _is_spoken(turn: Turn) -> bool:
    """Whether the agent ended with text, not with a tool call."""
    ended = turn.parts[-1].kind == "text" if turn.parts else False
    return turn.type == "assistant" and ended and turn.model != _BY_THE_PROGRAM
