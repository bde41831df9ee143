"""The list of projects: worst first or as one asks, found by text and state, with the same few queries for two or for twenty."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.models import DreamRun, Hunk, Memory, Project, Proposal
from dreams.services import cached_counts, settings_changes
from dreams.services.scheduling import next_dream, scheduler
from tests.world import rows as world


def _names(browser: Client, query: str = "") -> list[str]:
    text = browser.get(reverse("projects") + query).content.decode()
    return re.findall(r'class="row-title"[^>]*>([^<]+)</a>', text)


def test_the_project_that_needs_the_person_most_comes_first(browser: Client) -> None:
    now = timezone.now()
    closed = world.make_project("closed", gate_fingerprint="sessions: 2/5")
    world.make_project("unseen")
    world.close_gate(closed, "2 of 5 sessions so far.", None)
    world.make_dream(world.make_project("dreaming"), DreamRun.Status.RUNNING)
    world.make_project("open", gate_fingerprint="open")
    world.make_project("failing", failures=2, not_before=now + dt.timedelta(hours=1))
    world.make_proposal(world.make_project("waiting"))
    gone = world.make_project("gone", gone_at=now)
    world.make_proposal(gone)
    settings_changes.set_override("dreaming", False, actor="owner", project=world.make_project("off"))
    assert _names(browser) == ["waiting", "failing", "open", "dreaming", "closed", "unseen", "off", "gone"]


def test_the_list_has_the_order_that_is_chosen_and_those_that_are_gone_stand_last_in_each(
    browser: Client,
) -> None:
    now = timezone.now()
    long_ago = now - dt.timedelta(days=90)
    world.make_project("Beta", last_session_at=now, last_consolidated_at=long_ago, failures=1)
    world.make_project("alpha", last_session_at=long_ago, last_consolidated_at=now)
    world.make_project("aaa", gone_at=now, last_session_at=now)
    world.make_project("gamma")
    assert _names(browser, "?sort=name") == ["alpha", "Beta", "gamma", "aaa"]
    assert _names(browser, "?sort=session") == ["Beta", "alpha", "gamma", "aaa"]
    assert _names(browser, "?sort=dream") == ["gamma", "Beta", "alpha", "aaa"]
    assert _names(browser, "?sort=dream&q=a") == ["gamma", "Beta", "alpha", "aaa"]
    assert _names(browser, "?sort=nonsense") == _names(browser) == ["Beta", "alpha", "gamma", "aaa"]
    text = browser.get(reverse("projects") + "?sort=name").content.decode()
    assert '<option value="name" selected>By name</option>' in text
    assert 'href="?sort=name&amp;state=gone"' in text, "the order stays when a state is chosen"


def test_a_closed_project_says_why_and_when_it_opens(browser: Client) -> None:
    world.make_waiting_project("acme", dt.timedelta(hours=6))
    text = browser.get(reverse("projects")).content.decode()
    assert "24 h must pass since the last dream." in text
    assert "; opens in 6 h" not in text
    assert "in 6 h</time>" in text


def test_what_is_approved_and_not_written_is_not_told_as_open(browser: Client) -> None:
    project = world.make_project("acme")
    made = world.make_proposal(project)
    assert "Not all of it is decided yet." in browser.get(reverse("projects")).content.decode()
    Proposal.objects.filter(pk=made.pk).update(state=Proposal.State.SUBMITTED)
    assert "Approved, but not all of it is written yet." in browser.get(reverse("projects")).content.decode()


def test_the_list_offers_no_submit_of_what_was_submitted_though_another_one_is_decided(
    browser: Client,
) -> None:
    project = world.make_project("acme")
    decided = world.make_proposal(project)
    Hunk.objects.filter(file__proposal=decided).update(verdict=Hunk.Verdict.APPROVED)
    offered = ">Submit<"
    assert offered in re.sub(r">\s+", ">", browser.get(reverse("projects")).content.decode())
    world.make_proposal(project, origin="answers", state=Proposal.State.SUBMITTED)
    assert offered not in re.sub(r">\s+", ">", browser.get(reverse("projects")).content.decode())


def test_the_list_leads_to_the_proposal_that_the_project_s_own_page_leads_to(browser: Client) -> None:
    project = world.make_project("acme")
    world.make_proposal(project, state=Proposal.State.SUBMITTED)
    newest = world.make_proposal(project, origin="answers")
    there = f'href="/review/{newest.public_id}/"'
    assert there in browser.get(reverse("projects")).content.decode()
    assert there in browser.get(reverse("project", args=[project.pk])).content.decode()


def test_a_failing_project_shows_the_fault_of_its_last_dream(browser: Client) -> None:
    project = world.make_project("acme", failures=1)
    world.make_dream(project, DreamRun.Status.FAILED, error="The disk is full.")
    assert "The disk is full." in browser.get(reverse("projects")).content.decode()


@pytest.mark.more
@pytest.mark.parametrize("mode", ["", "daily-log", "remote"])
def test_a_failing_project_is_retried_only_where_dreams_start_by_themselves(
    browser: Client, mode: str
) -> None:
    soon = timezone.now() + dt.timedelta(hours=5, minutes=1)
    project = world.make_project("acme", failures=1, not_before=soon, mode=mode)
    run = world.make_dream(project, DreamRun.Status.FAILED, error="The disk is full.")
    pages = [reverse("projects"), reverse("dream", args=[run.public_id])]

    def told(words: str) -> list[bool]:
        return [words in browser.get(page).content.decode() for page in pages]

    # One that was forced failed in spite of closed gates: the clock alone brings no other try.
    assert told("Next try") == [False, False]
    assert told("Before it is tried again: Needs 5 more sessions") == [mode == ""] * 2
    for _ in range(5):
        world.make_session(project, touched_at=timezone.now() - dt.timedelta(minutes=11))
    assert told("Next try") == [mode == ""] * 2
    assert told("Before it is tried again") == [False, False]


def test_text_and_state_narrow_the_list(browser: Client) -> None:
    world.make_project("acme-api", gate_fingerprint="open")
    world.make_project("notes", repo_dir="/home/me/elsewhere")
    assert _names(browser, "?q=ACME") == ["acme-api"]
    assert (
        "Found 1 of 2 projects with “ACME” in"
        in browser.get(reverse("projects") + "?q=ACME").content.decode()
    )
    assert _names(browser, "?q=elsewhere") == ["notes"]
    assert _names(browser, "?state=open") == ["acme-api"]
    assert len(_names(browser, "?state=nonsense")) == 2
    assert "No project matches" in browser.get(reverse("projects") + "?q=zzz").content.decode()


def test_a_search_with_what_a_database_refuses_finds_nothing(browser: Client) -> None:
    world.make_project("acme")
    assert browser.get(reverse("projects"), {"q": "a\0b" + "x" * 5000}).status_code == 200


def test_with_no_project_the_page_says_where_it_looked_and_what_to_do(browser: Client) -> None:
    cache.set(scheduler.LAST_TICK, timezone.now().isoformat())
    text = browser.get(reverse("projects")).content.decode()
    assert "No projects yet" in text
    assert "no-root" in text
    assert reverse("settings") in text


def test_sessions_since_the_last_dream_and_the_index_are_counted(browser: Client) -> None:
    now = timezone.now()
    project = world.make_project("acme", last_consolidated_at=now - dt.timedelta(days=2))
    world.make_session(project, touched_at=now - dt.timedelta(hours=1))
    world.make_session(project, touched_at=now)  # it runs still
    world.make_session(project, touched_at=now - dt.timedelta(days=3))
    world.make_session(project, touched_at=now, own=True)
    world.make_memory(project, path="MEMORY.md", kind=Memory.Kind.INDEX, lines=300)
    world.make_memory(project)
    text = " ".join(browser.get(reverse("projects")).content.decode().split())
    assert '<dt>New sessions</dt><dd class="number">1</dd>' in text
    assert '<dt>Memories</dt><dd class="number">1</dd>' in text
    assert "150%, over" in text


def test_many_projects_cost_no_more_queries_than_few(browser: Client) -> None:
    def cost() -> int:
        cached_counts._kept.clear()
        next_dream._counted.clear()
        with CaptureQueriesContext(connection) as queries:
            browser.get(reverse("projects"))
        return len(queries)

    for number in range(2):
        _full_project(f"first-{number}")
    cost()
    few = cost()
    for number in range(12):
        _full_project(f"more-{number}")
    assert cost() == few


def test_a_long_list_is_cut_into_pages(browser: Client) -> None:
    Project.objects.bulk_create(
        Project(host="here", memory_dir=f"/m/{n}", slug=f"-m-{n}", name=f"p{n:03}", history_key=f"k{n}")
        for n in range(45)
    )
    assert len(_names(browser)) == 40
    assert len(_names(browser, "?page=2")) == 5


def _full_project(name: str) -> None:
    project = world.make_project(name, failures=1)
    world.make_session(project)
    world.make_memory(project)
    world.make_memory(project, path="MEMORY.md", kind=Memory.Kind.INDEX)
    world.make_proposal(project, world.make_dream(project))
    world.close_gate(project, "closed", None)


def test_a_large_number_is_written_the_same_way_everywhere(browser: Client) -> None:
    project = world.make_project("large")
    Memory.objects.bulk_create(
        Memory(project=project, path=f"m{at}.md", sha256="0" * 64, size=1, mode=0o644, mtime_ns=1)
        for at in range(1_200)
    )
    for page in (reverse("projects"), reverse("project", args=[project.pk]), "/"):
        text = browser.get(page).content.decode()
        assert "1,200" in text and ">1200" not in text, page


def test_two_projects_of_one_repository_are_told_apart_by_their_folders(browser: Client) -> None:
    """As after a home folder was moved: the repository is the same for both, and only one of them is watched."""
    for folder in (
        "/home/me/.claude/projects/-work-shop/memory",
        "/home/new/.claude/projects/-work-shop/memory",
    ):
        world.make_dream(world.make_project("shop", repo_dir="/work/shop", memory_dir=folder))
    choices = re.findall(
        r"<option[^>]*>\s*(shop [^<]*?)\s*</option>", browser.get(reverse("dreams")).content.decode()
    )
    assert len(choices) == len(set(choices)) == 2
