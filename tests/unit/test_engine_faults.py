"""Faults at odd bytes and of odd kinds, through real HTTP: end state, attempts, tools run exactly once, nothing partial.

Every fault × moment to its very end, with lock, clock and proposal, stands in tests/pipeline/test_every_fault.py.
The dream has three turns: a read, a write, a summary. The fault strikes in the second, where the write is asked for,
so a tool that ran twice or too early would show in the edits.
"""

from __future__ import annotations

import threading
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from dreams.engines.anthropic import keys
from dreams.engines.anthropic.engine import AnthropicEngine
from dreams.engines.anthropic.retrying import CallFailed, FailureKind, remedy
from dreams.engines.anthropic.stream import MOST_CHARS
from dreams.engines.types import EngineError, EngineTurn
from tests.world import model as kit
from tests.world.cases import each
from tests.world.model import EVENTS
from tests.world.model_server import (
    FakeLimits,
    Fault,
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

READ = kit.READ
CUTS = {"closes": closed, "resets": reset, "ends early": ended}


def write() -> ScriptedReply:
    return ScriptedReply((Think("Hm. " * 20), Text("I write it down now. " * 5), kit.learn()), piece=60)


def survived(run: kit.Run, calls: int) -> None:
    """The dream is whole: each tool ran once, one edit, every attempt was counted."""
    assert run.error == "" and run.outcome is not None
    assert run.report.tools == ["Read", "Write"]
    assert [edit.path for edit in run.outcome.edits] == ["feedback_linter.md"]
    assert run.calls == calls
    assert run.report.used("requests") == run.outcome.usage.requests
    assert run.report.used("output_tokens") == run.outcome.usage.output_tokens


@each("at", [0, 1, 7, 200, 333])
@each("how", ["closes", "resets"])
def test_a_stream_that_breaks_before_or_at_any_byte_is_asked_for_again(
    tmp_path: Path, how: str, at: str | int
) -> None:
    survived(
        kit.dream(tmp_path, [READ, ScriptedStep(write(), CUTS[how](at)), write(), say("Done.")]), calls=4
    )


NOISES = [
    b"event: content_block_delta\ndata: {not json\n\n",
    b'event: content_block_delta\ndata: "a string"\n\n',
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":99,"delta":{"type":"text_delta","text":"x"}}\n\n',
    b"event: message_start\ndata: [1, 2]\n\n",
    b"\xff\xfe\x00\x01\n\n",
]


@pytest.mark.parametrize(
    ("event", "noise"),
    [
        # Each event and each noise; all their pairs are in `make test-more`.
        pytest.param(event, noise, marks=[] if number % len(NOISES) == place else pytest.mark.sweep)
        for number, event in enumerate(EVENTS)
        for place, noise in enumerate(NOISES)
    ],
)
def test_garbage_in_a_stream_never_reaches_a_tool(tmp_path: Path, event: str, noise: bytes) -> None:
    run = kit.dream(tmp_path, [READ, ScriptedStep(write(), garbage(event, noise)), write(), say("Done.")])
    assert run.error == "" and run.outcome is not None
    assert run.report.tools == ["Read", "Write"] and len(run.outcome.edits) == 1
    assert run.calls in (3, 4)


def test_an_event_that_does_not_end_is_given_up_before_it_fills_the_memory(tmp_path: Path) -> None:
    endless = b'event: content_block_delta\ndata: {"x": "' + b"x" * (MOST_CHARS + 1)
    run = kit.dream(
        tmp_path,
        [READ, ScriptedStep(write(), garbage("content_block_delta", endless)), write(), say("Done.")],
    )
    assert run.error == "" and run.calls == 4
    assert "it does not end" in run.report.text


@each("fault", [status(500), closed("headers"), ended("message_delta")])
def test_after_ten_tries_the_dream_ends_clearly_and_proposes_nothing(tmp_path: Path, fault: Fault) -> None:
    run = kit.dream(tmp_path, [READ, *[ScriptedStep(write(), fault)] * 20])
    assert run.outcome is None
    assert (
        "gave no whole answer in several tries" in run.error
        and "Try again later." in run.error
        and "\n" not in run.error
    )
    assert run.calls == 11
    assert run.report.tools == ["Read"]


@each(
    ("fault", "words"),
    [
        (status(401, "invalid x-api-key"), "ANTHROPIC_API_KEY"),
        (status(403, "not allowed"), "ANTHROPIC_API_KEY"),
        (status(404, "Not found"), "ANTHROPIC_BASE_URL"),
        (status(404, "model: claude-none"), "does not know the model"),
        (status(400, "Your credit balance is too low"), "credit"),
        (status(400, "tools: unsupported"), "refuses the request"),
        (error_event("message_start", 401), "ANTHROPIC_API_KEY"),
    ],
)
def test_what_no_retry_mends_ends_at_once_with_the_remedy(tmp_path: Path, fault: Fault, words: str) -> None:
    run = kit.dream(tmp_path, [ScriptedStep(READ, fault)])
    assert run.outcome is None and words in run.error
    assert run.calls == 1
    assert run.files == {name: text.encode() for name, text in kit.FILES.items()}


@each(
    ("location", "place"),
    [
        ("https://user:secret@models.example/v1/messages", "models.example"),
        ("/secret", "another path"),
        ("http://[secret", "another path"),
    ],
)
def test_a_server_that_redirects_is_told_by_the_place_it_names(
    tmp_path: Path, location: str, place: str
) -> None:
    run = kit.dream(tmp_path, [status(307, location=location)])
    assert run.calls == 1 and f"it redirects to {place})" in run.error and "secret" not in run.error
    assert "the part before /v1/messages" in run.error


def test_the_remedy_of_a_server_that_never_takes_the_connection_is_that_of_its_cause() -> None:
    silent = CallFailed(FailureKind.CONNECTION, "", why=keys.why(TimeoutError()))
    assert "a firewall between?" in remedy(silent, "models.example", "m")


def test_a_base_url_where_nobody_listens_ends_at_once(tmp_path: Path, unused_port: int) -> None:
    url = f"http://127.0.0.1:{unused_port}"
    with kit.job(tmp_path) as job, pytest.raises(EngineError, match="cannot be reached"):
        AnthropicEngine(
            prices={}, patience=kit.QUICK, environ={"ANTHROPIC_BASE_URL": url}, open_tools=kit.Near
        ).run(job, kit.Watched())


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_three_overloads_in_a_row_switch_to_the_fallback_model_for_good(tmp_path: Path) -> None:
    thought = ScriptedReply(
        (Think("Signed by the first."), Use("Read", {"file_path": "/memory/project_deploy.md"}))
    )
    run = kit.dream(tmp_path, [thought, *[status(529)] * 3, write(), say("Done.")])
    survived(run, calls=6)
    models = [call.body["model"] for call in run.server.calls]
    assert models == ["claude-sonnet-5-5"] * 4 + ["claude-haiku-5-5"] * 2
    assert "thinking" not in str(run.server.calls[4].body["messages"][:2]), (
        "a signature of another model is refused"
    )
    assert "switched" in run.report.text


def test_overloads_that_are_not_in_a_row_do_not_switch(tmp_path: Path) -> None:
    run = kit.dream(
        tmp_path, [READ, status(529), status(529), status(500), status(529), write(), say("Done.")]
    )
    survived(run, calls=7)
    assert {call.body["model"] for call in run.server.calls} == {"claude-sonnet-5-5"}


def test_without_a_fallback_overloads_are_waited_out(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [READ, *[status(529)] * 4, write(), say("Done.")], fallback_model="")
    survived(run, calls=7)


def test_a_broken_request_is_paid_for_and_counted(tmp_path: Path) -> None:
    whole = kit.dream(tmp_path / "a", [READ, write(), say("Done.")])
    broken = kit.dream(
        tmp_path / "b", [READ, ScriptedStep(write(), closed("message_delta")), write(), say("Done.")]
    )
    assert whole.outcome and broken.outcome
    assert broken.outcome.usage.requests == whole.outcome.usage.requests + 1
    assert (broken.outcome.usage.cost_usd or Decimal(0)) > (whole.outcome.usage.cost_usd or Decimal(0))


def test_what_was_spent_is_told_even_when_the_dream_fails(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [READ, ScriptedStep(write(), closed("message_delta")), status(401)])
    assert run.outcome is None
    assert run.report.used("requests") == 2


def test_another_makers_model_does_not_fall_back_to_one_of_anthropics(tmp_path: Path) -> None:
    known = {"limits": FakeLimits(models=("local",))}
    run = kit.dream(tmp_path, [READ, *[status(529)] * 4, write(), say("Done.")], model="local", server=known)
    survived(run, calls=7)


def test_a_connection_that_closes_while_tools_run_costs_nothing(tmp_path: Path) -> None:
    steps = [ScriptedStep(READ, closed(10**9)), ScriptedStep(write(), closed(10**9))]
    open_ones = iter(steps)

    class Unhurried(kit.Watched):
        """Goes on when the connection is closed: one that closes while the next request is on its way is a fault."""

        def turn(self, turn: EngineTurn) -> None:
            assert not turn.tools or next(open_ones).struck.wait(20)
            super().turn(turn)

    run = kit.dream(tmp_path, [*steps, say("Done.")], report=Unhurried())
    survived(run, calls=3)
    assert "Recovered" not in run.report.text


@each(
    ("code", "headers", "words"),
    [
        (200, {"content-type": "text/html"}, "does not speak the Messages API"),
        (302, {"location": "http://127.0.0.1:1/v1/messages"}, "does not speak the Messages API"),
        (405, {}, "does not speak the Messages API"),
    ],
)
def test_a_server_of_another_kind_is_told_at_once_and_a_redirect_is_not_followed(
    tmp_path: Path, code: int, headers: dict[str, str], words: str
) -> None:
    asked: list[str] = []

    class Another(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"<html>It works!</html>")

        def log_message(self, format: str, *args: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Another)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    environ = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}"}
    engine = AnthropicEngine(prices={}, patience=kit.QUICK, environ=environ, open_tools=kit.Near)
    with kit.job(tmp_path) as job, pytest.raises(EngineError, match=words):
        engine.run(job, kit.Watched())
    server.shutdown()
    server.server_close()
    assert asked == ["/v1/messages"]
