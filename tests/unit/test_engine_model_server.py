"""The model server keeps the API's own rules, so that a client which pleases it pleases the real one."""

from __future__ import annotations

import http.client
import json
from typing import Any

from tests.world.cases import each
from tests.world.model_server import (
    ModelServer,
    PromptCache,
    Script,
    ScriptedReply,
    Text,
    Think,
    Use,
    say,
    status,
)

ASK = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}


def post(server: ModelServer, body: Any, path: str = "/v1/messages") -> tuple[int, dict[str, Any], Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", path, data, {"content-type": "application/json", "x-api-key": "k"})
        response = connection.getresponse()
        return response.status, json.loads(response.read()), response.headers
    finally:
        connection.close()


def test_json_and_events_carry_the_same_message() -> None:
    import anthropic

    reply = ScriptedReply(
        (Think("Hm."), Text("Zwölf Größen."), Use("Read", {"file_path": "ä", "n": [1, None]}))
    )
    with ModelServer(Script([reply, reply])) as server:
        client = anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0)
        whole = client.messages.create(**ASK)  # type: ignore[call-overload]
        with client.messages.stream(**ASK) as stream:  # type: ignore[arg-type]
            streamed = stream.get_final_message()
        client.close()
    assert [b.to_dict() for b in whole.content] == [b.to_dict() for b in streamed.content]
    assert whole.stop_reason == streamed.stop_reason == "tool_use"
    assert whole.usage.output_tokens == streamed.usage.output_tokens == reply.size


def test_models_and_token_counts_are_answered() -> None:
    import anthropic

    with ModelServer(Script([])) as server:
        client = anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0)
        assert [m.id for m in client.models.list()][:1] == ["claude-sonnet-5-5"]
        assert client.models.retrieve("claude-haiku-5-5").id == "claude-haiku-5-5"
        counted = client.messages.count_tokens(model=ASK["model"], messages=ASK["messages"])  # type: ignore[arg-type]
        assert counted.input_tokens > 0
        client.close()


CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "R", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]}
USER = {"role": "user", "content": "Hello"}


@each(
    ("body", "code", "words"),
    [
        (b"{", 400, "not valid JSON"),
        ({**ASK, "model": "gpt"}, 404, "model: gpt"),
        ({**ASK, "temperature": 0}, 400, "temperature"),
        ({**ASK, "max_tokens": 100_000}, 400, "max_tokens"),
        ({**ASK, "messages": []}, 400, "at least one"),
        ({**ASK, "messages": [USER, {"role": "assistant", "content": "Sure"}]}, 400, "prefill"),
        ({**ASK, "messages": [USER, CALL, USER]}, 400, "without `tool_result`"),
        (
            {**ASK, "messages": [USER, {"role": "assistant", "content": "x"}, RESULT]},
            400,
            "unexpected `tool_use_id`",
        ),
        (
            {**ASK, "messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]},
            400,
            "non-empty",
        ),
        ({**ASK, "messages": [{"role": "user", "content": "x " * 500_000}]}, 400, "prompt is too long"),
    ],
)
def test_what_the_api_refuses_is_refused(body: Any, code: int, words: str) -> None:
    with ModelServer(Script([say("x")])) as server:
        found, answer, _ = post(server, body)
    assert found == code and words in answer["error"]["message"]


def test_errors_carry_their_type_their_headers_and_a_request_id() -> None:
    with ModelServer(Script([status(429, retry_after="3")]), keys=["k"]) as server:
        code, body, headers = post(server, ASK)
        assert (code, body["error"]["type"], headers["retry-after"]) == (429, "rate_limit_error", "3")
        assert body["request_id"] and headers["request-id"]
        assert post(server, ASK, "/messages")[0] == 404
        server.keys = frozenset({"another"})
        assert post(server, ASK)[1]["error"]["type"] == "authentication_error"
        assert [seen.status for seen in server.seen] == [429, 404, 401]


def long(text: str, mark: bool = False) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text * 1_000}
    return {**block, "cache_control": {"type": "ephemeral"}} if mark else block


def test_the_cache_reads_the_longest_marked_prefix_and_writes_the_rest() -> None:
    now = [0.0]
    cache = PromptCache(clock=lambda: now[0])
    first = {
        "model": "m",
        "system": [long("rules ", True)],
        "messages": [{"role": "user", "content": [long("a ", True)]}],
    }
    made = cache.count(first)
    assert made.cache_read == 0 and made.cache_creation > 1_500 and made.input == 0
    grown = {
        **first,
        "messages": [
            {"role": "user", "content": [long("a ")]},
            {"role": "user", "content": [long("b ", True)]},
        ],
    }
    again = cache.count(grown)
    assert again.cache_read == made.cache_creation and again.cache_creation > 400
    other = cache.count({**grown, "system": [long("other ", True)]})
    assert other.cache_read == 0, "one changed word at the start and nothing is read"
    now[0] = 301.0
    assert cache.count(grown).cache_read == 0, "five minutes later it is forgotten"


def test_a_prefix_that_is_too_short_is_not_cached() -> None:
    cache = PromptCache()
    block = {"type": "text", "text": "short", "cache_control": {"type": "ephemeral"}}
    body = {"model": "m", "messages": [{"role": "user", "content": [block]}]}
    cache.count(body)
    assert cache.count(body).cache_read == 0
