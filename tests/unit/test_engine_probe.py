"""Testing the connection says what it found, and what to do: each case over real sockets on loopback."""

from __future__ import annotations

import contextlib
import itertools
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dreams.engines.anthropic import keys
from dreams.engines.anthropic.keys import What
from dreams.engines.anthropic.probe import QUESTION, Probed, probe
from tests.world.cases import each
from tests.world.model_server import (
    Dialect,
    FakeLimits,
    Fault,
    ModelServer,
    Script,
    ScriptedReply,
    ScriptedStep,
    Text,
    Use,
    closed,
    error_event,
    garbage,
    reset,
    stalled,
    status,
    use,
)

MODEL = "claude-sonnet-5-5"
READY = use("ready", word="yes")


def asked(reply: ScriptedReply, *, model: str = MODEL, path: str = "", **server: Any) -> Probed:
    with ModelServer(Script([], then=reply), **server) as wire:
        return probe(model, {"ANTHROPIC_BASE_URL": wire.url + path}, seconds=5.0)


def fact(found: Probed, name: str) -> str:
    return dict(found.facts)[name]


# --- It works -----------------------------------------------------------------------------------------------------


def test_a_server_that_answers_is_told_with_all_that_a_dream_needs() -> None:
    found = asked(READY)
    assert found.ok and found.remedy == "" and "calls tools" in found.said
    assert fact(found, "Model") == MODEL and fact(found, "Tools") == "Called"
    assert fact(found, "Streaming") == "Yes" and fact(found, "Prompt cache") == "Reported"
    _, _, took = fact(found, "Round trip").partition(" ms; the whole answer took ")
    assert took.endswith(" ms") or float(took.removesuffix(" s")) < 60
    assert "tokens in" in fact(found, "Used") and MODEL in found.models


def test_one_short_question_of_fixed_words_is_all_that_is_sent() -> None:
    with ModelServer(Script([READY])) as wire:
        probe(MODEL, {"ANTHROPIC_BASE_URL": wire.url})
        look, question = wire.seen
    assert (look.path, question.path) == ("/v1/models", "/v1/messages")
    assert {**question.body} == {"model": MODEL, "stream": True, **QUESTION}


@each(
    ("dialect", "name", "said"),
    [
        (Dialect(cache_usage=False), "Prompt cache", "Not reported"),
        (Dialect(refuses=frozenset({"cache_control"})), "Prompt cache", "Marks are refused"),
        (Dialect(streams=False), "Streaming", "in one piece"),
    ],
)
def test_what_a_server_lacks_is_told_and_stops_nothing(dialect: Dialect, name: str, said: str) -> None:
    found = asked(READY, dialect=dialect)
    assert found.ok and said in fact(found, name)


def test_a_model_that_is_not_listed_and_answers_is_fine_and_told() -> None:
    found = asked(READY, model="any", limits=FakeLimits(models=("own",)), dialect=Dialect(any_model=True))
    assert found.ok and "does not list; it lists own" in fact(found, "Model")


def test_a_server_that_lists_no_models_is_asked_all_the_same() -> None:
    assert asked(READY, dialect=Dialect(lists="none")).ok


# --- It answers, but ----------------------------------------------------------------------------------------------


def test_an_unknown_model_is_told_with_those_on_offer() -> None:
    many = tuple(f"m{number}" for number in range(20))
    found = asked(READY, model="mine", limits=FakeLimits(models=many))
    assert found.what is What.MODEL and "“mine”" in found.said
    assert "It offers: m0, m1" in found.said and "and 8 more" in found.said
    assert "Choose another model" in found.remedy


@each("key", ["environment", "file"])
def test_a_dead_key_is_told_and_never_shown(key: str, tmp_path: Path) -> None:
    dead = "-".join(["sk", "made", "up", "0123456789"])
    path = tmp_path / "keys"
    path.touch(0o600)
    with ModelServer(Script([]), keys=["another"]) as wire:
        path.write_text(f"{wire.url.removeprefix('http://')} {dead}")
        environ = {"ANTHROPIC_BASE_URL": wire.url}
        found = probe(MODEL, environ | ({"ANTHROPIC_API_KEY_FILE": str(path)} if key == "file" else {}))
    assert found.what is What.KEY and "ANTHROPIC_API_KEY" in found.remedy
    assert dead not in repr(found)


def test_a_key_that_a_server_repeats_is_cut_out(tmp_path: Path) -> None:
    dead = "-".join(["sk", "made", "up", "0123456789"])
    path = tmp_path / "keys"
    path.touch(0o600)
    for code in (400, 403, 500):
        fault = status(code, f"Incorrect key provided: {dead}.")
        with ModelServer(Script([], then=ScriptedStep(fault=fault))) as wire:
            path.write_text(f"{wire.url.removeprefix('http://')} {dead}")
            found = probe(MODEL, {"ANTHROPIC_BASE_URL": wire.url, "ANTHROPIC_API_KEY_FILE": str(path)})
        assert dead not in repr(found) and not found.ok
        assert code == 403 or "[key]" in found.said


