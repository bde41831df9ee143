"""A project whose model cannot be asked waits behind a closed gate that says what to do, instead of failing night after
night."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams.management.base import Refused
from dreams.models import DreamRun, GateEvaluation, Override, Project
from dreams.services.scheduling import gates, scheduler
from tests.world import directory as world

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Every gate but the engine's is open."""
    cache.clear()
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    settings.ROOTS = (tmp_path,)
    found = world.discovered(tmp_path, sessions=6)
    Override.objects.create(project=found, key="engine", value="anthropic")
    return found


def judged(project: Project) -> dict[str, gates.GateResult]:
    return {result.name: result for result in scheduler.evaluate_all(project, timezone.now())}


@pytest.mark.not_on_postgresql
def test_without_a_key_no_dream_is_started_and_the_reason_stands_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        scheduler.tick(timezone.now())
    assert not DreamRun.objects.exists()
    [kept] = GateEvaluation.objects.filter(fingerprint__startswith="engine")
    assert not kept.open
    closed = [result for result in judged(project).values() if not result.passed]
    assert [result.name for result in closed if result.name != "throttle"] == ["engine"]
    assert "ANTHROPIC_API_KEY" in closed[-1].reason and closed[-1].reason.endswith(".")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-" + "test")
    assert judged(project)["engine"].passed


@pytest.mark.not_on_postgresql
def test_a_server_on_this_machine_needs_no_key_and_the_rules_need_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert judged(project)["engine"].passed
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    Override.objects.all().delete()
    assert judged(project)["engine"].passed


@pytest.mark.more
def test_the_command_says_the_remedy_even_with_force_and_the_rules_can_be_asked_all_the_same(
    project: Project,
) -> None:
    with pytest.raises(Refused, match="ANTHROPIC_API_KEY"):
        call_command("dream", str(project.pk), "--force", stdout=io.StringIO())
    assert not DreamRun.objects.exists()
    call_command("dream", str(project.pk), "--engine", "rules", "--force", stdout=io.StringIO())
    assert DreamRun.objects.get().status == "completed"


@pytest.mark.not_on_postgresql
def test_an_engine_that_is_asked_for_once_is_judged_too(project: Project) -> None:
    Override.objects.all().delete()
    with pytest.raises(Refused, match="ANTHROPIC_API_KEY"):
        call_command(
            "dream", str(project.pk), "--engine", "anthropic", stdout=io.StringIO(), stderr=io.StringIO()
        )


@pytest.mark.not_on_postgresql
def test_the_projects_page_names_the_gate_and_what_to_do(project: Project, browser: Client) -> None:
    page = browser.get(reverse("project", args=[project.pk])).content.decode()
    assert "There is no API key. Set ANTHROPIC_API_KEY" in page
