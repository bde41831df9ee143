"""What a scripted model says, and how that looks on the wire: one JSON object, or server-sent events. PURE."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]
_numbers = itertools.count(1)


def fresh_id(prefix: str) -> str:
    """Ids as the API makes them: a prefix and 24 characters."""
    return f"{prefix}_01{next(_numbers):022d}"


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Thinking, with the signature that must come back unchanged."""

    thinking: str
    signature: str = "c2lnbmF0dXJl"


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call. `cut` sends only so many characters of its input's JSON, as a model does that ran out of room."""

    name: str
    input: Mapping[str, Any]
    id: str = field(default_factory=lambda: fresh_id("toolu"))
    cut: int | None = None

    @property
    def json(self) -> str:
        return json.dumps(self.input, ensure_ascii=False)[: self.cut]


@dataclass(frozen=True, slots=True)
class Raw:
    """Any other block, sent whole in its start event."""

    block: Mapping[str, Any]


Block = Text | Think | Use | Raw


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `stop_reason` None: tool_use if it calls a tool, else end_turn. Token counts None: counted."""

    blocks: tuple[Block, ...] = ()
    stop_reason: str | None = None
    output_tokens: int | None = None
    input_tokens: int | None = None
    piece: int = 40  # characters of one delta
    pause: float = 0.0  # seconds between events

    @property
    def stop(self) -> str:
        calls = any(isinstance(block, Use) for block in self.blocks)
        return self.stop_reason or ("tool_use" if calls else "end_turn")

    def only_said(self) -> Reply:
        """What a model answers that cannot call tools."""
        said = tuple(block for block in self.blocks if not isinstance(block, Use))
        return replace(
            self, blocks=said or (Text("I would call a tool, but I cannot."),), stop_reason="end_turn"
        )

    @property
    def size(self) -> int:
        """Output tokens, about four characters each."""
        if self.output_tokens is not None:
            return self.output_tokens
        return max(1, sum(len(_said(block)) for block in self.blocks) // 4)


def say(text: str, **more: Any) -> Reply:
    return Reply((Text(text),), **more)


def use(name: str, **given: Any) -> Reply:
    return Reply((Use(name, given),))


def _said(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Think):
        return block.thinking
    return block.json if isinstance(block, Use) else json.dumps(dict(block.block))


@dataclass(frozen=True, slots=True)
class Counted:
    """Tokens of a request, as `usage` splits them."""

    input: int
    cache_read: int = 0
    cache_creation: int = 0

    def usage(self, output: int) -> Json:
        return {
            "input_tokens": self.input,
            "cache_creation_input_tokens": self.cache_creation,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.cache_creation,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": output,
            "service_tier": "standard",
        }


def whole_message(reply: Reply, model: str, counted: Counted) -> Json:
    """The answer of a request without `stream`."""
    return {
        "id": fresh_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [_whole(block) for block in reply.blocks],
        "stop_reason": reply.stop,
        "stop_sequence": None,
        "usage": counted.usage(reply.size),
    }


def _whole(block: Block) -> Json:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, Think):
        return {"type": "thinking", "thinking": block.thinking, "signature": block.signature}
    if isinstance(block, Use):
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": dict(block.input)}
    return dict(block.block)


def events(reply: Reply, model: str, counted: Counted) -> Iterator[tuple[str, Json]]:
    """(event name, data) in the order in which a stream brings them."""
    start = whole_message(Reply(), model, counted)
    start |= {"content": [], "stop_reason": None, "usage": counted.usage(1)}
    yield "message_start", {"type": "message_start", "message": start}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(reply.blocks):
        yield from _block_events(index, block, reply.piece)
    delta = {"stop_reason": reply.stop, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": reply.size}}
    yield "message_stop", {"type": "message_stop"}


def _block_events(index: int, block: Block, piece: int) -> Iterator[tuple[str, Json]]:
    yield (
        "content_block_start",
        {"type": "content_block_start", "index": index, "content_block": _empty(block)},
    )
    for delta in _deltas(block, piece):
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": index}


def _empty(block: Block) -> Json:
    if isinstance(block, Text):
        return {"type": "text", "text": ""}
    if isinstance(block, Think):
        return {"type": "thinking", "thinking": "", "signature": ""}
    if isinstance(block, Use):
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
    return dict(block.block)


def _deltas(block: Block, piece: int) -> Iterator[Json]:
    if isinstance(block, Text):
        yield from ({"type": "text_delta", "text": part} for part in _pieces(block.text, piece))
    elif isinstance(block, Think):
        yield from ({"type": "thinking_delta", "thinking": part} for part in _pieces(block.thinking, piece))
        yield {"type": "signature_delta", "signature": block.signature}
    elif isinstance(block, Use):
        yield {"type": "input_json_delta", "partial_json": ""}
        yield from ({"type": "input_json_delta", "partial_json": part} for part in _pieces(block.json, piece))


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def sse(name: str, data: Json) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
