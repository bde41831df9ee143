"""The history of one memory: who, what, why, by which dream; filtered, and any two versions picked without a script."""

from __future__ import annotations

import datetime as dt
import hashlib
import importlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
import time_machine
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.models import AuditEntry, Hunk, Memory, Project, Proposal, Version
from dreams.services import blobs, review
from dreams.services.apply import applying
from dreams.services.memories import hand_edits, syncing, time_travel
from dreams.web.pages import memory as memory_page, timeline
from tests.world import directory as real, rows as world


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    return real.make_project(tmp_path)


@pytest.fixture
def memory(project: Project) -> Memory:
    """Found, changed by a dream, by the owner's hand, and outside memoryweb."""
    run = world.make_dream(project)
    before, after = real.TESTING, real.TESTING.replace("make reset", "make fresh")
    proposal = real.propose(project, real.edit("feedback_testing.md", before, after, "reset"))
    proposal.dream = run
    proposal.save()
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, real.ME)
    applying.apply(proposal, real.ME)
    found = project.memories.get(path="feedback_testing.md")
    hand_edits.edit(found, after + "\nMore.\n", found.sha256, real.ME, reason="Asked the team")
    (Path(project.memory_dir) / found.path).write_text(after + "\nLess.\n")
    syncing.refresh(project)
    return project.memories.get(path="feedback_testing.md")


def _page(browser: Client, memory: Memory, query: str = "") -> str:
    return " ".join(browser.get(reverse("memory", args=[memory.pk]) + query).content.decode().split())


def _what(browser: Client, memory: Memory, query: str) -> list[str]:
    return re.findall(r'class="timeline-what">([^<]+?) ?<', _page(browser, memory, query))


def test_each_version_says_who_did_what_why_and_leads_to_its_dream_and_proposal(
    browser: Client, memory: Memory
) -> None:
    shown = _page(browser, memory)
    run = memory.project.dreams.get()
    proposal = run.proposals.get()
    assert "Asked the team" in shown
    assert "outside memoryweb ·" not in shown  # that it was changed outside stands above it
    assert f'href="{reverse("dream", args=[run.public_id])}"' in shown
    assert f'href="{reverse("review", args=[proposal.public_id])}"' in shown


@pytest.mark.more
def test_versions_are_filtered_by_what_brought_them_and_by_whom(browser: Client, memory: Memory) -> None:
    everything = [
        "Changed outside",
        "Edited by hand",
        "Applied from a proposal",
        "Already there when memoryweb started",
    ]
    assert _what(browser, memory, "") == everything
    assert _what(browser, memory, "?kind=apply") == ["Applied from a proposal"]
    assert _what(browser, memory, "?who=owner") == ["Edited by hand", "Applied from a proposal"]
    assert _what(browser, memory, "?who=-outside") == [
        "Changed outside",
        "Already there when memoryweb started",
    ]
    assert _what(browser, memory, "?kind=nonsense") == everything
    assert "No version matches" in _page(browser, memory, "?kind=apply&who=nobody")


@pytest.mark.more
def test_what_changed_is_against_the_state_before_also_in_a_filtered_list(
    browser: Client, memory: Memory
) -> None:
    first, applied = memory.versions.order_by("at", "pk")[:2]
    address = reverse("memory-compare", args=[memory.pk])
    assert f'href="{address}?a={first.pk}&amp;b={applied.pk}"' in _page(browser, memory, "?kind=apply")


@pytest.mark.more
def test_two_versions_are_picked_by_radio_and_compared_without_a_script(
    browser: Client, memory: Memory
) -> None:
    shown = _page(browser, memory)
    address = reverse("memory-compare", args=[memory.pk])
    assert f'<form method="get" action="{address}">' in shown
    rows = list(memory.versions.order_by("-at", "-pk").values_list("pk", flat=True))
    for name in ("a", "b"):
        assert re.findall(rf'type="radio" name="{name}" value="(\d+)"', shown) == [str(pk) for pk in rows]
    assert re.findall(r'name="(.)" value="(\d+)" checked', shown) == [
        ("b", str(rows[0])),
        ("a", str(rows[1])),
    ]
    compared = browser.get(f"{address}?a={rows[-1]}&b={rows[0]}").content.decode()
    assert "<del>reset</del>" in compared
    assert "<ins>fresh</ins>" in compared


@pytest.mark.more
def test_a_comparison_tells_of_both_ends_and_keeps_a_pick_older_than_its_choices(
    browser: Client, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_page, "MOST_CHOICES", 2)
    first, applied = memory.versions.order_by("at", "pk")[:2]
    address = reverse("memory-compare", args=[memory.pk])
    shown = browser.get(f"{address}?a={first.pk}&b={applied.pk}").content.decode()
    assert f'<option value="{first.pk}" selected>' in shown
    assert f'<option value="{applied.pk}" selected>' in shown
    run = memory.project.dreams.get()
    assert f'href="{reverse("dream", args=[run.public_id])}"' in shown
    assert "Because of reset." in shown and "A dream." not in shown


