"""The history of one memory: who, what, why, by which dream; filtered, and any two versions picked without a script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dreams.models import Hunk, Memory, Project, Proposal, Version
from dreams.services import blobs, review
from dreams.services.apply import applying
from dreams.services.memories import hand_edits, syncing
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
