"""What people and engines wrote goes without its secrets into the database: every field of every row is looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.apps import apps

from dreams.engines.types import Edit, EngineTurn, Job, Reporter
from dreams.models import DreamRun, Project, Prompt, Session, Turn
from dreams.services import discovery, dreaming
from tests.world import directory as world, engines

pytestmark = pytest.mark.django_db(transaction=True)
KEY = (
    "gh" + "p_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
)  # made from parts, as no file may look like it holds one
SESSION = "00000000-0000-4000-8000-000000000001"


def _said(number: int, role: str, words: str) -> str:
    content = words if role == "user" else [{"type": "text", "text": words}]
    row = {
        "type": role, "uuid": f"u{number}", "sessionId": SESSION, "timestamp": f"2026-03-0{number}T09:00:00Z",
        "cwd": "/home/dev/app", "message": {"role": role, "content": content},
    }  # fmt: skip
    return json.dumps(row) + "\n"


def _kept() -> list[str]:
    """Model and field of every value in the database that holds the key."""
    found = []
    for model in apps.get_app_config("dreams").get_models():
        for row in model._default_manager.all():
            for field in model._meta.concrete_fields:
                value = getattr(row, field.attname)
                text = (
                    bytes(value).decode("utf-8", "replace")
                    if isinstance(value, bytes | memoryview)
                    else str(value)
                )
                found += [f"{model.__name__}.{field.name}"] if KEY in text else []
    return found


def _talk(job: Job, report: Reporter) -> list[Edit]:
    tool = {"name": "Bash", "input": f"grep {KEY} notes.md"}
    report.turn(EngineTurn("gather", f"The key is {KEY}.", tools=[tool]))
    return []


def test_neither_what_was_typed_nor_what_an_engine_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = world.make_project(tmp_path)
    (tmp_path / "projects" / project.slug / f"{SESSION}.jsonl").write_text(
        _said(1, "user", f"Remember that deploys go through make ship. My token is {KEY}.")
        + _said(2, "assistant", f"I will use {KEY}.")
        + _said(3, "user", f"Use {KEY} for the API, please.")
    )
    discovery.discover([tmp_path])
    assert Prompt.objects.filter(text__contains="[redacted: github-token]").count() == 2
    assert "make ship" in Session.objects.get().title
    engines.use(monkeypatch, _talk)
    dreaming.run_dream(dreaming.request(Project.objects.get(), DreamRun.Trigger.COMMAND, forced=True).pk)
    assert Turn.objects.filter(text="The key is [redacted: github-token].").exists()
    assert _kept() == []
