"""What the API refuses: the rules that a client which talks to the real one must keep. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .cache import MOST_BREAKPOINTS, as_blocks, prefixes
from .faults import Fault, status

# Parameters that current models no longer take.
GONE = ("temperature", "top_p", "top_k")


@dataclass(frozen=True, slots=True)
class Limits:
    """Of the model that the server plays, and of the server itself."""

    context_tokens: int = 200_000
    output_tokens: int = 64_000
    body_bytes: int = 32 * 1024 * 1024
    models: tuple[str, ...] = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5")


def refusal(body: Mapping[str, Any], limits: Limits) -> Fault | None:
    """The error that the API would answer this request with, or None."""
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


def _wrong_parameter(body: Mapping[str, Any], limits: Limits) -> str:
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
    """What is wrong with one message, and the calls that the next one must answer."""
    blocks = as_blocks(message.get("content"))
    if not blocks:
        return f"messages.{number}: content must not be empty", set()
    if any(block.get("type") == "text" and not str(block.get("text", "")).strip() for block in blocks):
        return f"messages.{number}: text content blocks must be non-empty", set()
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
