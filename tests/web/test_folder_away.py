"""A memory folder that is away, as on a disk that is not connected: nothing of what waits for it is lost meanwhile."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from dreams.models import Hunk, Proposal
from dreams.services import review, rollback
from dreams.services.apply import applying
from dreams.services.discovery import discover
from dreams.services.memories import hand_edits
from dreams.web.pages import review_proposal
from tests.world import directory as world, questions as asked


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
    assert "is not on disk now. Nothing was changed" in told
    told = browser.post(f"/questions/{question.public_id}/answer/", {"option": "remove"}, follow=True)
    assert "is not on disk now. Nothing was changed" in told.content.decode()
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
    assert "is not on disk now. Nothing was changed, and what was decided is kept" in told
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
