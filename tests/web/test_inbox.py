"""The inbox: what waits, in the order of its need; what runs; what came of dreams, told once; what is next."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.models import AppliedBatch, AppliedFile, DreamRun, Finding, Hunk, Project, Proposal
from dreams.services import discovery, server_registry, settings_changes
from dreams.services.inbox.waiting import WaitingItem
from dreams.services.scheduling import next_dream, scheduler
from dreams.web.pages import inbox as selector
from dreams.web.pages.inbox import InboxQuery
from tests.world import rows as make
from tests.world.rows import World

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db


def _inbox() -> selector.Inbox:
    return selector.inbox(timezone.now(), InboxQuery())


def _waiting() -> list[WaitingItem]:
    return [item for group in _inbox().waiting.groups for item in group.items]


def test_what_blocks_comes_first_then_warnings_then_age() -> None:
    made = {name: make.make_proposal(make.make_project(name)) for name in ("new", "old", "warned", "blocked")}
    now = timezone.now()
    for name, age in (("new", 1), ("old", 50), ("warned", 2), ("blocked", 0)):
        Proposal.objects.filter(pk=made[name].pk).update(created_at=now - dt.timedelta(hours=age))
    make.make_finding(made["warned"])
    make.make_finding(made["blocked"], Finding.Severity.BLOCK)
    assert [item.project for item in _waiting()] == ["blocked", "warned", "old", "new"]


def test_sizes_and_decisions_are_counted_apart_from_findings(world: World) -> None:
    for _ in range(3):
        make.make_finding(world.proposal)
    make.make_finding(world.proposal, Finding.Severity.BLOCK, confirmed_at=timezone.now())
    Hunk.objects.update(verdict=Hunk.Verdict.APPROVED)
    facts = _waiting()[0].facts
    assert facts
    assert facts.size == "1 decision in 1 file"
    assert (facts.counts.decided, facts.to_confirm, facts.warnings) == (1, 0, 3)
    assert (facts.origin, facts.engine) == ("dream", "rules")


def test_a_decided_proposal_is_gone_from_the_inbox(world: World) -> None:
    Proposal.objects.update(state=Proposal.State.APPLIED)
    assert _waiting() == []


@pytest.mark.parametrize(
    ("status", "state", "text"),
    [
        ("completed", Proposal.State.APPLIED, "Updated 1 statement"),
        ("completed", None, "Nothing to improve"),
        ("failed", None, "Failed: the lock is held"),
        ("killed", None, "Cancelled; nothing was changed"),
    ],
)
def test_what_became_of_a_dream_is_told_in_a_sentence(status: str, state: str | None, text: str) -> None:
    project = make.make_project()
    dream = make.make_dream(project, status, error="the lock is held" if status == "failed" else "")
    if state:
        make.make_written(make.make_proposal(project, dream, state=state, by_policy=True))
    assert [item.told.line for item in _inbox().news] == [text]


def test_what_became_of_a_dream_stays_until_the_person_has_seen_it(browser: Client) -> None:
    run = make.make_dream(make.make_project(), DreamRun.Status.KILLED)
    assert b"Cancelled" in browser.get("/").content
    assert b"Cancelled" in browser.get("/").content
    later = make.make_dream(make.make_project("other"), DreamRun.Status.FAILED, error="No disk.")
    browser.post("/seen/", {"dream": [run.public_id]})
    text = browser.get("/").content.decode()
    assert "Cancelled" not in text and "No disk." in text, "only what was shown was seen"
    browser.get(f"/dreams/{later.public_id}/")
    assert "No disk." not in browser.get("/").content.decode(), "a dream's own page tells it too"


def test_what_the_list_above_shows_is_not_told_again_below(browser: Client, world: World) -> None:
    assert _inbox().news == []
    Proposal.objects.update(state=Proposal.State.APPLIED)
    assert _inbox().news == [], "the person has decided on it"


def test_projects_that_open_by_themselves_are_listed_by_when() -> None:
    for name, hours in (("later", 20), ("soon", 2), ("past", -1)):
        make.make_waiting_project(name, dt.timedelta(hours=hours))
    make.make_proposal(make.make_waiting_project("person", dt.timedelta(hours=3)), origin="dream")
    assert [(str(item["project"]), item["reason"]) for item in _inbox().next] == [
        ("past", next_dream.IN_TURN),
        ("soon", "24 h must pass since the last dream."),
        ("later", "24 h must pass since the last dream."),
    ]


def test_a_gate_that_only_a_judgement_can_tell_is_told_as_it_was_judged_last() -> None:
    project = make.make_waiting_project("app", dt.timedelta(hours=-1))
    row = make.close_gate(project, "$2.00 of the $2.00 for today are spent; opens in 3 h.", None)
    row.results[0] |= {"name": "budget", "opens_at": (timezone.now() + dt.timedelta(hours=3)).isoformat()}
    row.save()
    assert [item["reason"] for item in _inbox().next] == ["$2.00 of the $2.00 for today are spent."]
    for moment in ("soon", "2026-01-01", 7, None):
        row.results[0]["opens_at"] = moment
        row.save()
        assert _inbox().next == [], "it does not open by the clock"


@pytest.mark.parametrize("page", ["inbox", "projects"])
def test_until_the_first_look_is_over_no_page_says_that_there_are_no_projects(
    browser: Client, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def text() -> str:
        return browser.get(reverse(page)).content.decode()

    assert (
        "It looks for projects and is not running. Start it with <code>" in text()
        and "serve</code>" in text()
    )
    started = server_registry.Running(1, 1.0, "", 1, timezone.now().isoformat())
    monkeypatch.setattr("dreams.services.server_registry.running", lambda: started)
    assert "Looking for projects" in text() and "No projects yet" not in text()
    cache.set(scheduler.LAST_TICK, timezone.now().isoformat())
    cache.set(discovery.LAST_LOOK, timezone.now().isoformat())
    assert "Looking for projects" in text() and "Looked in" not in text()
    cache.delete(discovery.LAST_LOOK)  # as a look that found no project does
    assert "No projects yet" in text() and "Looked in" in text()


def test_an_empty_inbox_says_which_kind_of_empty(
    browser: Client, tmp_path: Path, settings: SettingsWrapper
) -> None:
    cache.set(scheduler.LAST_TICK, timezone.now().isoformat())
    text = browser.get("/").content.decode()
    assert "No projects yet" in text and "no-root</code> (a folder that does not" in text
    settings.ROOTS = (tmp_path,)
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "memory_summary.md").touch()
    assert "Codex’s folder; memoryweb reads Claude Code’s" in browser.get("/").content.decode()
    project = make.make_project()
    assert b"No proposals yet" in browser.get("/").content
    make.make_proposal(project, state=Proposal.State.REJECTED)
    assert b"All reviewed" in browser.get("/").content


def test_nothing_is_called_due_only_where_nothing_dreams_or_is_next(browser: Client, world: World) -> None:
    Proposal.objects.update(state="rejected")
    assert b"Nothing is due." in browser.get("/").content
    make.make_waiting_project("past", dt.timedelta(hours=-1))
    text = browser.get("/").content.decode()
    assert "The next dream is that of past." in text and "Nothing is due." not in text
    make.make_dream(world.project, DreamRun.Status.RUNNING)
    text = browser.get("/").content.decode()
    assert "1 dream is running." in text and "The next dream" not in text


def test_while_all_is_paused_no_new_session_is_said_to_open_a_gate(browser: Client, world: World) -> None:
    Proposal.objects.update(state="rejected")
    assert b"New sessions open the gates again" in browser.get("/").content
    settings_changes.set_override("paused", True, actor="owner")
    assert b"New sessions open the gates again" not in browser.get("/").content


def test_the_title_and_the_icon_carry_the_count(browser: Client, world: World) -> None:
    text = browser.get("/").content.decode()
    assert "<title>(1) Inbox" in text
    assert "favicon-1." in text
    Proposal.objects.update(state=Proposal.State.REJECTED)
    assert "<title>Inbox" in browser.get("/").content.decode()


def test_htmx_gets_the_fragment_of_the_same_address(browser: Client, world: World) -> None:
    response = browser.get("/", headers={"hx-request": "true"})
    assert b"<html" not in response.content
    assert b"acme-api" in response.content
    assert "HX-Request" in response["Vary"]
    assert b"<html" in browser.get("/", headers={"hx-request": "true", "hx-boosted": "true"}).content


@pytest.mark.more
def test_twenty_proposals_cost_no_more_queries_than_two(browser: Client) -> None:
    costs = []
    for more in (2, 18):
        for number in range(more):
            project = make.make_project(f"project-{more}-{number}")
            make.make_proposal(project, make.make_dream(project))
        browser.get("/")
        DreamRun.objects.update(notified_at=None)
        with CaptureQueriesContext(connection) as queries:
            browser.get("/")
        costs.append(len(queries))
    assert costs[0] == costs[1]


def test_what_a_name_or_summary_hides_is_shown(browser: Client) -> None:
    make.make_proposal(make.make_project("<b>x</b>"), summary="never\u202e<script>")
    text = browser.get("/").content.decode()
    assert "⟨U+202E⟩" in text
    assert "<b>x" not in text
    assert Project.objects.count() == 1


def test_what_was_written_lately_names_the_memory_and_what_was_done_with_it(browser: Client) -> None:
    project = make.make_project()
    make.make_memory(project, name="Commit style")
    dream = make.make_written(make.make_proposal(project, make.make_dream(project)))
    for number, origin in enumerate(("forget", "edit")):
        proposal = make.make_proposal(project, origin=origin, state=Proposal.State.APPLIED)
        undone_at = timezone.now() if origin == "forget" else None
        at = timezone.now() - dt.timedelta(hours=1 + number)
        row = AppliedBatch.objects.create(
            proposal=proposal, journal_id=origin, at=at, actor="owner", undone_at=undone_at
        )
        for path in ("feedback_testing.md", "MEMORY.md"):
            AppliedFile.objects.create(application=row, path=path, after_sha="1f" * 32)
    assert [(item["deed"].text, item["deed"].is_undone) for item in _inbox().lately] == [
        ("Updated 1 statement: “Commit style”", False),
        ("Undone: forgot “Commit style”", True),
        ("Edited “Commit style”", False),
    ]
    text = browser.get("/").content.decode()
    assert text.count("/undo/") == 2
    Hunk.objects.filter(applied_in=dream).update(undone_in=dream)
    assert _inbox().lately[0]["deed"].text == "Undone: updated 1 statement: “Commit style”"
    AppliedBatch.objects.update(at=timezone.now() - dt.timedelta(days=8))
    assert _inbox().lately == []
