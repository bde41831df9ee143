"""What people and engines wrote goes without its secrets into the database: every field of every row is looked at."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db.models import Value

from dreams.engines.types import Edit, EngineTurn, Job, Reporter
from dreams.models import DreamRun, Hunk, Project, Prompt, Proposal, Session, Turn
from dreams.services import discovery, dreaming, review
from dreams.services.memories import hand_edits
from tests.world import directory as world, engines

pytestmark = pytest.mark.django_db(transaction=True)
ME = review.Actor("me")
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


def test_reasons_stored_as_they_were_typed_lose_their_secrets(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    made = world.propose(project, world.edit("project_deploy.md", world.DEPLOY, None, "m"))
    before = Value(f"Not {KEY}.")  # past the columns, which would mask it
    Proposal.objects.update(summary=before)
    Hunk.objects.update(decide_reason=before)
    assert len(_kept()) == 2
    importlib.import_module("dreams.migrations.0069_reasons_without_secrets").mask(apps, None)
    made.refresh_from_db()
    assert _kept() == [] and made.summary == "Not [redacted: github-token]."


def test_nor_the_reason_that_a_person_gave(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = world.make_project(tmp_path)
    why = f"{'x' * 480} {KEY}"  # a column of 500 characters would cut it in half
    said = ["--reason", why]
    made = world.propose(
        project, world.edit("project_deploy.md", world.DEPLOY, world.DEPLOY + "More.\n", "m")
    )
    call_command("decide", made.public_id, "--approve", *said)
    call_command("apply", made.public_id)
    call_command("rollback", made.public_id, *said)
    rejected = world.propose(project, world.edit("project_deploy.md", world.DEPLOY, None, "m"))
    call_command("decide", rejected.public_id, "--reject", *said)
    call_command("apply", rejected.public_id)
    deploy, testing = (
        project.memories.get(path="project_deploy.md"),
        project.memories.get(path="feedback_testing.md"),
    )
    first = testing.sha256
    hand_edits.edit(testing, "Nothing.\n", first, ME, reason=why)
    call_command("restore", str(project.pk), testing.path, "--version", first, *said)
    hand_edits.forget(deploy, ME, reason=why)
    call_command("restore", str(project.pk), "--to", "2099-01-01", "--preview", *said)
    moment = hand_edits.propose_moment(project, project.first_seen_at, ME, reason=why)
    assert _kept() == [] and KEY[:20] not in capsys.readouterr().out
    assert moment is not None
    files = [
        path for path in Path(settings.DATA_DIR).rglob("*") if path.is_file() and "sqlite3" not in path.name
    ]
    assert files and not [path for path in files if KEY.encode()[:20] in path.read_bytes()]
