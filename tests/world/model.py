"""A small dream for engine tests: a memory directory, transcripts, a recording reporter, and the engine over real
HTTP against the fake server."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dreams.conf import Config
from dreams.engines.anthropic import Patience, Rate
from dreams.engines.anthropic.engine import AnthropicEngine
from dreams.engines.anthropic.tools import ReadTools, mounts_of
from dreams.engines.types import (
    Cancelled,
    Edit,
    EngineError,
    EngineTurn,
    Job,
    Outcome,
    Problem,
    PromptBrief,
    SessionBrief,
)
from dreams.lib.files import workspace
from dreams.lib.sandbox import Tree
from dreams.lib.sandbox.tool_worker import worker
from dreams.lib.sandbox.tool_worker.tools import NAMES, ToolReply, Tools
from tests.world import model_server as fake_server
from tests.world.model_server import ModelServer, Request, Script, ScriptedModel, ScriptedStep, Use

NOW = dt.datetime(2026, 3, 10, 12, 0, tzinfo=dt.UTC)
#: The least that a model does before it is done.
READ = fake_server.ScriptedReply((Use("Read", {"file_path": "/memory/project_deploy.md"}),))
INDEX = "# Memory\n\n- [Testing](feedback_testing.md) — how tests run\n- [Deploy](project_deploy.md) — where it runs\n"
TESTING = (
    "---\nname: Testing\ndescription: how tests run\ntype: feedback\n---\n\nUse make reset before a run.\n"
)
DEPLOY = "---\nname: Deploy\ntype: project\n---\n\nThe API runs on host alpha.\n"
FILES = {"MEMORY.md": INDEX, "feedback_testing.md": TESTING, "project_deploy.md": DEPLOY}
SESSION = "0a1b2c3d-0000-4000-8000-000000000001"
#: The events in a stream of one answer.
EVENTS = (
    "message_start",
    "ping",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
)
WISH = "From now on run the linter before every commit."
SAID = ("Add a health check to the API.", WISH, "No, the API runs on host beta since Monday.")
PRICES = {"claude-sonnet-5-5": [Rate.of("2", "10")], "claude-haiku-5-5": [Rate.of("0.10", "0.50")]}
# The back-off has its normal shape but a small unit.
QUICK = Patience(
    base_ms=1.0, longest_ms=5.0, longest_retry_after=0.05, stall_seconds=4.0, connect_seconds=4.0
)
# For stalls. A busy machine may see an additional one: such tests use `ByTurn`.
IMPATIENT = dataclasses.replace(QUICK, stall_seconds=0.08)
CITED = [{"session": SESSION, "line": 2, "quote": WISH}]


def transcript(folder: Path, said: Sequence[str] = SAID, session: str = SESSION) -> SessionBrief:
    """A transcript with the prompts `said`, each followed by an answer."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, text in enumerate(said):
        at = (NOW - dt.timedelta(days=1, minutes=60 - number)).isoformat().replace("+00:00", "Z")
        lines.append(
            {
                "type": "user",
                "sessionId": session,
                "timestamp": at,
                "message": {"role": "user", "content": text},
            }
        )
    path = folder / f"{session}.jsonl"
    raw = [json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines]
    path.write_bytes(b"".join(raw))
    prompts = tuple(
        PromptBrief(text, number + 1, sum(map(len, raw[:number])), NOW) for number, text in enumerate(said)
    )
    return SessionBrief(1, session, path, "Health check", NOW, 0, path.stat().st_size, 1, prompts)


@contextlib.contextmanager
def job(tmp: Path, files: Mapping[str, str] = FILES, **config: Any) -> Iterator[Job]:
    memory = tmp / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (memory / name).parent.mkdir(parents=True, exist_ok=True)
        (memory / name).write_bytes(text.encode())
    brief = transcript(tmp / "-home-dev-app")
    with workspace.Workspace.create(tmp / "scratch", workspace.take(memory)) as scratch:
        settings = dataclasses.replace(Config(), **{"max_cost_dream": 0.0, **config})
        yield Job("app", None, scratch, [brief], {}, settings, NOW, dt.UTC)


