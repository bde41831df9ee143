"""What a person rejected is called rejected when it comes back; what was approved and undone is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone

from dreams.models import Hunk, Project, Proposal
from dreams.services import review, rollback
from dreams.services.apply import applying
from tests.world import directory as world

pytestmark = pytest.mark.django_db

EXPORT = "---\nname: Export\ntype: project\n---\n\nThe export runs at 04:00 UTC.\n"
#: The same statement from another session, in another file: its hunk is another one.
AGAIN = EXPORT.replace("name: Export", "name: Nightly export")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path)


def proposed(project: Project, path: str = "project_export.md", text: str = EXPORT) -> Proposal:
    return world.propose(project, world.edit(path, None, text, path, "learn"))


def said_again(project: Project) -> list[str]:
    again = proposed(project, "project_nightly.md", AGAIN)
    return list(again.findings.filter(code="rejected-before").values_list("message_parts__remark", flat=True))


def reject(proposal: Proposal) -> None:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.REJECTED, world.ME)
    review.submit(proposal, world.ME)


def write(proposal: Proposal) -> None:
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    assert applying.apply(proposal, world.ME).complete


@pytest.mark.not_on_postgresql
def test_what_was_rejected_is_told_with_its_day(project: Project) -> None:
    reject(proposed(project))
    assert said_again(project) == [f"This was rejected on {timezone.localtime():%-d %b %Y}."]


@pytest.mark.not_on_postgresql
def test_what_was_approved_and_undone_for_good_was_not_rejected(project: Project) -> None:
    made = proposed(project)
    write(made)
    rollback.rollback(made, world.ME, never_again=True)
    assert said_again(project) == []


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_what_was_rejected_once_and_approved_later_is_no_longer_rejected(project: Project) -> None:
    reject(proposed(project))
    later = proposed(project)
    write(later)
    rollback.rollback(later, world.ME)
    assert said_again(project) == []
