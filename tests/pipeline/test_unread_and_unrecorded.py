"""What cannot be read now is not removed, and what an apply wrote is told as that apply, also when it is recorded late."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from dreams.lib.files import workspace
from dreams.lib.storage import history
from dreams.models import Hunk, Memory, Project, Proposal, Version
from dreams.services import review, rollback
from dreams.services.apply import applying
from dreams.services.memories import syncing
from tests.world import directory as world
from tests.world.agent_folder import Root

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "project_deploy.md"


def _look(project: Project) -> list[str]:
    return syncing.sync(project, workspace.take(world.folder(project)))


def _log(project: Project) -> list[tuple[str, str]]:
    """Subject and origin of every commit, the oldest first."""
    with syncing.open_history(project) as store:
        return [(c.subject, c.trailers["Origin"]) for c in reversed(list(store.log()))]


def _too_large(file: Path) -> None:
    file.write_bytes(b"x\n" * workspace.MAX_FILE_BYTES)


def _a_link(file: Path) -> None:
    file.rename(file.with_suffix(".was"))
    file.symlink_to(file.with_suffix(".was"))


@pytest.mark.parametrize("spoil", [_too_large, _a_link], ids=lambda f: f.__name__)
@pytest.mark.not_on_postgresql
def test_a_memory_that_cannot_be_read_is_unread_until_it_can_and_never_removed(
    tmp_path: Path, spoil: Callable[[Path], None], browser: Client
) -> None:
    project = world.make_project(tmp_path)
    file = world.folder(project) / PATH
    before = _log(project)
    spoil(file)
    assert _look(project) == []
    row = Memory.objects.get(project=project, path=PATH)
    assert (row.gone_at, bool(row.unread), row.versions.count()) == (None, True, 1)
    assert (_log(project), syncing.contents(project)[PATH]) == (before, world.DEPLOY.encode())
    shown = browser.get(f"/memories/{row.pk}/").content.decode()
    assert "cannot be read now" in shown and "Forget…" not in shown
    for verb in ("edit", "forget"):
        answer = browser.post(f"/memories/{row.pk}/{verb}/", {"content": "x"}, follow=True).content.decode()
        assert "cannot be read now, so nothing here can change it" in answer
    assert "cannot be read now" in browser.get(f"/projects/{project.pk}/?show=memories").content.decode()

    # What happens to the others is recorded all the same.
    world.put(world.folder(project) / "feedback_testing.md", "Tests run twice.\n")
    assert _look(project) == ["feedback_testing.md"]

    file.unlink()
    world.put(file, world.DEPLOY)
    assert _look(project) == []
    row.refresh_from_db()
    assert (row.gone_at, row.unread, row.versions.count()) == (None, "", 1)
    file.unlink()
    assert _look(project) == [PATH]


def test_a_memory_that_can_be_read_again_is_no_longer_called_unread_though_its_time_is_as_before(
    tmp_path: Path,
) -> None:
    """A right that comes back changes neither the size of a file nor its time."""
    root = Root(tmp_path)
    root.memory(root.repository("app"), "fact.md")
    root.discover()
    memory = Memory.objects.get()
    Memory.objects.update(unread="Permission denied")
    root.discover()
    memory.refresh_from_db()
    assert (memory.unread, memory.versions.count()) == ("", 1)


def _applied_without_history(project: Project, monkeypatch: pytest.MonkeyPatch) -> Proposal:
    proposal = world.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    with monkeypatch.context() as patch:
        patch.setattr(syncing, "open_history", _refuse)
        said = applying.apply(proposal, world.ME).said
    assert "history cannot be saved now" in " ".join(said)
    return proposal


def _refuse(project: Project) -> history.HistoryStore:
    raise history.HistoryError("the disk is full")


@pytest.mark.more
def test_what_an_apply_wrote_is_told_as_that_apply_when_it_is_recorded_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = world.make_project(tmp_path)
    proposal = _applied_without_history(project, monkeypatch)
    # Somebody else changes another memory before anybody looks again.
    world.put(world.folder(project) / PATH, world.DEPLOY + "\nIt listens on 8080.\n")
    _look(project)
    told = {
        path: (origin, by)
        for path, origin, by in Version.objects.exclude(origin=Version.Origin.FOUND).values_list(
            "memory__path", "origin", "proposal"
        )
    }
    mine = (Version.Origin.APPLY, proposal.pk)
    assert told == {
        "MEMORY.md": mine,
        "feedback_testing.md": mine,
        "project_export.md": mine,
        PATH: (Version.Origin.OUTSIDE, None),
    }
    assert [origin for _, origin in _log(project)] == ["outside", "apply", "outside"]
    # Told once: the same bytes put back by hand later are a change by hand.
    testing = world.folder(project) / "feedback_testing.md"
    written = testing.read_text()
    for text in ("Another one.\n", written):
        world.put(testing, text)
        _look(project)
    latest = Version.objects.filter(memory__path="feedback_testing.md").latest("pk")
    assert latest.origin == Version.Origin.OUTSIDE
    assert not rollback.preview(proposal).conflicts
