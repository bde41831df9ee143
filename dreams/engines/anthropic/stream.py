"""Events of one stream → a complete reply, or the reason why there is none. PURE: no Django, no network.

The client library silently accepts a stream that ends early, or a tool call with truncated JSON. Here a reply
is complete only if every block was closed, every tool input is an object, and the stop was received.
"""

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dreams.engines.tokens import Tokens

Json = dict[str, Any]
MOST_BLOCKS = 500  # of one answer; beyond these bounds a server is faulty
MOST_CHARS = 4_000_000  # of one answer, far above any model's longest; chosen
ENDLESS = "it does not end"
MOST_TOKENS = 1_000_000_000  # a higher count is a fault of the server; chosen
_SURROGATE = re.compile("[\ud800-\udfff]")
# What a local model thinks aloud before its answer; the opening tag may be part of its template. Without one, a tag within a
# line is one that the answer speaks of.
_THOUGHT_ALOUD = re.compile(r"\A(?:\s*<think>.*?</think>|.*?^</think>[ \t]*$)\s*", re.DOTALL | re.MULTILINE)
# Other servers' names for the same stop reasons.
_OTHER_NAMES = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}


class BrokenStream(Exception):
    """The stream is not a complete message; the text says what is missing."""


class BrokenCall(BrokenStream):
    """An unusable tool call, from a model that was not trained to call tools."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One complete answer. `content` has the blocks to send back in the next request."""

    content: tuple[Json, ...]
    stop_reason: str
    tokens: Tokens
    model: str
    # The names of the counts that the server sent: a missing one is unknown, not zero.
    counted: frozenset[str] = frozenset()
    streamed: bool = True
    # What the server says about a refusal.
    why: str = ""

    @property
    def text(self) -> str:
        return "\n".join(block["text"] for block in self.content if block["type"] == "text").strip()

    @property
    def calls(self) -> list[Json]:
        return [block for block in self.content if block["type"] == "tool_use"]


@dataclass(slots=True)
class _Block:
    kind: str
    given: Json
    text: list[str] = field(default_factory=list)
    signature: str = ""
    done: bool = False