def test_a_single_version_has_nothing_to_pick(browser: Client, project: Project) -> None:
    shown = _page(browser, project.memories.get(path="project_deploy.md"))
    assert "Compare the two" not in shown
    assert 'type="radio"' not in shown


@pytest.mark.sweep
def test_the_queries_do_not_grow_with_the_history(browser: Client, memory: Memory) -> None:
    counts = []
    for more in (1, 10):
        for number in range(more):
            content = blobs.get_text(memory.sha256) + f"Line {more} {number}.\n"
            hand_edits.edit(memory, content, memory.sha256, real.ME)
            memory.refresh_from_db()
        with CaptureQueriesContext(connection) as queries:
            _page(browser, memory)
        counts.append(len(queries))
    assert counts[0] >= counts[1]


def test_every_origin_has_its_words() -> None:
    assert set(memory_page.ORIGINS) == set(Version.Origin)
    assert set(timeline._WRITES) == set(Proposal.Origin)


# --- Written while the clock was wrong --------------------------------------------------------------------------------


@pytest.fixture
def clock_was_behind(project: Project) -> Memory:
    """Its second text was seen while the clock was a day behind, its third while it was a year ahead, its fourth now."""
    now = timezone.now()
    for at, words in ((-dt.timedelta(days=1), "Second.\n"), (dt.timedelta(days=365), "Third.\n")):
        (Path(project.memory_dir) / "project_deploy.md").write_text(words)
        with time_machine.travel(now + at):
            syncing.refresh(project)
    (Path(project.memory_dir) / "project_deploy.md").write_text("Fourth.\n")
    syncing.refresh(project)
    return project.memories.get(path="project_deploy.md")


TEXTS = ["Fourth.\n", "Third.\n", "Second.\n", real.DEPLOY]


def _words(rows: Iterable[Version]) -> list[str]:
    return [bytes(blobs.get_many([row.sha256])[row.sha256]).decode() for row in rows]


def test_versions_are_listed_in_the_order_in_which_they_were_made_whatever_the_clock_said(
    clock_was_behind: Memory,
) -> None:
    listed = memory_page.versions(clock_was_behind).items
    assert _words(row.version for row in listed) == TEXTS
    assert [row.previous for row in listed] == [*(row.version.pk for row in listed[1:]), None]
    assert _words(row.version for row in memory_page.choices(clock_was_behind)) == TEXTS


def test_history_lists_a_memorys_versions_in_that_order(
    clock_was_behind: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("history", str(clock_was_behind.project_id), clock_was_behind.path, "--json")
    listed = [row["version"] for row in json.loads(capsys.readouterr().out)["versions"]]
    assert listed == [hashlib.sha256(words.encode()).hexdigest() for words in TEXTS]


def test_a_memory_as_it_was_has_the_last_text_that_was_made_by_then(clock_was_behind: Memory) -> None:
    now, path = timezone.now(), clock_was_behind.path
    for when in (now, now + dt.timedelta(days=400)):
        [sha] = {time_travel.states_at(clock_was_behind.project, when)[path]}
        assert blobs.get_many([sha])[sha] == b"Fourth.\n"


def test_lines_are_those_of_the_last_text(browser: Client, clock_was_behind: Memory) -> None:
    shown = browser.get(reverse("memory-blame", args=[clock_was_behind.pk])).content.decode()
    assert "Fourth." in shown and "Third." not in shown


def test_versions_of_a_database_of_before_are_in_the_order_of_their_rows_but_for_those_saved_late(
    clock_was_behind: Memory,
) -> None:
    saved = list(clock_was_behind.versions.order_by("pk"))
    aside, imported = (
        Version.objects.create(memory=clock_was_behind, at=row.at - dt.timedelta(microseconds=1), **late)
        for row, late in ((saved[1], {"aside_at": timezone.now(), "mtime_ns": 1}), (saved[3], {}))
    )
    AuditEntry.objects.create(
        number=1, at=timezone.now(), action="history.imported", project_id_was=clock_was_behind.project_id
    )
    Version.objects.update(number=0)
    importlib.import_module("dreams.migrations.0076_versions_numbered").number_versions(apps, None)
    # One is placed by its time: before the first that was saved at a later one.
    assert list(clock_was_behind.versions.order_by("number")) == [
        saved[0],
        aside,
        saved[1],
        imported,
        *saved[2:],
    ]