@each(
    ("step", "what"),
    [
        (status(401), What.KEY),
        (status(402, "Your credit balance is too low"), What.MONEY),
        (status(429), What.BUSY),
        (status(500), What.BUSY),
        (status(529), What.BUSY),
        (error_event("content_block_start", 529), What.BUSY),
        (status(400, "max_tokens: 1024 > 512"), What.REQUEST),
        (status(400, "this model does not support tools"), What.TOOLS),
        (closed("content_block_delta"), What.NETWORK),
        (reset("content_block_delta"), What.NETWORK),
        (garbage("content_block_delta"), What.OTHER_API),
        (ScriptedReply((Text("I am ready."),)), What.TOOLS),
        (ScriptedReply((Use("another", {}),)), What.TOOLS),
        (stalled("headers"), What.TIMEOUT),
        (stalled("message_start"), What.TIMEOUT),
    ],
)
@pytest.mark.more
def test_each_answer_that_is_none_has_its_words_and_its_remedy(
    step: ScriptedReply | Fault, what: What
) -> None:
    given = ScriptedStep(step) if isinstance(step, ScriptedReply) else ScriptedStep(READY, fault=step)
    with ModelServer(Script([], then=given)) as wire:
        silent = what is What.TIMEOUT  # all others answer, however long a busy machine takes for it
        found = probe(MODEL, {"ANTHROPIC_BASE_URL": wire.url}, seconds=1.0 if silent else 30.0)
    assert found.what is what, found
    assert not found.ok and found.said.endswith(".") and found.remedy


def test_a_server_that_is_slow_is_given_up_in_time_with_what_it_listed() -> None:
    """The server would be silent for half a minute."""
    started = time.monotonic()
    with ModelServer(Script([], then=ScriptedStep(READY, fault=stalled("headers")))) as wire:
        found = probe(MODEL, {"ANTHROPIC_BASE_URL": wire.url}, seconds=1.0)
    assert found.what is What.TIMEOUT and "loading its model" in found.remedy and MODEL in found.models
    assert time.monotonic() - started < 15


# --- Another path, another API ------------------------------------------------------------------------------------


def test_a_wrong_path_on_a_live_host_has_the_right_address_as_its_remedy() -> None:
    with ModelServer(Script([])) as wire:
        found = probe(MODEL, {"ANTHROPIC_BASE_URL": f"{wire.url}/api/v2"})
        assert found.what is What.PATH and found.remedy.endswith(f"set ANTHROPIC_BASE_URL={wire.url}")
    with ModelServer(Script([]), prefix="/anthropic") as wire:
        found = probe(MODEL, {"ANTHROPIC_BASE_URL": wire.url})
        assert found.what is What.PATH and "before /v1/messages" in found.remedy


def test_an_address_that_ends_in_v1_or_further_just_works() -> None:
    for path in ("/v1", "/v1/messages", "/v1/"):
        assert asked(READY, path=path).ok
    with ModelServer(Script([READY]), prefix="/anthropic") as wire:
        assert probe(MODEL, {"ANTHROPIC_BASE_URL": f"{wire.url}/anthropic/v1"}).ok


Talk = Callable[[socket.socket, bytes], None]