class Collector:
    """Takes the events of one stream in order. `most`: the requested output tokens, 0 if unknown."""

    def __init__(self, most: int = 0) -> None:
        self._most = most
        self._blocks: dict[int, _Block] = {}
        self._started = self._stopped = False
        self._streamed = True
        self._stop_reason = self._why = ""
        self._usage: dict[str, int] = {}
        self._chars = 0
        self.model = ""

    def take(self, event: object) -> None:
        """Takes one event's data. Raises BrokenStream if it cannot be part of a message."""
        data = _mapping(event)
        kind = data.get("type")
        if not isinstance(kind, str):
            raise BrokenStream("it carries something that is no event")
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, data)

    def take_whole(self, message: Mapping[str, Any]) -> None:
        """Takes a message that was not streamed. Raises BrokenStream as `take` does."""
        self._streamed = False
        self._start({"message": message})
        content = message.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            self._open({"index": index, "content_block": block})
            self._close({"index": index})
        self._message_delta({"delta": message})
        self._stop({})

    # --- One kind of event each -----------------------------------------------------------------------------------

    def _start(self, data: Mapping[str, Any]) -> None:
        message = _mapping(data.get("message"))
        if self._started or self._blocks:
            raise BrokenStream("it begins twice")
        self._started = True
        self.model = str(message.get("model") or "")
        self._count(message.get("usage"))

    def _open(self, data: Mapping[str, Any]) -> None:
        index, block = data.get("index"), _mapping(data.get("content_block"))
        if not isinstance(index, int) or index in self._blocks or len(self._blocks) >= MOST_BLOCKS:
            raise BrokenStream("a block begins where none may")
        opened = _Block(str(block.get("type") or ""), dict(block))
        for name in ("text", "thinking"):
            opened.text += [block[name]] if isinstance(block.get(name), str) else []
        opened.signature = str(block.get("signature") or "")
        self._grow(sum(len(str(value)) for value in block.values()))
        self._blocks[index] = opened

    def _delta(self, data: Mapping[str, Any]) -> None:
        block, delta = self._block(data), _mapping(data.get("delta"))
        kind = delta.get("type")
        if kind == "signature_delta":
            self._grow(len(signature := str(delta.get("signature") or "")))
            block.signature += signature
            return
        name = {"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking"}.get(
            str(kind)
        )
        piece = delta.get(name) if name else ""
        if not isinstance(piece, str):
            raise BrokenStream("a piece of a block is no text")
        self._grow(len(piece))
        block.text.append(piece)

    def _grow(self, chars: int) -> None:
        self._chars += chars
        if self._chars > MOST_CHARS:
            raise BrokenStream(ENDLESS)

    def _close(self, data: Mapping[str, Any]) -> None:
        self._block(data).done = True

    def _message_delta(self, data: Mapping[str, Any]) -> None:
        delta = _mapping(data.get("delta"))
        self._stop_reason = str(delta.get("stop_reason") or self._stop_reason)
        details = _mapping(delta.get("stop_details"))
        self._why = str(details.get("explanation") or details.get("category") or self._why)
        self._count(data.get("usage"))

    def _stop(self, data: Mapping[str, Any]) -> None:
        self._stopped = True

    def _block(self, data: Mapping[str, Any]) -> _Block:
        block = self._blocks.get(data.get("index", -1))
        if block is None or block.done:
            raise BrokenStream("a piece belongs to no open block")
        return block

    def _count(self, usage: object) -> None:
        """Stores counts. Those of later events are totals and replace earlier ones."""
        for name, value in _mapping(usage).items():
            if _is_count(value):
                self._usage[name] = value
        split = _mapping(_mapping(usage).get("cache_creation"))
        for name in ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"):
            if _is_count(split.get(name)):
                self._usage[name] = split[name]

    # --- The result -----------------------------------------------------------------------------------------------

    def tokens(self) -> Tokens:
        """The counts so far. The output of a broken stream is estimated at four characters a token."""
        counted = self._usage.get
        hour = counted("ephemeral_1h_input_tokens", 0)
        written = counted("cache_creation_input_tokens", 0)
        output = counted("output_tokens", 0)
        return Tokens(
            input=counted("input_tokens", 0),
            output=output
            if output and (self._stop_reason or self._stopped)
            else max(output, self._chars // 4),
            cache_read=counted("cache_read_input_tokens", 0),
            cache_write_5m=max(0, written - hour),
            cache_write_1h=hour,
        )

    def reply(self) -> ModelReply:
        """The complete answer. Raises BrokenStream when something is missing."""
        if not (self._started or self._blocks or self._stopped):
            raise BrokenStream("it holds no message")
        if not self._stopped:
            raise BrokenStream("it ended without a stop")
        # Some servers omit the start event; everything else must then be complete.
        if not self._started and (
            not self._stop_reason or sorted(self._blocks) != [*range(len(self._blocks))]
        ):
            raise BrokenStream("its beginning is missing")
        reason = self._reason()
        # The caller discards answers cut off at a limit: a truncated tool input is then no error.
        cut_short = reason in ("max_tokens", "model_context_window_exceeded")
        content: list[Json] = []
        for _, block in sorted(self._blocks.items()):
            made = _param(block, lenient=cut_short)
            if made is not None:
                content.append(_scrubbed(made))
        _tell_apart(content)
        return ModelReply(
            tuple(content),
            reason,
            self.tokens(),
            self.model,
            frozenset(self._usage),
            self._streamed,
            self._why,
        )

    def _reason(self) -> str:
        """The stop reason. Some servers give none: it is then tool_use if there is a call, else the end. Some
        give tool_use for a call that was cut off at the output limit."""
        calls = [block for block in self._blocks.values() if block.kind == "tool_use"]
        if 0 < self._most <= self.tokens().output and not all(map(_has_input, calls)):
            return "max_tokens"
        called = bool(calls)
        return _OTHER_NAMES.get(self._stop_reason, self._stop_reason) or (
            "tool_use" if called else "end_turn"
        )


_HANDLERS = {
    "message_start": Collector._start,
    "content_block_start": Collector._open,
    "content_block_delta": Collector._delta,
    "content_block_stop": Collector._close,
    "message_delta": Collector._message_delta,
    "message_stop": Collector._stop,
}


def _tell_apart(content: list[Json]) -> None:
    """Makes ids of calls unique: some servers repeat an id in one answer; the API refuses that."""
    seen: set[str] = set()
    for place, block in enumerate(content):
        if block["type"] == "tool_use":
            block["id"] = f"{block['id']}-{place}" if block["id"] in seen else block["id"]
            seen.add(block["id"])


def _scrubbed(value: Any) -> Any:
    """The JSON without lone surrogates and NaN, which cannot be sent in a request."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_scrubbed(entry) for entry in value]
    if isinstance(value, dict):
        return {_scrubbed(key): _scrubbed(entry) for key, entry in value.items()}
    return value


def _is_count(value: object) -> bool:
    """Whether it is a plausible count: an absurd one would exhaust every budget."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _param(block: _Block, *, lenient: bool) -> Json | None:
    """The block as sent in a request; None if it is empty or not sent back."""
    if not block.done and not lenient:
        raise BrokenStream("a block was never closed")
    text = "".join(block.text)
    if block.kind == "text":
        said = _THOUGHT_ALOUD.sub("", text)
        return {"type": "text", "text": said} if said.strip() else None
    if block.kind == "thinking":
        return {"type": "thinking", "thinking": text, "signature": block.signature}
    if block.kind == "redacted_thinking":
        return {"type": "redacted_thinking", "data": block.given.get("data", "")}
    if block.kind == "tool_use":
        return None if lenient else _tool_use(block, text)
    return None


def _has_input(block: _Block) -> bool:
    with suppress(BrokenCall):
        _input(block, "".join(block.text))
        return True
    return False


def _input(block: _Block, text: str) -> Json:
    """The input of a tool call; some servers omit an empty one."""
    try:
        given = json.loads(text) if text.strip() else block.given.get("input") or {}
    except (ValueError, RecursionError) as error:
        raise BrokenCall("the input of a tool call is not whole") from error
    if not isinstance(given, dict):
        raise BrokenCall("the input of a tool call is no object")
    return given


def _tool_use(block: _Block, text: str) -> Json:
    name, call = block.given.get("name"), block.given.get("id")
    if not isinstance(name, str) or not isinstance(call, str) or not call:
        raise BrokenCall("a tool call has no name or no id")
    return {"type": "tool_use", "id": call, "name": name, "input": _input(block, text)}
