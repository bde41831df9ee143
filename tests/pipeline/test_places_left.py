"""Projects of a config folder that was taken out of Places are left alone, and come back with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from dreams.models import DreamRun, Project
from dreams.services import settings_changes
from dreams.services.scheduling import scheduler
from tests.world.agent_folder import Root

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def roots(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two config folders, each with one project, both in Places."""
    monkeypatch.setattr(scheduler, "enqueue", lambda _: None)
    settings.ROOTS = ()
    made = []
    for name in ("first", "second"):
        root = Root(tmp_path / name)
        root.memory(root.repository(name), "fact.md")
        made.append(str(root.path))
    _choose(made)
    return made


def _choose(roots: list[str]) -> None:
    settings_changes.set_override("roots", "\n".join(roots), actor="owner")
    scheduler.tick()


def _second() -> Project:
    return Project.objects.get(slug__endswith="second")


def test_a_folder_taken_out_of_places_is_watched_no_more_until_it_is_put_in_again(
    roots: list[str], browser: Client
) -> None:
    DreamRun.objects.all().delete()
    _choose(roots[:1])
    page = browser.get(f"/projects/{_second().pk}/").content.decode()
    assert "no longer in Settings, Places" in page and "gone from disk" not in page
    assert "Not watched" in browser.get("/projects/").content.decode()
    assert list(DreamRun.objects.values_list("project__slug", flat=True)) != [_second().slug]
    with pytest.raises(scheduler.GateClosed, match="no longer in Settings, Places"):
        scheduler.dream_now(_second())
    assert _second().memories.filter(gone_at__isnull=True).exists(), "what is known of it stays"
    _choose(roots)
    assert (_second().gone_at, _second().unwatched_at) == (None, None)
    assert "no longer in Settings" not in browser.get(f"/projects/{_second().pk}/").content.decode()


@pytest.mark.also_on_postgresql
@pytest.mark.more
@pytest.mark.parametrize("part", ["", "?show=memories", "checkup/"])
def test_no_note_is_promised_where_nothing_is_watched(part: str, roots: list[str], browser: Client) -> None:
    _second().memories.all().delete()
    address = f"/projects/{_second().pk}/{part}"
    assert "Your agent writes the first note" in browser.get(address).content.decode()
    _choose(roots[:1])
    page = browser.get(address).content.decode()
    assert "None was seen while its config folder was watched." in page and "Your agent writes" not in page
