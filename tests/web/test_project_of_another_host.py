"""A project of another host is never written here, though a folder of the same path is: refused by name, nothing changes."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dreams.management.base import Refused
from dreams.models import AuditEntry, Hunk, Memory, Project, Proposal, Version
from dreams.services import discovery, project_lock, review, rollback, secret_purge
from dreams.services.apply import applying
from dreams.services.memories import exports, hand_edits, syncing
from tests.world import directory as world
from tests.world.cases import each
from tests.world.kept import Keep, Kept
from tests.world.manifest import manifest

pytestmark = pytest.mark.django_db
THERE = "laptop-d"


@pytest.fixture
def open_one(tmp_path: Path) -> Proposal:
    return _given_away(world.three_changes(world.make_project(tmp_path)))


@pytest.fixture(scope="module")
def applied(kept: Keep) -> Kept[Proposal]:
    def make(folder: Path) -> Proposal:
        made = world.all_approved(folder)
        assert applying.apply(made, world.ME).complete
        return _given_away(made)

    return kept(make)


@pytest.fixture
def written(applied: Kept[Proposal], db: None) -> Proposal:
    return applied.anew()


def _given_away(proposal: Proposal) -> Proposal:
    Project.objects.filter(pk=proposal.project_id).update(host=THERE)
    return Proposal.objects.select_related("project").get(pk=proposal.pk)


def _state(proposal: Proposal) -> tuple[object, ...]:
    """Everything that a refused write must leave: the folder, the rows, the audit log."""
    return (
        manifest(world.folder(proposal.project)),
        list(Memory.objects.order_by("pk").values_list("path", "sha256", "gone_at")),
        Version.objects.count(),
        list(Proposal.objects.order_by("pk").values_list("public_id", "state")),
        list(Hunk.objects.order_by("pk").values_list("hunk_id", "verdict", "undone_in")),
        AuditEntry.objects.count(),
    )


def _memory(proposal: Proposal) -> Memory:
    return Memory.objects.get(project=proposal.project, path="feedback_testing.md")


FUNCTIONS: dict[str, Callable[[Proposal], Any]] = {
    "apply": lambda made: applying.apply(made, world.ME),
    "rollback": lambda made: rollback.rollback(made, world.ME),
    "an undo to look at": lambda made: rollback.propose(made, world.ME, rollback.Selection()),
    "edit": lambda made: hand_edits.edit(_memory(made), "Other.\n", _memory(made).sha256, world.ME),
    "forget": lambda made: hand_edits.forget(_memory(made), world.ME),
    "restore": lambda made: hand_edits.restore(
        made.project, "feedback_testing.md", _memory(made).sha256, world.ME
    ),
    "an earlier moment": lambda made: hand_edits.propose_moment(made.project, timezone.now(), world.ME),
    "redaction": lambda made: secret_purge.propose(made.project, world.ME),
    "a look at its files": lambda made: syncing.refresh(made.project),
    "the lock": lambda made: project_lock.hold(made.project, "apply").__enter__(),
}


@pytest.mark.more
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_way_to_write_reaches_the_folder_here(written: Proposal, name: str) -> None:
    before = _state(written)
    with pytest.raises(project_lock.ProjectElsewhere, match=THERE):
        FUNCTIONS[name](written)
    assert _state(written) == before


def test_an_open_proposal_stays_open(open_one: Proposal) -> None:
    review.decide(open_one, review.select_hunks(open_one), Hunk.Verdict.APPROVED, world.ME)
    before = _state(open_one)
    with pytest.raises(project_lock.ProjectElsewhere, match=THERE):
        applying.apply(open_one, world.ME)
    assert _state(open_one) == before


def test_a_folder_that_is_not_here_is_neither_made_nor_are_its_memories_marked_gone(
    open_one: Proposal, tmp_path: Path
) -> None:
    Project.objects.filter(pk=open_one.project_id).update(memory_dir=str(tmp_path / "nowhere" / "memory"))
    open_one.project.refresh_from_db()
    review.decide(open_one, review.select_hunks(open_one), Hunk.Verdict.APPROVED, world.ME)
    with pytest.raises(project_lock.ProjectElsewhere):
        applying.apply(open_one, world.ME)
    syncing.refresh_if_here(open_one.project)
    assert not (tmp_path / "nowhere").exists()
    assert not Memory.objects.exclude(gone_at=None).exists()


@each(
    "words",
    [
        ["apply", "{id}"],
        ["rollback", "{id}"],
        ["restore", "{slug}", "feedback_testing.md", "--version", "{sha}"],
    ],
)
def test_a_command_refuses_by_name(written: Proposal, words: list[str]) -> None:
    before = _state(written)
    given = {"id": written.public_id, "slug": str(written.project.pk), "sha": _memory(written).sha256[:12]}
    with pytest.raises((Refused, project_lock.ProjectElsewhere), match=THERE):
        call_command(*[word.format(**given) for word in words])
    assert _state(written) == before


@each("verb", ["submit", "apply", "bring-up", "undo"])
def test_a_review_page_refuses_by_name(browser: Client, written: Proposal, verb: str) -> None:
    browser.raise_request_exception = False
    before = _state(written)
    answer = browser.post(
        f"/review/{written.public_id}/{verb}/", {"seen": "x", "rest": "1", "bases": ""}, follow=True
    )
    assert THERE in html.unescape(answer.content.decode())
    assert _state(written) == before


@each("verb", ["edit", "forget", "restore"])
def test_a_memory_page_refuses_by_name(browser: Client, written: Proposal, verb: str) -> None:
    browser.raise_request_exception = False
    before = _state(written)
    found = _memory(written)
    given = {
        "content": "Other.\n",
        "base": found.sha256,
        "version": Version.objects.filter(memory=found).earliest("pk").pk,
    }
    answer = browser.post(f"/memories/{found.pk}/{verb}/", given, follow=True)
    assert THERE in html.unescape(answer.content.decode())
    assert _state(written) == before


def test_redacting_in_the_page_refuses_by_name(browser: Client, written: Proposal) -> None:
    browser.raise_request_exception = False
    before = _state(written)
    answer = browser.post(f"/projects/{written.project_id}/secrets/redact/", follow=True)
    assert THERE in html.unescape(answer.content.decode())
    assert _state(written) == before


def test_it_is_still_read(browser: Client, written: Proposal, tmp_path: Path) -> None:
    for address in (
        f"/projects/{written.project_id}/",
        f"/review/{written.public_id}/",
        f"/memories/{_memory(written).pk}/",
    ):
        assert browser.get(address).status_code == 200
    exports.write(written.project, tmp_path / "all.bundle")
    assert (tmp_path / "all.bundle").stat().st_size
    discovery.discover()
    assert not Memory.objects.exclude(gone_at=None).exists()
