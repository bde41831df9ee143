"""A memory folder that is away, as on a disk that is not connected: nothing of what waits for it is lost meanwhile."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from dreams.models import Hunk, Proposal
from dreams.services import doctor, review, rollback
from dreams.services.apply import applying
from dreams.services.discovery import discover
from dreams.services.memories import hand_edits
from dreams.web.pages import review_proposal
from tests.world import directory as world, questions as asked
from tests.world.agent_folder import closed_to_us


@pytest.fixture
def proposal(browser: Client, tmp_path: Path) -> Proposal:
    made = asked.propose(asked.make_project(tmp_path / "root"))
    asked.ask(made.project, asked.expired(), proposal=made)
    return made


def _away(proposal: Proposal) -> tuple[Path, Path]:
    folder = world.folder(proposal.project).parent
    return folder, folder.rename(folder.parent.parent / "away")


def _text(browser: Client, proposal: Proposal) -> str:
    page = browser.get(f"/review/{proposal.public_id}/").content.decode()
    return " ".join(unescape(page).split())


@pytest.mark.more
@pytest.mark.parametrize("is_seen", [False, True])
def test_a_review_is_as_it_was_once_its_folder_is_back(
    browser: Client, proposal: Proposal, is_seen: bool
) -> None:
    before, question = Hunk.objects.count(), proposal.questions.get()
    folder, away = _away(proposal)
    if is_seen:
        discover([folder.parent.parent])
    shown = _text(browser, proposal)
    assert "The folder is not on disk now," in shown and "Bring up to date" not in shown
    told = browser.post(f"/review/{proposal.public_id}/bring-up/", follow=True).content.decode()
    assert "is not on disk now, or you have no right to it. Nothing was changed" in told
    told = browser.post(f"/questions/{question.public_id}/answer/", {"option": "remove"}, follow=True)
    assert "is not on disk now, or you have no right to it. Nothing was changed" in told.content.decode()
    away.rename(folder)
    question.refresh_from_db()
    assert (Hunk.objects.count(), question.state) == (before, "open")
    shown = _text(browser, proposal)
    assert "not on disk now" not in shown and "no longer on disk" not in shown


def test_what_was_decided_is_written_once_the_folder_is_back(browser: Client, proposal: Proposal) -> None:
    folder, away = _away(proposal)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    shown = review_proposal.load(proposal)
    form = {"bases": shown.digest, "answers": shown.answers}
    submitted = browser.post(f"/review/{proposal.public_id}/submit/", form, follow=True)
    told = unescape(submitted.content.decode())
    assert (
        "is not on disk now, or you have no right to it. Nothing was changed, and what was decided is kept"
        in told
    )
    assert "Solve</a>" not in told
    proposal.refresh_from_db()
    taken = Hunk.objects.filter(verdict=Hunk.Verdict.APPROVED)
    assert (proposal.state, taken.count(), folder.exists()) == ("open", Hunk.objects.count(), False)
    away.rename(folder)
    assert applying.apply(proposal, world.ME).complete


def test_nothing_counts_as_removed_by_an_undo_or_an_edit_meanwhile(proposal: Proposal) -> None:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    applying.apply(proposal, world.ME)
    memory = proposal.project.memories.filter(gone_at=None).first()
    assert memory is not None
    _away(proposal)
    for attempt in (
        lambda: rollback.rollback(proposal, world.ME),
        lambda: rollback.propose(proposal, world.ME, rollback.EVERYTHING),
        lambda: hand_edits.forget(memory, world.ME),
    ):
        with pytest.raises(review.ReviewRefused, match="is not on disk now"):
            attempt()
    assert not proposal.project.memories.filter(gone_at__isnull=False).exists()
    assert not Proposal.objects.filter(state="open").exists()


def test_a_memory_folder_that_was_removed_alone_is_gone(browser: Client, proposal: Proposal) -> None:
    folder = world.folder(proposal.project)
    folder.rename(folder.parent.parent / "away")
    assert "Bring up to date" in _text(browser, proposal)


@pytest.mark.parametrize("above", [0, 1, 2])
def test_a_folder_without_a_right_to_it_is_named_and_its_pages_open(
    browser: Client, proposal: Proposal, above: int, tmp_path: Path, settings: Settings
) -> None:
    folder, project = world.folder(proposal.project), proposal.project
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    shown = review_proposal.load(proposal)
    form = {"bases": shown.digest, "answers": shown.answers}
    memory = project.memories.filter(gone_at=None).exclude(path="MEMORY.md")[0]
    other = world.make_project(tmp_path / "other")
    settings.ROOTS = (folder.parents[2],)
    with closed_to_us((folder, *folder.parents)[above]):
        _text(browser, proposal)
        for page in (
            f"/projects/{project.pk}/",
            f"/memories/{memory.pk}/",
            f"/projects/{project.pk}/checkup/",
        ):
            assert browser.get(page).status_code == 200
        for verb, data in (
            (f"review/{proposal.public_id}/submit", form),
            (f"memories/{memory.pk}/forget", {"base_sha": memory.sha256}),
            (f"projects/{other.pk}/copy", {"to": project.pk}),
        ):
            told = unescape(browser.post(f"/{verb}/", data, follow=True).content.decode())
            assert "right to" in told and "Errno" not in told, verb
        (check,) = (one for one in doctor.examine() if one.name == "Config folders")
        assert check.state == "warn" and "right to" in check.said + check.remedy
    proposal.refresh_from_db()
    assert proposal.state in ("open", "submitted") and not project.memories.exclude(gone_at=None).exists()
    assert applying.apply(proposal, world.ME).complete
