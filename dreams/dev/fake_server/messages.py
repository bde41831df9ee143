"""The replies and errors of a scripted model, and their wire format: one JSON object, or server-sent events. PURE."""

import hashlib
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

# --- Errors -----------------------------------------------------------------------------------------------------------

ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class Fault:
    code: int = 0
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def error_type(self) -> str:
        return ERROR_TYPES.get(self.code, "api_error")

    @property
    def body(self) -> dict[str, object]:
        said = self.message or self.error_type.replace("_", " ").capitalize()
        return {"type": "error", "error": {"type": self.error_type, "message": said}}


def status(code: int, message: str = "", **headers: str) -> Fault:
    """An HTTP error. Header names are given with `_` for `-`: `status(429, retry_after="3")`."""
    return Fault(code, message, {k.replace("_", "-"): v for k, v in headers.items()})


# --- Rules of the real API that a client must follow ------------------------------------------------------------------

# Parameters that current models no longer accept.
GONE = ("temperature", "top_p", "top_k")


@dataclass(frozen=True, slots=True)
class FakeLimits:
    """Limits of the simulated model and of the server."""

    context_tokens: int = 200_000
    output_tokens: int = 64_000
    body_bytes: int = 32 * 1024 * 1024
    models: tuple[str, ...] = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5")


def refusal(body: Mapping[str, Any], limits: FakeLimits) -> Fault | None:
    """The API's error for this request, or None."""
    if limits.models and body.get("model") not in limits.models:
        return status(404, f"model: {body.get('model')}")
    wrong = _wrong_parameter(body, limits) or _wrong_messages(body.get("messages"))
    if wrong:
        return status(400, wrong)
    found = prefixes(body)
    if sum(bool(prefix.breakpoint) for prefix in found) > MOST_BREAKPOINTS:
        return status(400, "A maximum of 4 blocks with cache_control may be provided.")
    tokens = found[-1].tokens if found else 0
    if tokens > limits.context_tokens:
        return status(400, f"prompt is too long: {tokens} tokens > {limits.context_tokens} maximum")
    return None


def _wrong_parameter(body: Mapping[str, Any], limits: FakeLimits) -> str:
    for name in GONE:
        if name in body:
            return f"{name}: Extra inputs are not permitted"
    most = body.get("max_tokens")
    if not isinstance(most, int) or most < 1:
        return "max_tokens: Field required"
    if most > limits.output_tokens:
        return f"max_tokens: {most} > {limits.output_tokens}, which is the maximum allowed number of output tokens"
    return ""


def _wrong_messages(messages: object) -> str:
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    if messages[0].get("role") != "user":
        return "messages: first message must use the \x22user\x22 role"
    if messages[-1].get("role") != "user":
        return "This model does not support assistant message prefill. The conversation must end with a user message."
    open_calls: set[str] = set()
    for number, message in enumerate(messages):
        wrong, open_calls = _wrong_message(number, message, open_calls)
        if wrong:
            return wrong
    return ""


def _wrong_message(number: int, message: Mapping[str, Any], open_calls: set[str]) -> tuple[str, set[str]]:
    """The error in one message, and the calls that the next one must answer."""
    blocks = as_blocks(message.get("content"))
    if not blocks:
        return f"messages.{number}: content must not be empty", set()
    if any(block.get("type") == "text" and not str(block.get("text", "")).strip() for block in blocks):
        return f"messages.{number}: text content blocks must be non-empty", set()
    if message.get("role") == "assistant" and blocks[-1].get("type") == "thinking":
        return f"messages.{number}: The final block in an assistant message cannot be `thinking`.", set()
    answered = {str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"}
    if open_calls - answered:
        missing = ", ".join(sorted(open_calls - answered))
        return (
            f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}",
            set(),
        )
    if answered - open_calls:
        extra = ", ".join(sorted(answered - open_calls))
        return f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {extra}", set()
    calls = {str(block.get("id")) for block in blocks if block.get("type") == "tool_use"}
    return "", calls if message.get("role") == "assistant" else set()


Json = dict[str, Any]
_numbers = itertools.count(1)


def fresh_id(prefix: str) -> str:
    """An id in the API's format: a prefix and 24 characters."""
    return f"{prefix}_01{next(_numbers):022d}"


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Think:
    """Thinking, with the signature that must be sent back unchanged."""

    thinking: str
    signature: str = "c2lnbmF0dXJl"


@dataclass(frozen=True, slots=True)
class Use:
    """A tool call. `cut` sends only so many characters of its input's JSON, as at an output limit."""

    name: str
    input: Mapping[str, Any]
    id: str = field(default_factory=lambda: fresh_id("toolu"))
    cut: int | None = None

    @property
    def json(self) -> str:
        return json.dumps(self.input, ensure_ascii=False)[: self.cut]


