"""How servers that speak "the same API" differ from it, according to their documentation and issue trackers. PURE.

Each difference is a switch, so that a test can use one alone or all at once; the named dialects combine those of a
known server. None was copied from a server's code: they test a client and do not emulate a server.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from dreams.dev.fake_server.messages import Fault, Json, as_blocks, status

Shape = Literal["anthropic", "openai", "llama.cpp", "text", "detail"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The differences of one server; the defaults are the API itself.

    `refuses` names the parts that get a 400: "cache_control", "thinking", "tools", "system blocks". `errors` is the shape
    of an error's body. `own_fields` adds undocumented fields. `starts` False omits `message_start`, `closes_late` closes
    all blocks at the end, so that several are open at once, and `empty_input` False omits the empty `input` at the
    start of a call.
    """

    cache_usage: bool = True
    start_usage: bool = True
    end_usage: bool = True
    stop_reason: bool = True
    starts: bool = True
    closes_late: bool = False
    empty_input: bool = True
    streams: bool = True
    pings: bool = True
    own_fields: bool = False
    counts_tokens: bool = True
    lists: Literal["anthropic", "openai", "none"] = "anthropic"
    errors: Shape = "anthropic"
    any_model: bool = False
    calls_tools: bool = True
    refuses: frozenset[str] = frozenset()

    # --- Requests -------------------------------------------------------------------------------------------------

    def refusal(self, body: Mapping[str, object]) -> Fault | None:
        """The 400 for the first part of a request that this server does not accept."""
        for name, path in _found(body):
            if name in self.refuses:
                return status(400, _WORDS[name].format(path=path))
        return None

    # --- Responses ------------------------------------------------------------------------------------------------

    def stream(self, sent: Iterable[tuple[str, Json]]) -> list[tuple[str, Json]]:
        """All events of a stream, in this server's order."""
        left_out = {name for name, kept in (("ping", self.pings), ("message_start", self.starts)) if not kept}
        made = [(name, self._event(data)) for name, data in sent if name not in left_out]
        if self.closes_late:
            last = ("content_block_stop", "message_delta", "message_stop")
            # The sort is stable.
            made.sort(key=lambda event: last.index(event[0]) if event[0] in last else -1)
        return made

    def _event(self, data: Json) -> Json:
        made = dict(data)
        if data["type"] == "content_block_start" and not self.empty_input:
            block = data["content_block"]
            made["content_block"] = {name: block[name] for name in block if name != "input"}
        if data["type"] == "message_start":
            made["message"] = self.message(data["message"], usage=self.start_usage)
        if data["type"] == "message_delta":
            made["delta"] = {**data["delta"], **({} if self.stop_reason else {"stop_reason": None})}
            if not self.end_usage:
                del made["usage"]
        return {**made, "x_own": {"seq": 1}} if self.own_fields else made

    def message(self, message: Json, *, usage: bool = True) -> Json:
        made = {**message, "usage": self._usage(message["usage"])}
        if not usage:
            del made["usage"]
        if not self.stop_reason:
            made["stop_reason"] = None
        return (
            {**made, "timings": {"predicted_ms": 1.5}, "system_fingerprint": "b1"}
            if self.own_fields
            else made
        )

    def _usage(self, usage: Json) -> Json:
        if self.cache_usage:
            return usage
        return {name: usage[name] for name in ("input_tokens", "output_tokens")}

    def error(self, fault: Fault) -> Json:
        """The body of an error response."""
        said = str(fault.message or fault.error_type)
        bodies: Mapping[Shape, Json] = {
            "anthropic": dict(fault.body),
            "openai": {
                "error": {"message": said, "type": "BadRequestError", "param": None, "code": fault.code}
            },
            "llama.cpp": {"error": {"code": fault.code, "message": said, "type": fault.error_type}},
            "text": {"error": said},
            "detail": {"detail": said},
        }
        return bodies[self.errors]

    def listing(self, models: Iterable[str]) -> Json | None:
        """The response of /v1/models; None if there is no such path."""
        if self.lists == "none":
            return None
        rows = [{"id": name, "object": "model", "created": 0, "owned_by": "here"} for name in models]
        return {"object": "list", "data": rows}


def _found(body: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    """(part that some servers refuse, its path) in order."""
    if body.get("tools"):
        yield "tools", "tools"
    if isinstance(body.get("system"), list):
        yield "system blocks", "system"
    for number, block in enumerate(as_blocks(body.get("system"))):
        if "cache_control" in block:
            yield "cache_control", f"system.{number}"
    messages = body.get("messages")
    for number, message in enumerate(messages if isinstance(messages, list) else ()):
        for at, block in enumerate(as_blocks(message.get("content"))):
            if "cache_control" in block:
                yield "cache_control", f"messages.{number}.content.{at}"
            if block.get("type") == "thinking":
                yield "thinking", f"messages.{number}.content.{at}"


_WORDS: Mapping[str, str] = {
    "tools": "this model does not support tools",
    "system blocks": "{path}: Input should be a valid string",
    "cache_control": "{path}.cache_control: Extra inputs are not permitted",
    "thinking": "{path}.type: unknown content block type 'thinking'",
}

# According to each one's documentation and reports of users, in November 2026.
NAMED: Mapping[str, Dialect] = {
    "anthropic": Dialect(),
    "ollama": Dialect(cache_usage=False, counts_tokens=False, lists="openai", pings=False, errors="text"),
    # As observed with it and with the gateway LiteLLM (tests/pipeline/test_real_servers.py).
    "llama.cpp": Dialect(
        lists="openai",
        any_model=True,
        own_fields=True,
        pings=False,
        closes_late=True,
        empty_input=False,
        errors="llama.cpp",
    ),
    "litellm": Dialect(lists="openai", pings=False, closes_late=True),
    "vllm": Dialect(cache_usage=False, lists="openai", pings=False, errors="openai"),
    "lm-studio": Dialect(cache_usage=False, counts_tokens=False, lists="openai", pings=False, errors="text"),
    "gateway": Dialect(start_usage=False, streams=False, lists="none", errors="detail", cache_usage=False),
    "strict": Dialect(
        cache_usage=False,
        end_usage=False,
        stop_reason=False,
        own_fields=True,
        counts_tokens=False,
        errors="detail",
        refuses=frozenset({"cache_control", "thinking", "system blocks"}),
    ),
}
