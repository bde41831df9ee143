"""Tokens per request: one row per `message.id` + `requestId`. Pure: no Django.

An agent writes one turn as several lines that repeat its usage, and lines written while the answer was streaming have a
smaller one. So of all lines with one key **the row with the largest total** counts: the first would lose
output tokens (20 % on real data), and the maximum of each field could mix two lines into a sum that
no request ever had. A row from the main conversation is preferred to its copy in a sub-agent's file.
"""

import re
from datetime import datetime

import msgspec

from .records import (
    DECODE_ERRORS,
    Message,
    SubagentProgress,
    TokenCounts,
    TranscriptRecord,
    instant,
    key64,
)

SYNTHETIC = "<synthetic>"
MOST_DOLLARS = 100_000  # of one request


class UsageRow(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One request's tokens. `key` is unique; `message_key` is the same for a replay under another request id.

    `at` is aware (UTC) or None. `cache_creation` is the total, `cache_creation_1h` the part of it that is cached for an hour.
    `agent_micros` is the agent's own figure for its cost, in millionths of a dollar.
    The order of rows does not matter: see `better`.
    """

    key: int
    message_key: int
    model: str
    at: datetime | None
    input: int
    output: int
    cache_creation: int
    cache_creation_1h: int
    cache_read: int
    web_searches: int
    sidechain: bool
    final: bool
    agent_micros: int | None = None

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_creation + self.cache_read


_USAGE = re.compile(rb'"usage"')
_progress = msgspec.json.Decoder(SubagentProgress)


def reported(line: TranscriptRecord) -> TranscriptRecord | None:
    """The sub-agent's line inside a progress line, if it has usage (some versions write it nowhere else)."""
    # Checked before decoding: two of five lines are progress, and hardly any of them has usage.
    # A pattern searches the buffer itself; a plain search would copy it.
    if len(line.data) == 0 or not _USAGE.search(line.data):
        return None
    try:
        return _progress.decode(line.data).message
    except DECODE_ERRORS:
        return None


def usage_row(line: TranscriptRecord) -> UsageRow | None:
    """The usage in a line, None if there is none or it is the agent's placeholder."""
    message = line.message
    if not isinstance(message, Message) or message.usage is None:
        return None
    usage, model = message.usage, message.model or ""
    parts, tools = usage.cache_creation, usage.server_tool_use
    long = (parts.ephemeral_1h_input_tokens or 0) if parts else 0
    row = UsageRow(
        key=_key(line, message),
        message_key=key64("message", message.id) if message.id else 0,
        model=model,
        at=instant(line.timestamp),
        input=usage.input_tokens or 0,
        output=usage.output_tokens or 0,
        cache_creation=_cache_creation(usage),
        cache_creation_1h=long,
        cache_read=usage.cache_read_input_tokens or 0,
        web_searches=(tools.web_search_requests or 0) if tools else 0,
        sidechain=bool(line.is_sidechain),
        final=usage.speed is not None,
        agent_micros=_agent_micros(line),
    )
    return None if model == SYNTHETIC and row.total == 0 else row


def _agent_micros(line: TranscriptRecord) -> int | None:
    """None if it is missing or nonsense."""
    if len(line.cost_usd) == 0:
        return None
    try:
        dollars = msgspec.json.decode(line.cost_usd, type=float)
    except msgspec.MsgspecError:
        return None
    return round(dollars * 1_000_000) if 0 <= dollars < MOST_DOLLARS else None


def _key(line: TranscriptRecord, message: Message) -> int:
    if message.id:
        return key64("request", message.id, line.request_id or "")
    # No message id: nothing repeats it, so the line itself is the request.
    return key64("line", line.uuid or "", str(line.timestamp), line.session_id or "")


def better(new: UsageRow, old: UsageRow) -> bool:
    """Whether `new` replaces `old` under the same key: not a replay, then the larger total, then the final line."""
    if new.sidechain != old.sidechain:
        return old.sidechain
    if new.total != old.total:
        return new.total > old.total
    return new.final and not old.final


def same_request(a: TranscriptRecord, b: TranscriptRecord) -> bool:
    """Whether two lines with usage certainly belong to one request in the same conversation."""
    one, two = a.message, b.message
    return (
        isinstance(one, Message)
        and isinstance(two, Message)
        and one.id is not None
        and one.id == two.id
        and a.request_id == b.request_id
        and bool(a.is_sidechain) == bool(b.is_sidechain)
    )


def better_line(new: TranscriptRecord, old: TranscriptRecord) -> bool:
    """As `better`, for two lines of the same request that are not rows yet."""
    one, two = _usage(new), _usage(old)
    if one == two or one is None or two is None:
        return False
    if (totals := (_total(one), _total(two)))[0] != totals[1]:
        return totals[0] > totals[1]
    return one.speed is not None and two.speed is None


def _usage(line: TranscriptRecord) -> TokenCounts | None:
    return line.message.usage if isinstance(line.message, Message) else None


def _total(usage: TokenCounts) -> int:
    return (
        (usage.input_tokens or 0)
        + (usage.output_tokens or 0)
        + _cache_creation(usage)
        + (usage.cache_read_input_tokens or 0)
    )


def _cache_creation(usage: TokenCounts) -> int:
    if usage.cache_creation_input_tokens:
        return usage.cache_creation_input_tokens
    parts = usage.cache_creation
    return ((parts.ephemeral_5m_input_tokens or 0) + (parts.ephemeral_1h_input_tokens or 0)) if parts else 0


def keep_best(rows: dict[int, UsageRow], row: UsageRow) -> None:
    old = rows.get(row.key)
    if old is None or better(row, old):
        rows[row.key] = row
