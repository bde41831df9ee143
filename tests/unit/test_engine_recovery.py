"""Truncated, too long, refused, paused, stopped: what the loop makes of every stop reason."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.world import model as kit
from tests.world.cases import each
from tests.world.model_server import Dialect, FakeLimits, ScriptedReply, Text, Think, Use, say, status

READ = kit.READ


def cut(text: str = "", output_tokens: int = 8_000, *more: Any) -> ScriptedReply:
    blocks = (*([Text(text)] if text else ()), *more)
    return ScriptedReply(blocks, stop_reason="max_tokens", output_tokens=output_tokens)


def asked(run: kit.Run) -> list[int]:
    return [call.body["max_tokens"] for call in run.server.calls]


def test_a_truncated_answer_is_thrown_away_and_asked_for_with_a_larger_cap_once(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [READ, cut("Half a th"), ScriptedReply((kit.learn(),)), say("Done.")])
    assert run.error == "" and asked(run) == [8_000, 8_000, 64_000, 64_000]
    assert "Half a th" not in str(run.server.calls[2].body["messages"])


def test_a_tool_call_in_a_truncated_answer_is_never_run(tmp_path: Path) -> None:
    whole_but_truncated = kit.learn()
    partial = Use("Write", {"path": "/memory/x.md", "content": "y" * 200}, cut=60)
    run = kit.dream(
        tmp_path,
        [
            cut("", 8_000, whole_but_truncated),
            cut("I begin.", 600, partial),
            cut("", 600, whole_but_truncated),
            READ,
            say("Stopped."),
        ],
    )
    assert run.error == "" and run.outcome is not None
    assert run.outcome.edits == [] and run.report.tools == ["Read"]


def test_three_continuations_go_on_where_it_stopped_and_the_fourth_ends_it(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [cut("One"), *[cut("Part", 5_000) for _ in range(9)]])
    assert run.outcome is None and "cut off 4 times in a row" in run.error
    assert run.calls == 5
    last = run.server.calls[-1].body["messages"]
    assert [m["role"] for m in last] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert "Go on exactly where you stopped" in last[-1]["content"][0]["text"]


def test_three_continuations_that_bring_next_to_nothing_end_it_even_between_good_turns(
    tmp_path: Path,
) -> None:
    steps = [cut("One"), cut("One", 9_000)]
    for _ in range(3):
        steps += [ScriptedReply(READ.blocks, output_tokens=40), cut("More", 9_000)]
    run = kit.dream(tmp_path, steps)
    assert run.outcome is None and "under 500 tokens" in run.error
    assert run.report.tools == ["Read", "Read"]


def test_a_prompt_that_is_too_long_is_shortened_once_with_every_call_beside_its_result(
    tmp_path: Path,
) -> None:
    reads = [ScriptedReply((Use("Read", {"file_path": f"/memory/{name}"}),)) for name in kit.FILES] * 3
    steps = [
        ScriptedReply((kit.learn(),)),
        *reads,
        status(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    ]
    run = kit.dream(tmp_path, [*steps, READ, say("Done.")])
    assert run.error == "", run.error
    before, after = run.server.calls[-4].body["messages"], run.server.calls[-2].body["messages"]
    assert len(after) == 7 and len(before) > 15, "the briefing, the call before the last five, and those"
    assert after[0]["content"][0]["text"] == before[0]["content"][0]["text"]
    note = after[0]["content"][1]["text"]
    assert "made feedback_linter.md" in note
    assert run.report.tools.count("Write") == 1


def test_a_prompt_that_stays_too_long_ends_clearly(tmp_path: Path) -> None:
    too_long = status(413, "Request too large")
    run = kit.dream(tmp_path, [READ, READ, READ, READ, too_long, too_long, say("never")])
    assert run.outcome is None and "does not fit the model’s context" in run.error
    assert run.calls == 6


def test_a_real_context_limit_is_met_by_shortening_long_results(tmp_path: Path) -> None:
    files = {**kit.FILES, "project_long.md": "---\nname: Long\n---\n\n" + "A fact about the service.\n" * 900}
    long = ScriptedReply((Use("Read", {"file_path": "/memory/project_long.md"}),))
    run = kit.dream(
        tmp_path,
        [READ, READ, READ, long, READ, say("Done.")],
        files=files,
        server={"limits": FakeLimits(context_tokens=11_500)},
    )
    assert run.error == "", run.error
    assert any(call.status == 400 for call in run.server.calls)


def test_a_briefing_with_long_lists_fits_a_small_context_without_them(tmp_path: Path) -> None:
    rows = "".join(
        f"- [Memory {n}](project_{n}.md) — what it is good for, in some words\n" for n in range(190)
    )
    files = {**kit.FILES, "MEMORY.md": f"# Memory\n\n{rows}"}
    small = {"limits": FakeLimits(context_tokens=9_000)}
    run = kit.dream(tmp_path, [READ, say("Done.")], files=files, server=small)
    assert run.error == "" and [call.status for call in run.server.calls] == [400, 200, 200]
    assert "long lists of the briefing were left out" in run.report.text
    first = run.server.calls[-1].body["messages"][0]["content"][0]["text"]
    assert "Memory 3]" in first and "Memory 180]" not in first and first.endswith("finish with your summary.")
    assert "read it again if you need it]\n</dream-index>" in first


def test_a_context_that_overflows_in_the_answer_is_shortened_once(tmp_path: Path) -> None:
    full = ScriptedReply((Text("Hal"), kit.learn()), stop_reason="model_context_window_exceeded")
    run = kit.dream(tmp_path / "a", [READ, READ, READ, READ, full, say("Done.")])
    assert run.error == "" and run.outcome is not None and run.outcome.edits == []
    again = kit.dream(tmp_path / "b", [READ, READ, READ, READ, full, full])
    assert "larger context" in again.error


FULL = "This model's maximum context length is 65536 tokens. However, you requested {} output tokens: reduce max_tokens."


def test_a_context_without_room_for_an_answer_is_shortened_and_not_given_up(tmp_path: Path) -> None:
    """As vLLM and earlier models count: prompt and `max_tokens` together."""
    full = [status(400, FULL.format(most)) for most in (8_000, 4_000, 2_000, 1_024)]
    run = kit.dream(tmp_path, [READ, READ, READ, READ, *full, say("Done.")])
    assert run.error == "", run.error
    assert asked(run)[4:] == [8_000, 4_000, 2_000, 1_024, 8_000]
    assert "earlier messages were left out" in run.report.text


def test_an_answer_that_is_cut_off_where_the_context_ends_is_asked_for_again_with_room(
    tmp_path: Path,
) -> None:
    full = [status(400, FULL.format(most)) for most in (8_000, 4_000)]
    run = kit.dream(tmp_path, [READ, READ, READ, READ, *full, cut("Half", 2_000), say("Done.")])
    assert run.error == "" and asked(run)[4:] == [8_000, 4_000, 2_000, 8_000]
    assert "The context was full before the answer was whole" in run.report.text
    assert "Half" not in str(run.server.calls[-1].body["messages"])


@pytest.mark.more
def test_a_conversation_is_shortened_again_once_it_has_grown_again(tmp_path: Path) -> None:
    full = status(400, "prompt is too long: 9000 tokens > 8192 maximum")
    long = [READ, ScriptedReply((Use("Glob", {"pattern": "/memory/*"}),))] * 3
    run = kit.dream(tmp_path / "a", [*long, full, *long, full, *long, say("Done.")])
    assert run.error == "", run.error
    assert run.report.text.count("earlier messages were left out") == 2
    soon = kit.dream(tmp_path / "b", [*long, full, READ, full, say("never")])
    assert "does not fit the model’s context" in soon.error


def test_a_context_that_is_full_in_the_first_answer_is_not_said_to_have_been_shortened(
    tmp_path: Path,
) -> None:
    full = ScriptedReply((Text("Hal"),), stop_reason="model_context_window_exceeded")
    run = kit.dream(tmp_path, [full])
    assert "does not fit the model’s context, not even shortened" in run.error and "again" not in run.error


@pytest.mark.more
def test_a_model_that_repeats_itself_is_told_and_ended_before_its_turns_are_used_up(tmp_path: Path) -> None:
    run = kit.dream(tmp_path / "a", [READ] * 60)
    assert run.calls == 9 and "made the same tool calls 9 times in a row" in run.error
    told = ["You made the same calls" in str(call.body["messages"][-1]) for call in run.server.calls]
    assert told == [False, False, *[True] * 7]
    other = ScriptedReply((Use("Glob", {"pattern": "/memory/*"}),))
    assert kit.dream(tmp_path / "b", [*[READ, other] * 10, say("Done.")]).error == ""


def test_an_empty_answer_is_asked_again_once_and_is_no_dream_that_found_nothing(tmp_path: Path) -> None:
    empty = ScriptedReply()
    run = kit.dream(tmp_path / "a", [READ, empty, ScriptedReply((kit.learn(),)), say("Learnt one rule.")])
    assert run.error == "" and run.outcome is not None and run.outcome.summary == "Learnt one rule."
    assert "Your answer was empty" in str(run.server.calls[2].body["messages"][-1])
    thought = ScriptedReply((Think("Hm."),))
    alone = kit.dream(
        tmp_path / "c", [READ, thought, ScriptedReply((Think("So."), kit.learn())), say("Done.")]
    )
    assert alone.error == "" and alone.report.tools == ["Read", "Write"]
    assert "left out" not in alone.report.text and "So." in str(alone.server.calls[-1].body["messages"])
    nothing = kit.dream(tmp_path / "b", [READ, empty, empty])
    assert nothing.outcome is None and "last answers were empty" in nothing.error
    done = kit.dream(tmp_path / "c", [ScriptedReply((kit.learn(),)), empty, empty])
    assert done.error == "" and done.outcome is not None and len(done.outcome.edits) == 1


def test_an_empty_answer_in_the_last_turn_keeps_what_was_done(tmp_path: Path) -> None:
    """Asking again would end the dream at its limit, and with it the work."""
    run = kit.dream(tmp_path, [READ, ScriptedReply((kit.learn(),)), ScriptedReply()], max_turns=3)
    assert run.error == "" and run.outcome is not None and len(run.outcome.edits) == 1


def test_a_refusal_ends_the_dream_with_what_to_do(tmp_path: Path) -> None:
    run = kit.dream(
        tmp_path, [ScriptedReply((kit.learn(),)), ScriptedReply((Text("No."),), stop_reason="refusal")]
    )
    assert run.outcome is None and "refused to go on" in run.error and "rules engine" in run.error
    why = {"type": "refusal", "category": "cyber", "explanation": "It names an exploit."}
    told = ScriptedReply((Text("No."),), stop_reason="refusal", stop_details=why)
    for streams in (True, False):
        run = kit.dream(tmp_path / str(streams), [told], server={"dialect": Dialect(streams=streams)})
        assert "refused to go on with this dream (It names an exploit). Nothing" in run.error


def test_a_paused_turn_goes_on(tmp_path: Path) -> None:
    run = kit.dream(
        tmp_path,
        [
            ScriptedReply((Text("Wait."),), stop_reason="pause_turn"),
            ScriptedReply((kit.learn(),)),
            say("Done."),
        ],
    )
    assert run.error == "" and run.report.tools == ["Write"]
    assert run.server.calls[1].body["messages"][1]["content"] == [{"type": "text", "text": "Wait."}]


@each(("reason", "ends"), [("end_turn", True), ("stop_sequence", True), ("stop", True)])
def test_a_final_stop_ends_the_dream(tmp_path: Path, reason: str, ends: bool) -> None:
    run = kit.dream(tmp_path, [READ, ScriptedReply((Text("Nothing to do."),), stop_reason=reason)])
    assert (run.outcome is not None) is ends


def test_a_final_stop_with_whole_calls_runs_them(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [ScriptedReply((kit.learn(),), stop_reason="end_turn"), say("Done.")])
    assert run.error == "" and run.report.tools == ["Write"]


def test_a_stop_for_a_call_that_is_not_there_is_an_end(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [READ, ScriptedReply((Text("All is well."),), stop_reason="tool_use")])
    assert run.error == "" and run.outcome is not None and run.outcome.summary == "All is well."


def test_an_unknown_stop_ends_clearly_and_runs_nothing(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [ScriptedReply((kit.learn(),), stop_reason="solar_flare")])
    assert run.outcome is None and "'solar_flare'" in run.error and run.report.tools == []


def test_an_output_limit_that_the_server_refuses_is_lowered(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [READ, say("Done.")], server={"limits": FakeLimits(output_tokens=4_096)})
    assert run.error == "" and asked(run) == [8_000, 4_000, 8_000, 4_000]


def test_an_option_that_the_server_refuses_is_left_out(tmp_path: Path) -> None:
    from dreams.engines.anthropic.budget import Budget, BudgetLimits as DreamLimits, Ledger
    from dreams.engines.anthropic.retrying import Asker, CallFailed, FailureKind
    from dreams.engines.anthropic.stream import ModelReply as Whole
    from dreams.engines.tokens import Tokens

    class Server:
        def __init__(self) -> None:
            self.asked: list[Any] = []

        def stream(self, request: Any, watch: Any) -> Whole:
            self.asked.append(request)
            if "thinking" in request:
                raise CallFailed(FailureKind.OPTION, "thinking: Extra inputs are not permitted")
            return Whole((), "end_turn", Tokens(1, 1), "m")

    server = Server()
    budget = Budget(DreamLimits(10, 100_000, 60), Ledger({}))
    options = {"thinking": {"type": "adaptive"}}
    asker = Asker(server, "h", "m", "", options, kit.QUICK, budget, lambda: None, lambda: None)
    asker.ask(lambda: {"messages": []}, 100)
    assert ["thinking" in request for request in server.asked] == [True, False]
    asker.ask(lambda: {"messages": []}, 100)
    assert len(server.asked) == 3, "it is not tried again"


@each(
    ("failures", "after", "low", "high"),
    [
        (1, None, 0.5, 0.625),
        (2, None, 1.0, 1.25),
        (7, None, 32, 40),
        (10, None, 32, 40),
        (1, 7, 7, 7),
        (1, 3600, 60, 60),
    ],
)
def test_the_back_off_doubles_to_its_cap_and_honours_the_server_up_to_a_minute(
    failures: int, after: float | None, low: float, high: float
) -> None:
    from dreams.engines.anthropic import Patience

    assert Patience().delay(failures, after, 0.0) == low
    assert Patience().delay(failures, after, 0.999999) == pytest.approx(high, rel=1e-4)


@each(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Tue, 10 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Tue, 10 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    from dreams.engines.anthropic.client import retry_after

    assert retry_after(headers, kit.NOW) == seconds


def test_a_server_that_asks_for_an_hour_is_not_obeyed(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [status(429, retry_after="3600"), READ, say("Done.")])
    assert run.error == "" and run.calls == 3


def test_a_long_wait_is_told_once_with_what_is_waited_for_and_how_long(tmp_path: Path) -> None:
    away = [status(500), status(500, retry_after="2"), status(500)]
    patience = dataclasses.replace(kit.QUICK, longest_retry_after=2.0)
    run = kit.dream(tmp_path, [READ, *away, say("Done.")], patience=patience)
    told = [line for line in run.report.text.splitlines() if "in a row" in line]
    assert run.error == "" and len(told) == 1
    assert "failed 2 times in a row (server error" in told[0]
    assert "asked up to 8 more times, with pauses of up to 16 s in all" in told[0]


def test_a_server_that_cuts_the_prompt_without_a_word_is_noticed(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [READ, ScriptedReply((Text("Done."),), input_tokens=500)])
    assert run.error == "" and "it seems to cut what it reads" in run.report.text
    whole = kit.dream(tmp_path / "b", [READ, say("Done.")])
    assert "seems to cut" not in whole.report.text
