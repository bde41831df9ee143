"""Only a whole stream is a reply, and a shortened conversation is still one the API takes."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dreams.dev.fake_server.messages import Counted, events, refusal
from dreams.engines.anthropic import client
from dreams.engines.anthropic.conversation import KEPT_MESSAGES, Conversation
from dreams.engines.anthropic.retrying import FailureKind, kind_of
from dreams.engines.anthropic.stream import MOST_BLOCKS, BrokenStream, Collector, ModelReply
from dreams.engines.tokens import Tokens
from tests.world.cases import each
from tests.world.model_server import FakeLimits, ScriptedReply as Said, Text, Think, Use
from tests.world.strategies import tries

TEXTS = st.text(min_size=1, max_size=40)
INPUTS = st.dictionaries(
    st.text(max_size=5), st.one_of(st.text(max_size=10), st.integers(), st.none()), max_size=3
)
BLOCKS = st.one_of(
    TEXTS.map(Text), TEXTS.map(Think), st.builds(Use, st.sampled_from(["Read", "Grep"]), INPUTS)
)
REPLIES = st.lists(BLOCKS, max_size=5).map(lambda blocks: Said(tuple(blocks), piece=7))


Event = dict[str, Any]


def sent(reply: Said) -> list[Event]:
    return [data for name, data in events(reply, "m", Counted(10, 5, 3)) if name != "ping"]


def collected(stream: list[Event]) -> ModelReply:
    collector = Collector()
    for event in stream:
        collector.take(event)
    return collector.reply()


@given(REPLIES)
@tries(20, 80)
def test_a_whole_stream_gives_back_what_was_said(reply: Said) -> None:
    found = collected(sent(reply))
    wanted = [block for block in reply.blocks if not isinstance(block, Text) or block.text.strip()]
    assert [block["type"] for block in found.content] == [
        {Text: "text", Think: "thinking", Use: "tool_use"}[type(block)] for block in wanted
    ]
    assert [call["input"] for call in found.calls] == [b.input for b in wanted if isinstance(b, Use)]
    assert found.stop_reason == reply.stop
    assert found.tokens == Tokens(10, reply.size, 5, 3)


def test_calls_of_one_answer_with_one_id_are_told_apart() -> None:
    found = collected(sent(Said((Use("Read", {}, id="call_0"), Use("Grep", {}, id="call_0")))))
    assert [call["id"] for call in found.calls] == ["call_0", "call_0-1"]


@each("count", [10**30, -1, True, 1.5, None, "7"])
def test_what_is_no_count_of_tokens_is_left_out(count: object) -> None:
    stream = sent(Said((Text("x"),)))
    usage = {"output_tokens": count, "cache_creation": {"ephemeral_1h_input_tokens": count}}
    stream[-2]["usage"] = usage
    assert collected(stream).tokens == Tokens(10, 1, 5, 3)


@given(REPLIES, st.data())
@tries(20, 80)
def test_no_part_of_a_stream_is_a_reply(reply: Said, data: st.DataObject) -> None:
    whole = sent(reply)
    with pytest.raises(BrokenStream):
        collected(whole[: data.draw(st.integers(0, len(whole) - 1))])


@given(REPLIES, st.data())
@tries(50, 150)
def test_a_stream_that_lost_or_doubled_an_event_never_yields_another_call(
    reply: Said, data: st.DataObject
) -> None:
    stream = sent(reply)
    at = data.draw(st.integers(0, len(stream) - 1))
    if data.draw(st.booleans()):
        del stream[at]
    else:
        stream.insert(at, stream[at])
    try:
        found = collected(stream)
    except BrokenStream:
        return
    said = [(block.name, block.input) for block in reply.blocks if isinstance(block, Use)]
    for call in found.calls:
        # A lost or doubled piece of JSON may still be JSON in a string; name and id are never another call's.
        assert call["name"] in {name for name, _ in said}
    assert len(found.calls) <= len(said)


@each("odd", [None, "text", 5, [], {}, {"type": None}, {"type": "content_block_delta", "index": []}])
def test_what_is_no_event_breaks_the_stream(odd: object) -> None:
    with pytest.raises((BrokenStream, TypeError)):
        Collector().take(odd)


@each("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_left_out_of_a_call_that_goes_back_in_the_next_request(
    number: float,
) -> None:
    made = collected(sent(Said((Use("Ask", {"usefulness": number, "why": "x"}),))))
    assert made.calls[0]["input"] == {"usefulness": None, "why": "x"}
    json.dumps(made.content, allow_nan=False)


@each("block", [{"type": "text", "text": "x" * 10_000}, {"type": "thinking", "signature": "x" * 10_000}])
@each("delta", [{"type": "signature_delta", "signature": "x" * 10_000}])
def test_whatever_part_of_an_answer_does_not_end_the_answer_does(
    block: dict[str, str], delta: dict[str, str]
) -> None:
    collector = Collector()
    collector.take({"type": "message_start", "message": {}})
    with pytest.raises(BrokenStream, match="does not end"):
        for index in range(MOST_BLOCKS):
            collector.take({"type": "content_block_start", "index": index, "content_block": block})
            collector.take({"type": "content_block_delta", "index": index, "delta": delta})


def test_the_words_of_a_model_go_back_as_text_a_request_can_carry() -> None:
    made = collected(sent(Said((Think("x\ud800", "s\udfff"), Use("Read\ud800", {}, id="t\ud800")))))
    json.dumps(made.content, ensure_ascii=False).encode()


def test_lone_surrogates_are_replaced_before_they_reach_a_request_or_a_file() -> None:
    made = collected(sent(Said((Text("a\ud800b"), Use("Write", {"content": ["x\udfff"]})))))
    assert made.text == "a\ufffdb" and made.calls[0]["input"] == {"content": ["x\ufffd"]}


# --- Shortening ---------------------------------------------------------------------------------------------------


def whole(*blocks: dict[str, Any]) -> ModelReply:
    return ModelReply(blocks, "tool_use", Tokens(), "m")


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    made = Conversation.begun("The briefing.")
    for turn in range(draw(st.integers(0, 9))):
        calls = [
            {"type": "tool_use", "id": f"t{turn}.{n}", "name": "Read", "input": {}}
            for n in range(draw(st.integers(0, 3)))
        ]
        if calls:
            made.answered(whole({"type": "text", "text": "So."}, *calls))
            size = draw(st.sampled_from([5, 5_000]))
            results = [{"type": "tool_result", "tool_use_id": c["id"], "content": "x" * size} for c in calls]
            made.results(results, draw(st.sampled_from(["", "Hurry."])))
        else:
            made.cut_off(whole(*calls), "Go on.")
    return made


@given(conversations())
@tries(20, 80)
def test_a_shortened_conversation_is_one_that_the_api_takes_and_keeps_the_last_five(
    made: Conversation,
) -> None:
    before = copy.deepcopy(made.messages)
    shorter = made.compact(["made a.md: said so"])
    body = {"model": "m", "max_tokens": 9, "messages": made.marked()}
    assert refusal(body, FakeLimits(models=())) is None
    assert made.messages[0]["content"][0] == before[0]["content"][0]
    assert not shorter or len(repr(made.messages)) < len(repr(before))
    kept = made.messages[1:] if len(before) > KEPT_MESSAGES else made.messages
    for new, old in zip(reversed(kept), reversed(before), strict=False):
        assert new["role"] == old["role"] and len(new["content"]) == len(old["content"])
    assert len(made.messages) >= min(len(before), KEPT_MESSAGES + 1)


@given(st.integers(200, 599), st.text(max_size=20), st.text(max_size=60))
@tries(60, 200)
def test_every_error_answer_means_something(status: int, error_type: str, message: str) -> None:
    assert isinstance(kind_of(status, error_type, message), FailureKind)


@each(
    ("message", "kind"),
    [
        ("prompt is too long: 201000 tokens > 200000 maximum", FailureKind.TOO_LONG),
        ("input length and `max_tokens` exceed context limit", FailureKind.OUTPUT_TOO_LONG),
        ("the request exceeds the available context size (8192 tokens)", FailureKind.TOO_LONG),
        ("This model's maximum context length is 8192 tokens.", FailureKind.TOO_LONG),
        ("max_tokens: 64000 > 32000", FailureKind.OUTPUT_TOO_LONG),
        ("thinking: Extra inputs are not permitted", FailureKind.OPTION),
        ("messages.0: unexpected role", FailureKind.REQUEST),
        ("Invalid model name passed in model=mine.", FailureKind.UNKNOWN_MODEL),
        ("model 'mine' not found, try pulling it first", FailureKind.UNKNOWN_MODEL),
        ("The model `mine` does not exist.", FailureKind.UNKNOWN_MODEL),
        ("this model does not support tools", FailureKind.TOOLS),
    ],
)
def test_bad_requests_are_told_by_their_message(message: str, kind: FailureKind) -> None:
    assert kind_of(400, "invalid_request_error", message) is kind


def test_a_spend_limit_of_the_account_is_no_rate_limit_that_passes() -> None:
    def error(code: str) -> dict[str, Any]:
        details = {"error_code": code}
        return {"type": "error", "error": {"type": "rate_limit_error", "message": "No.", "details": details}}

    spent = client._told(error("enforced_spend_limit_reached"), "")
    assert kind_of(429, *spent) is FailureKind.MONEY and spent[1] == "No."
    assert kind_of(429, *client._told(error("ramp_limit_exceeded"), "")) is FailureKind.RATE_LIMITED
