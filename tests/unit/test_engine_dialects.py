"""Servers that speak "the same API" differ: a dream runs the whole way on each, through real HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dreams.dev.fake_server.messages import Json
from dreams.engines.anthropic.retrying import CallFailed, FailureKind, kind_of
from dreams.engines.anthropic.server_limits import ServerLimits
from dreams.engines.types import LimitReached
from tests.world import model as kit
from tests.world.cases import each
from tests.world.model_server import (
    NAMED,
    Dialect,
    FakeLimits,
    Fault,
    Request,
    ScriptedReply,
    ScriptedStep,
    Text,
    Think,
    Use,
    closed,
    ended,
    error_event,
    garbage,
    reset,
    say,
    status,
)
from tests.world.strategies import tries

NAME = "openai/gpt-oss:20b@latest"
READ = ScriptedReply(
    (Think("Hm.", signature=""), Text("I look."), Use("Read", {"file_path": "/memory/project_deploy.md"}))
)
STEPS = [READ, ScriptedReply((Think("So."), kit.learn())), say("Learnt one rule.")]


def dream(tmp_path: Path, dialect: Dialect, model: str = NAME) -> kit.Run:
    limits = FakeLimits(models=(NAME,))
    return kit.dream(
        tmp_path, STEPS, server={"dialect": dialect, "limits": limits}, model=model, fallback_model=""
    )


def learnt(run: kit.Run) -> None:
    assert run.error == "" and run.outcome is not None, run.error
    assert run.report.tools == ["Read", "Write"], "each tool ran once"
    assert [edit.path for edit in run.outcome.edits] == ["feedback_linter.md"]
    assert run.outcome.summary == "Learnt one rule."


@each("name", NAMED)
def test_a_dream_runs_the_whole_way_on_every_named_server(tmp_path: Path, name: str) -> None:
    run = dream(tmp_path, NAMED[name])
    learnt(run)
    usage = run.outcome.usage if run.outcome else None
    assert usage is not None and usage.requests == 3 and usage.output_tokens > 0
    assert all("anthropic-beta" not in call.headers for call in run.server.calls)


DIFFERENCES = {
    "no cache counts": Dialect(cache_usage=False),
    "no counts at the start": Dialect(start_usage=False),
    "no counts at the end": Dialect(end_usage=False),
    "no counts at all": Dialect(start_usage=False, end_usage=False),
    "no stop reason": Dialect(stop_reason=False),
    "no start": Dialect(starts=False),
    "several blocks open at once": Dialect(closes_late=True),
    "calls that begin without an input": Dialect(empty_input=False),
    "none of these": Dialect(
        starts=False, closes_late=True, empty_input=False, pings=False, stop_reason=True
    ),
    "one piece": Dialect(streams=False),
    "one piece without a stop reason": Dialect(streams=False, stop_reason=False),
    "fields of its own": Dialect(own_fields=True),
    "no cache marks": Dialect(refuses=frozenset({"cache_control"})),
    "no thinking sent back": Dialect(refuses=frozenset({"thinking"})),
    "a system text only": Dialect(refuses=frozenset({"system blocks"})),
    "all refused, told as detail": Dialect(
        refuses=frozenset({"cache_control", "thinking", "system blocks"}), errors="detail"
    ),
    "all refused, told as text": Dialect(
        refuses=frozenset({"cache_control", "thinking", "system blocks"}), errors="text"
    ),
}


@each("difference", DIFFERENCES)
def test_one_difference_at_a_time_stops_no_dream(tmp_path: Path, difference: str) -> None:
    run = dream(tmp_path, DIFFERENCES[difference])
    learnt(run)
    refused = [call for call in run.server.calls if call.status == 400]
    assert len(refused) == len(DIFFERENCES[difference].refuses), "each refusal is learnt once"
    assert run.report.text.count("which the server refuses") == len(refused), "and told once"


def test_the_rules_reach_a_server_that_takes_only_a_system_text(tmp_path: Path) -> None:
    run = dream(tmp_path, Dialect(refuses=frozenset({"system blocks"})))
    first, *rest = (call.body["system"] for call in run.server.calls)
    assert rest == ["\n\n".join(block["text"] for block in first)] * 3


@pytest.mark.more
@each("at", [0, 1, 200])
@each("strike", [closed, reset, ended, garbage])
def test_an_answer_in_one_piece_that_breaks_off_is_asked_for_again(
    tmp_path: Path, strike: Callable[[int], Fault], at: int
) -> None:
    broken = ScriptedStep(STEPS[1], fault=strike(at))
    run = kit.dream(tmp_path, [STEPS[0], broken, *STEPS[1:]], server={"dialect": Dialect(streams=False)})
    learnt(run)
    assert run.calls == 4


@each(
    ("errors", "name"), [("anthropic", "tools"), ("openai", "tools"), ("text", "tools"), ("detail", "tools")]
)
def test_a_model_without_tools_is_refused_at_once_in_any_shape_of_error(
    tmp_path: Path, errors: str, name: str
) -> None:
    run = dream(tmp_path, Dialect(errors=errors, refuses=frozenset({name})))  # type: ignore[arg-type] # one of the shapes
    assert run.outcome is None and run.calls == 1
    assert "does not support tools" in run.error


SHAPES = ["anthropic", "openai", "llama.cpp", "text", "detail"]


@pytest.mark.more
@each("errors", SHAPES)
def test_an_error_in_mid_stream_is_told_in_the_servers_words_in_any_shape(
    tmp_path: Path, errors: str
) -> None:
    broken = ScriptedStep(STEPS[1], fault=error_event("content_block_delta", 500, "Compute error."))
    server = {"dialect": Dialect(errors=errors)}  # type: ignore[arg-type] # one of the shapes
    run = kit.dream(tmp_path / "once", [STEPS[0], broken, *STEPS[1:]], server=server)
    learnt(run)
    assert run.calls == 4 and "Compute error" in run.report.text
    run = kit.dream(tmp_path / "always", [STEPS[0], *[broken] * 20], server=server)
    assert run.calls == 11 and "Compute error" in run.error and "Try again later" in run.error


def test_a_context_that_is_full_in_mid_stream_is_told_by_the_name_that_llama_cpp_has_for_it() -> None:
    said = "request (21410 tokens) exceeds the available context size (4096 tokens), try increasing it"
    assert kind_of(200, "exceed_context_size_error", said) is FailureKind.TOO_LONG
    assert kind_of(200, "unavailable_error", "Loading model") is FailureKind.SERVER


@each(
    ("code", "said"),
    [
        (500, "tools param requires --jinja flag"),
        (500, "litellm.InternalServerError: OpenAIException - tools param requires --jinja flag"),
        (400, "\x22auto\x22 tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"),
        (400, "registry.ollama.ai/library/gemma3:latest does not support tools"),
        (501, "This model does not support function calling"),
    ],
)
def test_a_model_that_cannot_call_tools_is_not_tried_again_later(
    tmp_path: Path, code: int, said: str
) -> None:
    run = kit.dream(tmp_path, [status(code, said)] * 20)
    assert run.calls == 1 and said in run.error
    assert "can call them" in run.error and "--jinja" in run.error and "later" not in run.error


@each("said", ["messages.3: `tool_use` ids need `tool_result` blocks", "tools.0.name: string too long"])
def test_a_request_that_is_wrong_about_its_tools_says_nothing_of_the_model(said: str) -> None:
    assert kind_of(400, "invalid_request_error", said) is FailureKind.REQUEST


@each("said", ["Lorem ipsum.", "I would call Read with /memory/project_deploy.md."])
def test_a_model_that_only_talks_has_tidied_nothing(tmp_path: Path, said: str) -> None:
    run = kit.dream(tmp_path, [say(said)])
    assert run.outcome is None and run.calls == 1
    assert "without a single tool call" in run.error and "can call them" in run.error


def test_a_model_whose_every_call_is_wrong_has_tidied_nothing(tmp_path: Path) -> None:
    wrong = ScriptedReply((Use("Read", {}), Use("Write", {"file_path": 7}), Use("Search", {"for": "deploy"})))
    run = kit.dream(tmp_path, [wrong, say("All is tidy.")])
    assert run.outcome is None and run.calls == 2
    assert "The last one, Search " in run.error and "“Not done: There is no tool 'Search'." in run.error


def test_a_model_that_read_nothing_but_a_missing_file_is_not_said_to_call_no_tools(tmp_path: Path) -> None:
    missing = ScriptedReply((Use("Read", {"file_path": "/memory/nothing.md"}),))
    run = kit.dream(tmp_path, [missing, say("All is tidy.")])
    assert run.outcome is None
    assert (
        "one, Read " in run.error and "/memory/nothing.md" in run.error and "can call them" not in run.error
    )


def test_calls_that_are_never_whole_want_another_model(tmp_path: Path) -> None:
    half = ScriptedReply((Use("Read", {"file_path": "/memory/project_deploy.md"}, cut=12),))
    run = kit.dream(tmp_path, [half] * 20)
    assert run.calls == 10 and "the input of a tool call is not whole" in run.error
    assert "can call them" in run.error and "later" not in run.error


def test_a_call_that_is_cut_off_where_the_room_ends_is_asked_for_with_more_room(tmp_path: Path) -> None:
    whole = kit.learn()
    cut = Use("Write", whole.input, cut=40)
    run = kit.dream(
        tmp_path,
        [
            STEPS[0],
            ScriptedReply((cut,), stop_reason="tool_use", output_tokens=8_000),
            ScriptedReply((whole,)),
            STEPS[2],
        ],
    )
    learnt(run)
    assert [call.body["max_tokens"] for call in run.server.calls] == [8_000, 8_000, 64_000, 64_000]


def test_an_error_in_an_answer_of_one_piece_is_told(tmp_path: Path) -> None:
    class Told(Dialect):
        def message(self, message: Json, *, usage: bool = True) -> Json:
            return {"error": {"code": 500, "message": "Compute error."}}

    run = kit.dream(tmp_path, [STEPS[0]] * 20, server={"dialect": Told(streams=False)})
    assert run.calls == 10 and "Compute error" in run.error


# --- What is told in the end --------------------------------------------------------------------------------------


def test_the_last_line_has_the_servers_own_most_frequent_error_and_not_the_last_symptom(
    tmp_path: Path,
) -> None:
    memory = status(500, "CUDA out of memory")
    faults = [status(502, "Bad gateway"), memory, closed("headers"), memory, *[closed("headers")] * 20]
    run = kit.dream(tmp_path, [STEPS[0], *faults])
    assert run.calls == 11 and "CUDA out of memory" in run.error


@each("opening", ["<think>\n", "", "\n<think>"])
def test_what_a_local_model_thinks_aloud_is_no_part_of_what_it_says(tmp_path: Path, opening: str) -> None:
    aloud = f"{opening}The person wants a summary. Let me see.\n</think>\n\n"
    steps = [
        ScriptedReply((Text(f"{aloud}I read. A `</think>` ends a thought."), *READ.blocks[2:])),
        ScriptedReply((Text(aloud), kit.learn())),
        say(f"{aloud}Learnt one rule."),
    ]
    run = kit.dream(tmp_path, steps)
    learnt(run)
    assert "Let me see" not in run.report.text and "I read." in run.report.text
    assert "Let me see" not in str(run.server.calls[-1].body["messages"])


def test_a_tag_that_the_answer_speaks_of_cuts_nothing_off(tmp_path: Path) -> None:
    spoken = ScriptedReply((Text("I keep what `</think>` ends."), *READ.blocks[2:]))
    assert "I keep what `</think>` ends." in kit.dream(tmp_path, [spoken, *STEPS[1:]]).report.text


def test_without_a_word_of_the_server_the_last_line_has_what_was_seen_most_often(tmp_path: Path) -> None:
    ends = ScriptedStep(STEPS[1], fault=ended("message_delta"))
    run = kit.dream(tmp_path, [STEPS[0], *[ends] * 9, closed("headers")])
    assert run.calls == 11 and "ended without a stop" in run.error


class Failing:
    """Fails always, with the same words; counts how often."""

    asked = 0

    def step(self, request: Request) -> ScriptedStep:
        self.asked += 1
        return ScriptedStep(say("x"), fault=status(500, "CUDA out of memory"))


@dataclass
class ShortOfTime(kit.Watched):
    model: Failing = field(default_factory=Failing)

    def checkpoint(self) -> None:
        if self.model.asked >= 3:
            raise LimitReached("The dream took longer than its 1,800 seconds.")


def test_time_that_ran_out_while_the_server_failed_is_told_with_its_error(tmp_path: Path) -> None:
    report = ShortOfTime()
    run = kit.dream(tmp_path, report.model, report=report)
    assert run.outcome is None and "CUDA out of memory" in run.error
    assert "longer than its 1,800 seconds" in run.error and "\n" not in run.error


@each("errors", SHAPES)
def test_an_unknown_model_is_named_in_any_shape_of_error(tmp_path: Path, errors: str) -> None:
    run = dream(tmp_path, Dialect(errors=errors), model="nobody")  # type: ignore[arg-type] # one of the shapes
    assert run.outcome is None and run.calls == 1
    assert "does not know the model “nobody”" in run.error


# --- What is left out ---------------------------------------------------------------------------------------------

BLOCK = {"type": "text", "text": "x"}
MARKED = {**BLOCK, "cache_control": {"type": "ephemeral"}}
THOUGHT = {"type": "thinking", "thinking": "x", "signature": ""}
CALL = {"type": "tool_use", "id": "t", "name": "Read", "input": {"cache_control": "a word in a file"}}


def messages(role: str, blocks: list[Any]) -> st.SearchStrategy[dict[str, Any]]:
    content = st.lists(st.sampled_from(blocks), min_size=1, max_size=4)
    return content.map(lambda chosen: {"role": role, "content": chosen})


MESSAGES = st.one_of(messages("user", [BLOCK, MARKED]), messages("assistant", [BLOCK, THOUGHT, CALL]))
REQUESTS = st.fixed_dictionaries(
    {
        "system": st.lists(st.sampled_from([BLOCK, MARKED]), min_size=1, max_size=2),
        "messages": st.lists(MESSAGES, max_size=4),
    }
)
SAID = [
    "system.1.cache_control: Extra inputs",
    "unknown block type 'thinking'",
    "system: should be a valid string",
]


@given(REQUESTS, st.permutations(SAID), st.integers(0, 3))
@tries(20, 60)
def test_only_what_was_refused_is_left_out_and_calls_stay_as_they_are(
    request: dict[str, Any], said: list[str], many: int
) -> None:
    limits, before = ServerLimits(), repr(request)
    for words in said[:many]:
        learnt = limits.learn(CallFailed(FailureKind.REQUEST, words), request)
        assert not learnt or not limits.learn(CallFailed(FailureKind.REQUEST, words), request), "learnt once"
    made = limits.request(request)
    assert repr(request) == before, "what is kept for the next turn is not changed"
    text = repr(made)
    assert ("'ephemeral'" not in text) if "cache marks" in limits.left_out else True
    assert ("'thinking':" not in text) if "thinking" in limits.left_out else True
    assert isinstance(made["system"], str) is ("system blocks" in limits.left_out)
    assert text.count("a word in a file") == before.count("a word in a file")
    assert all(message["content"] for message in made["messages"])
    assert limits.left_out or made == request


def test_a_refusal_that_says_nothing_of_these_is_no_reason_to_ask_again() -> None:
    request = {"system": [MARKED], "messages": []}
    for kind, said in (
        (FailureKind.REQUEST, "400: no"),
        (FailureKind.KEY, "cache_control"),
        (FailureKind.OPTION, "thinking: Extra inputs are not permitted"),
    ):
        assert not ServerLimits().learn(CallFailed(kind, said), request)