@dataclass
class Watched:
    """A reporter that records the turns. `stop` makes every check raise Cancelled."""

    turns: list[EngineTurn] = field(default_factory=list)
    looks: int = 0
    stop: Callable[[], bool] = lambda: False

    def turn(self, turn: EngineTurn) -> None:
        self.turns.append(turn)
        self.checkpoint()

    def checkpoint(self) -> None:
        self.looks += 1
        if self.stop():
            raise Cancelled

    @property
    def tools(self) -> list[str]:
        return [str(tool["name"]) for turn in self.turns for tool in turn.tools]

    @property
    def text(self) -> str:
        return "\n".join(turn.text for turn in self.turns)

    def used(self, name: str) -> int:
        """The sum of a token count over all turns."""
        return sum(getattr(turn.usage, name) for turn in self.turns)


class ByTurn:
    """Chooses answers by the number of the turn; the last step of a turn is repeated."""

    def __init__(self, *turns: Sequence[Any]) -> None:
        self._turns = [list(turn) for turn in turns]

    def step(self, request: Request) -> ScriptedStep:
        left = self._turns[request.turns]
        chosen = left.pop(0) if len(left) > 1 else left[0]
        return chosen if isinstance(chosen, ScriptedStep) else ScriptedStep(chosen)


class Near:
    """The real tools over the real mounts, in this process: hundreds of dreams would start one each."""

    names = NAMES

    def __init__(self, given: Job) -> None:
        rows = mounts_of(given).as_json()
        self._tree = Tree([mount for row in rows if (mount := worker._mount(row)) is not None])
        self._tools = Tools(self._tree)

    def run(self, name: str, given: Mapping[str, Any]) -> ToolReply:
        return self._tools.run(name, given)

    def close(self) -> None:
        self._tree.close()


@dataclass
class Run:
    """The result of one dream against a server."""

    server: ModelServer
    report: Watched
    outcome: Outcome | None
    error: str
    files: dict[str, bytes]

    @property
    def calls(self) -> int:
        return len(self.server.calls)


def dream(
    tmp: Path,
    answers: ScriptedModel | Sequence[Any],
    *,
    files: Mapping[str, str] = FILES,
    report: Watched | None = None,
    patience: Patience = QUICK,
    server: Mapping[str, Any] | None = None,
    examine: Callable[[Sequence[Edit]], Sequence[Problem]] | None = None,
    open_tools: Callable[[Job], ReadTools] = Near,
    **config: Any,
) -> Run:
    """Runs one dream over real HTTP. Cancelled is not caught."""
    chosen: ScriptedModel = Script(answers) if isinstance(answers, list | tuple) else answers  # type: ignore[assignment]
    watched = report or Watched()
    with job(tmp, files, **config) as made, ModelServer(chosen, **(server or {})) as wire:
        given = made if examine is None else dataclasses.replace(made, examine=examine)
        environ = {"ANTHROPIC_BASE_URL": wire.url}
        engine = AnthropicEngine(prices=PRICES, patience=patience, environ=environ, open_tools=open_tools)
        outcome, error = None, ""
        try:
            outcome = engine.run(given, watched)
        except EngineError as failed:
            error = str(failed)
        return Run(wire, watched, outcome, error, given.workspace.contents())


def learn(path: str = "feedback_linter.md", **more: Any) -> Use:
    """A call that writes a new memory with good evidence."""
    content = "---\nname: Linter\ntype: feedback\n---\n\nRun the linter before every commit.\n"
    given = {
        "path": f"/memory/{path}",
        "content": content,
        "reason": "The person asked for it.",
        "citations": CITED,
    }
    return Use("Write", {**given, **more})
