"""Decodes transcript lines into records with the fields we need: a fast path, and a lenient one for odd lines.
Pure: no Django."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from typing import TypeAlias, TypeVar, get_args

import msgspec
from msgspec import Raw, Struct, field

from dreams.lib.files.text import with_texts


def key64(*parts: str) -> int:
    """A signed 64-bit key of the parts, the same on every machine and in every version.

    Signed, because SQLite and PostgreSQL store signed integers. With ten million keys the chance that any two
    collide is about 3 in a million.
    """
    digest = blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


# --- Times -----------------------------------------------------------------------------------------------------------

_MILLISECONDS = 1e11  # a larger number cannot be seconds: it would be past the year 5000
# Before that no agent wrote: 1e9 seconds are September 2001.
FIRST_YEAR, _FIRST_SECOND = 2001, 1e9
_parsed_time = datetime.fromisoformat


# Texts of this shape sort in the order of time.
_SHAPE = ((4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "."), (23, "Z"))
_SHAPE_LENGTH = 24
_FEW = 24

Stamp: TypeAlias = str | int | float


def span(stamps: list[Stamp]) -> tuple[datetime, datetime] | None:
    """The first and last timestamp, None if none is valid. Many of the usual shape are compared as text, without parsing."""
    if len(stamps) > _FEW and (texts := _sortable(stamps)) is not None:
        first, last = instant(min(texts)), instant(max(texts))
        if first is not None and last is not None:
            return first, last
    found = [at for stamp in stamps if (at := instant(stamp)) is not None]
    return (min(found), max(found)) if found else None


def _sortable(stamps: list[Stamp]) -> list[str] | None:
    texts = [stamp for stamp in stamps if isinstance(stamp, str)]
    if not texts or len(texts) != len(stamps) or set(map(len, texts)) != {_SHAPE_LENGTH}:
        return None
    joined = "".join(texts)
    alike = all(joined[at::_SHAPE_LENGTH] == mark * len(texts) for at, mark in _SHAPE)
    return texts if alike else None


def instant(value: str | int | float | None) -> datetime | None:
    """ISO 8601 text (without an offset: UTC) or seconds or milliseconds since 1970; None for anything else, or before 2001."""
    try:
        if isinstance(value, str):
            found = _parsed_time(value)
            if found.year < FIRST_YEAR:
                return None
            if found.tzinfo is UTC:  # nearly all of them, and there are millions
                return found
        elif value is None or value < _FIRST_SECOND:
            return None
        else:
            found = datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


# --- Records ---------------------------------------------------------------------------------------------------------

NOTHING = Raw()


class CacheCreation(Struct, gc=False):
    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None


class ServerToolUse(Struct, gc=False):
    web_search_requests: int | None = None


class TokenCounts(Struct, gc=False):
    """Tokens counted by the API. `cache_creation` splits `cache_creation_input_tokens` by lifetime."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None
    server_tool_use: ServerToolUse | None = None
    speed: str | None = None


class Message(Struct, gc=False):
    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: Raw = NOTHING
    usage: TokenCounts | None = None


class ToolResult(Struct, gc=False, rename="camel"):
    """A tool's result. The first two fields are set if it wrote a file: `originalFile` is the text before, null for a
    new file. `task` is set if it created a task."""

    file_path: Raw = NOTHING
    original_file: Raw = NOTHING
    task: Raw = NOTHING


class TranscriptRecord(Struct, gc=False, rename="camel"):
    """One record. `Raw` fields point into the reader's buffer: use them before reading the next record."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | int | float | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_visible_in_transcript_only: bool | None = None
    request_id: str | None = None
    message: Message | str | None = None
    # Has any shape; decoded in the same pass, because it is often the largest part of a line.
    tool_use_result: ToolResult | str | list[Raw] | int | float | bool | None = None
    # Rare, or with more than one shape: kept raw, so that an odd one costs nothing and fails nothing.
    attachment: Raw = NOTHING
    data: Raw = NOTHING
    plan_content: Raw = NOTHING
    custom_title: Raw = NOTHING
    ai_title: Raw = NOTHING
    last_prompt: Raw = NOTHING
    summary: Raw = NOTHING
    # The agent's own estimate of the request's cost; early versions wrote it.
    cost_usd: Raw = field(default=NOTHING, name="costUSD")


class SubagentProgress(Struct, gc=False):
    """The `data` of a progress line: versions without sub-agent files report a sub-agent's lines in it."""

    message: TranscriptRecord | None = None


class Block(Struct, gc=False):
    """A content block of a user message: the fields needed to find typed text."""

    type: str = ""
    text: str = ""


class Queued(Struct, gc=False, rename="camel"):
    """An attachment with text that was typed while the agent was busy (`type` queued_command)."""

    type: str = ""
    prompt: str | list[Block] | None = None
    command_mode: str | None = None


def present(raw: Raw) -> bool:
    """Whether a raw field is present and not null."""
    size = len(raw)
    return size > 4 or (size > 0 and bytes(raw) != b"null")


