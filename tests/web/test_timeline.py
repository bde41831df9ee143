"""The timeline of a project: who did what, filtered by kind and by whom, with a way to the directory of each moment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams.models import GateEvaluation, Hunk, Project, Proposal
from dreams.services import review
from dreams.services.apply import applying
from dreams.services.memories import syncing
from dreams.web.pages import timeline as timelines
from dreams.web.paging import OUTSIDE, SYSTEM, Filter
from tests.world import directory as real, rows as world
from tests.world.kept import Keep, Kept


def with_a_past(folder: Path) -> Project:
    project = real.make_project(folder)
    GateEvaluation.objects.create(
        project=project, at=timezone.now(), open=True, results=[], fingerprint="open"
    )
    world.make_dream(project)
    world.make_dream(project, requested_by="ann")
    proposal = real.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, real.ME)
    applying.apply(proposal, real.ME)
    (Path(project.memory_dir) / "project_deploy.md").write_text("Moved.\n")
    syncing.refresh(project)
    return project


@pytest.fixture(scope="module")
def made(kept: Keep[Project]) -> Kept[Project]:
    return kept(with_a_past)


@pytest.fixture
def project(made: Kept[Project], db: None) -> Project:
    """A gate, a dream of the scheduler's and one that was asked for, a review, an apply and an edit outside."""
    return made.anew()


def _kinds(project: Project, who: str) -> set[str]:
    return {entry.kind for entry in timelines.timeline(project, Filter(who=who))["entries"]}


def test_entries_are_those_of_one_person_of_the_system_or_of_someone_outside(project: Project) -> None:
    assert _kinds(project, "") == {"gates", "dreams", "reviews", "writes", "outside"}
    assert _kinds(project, "owner") == {"reviews", "writes"}
    assert _kinds(project, "ann") == {"dreams"}
    assert _kinds(project, SYSTEM) == {"gates", "dreams"}
    assert _kinds(project, OUTSIDE) == {"outside"}
    assert _kinds(project, "nobody") == set()


def test_those_who_did_something_can_be_chosen(browser: Client, project: Project) -> None:
    shown = browser.get(reverse("project", args=[project.pk]) + "?show=timeline&kind=dreams").content.decode()
    chosen = re.findall(r'<option value="([^"]*)"', shown)
    assert chosen == ["", "ann", "owner", SYSTEM, OUTSIDE]
    assert '<input type="hidden" name="kind" value="dreams">' in shown


@pytest.mark.more
def test_what_matches_nothing_says_so_and_leads_back(browser: Client, project: Project) -> None:
    shown = browser.get(reverse("project", args=[project.pk]) + "?show=timeline&who=nobody").content.decode()
    assert "Nothing matches" in shown
    assert 'href="?show=timeline"' in shown


def test_a_write_leads_to_the_directory_as_it_left_it(browser: Client, project: Project) -> None:
    wrote = next(e for e in timelines.timeline(project)["entries"] if e.kind == "writes")
    shown = browser.get(reverse("project-at", args=[project.pk]) + f"?when={wrote.after}").content.decode()
    assert "project_export.md" in shown


def test_a_time_is_absolute_on_focus_and_where_no_script_runs(browser: Client, project: Project) -> None:
    shown = browser.get(reverse("project", args=[project.pk]) + "?show=timeline").content.decode()
    times = re.findall(r'<time class="moment"[^>]*>', shown)
    assert len(times) == 6
    for tag in times:
        assert re.search(r'datetime="[^"]+\+00:00" title="[^"]+" data-age tabindex="0"', tag)
    assert shown.count("<noscript> (") == 6


def test_a_review_is_told_with_what_it_left_undecided(project: Project) -> None:
    (Path(project.memory_dir) / "feedback_testing.md").write_text(real.TESTING)
    proposal = real.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal)[:1], Hunk.Verdict.APPROVED, real.ME)
    review.submit(proposal, real.ME)
    told = [each.what for each in timelines.timeline(project, Filter())["entries"] if each.kind == "reviews"]
    assert told[0] == "Reviewed 2 decisions: 1 approved, 1 left undecided"
    Proposal.objects.filter(pk=proposal.pk).update(by_policy=True)
    told = [each.what for each in timelines.timeline(project, Filter())["entries"] if each.kind == "reviews"]
    assert told[0] == "Approved 1 decision without a review"


@pytest.mark.more
def test_a_review_of_which_no_change_is_left_says_so(project: Project) -> None:
    """The file had its change before it was written."""
    before, after = "Moved.\n", "Moved.\nAsk Anna.\n"
    proposal = real.propose(project, real.edit("project_deploy.md", before, after, "ask"))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, real.ME)
    review.submit(proposal, real.ME)
    (Path(project.memory_dir) / "project_deploy.md").write_text(after)
    applying.apply(proposal, real.ME)
    told = [each.what for each in timelines.timeline(project, Filter())["entries"] if each.kind == "reviews"]
    assert told[0] == "Reviewed, and no change is left to write"