@contextmanager
def raw(talk: Talk) -> Iterator[str]:
    """A server that is none: `talk` gets each connection and the head of its request."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(2)
                    talk(connection, connection.recv(65536))
                    # What is closed with something unread is reset, and the answer with it.
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def answer(code: str, kind: str, body: bytes, more: str = "") -> bytes:
    head = f"HTTP/1.1 {code}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{more}connection: close\r\n\r\n"
    return head.encode() + body


def always(data: bytes) -> Talk:
    return lambda connection, head: connection.sendall(data)


PAGE = b"<!doctype html><title>Welcome</title>"
LIST = b'{"object": "list", "data": [{"id": "gpt", "object": "model"}]}'
CHAT = b'{"id": "c", "object": "chat.completion", "choices": [{"message": {"content": "Hello"}}]}'
CHUNKS = b'data: {"object": "chat.completion.chunk", "choices": []}\n\ndata: [DONE]\n\n'


def openai_like(kind: str, body: bytes) -> Talk:
    def talk(connection: socket.socket, head: bytes) -> None:
        listing = head.startswith(b"GET /v1/models")
        connection.sendall(
            answer("200 OK", "application/json", LIST) if listing else answer("200 OK", kind, body)
        )

    return talk


@each(
    ("talk", "what", "words"),
    [
        (always(answer("200 OK", "text/html", PAGE)), What.OTHER_API, "a web page"),
        (always(answer("404 Not Found", "text/html", PAGE)), What.PATH, "not at this path"),
        (
            always(answer("404 Not Found", "application/json", b'{"detail":"Not Found"}')),
            What.PATH,
            "this path",
        ),
        (always(answer("200 OK", "application/json", CHAT)), What.OTHER_API, "JSON of another kind"),
        (openai_like("application/json", CHAT), What.OTHER_API, "lists models, but has no /v1/messages"),
        (openai_like("text/event-stream", CHUNKS), What.OTHER_API, "holds no message"),
        (
            always(
                answer("307 Temporary Redirect", "text/html", b"", "location: https://other.example/x\r\n")
            ),
            What.PATH,
            "sends requests on to other.example",
        ),
        (
            always(answer("307 Temporary Redirect", "text/html", b"", "location: https://[other/x\r\n")),
            What.PATH,
            "sends requests on to https://[other/x",
        ),
        (always(answer("403 Forbidden", "text/html", PAGE)), What.KEY, "403"),
        (always(answer("502 Bad Gateway", "text/html", PAGE)), What.BUSY, "502: a web page"),
        (always(b"SSH-2.0-OpenSSH_9.6\r\n"), What.NETWORK, "took the connection"),
        (always(b""), What.NETWORK, "took the connection"),
        (always(answer("200 OK", "application/json", b'{"data": ' + b"[" * 200_000)), What.OTHER_API, "JSON"),
    ],
)
def test_somebody_else_is_told_from_a_messages_api(talk: Talk, what: What, words: str) -> None:
    with raw(talk) as address:
        found = probe(MODEL, {"ANTHROPIC_BASE_URL": address}, seconds=5.0)
    assert (found.what, words in found.said) == (what, True), found
    assert found.remedy


def test_an_answer_without_an_end_is_cut_off() -> None:
    def endless(connection: socket.socket, head: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        with pytest.raises(OSError):  # whichever: the client has hung up
            while True:
                connection.sendall(b" " * 65536)

    with raw(endless) as address:
        found = probe(MODEL, {"ANTHROPIC_BASE_URL": address}, seconds=5.0)
    assert found.what is What.OTHER_API


def test_an_error_without_an_end_is_cut_off() -> None:
    hung_up: list[OSError] = []

    def endless(connection: socket.socket, head: bytes) -> None:
        if head.startswith(b"GET"):
            connection.sendall(answer("404 Not Found", "text/plain", b""))
            return
        connection.sendall(b"HTTP/1.1 500 Broken\r\ncontent-type: application/json\r\n\r\n")
        try:
            for _ in range(1_000):
                connection.sendall(b" " * 65536)
        except OSError as error:
            hung_up.append(error)

    with raw(endless) as address:
        found = probe(MODEL, {"ANTHROPIC_BASE_URL": address}, seconds=20.0)
    assert found.what is not What.OK and "500" in found.said
    assert hung_up


# --- Nobody there -------------------------------------------------------------------------------------------------


def test_a_port_where_nobody_listens_is_told() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        found = probe(MODEL, {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{unused.getsockname()[1]}"})
    assert found.what is What.REFUSED and "nothing listens there" in found.said and "port" in found.remedy


def test_a_server_that_takes_the_connection_and_is_silent_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        found = probe(MODEL, {"ANTHROPIC_BASE_URL": address}, seconds=0.5)
    assert found.what is What.TIMEOUT and "0.5 s" in found.said


def test_https_where_plain_http_is_spoken_is_told() -> None:
    with raw(always(answer("400 Bad Request", "text/plain", b""))) as address:
        found = probe(MODEL, {"ANTHROPIC_BASE_URL": address.replace("http:", "https:")})
    assert found.what is What.TLS and "plain http" in found.remedy


def test_a_name_that_is_not_found_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*args: object, **more: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    path = tmp_path / "keys"
    path.touch(0o600)
    path.write_text("models.invalid made-up")
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    environ = {"ANTHROPIC_BASE_URL": "https://models.invalid", "ANTHROPIC_API_KEY_FILE": str(path)}
    found = probe(MODEL, environ)
    assert found.what is What.NAME and "Correct the host" in found.remedy


def test_without_a_key_nothing_is_asked_and_the_remedy_is_told() -> None:
    found = probe(MODEL, {})
    assert found.what is What.NO_KEY and "Set ANTHROPIC_API_KEY" in found.remedy


def caused(*errors: BaseException) -> BaseException:
    """The first of these, each caused by the next, as the library nests them."""
    for outer, inner in itertools.pairwise(errors):
        outer.__cause__ = inner
    return errors[0]


@each(
    ("error", "trouble"),
    [
        (caused(OSError("x"), OSError("y"), socket.gaierror(-2, "Name")), What.NAME),
        (caused(OSError("x"), ssl.SSLCertVerificationError("self-signed")), What.TLS),
        (caused(OSError("x"), TimeoutError(), ssl.SSLWantReadError()), What.TIMEOUT),
        (caused(OSError("x"), ExceptionGroup("all", [ConnectionRefusedError()])), What.REFUSED),
        (OSError("Network is unreachable"), What.NETWORK),
    ],
)
def test_nested_network_errors_are_told_apart(error: BaseException, trouble: What) -> None:
    found = keys.why(error)
    assert found.trouble is trouble and found.said and found.remedy.endswith(".")


def test_an_error_that_causes_itself_is_told_all_the_same() -> None:
    error = OSError("round and round")
    error.__cause__ = error
    assert keys.why(error).trouble is What.NETWORK


def test_everything_that_a_test_can_find_stands_in_the_docs_with_what_to_do() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "engines.md").read_text()
    table = docs.partition("| Found | What to do |")[2].partition("\n\n")[0]
    assert [what for what in What if what is not What.OK and what.value not in table] == []