Block = Text | Think | Use


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One answer. `stop_reason` None: tool_use if it calls a tool, else end_turn. Token counts None: counted."""

    blocks: tuple[Block, ...] = ()
    stop_reason: str | None = None
    output_tokens: int | None = None
    input_tokens: int | None = None
    piece: int = 40  # characters of one delta
    pause: float = 0.0  # seconds between events
    stop_details: Json | None = None

    @property
    def stop(self) -> str:
        calls = any(isinstance(block, Use) for block in self.blocks)
        return self.stop_reason or ("tool_use" if calls else "end_turn")

    def only_said(self) -> "ScriptedReply":
        """The reply of a model that cannot call tools."""
        said = tuple(block for block in self.blocks if not isinstance(block, Use))
        return replace(
            self, blocks=said or (Text("I would call a tool, but I cannot."),), stop_reason="end_turn"
        )

    @property
    def size(self) -> int:
        """Output tokens, at four characters each."""
        if self.output_tokens is not None:
            return self.output_tokens
        return max(1, sum(len(_said(block)) for block in self.blocks) // 4)


def say(text: str, **more: Any) -> ScriptedReply:
    return ScriptedReply((Text(text),), **more)


def use(name: str, **given: Any) -> ScriptedReply:
    return ScriptedReply((Use(name, given),))


def _said(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    return block.thinking if isinstance(block, Think) else block.json


@dataclass(frozen=True, slots=True)
class Counted:
    """Tokens of a request by kind, as in `usage`."""

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


def whole_message(reply: ScriptedReply, model: str, counted: Counted) -> Json:
    """The response to a request without `stream`."""
    return {
        "id": fresh_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [_whole(block) for block in reply.blocks],
        "stop_reason": reply.stop,
        "stop_sequence": None,
        "stop_details": reply.stop_details,
        "usage": counted.usage(reply.size),
    }


def _whole(block: Block) -> Json:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, Think):
        return {"type": "thinking", "thinking": block.thinking, "signature": block.signature}
    return {"type": "tool_use", "id": block.id, "name": block.name, "input": dict(block.input)}


def events(reply: ScriptedReply, model: str, counted: Counted) -> Iterator[tuple[str, Json]]:
    """The (event name, data) pairs of a stream, in order."""
    start = whole_message(ScriptedReply(), model, counted)
    start |= {"content": [], "stop_reason": None, "usage": counted.usage(1)}
    yield "message_start", {"type": "message_start", "message": start}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(reply.blocks):
        yield from _block_events(index, block, reply.piece)
    delta = {"stop_reason": reply.stop, "stop_sequence": None, "stop_details": reply.stop_details}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": reply.size}}
    yield "message_stop", {"type": "message_stop"}


_AT_START: Json = {"text": "", "thinking": "", "signature": "", "input": {}}


def _block_events(index: int, block: Block, piece: int) -> Iterator[tuple[str, Json]]:
    whole = _whole(block)
    empty = {**whole, **{name: nothing for name, nothing in _AT_START.items() if name in whole}}
    yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
    for delta in _deltas(block, piece):
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": index}


def _deltas(block: Block, piece: int) -> Iterator[Json]:
    if isinstance(block, Text):
        yield from ({"type": "text_delta", "text": part} for part in _pieces(block.text, piece))
    elif isinstance(block, Think):
        yield from ({"type": "thinking_delta", "thinking": part} for part in _pieces(block.thinking, piece))
        yield {"type": "signature_delta", "signature": block.signature}
    else:
        yield {"type": "input_json_delta", "partial_json": ""}
        yield from ({"type": "input_json_delta", "partial_json": part} for part in _pieces(block.json, piece))


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def sse(name: str, data: Json) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


# Prompt-cache accounting by prefix, as the API documents it.


# From the documentation of the Messages API: blocks searched back, least tokens of a prefix, marks per request.
LOOK_BACK = 20
MINIMUM_TOKENS = 1024
LIFETIME = {"5m": 300.0, "1h": 3600.0}
MOST_BREAKPOINTS = 4


@dataclass(frozen=True, slots=True)
class Prefix:
    """The request up to and including one block."""

    key: str
    tokens: int
    breakpoint: str = ""  # the cache lifetime, or "" for none


def count_tokens(value: object) -> int:
    """About four bytes a token: not the model's count, but the same for the same text."""
    return max(1, (len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) + 3) // 4)


def prefixes(body: Mapping[str, Any]) -> list[Prefix]:
    """Every prefix of a request, shortest first."""
    digest = hashlib.sha256(str(body.get("model", "")).encode())
    found: list[Prefix] = []
    total = 0
    for place, block in _blocks(body):
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        digest.update(
            json.dumps([place, bare], ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
        )
        total += count_tokens(bare)
        control = block.get("cache_control")
        ttl = str(control.get("ttl", "5m")) if isinstance(control, Mapping) else ""
        found.append(Prefix(digest.copy().hexdigest(), total, ttl))
    return found


def _blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from (("tools", tool) for tool in body.get("tools") or ())
    yield from (("system", block) for block in as_blocks(body.get("system") or ()))
    for message in body.get("messages") or ():
        yield from ((str(message.get("role")), block) for block in as_blocks(message.get("content")))


def as_blocks(content: object) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


class PromptCache:
    """The cached prefixes, shared by all requests of a server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def count(self, body: Mapping[str, Any]) -> Counted:
        """Counts the tokens of a request by kind and stores its breakpoints."""
        found = prefixes(body)
        total = found[-1].tokens if found else 0
        marked = [at for at, prefix in enumerate(found) if prefix.breakpoint]
        if not marked:
            return Counted(total)
        with self._lock:
            read = self._read(found, marked)
            written = self._store([found[at] for at in marked])
        return Counted(total - max(read, written), read, max(0, written - read))

    def _read(self, found: list[Prefix], marked: list[int]) -> int:
        now = self._clock()
        for at in reversed(marked):
            for prefix in reversed(found[max(0, at - LOOK_BACK) : at + 1]):
                if self._until.get(prefix.key, 0.0) > now:
                    self._until[prefix.key] = now + LIFETIME["5m"]
                    return prefix.tokens
        return 0

    def _store(self, marked: list[Prefix]) -> int:
        """The tokens up to the last breakpoint that is long enough to be stored."""
        written = 0
        for prefix in marked:
            if prefix.tokens >= MINIMUM_TOKENS:
                self._until[prefix.key] = self._clock() + LIFETIME.get(prefix.breakpoint, LIFETIME["5m"])
                written = prefix.tokens
        return written
