"""A discovery that reads with several processes writes what one process writes, also when a process dies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import models

from dreams.lib.agents.transcripts import read_ahead
from dreams.lib.agents.transcripts.read_ahead import Ahead
from dreams.models import MemoryWrite, Project, Prompt, RequestUsage, Session, TranscriptFile
from dreams.services.discovery import importing
from tests.world.agent_folder import Root, answer, typed

pytestmark = pytest.mark.django_db
OWNED: tuple[type[models.Model], ...] = (RequestUsage, Prompt, MemoryWrite, TranscriptFile)
EDIT = {"filePath": "/x/.claude/projects/p/memory/fact.md", "originalFile": None}


@pytest.fixture
def root(tmp_path: Path) -> Root:
    """Forks, sub-agents with and without their parent, replays, odd lines: what order and owner decide."""
    made = Root(tmp_path)
    for name in ("one", "two"):
        repo = made.repository(name)
        shared = [
            typed("The same", uuid=f"{name}-u"),
            *(answer(f"{name}-{n}", tokens=(n, n)) for n in range(9)),
        ]
        for n in range(12):
            own = [
                typed("No, use tabs", uuid=f"{name}-{n}"),
                answer(f"{name}-{n}-own"),
                answer(f"{name}-{n}-own", tokens=(9, 99)),
            ]
            made.session(repo, f"s{n:02d}", [*shared[: n + 1], *own, typed("x", toolUseResult=EDIT)])
            made.session(
                repo, f"s{n:02d}/subagents/agent-a", [answer(f"{name}-{n}", "other", isSidechain=True)]
            )
        made.session(repo, "agent-flat", [answer(f"{name}-flat", isSidechain=True, sessionId="lost")])
        made.session(repo, "never-there/subagents/agent-b", [answer(f"{name}-b", isSidechain=True)])
        odd = (
            json.dumps(typed("Glued")).encode()
            + json.dumps(answer(f"{name}-g")).encode()
            + b"\n{broken\n{half"
        )
        (made.folder(repo) / "odd.jsonl").write_bytes(odd)
    return made


def rows() -> dict[str, list[tuple[object, ...]]]:
    """Everything that was written, with paths where numbers would tell the order of two runs apart."""
    found: dict[str, list[tuple[object, ...]]] = {}
    for model in (Session, *OWNED):
        owner = ("session__path",) if model is not Session else ()
        names = [
            f.name
            for f in model._meta.concrete_fields
            if not f.is_relation and f.name not in ("id", "gone_at")
        ]
        found[model.__name__] = sorted(map(_plain, model.objects.values_list(*owner, *names)), key=repr)
    return found


def _plain(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(bytes(cell) if isinstance(cell, memoryview) else cell for cell in row)


def discovered(
    root: Root, monkeypatch: pytest.MonkeyPatch, children: int
) -> dict[str, list[tuple[object, ...]]]:
    Project.objects.all().delete()
    monkeypatch.setattr(importing, "children_for", lambda _: children)
    monkeypatch.setattr(read_ahead, "GROUP_FILES", 3)
    report = root.discover()
    assert report.skipped == ()
    return rows()


@pytest.mark.more
def test_two_and_three_processes_write_what_one_writes(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = discovered(root, monkeypatch, 0)
    assert len(alone["RequestUsage"]) > 40
    assert all(alone.values())
    for children in (1, 2):
        assert discovered(root, monkeypatch, children) == alone


def test_a_process_killed_in_the_middle_changes_nothing(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = discovered(root, monkeypatch, 0)
    taken: list[str] = []
    take: Callable[[Ahead, str], object] = Ahead.take

    def take_and_kill(self: Ahead, path: str) -> object:
        taken.append(path)
        if len(taken) == 10:
            for child in self.children:
                child.process.kill()
        return take(self, path)

    monkeypatch.setattr(Ahead, "take", take_and_kill)
    assert discovered(root, monkeypatch, 1) == alone
    assert len(taken) > 50