# --- From bytes ------------------------------------------------------------------------------------------------------

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Buffer: TypeAlias = bytes | bytearray | memoryview

_decoder = msgspec.json.Decoder(TranscriptRecord)
decode_line = _decoder.decode
"""Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError for a line that is not one plain record."""
DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = " \t\r\n\0\ufeff"
# How a second record may start after a half-written one. The order of keys differs between versions.
_START = re.compile(r'\{"(?:type|parentUuid|uuid|sessionId|timestamp|isSidechain|logicalParentUuid)":')
_MAX_STARTS = 16
_parse = json.JSONDecoder(strict=False).raw_decode
Record = TypeVar("Record", bound=Struct)


def objects(raw: Buffer) -> Iterator[tuple[int, dict[str, Json] | str]]:
    """(byte position, JSON object or the reason why it is not one) for each part of a line. Never raises."""
    text = bytes(raw).decode("utf-8", "surrogateescape")
    pos = _skip_blank(text, 0)
    if pos == len(text) and "\0" in text:
        yield 0, "only NUL bytes (the file was not fully written)"
    while pos < len(text):
        try:
            found, end = _read(text, pos)
        except (ValueError, RecursionError) as error:
            too_deep = isinstance(error, RecursionError)
            yield _byte_at(text, pos), "nested too deeply" if too_deep else f"not JSON: {str(error)[:80]}"
            pos, found = _whole_object_after(text, pos)
            end = len(text)
            if pos == end:
                return
        yield _byte_at(text, pos), found
        pos = _skip_blank(text, end)


def _read(text: str, pos: int) -> tuple[dict[str, Json] | str, int]:
    """The object or the reason, and where it ends. Raises ValueError or RecursionError."""
    value, end = _parse(text, pos)
    return with_texts(value, scrub, keys=True) if isinstance(value, dict) else "not a JSON object", end


def _skip_blank(text: str, pos: int) -> int:
    while pos < len(text) and text[pos] in _BLANK:
        pos += 1
    return pos


def _byte_at(text: str, pos: int) -> int:
    return len(text[:pos].encode("utf-8", "surrogateescape"))


def _whole_object_after(text: str, pos: int) -> tuple[int, dict[str, Json] | str]:
    """The record that follows a half-written one on the same line: it must reach to the end of the line.

    After a nested object the outer one's closing braces would remain, so it is never mistaken for a record.
    """
    for tried, found in enumerate(_START.finditer(text, pos + 1)):
        if tried >= _MAX_STARTS:
            break
        try:
            value, end = _read(text, found.start())
        except (ValueError, RecursionError):
            continue
        if _skip_blank(text, end) == len(text):
            return found.start(), value
    return len(text), ""


def scrub(text: str) -> str:
    """`text` with lone surrogates (including those for invalid UTF-8) replaced, which neither a database nor a page can store; real
    pairs are joined."""
    if not _SURROGATE.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _SURROGATE.sub("\ufffd", joined)


def text_at(value: Json, *names: str) -> str:
    """The text below these names in nested objects; "" if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def line_from(found: dict[str, Json]) -> TranscriptRecord:
    """A `TranscriptRecord` from a parsed object, without the fields of a wrong type."""
    return _lenient(TranscriptRecord, found)


def _lenient(kind: type[Record], found: dict[str, Json]) -> Record:
    """A struct with those fields that can be read. A whole number of tokens may also be written as 12.0 or "12"."""
    values: dict[str, object] = {}
    for info, nested in _fields_of(kind):
        value = found.get(info.encode_name)
        if info.type is Raw and info.encode_name in found:
            values[info.name] = _as_raw(value)  # also null, which means something of `originalFile`
        elif value is None:
            continue
        elif nested is not None and isinstance(value, dict):
            values[info.name] = _lenient(nested, value)
        elif nested is ToolResult:
            values[info.name] = True  # of a result that is not an object only the presence matters
        else:
            with suppress(msgspec.ValidationError):
                values[info.name] = msgspec.convert(
                    value, info.type, strict=kind in (TranscriptRecord, Message)
                )
    return kind(**values)


@cache
def _fields_of(kind: type[Struct]) -> list[tuple[msgspec.structs.FieldInfo, type[Struct] | None]]:
    """The fields of a struct; behind each, the struct that it may hold."""
    parts = ((info, get_args(info.type) or (info.type,)) for info in msgspec.structs.fields(kind))
    return [
        (info, next((part for part in some if isinstance(part, type) and issubclass(part, Struct)), None))
        for info, some in parts
    ]


def _as_raw(value: Json) -> Raw:
    try:
        return Raw(json.dumps(value, allow_nan=False))
    except (ValueError, RecursionError):
        return Raw(b"null")


def value_in(raw: Raw) -> Json:
    """The value of a raw field, also of an odd one; None if it cannot be read."""
    for _, found in objects(b'{"value":' + bytes(raw) + b"}"):
        if isinstance(found, dict):
            return found.get("value")
    return None
