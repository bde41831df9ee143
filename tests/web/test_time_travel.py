"""A memory directory at any moment: look, step, compare two moments, and bring one back through a review."""

from __future__ import annotations

import datetime as dt
import html
import importlib
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.models import Blob, Hunk, Project, Proposal, Version
from dreams.services import review, rollback
from dreams.services.apply import applying
from dreams.services.memories import hand_edits, syncing, time_travel
from dreams.services.proposals import summaries
from dreams.web.pages import time_travel as pages
from tests.world import directory as real
from tests.world.cases import each
from tests.world.kept import Keep, Kept

HOURS = [dt.datetime(2026, 3, day, 12, tzinfo=dt.UTC) for day in range(1, 5)]


def with_a_past(base: Path) -> Project:
    project = real.make_project(base, {"MEMORY.md": "- [A](a.md) — one\n", "a.md": "First.\n"})
    folder = Path(project.memory_dir)
    steps = [
        lambda: None,
        lambda: (folder / "a.md").write_text("Second.\n"),
        lambda: (folder / "b.md").write_text("Of b.\n"),
        (folder / "a.md").unlink,
    ]
    for at, step in zip(HOURS, steps, strict=True):
        step()
        syncing.refresh(project)
        newest = Version.objects.filter(memory__project=project).exclude(at__in=HOURS)
        newest.update(at=at)
    Project.objects.filter(pk=project.pk).update(first_seen_at=HOURS[0])
    return project


@pytest.fixture(scope="module")
def made(kept: Keep) -> Kept[Project]:
    return kept(with_a_past)


@pytest.fixture
def project(made: Kept[Project], db: None) -> Project:
    """Seen first with a.md and the index; then a.md changed, b.md came, and a.md went."""
    return made.anew()


def _page(browser: Client, name: str, project: Project, query: str = "") -> str:
    return " ".join(browser.get(reverse(name, args=[project.pk]) + query).content.decode().split())


def _files(browser: Client, project: Project, when: str) -> list[str]:
    shown = _page(browser, "project-at", project, f"?when={when}")
    return re.findall(r'class="row-title path"[^>]*>([^<]+)</a>', shown)


# --- Looking ------------------------------------------------------------------------------------------------------


def test_a_file_whose_time_is_in_the_future_is_in_the_directory_as_it_is_now(
    browser: Client, tmp_path: Path
) -> None:
    project = real.make_project(tmp_path, {})
    (Path(project.memory_dir) / "a.md").write_text("From a machine whose clock ran ahead.\n")
    later = timezone.now().timestamp() + 9e7
    os.utime(Path(project.memory_dir) / "a.md", (later, later))
    syncing.refresh(project)
    assert _files(browser, project, "") == ["a.md"]


def test_each_moment_has_the_files_that_stood_there_then_also_those_since_removed(
    browser: Client, project: Project
) -> None:
    assert _files(browser, project, "2026-02-28") == []
    assert _files(browser, project, "2026-03-01T12:00:00Z") == ["MEMORY.md", "a.md"]
    assert _files(browser, project, "2026-03-03T18:00Z") == ["MEMORY.md", "a.md", "b.md"]
    assert _files(browser, project, "") == ["MEMORY.md", "b.md"]


def test_where_all_files_were_removed_it_is_not_said_that_none_was_ever_there(
    browser: Client, project: Project
) -> None:
    for path in Path(project.memory_dir).glob("*.md"):
        path.unlink()
    syncing.refresh(project)
    shown = _page(browser, "project-at", project)
    assert "No files left" in shown and "ever seen" not in shown
    back = urlsplit(shown.partition("No files left")[2].partition('href="')[2].partition('"')[0]).query
    assert "b.md" in _page(browser, "project-at", project, f"?{html.unescape(back)}")
    assert "No files yet" in _page(browser, "project-at", project, "?when=2026-02-28")


def test_a_file_of_then_says_whether_it_changed_or_was_removed_since(
    browser: Client, project: Project
) -> None:
    (Path(project.memory_dir) / "b.md").write_text("More of b.\n")
    syncing.refresh(project)
    shown = _page(browser, "project-at", project, "?when=2026-03-03T18:00Z")
    index, a, b = (part for part in shown.split('class="row-title path"')[1:4])
    assert "since</span>" not in index.partition("</li>")[0]
    assert "removed since" in a.partition("</li>")[0] and "changed since" in b.partition("</li>")[0]


def test_a_file_is_read_as_it_was(browser: Client, project: Project) -> None:
    assert "<p>First.</p>" in _page(browser, "project-at", project, "?when=2026-03-01T13:00Z&path=a.md")
    assert "<p>Second.</p>" in _page(browser, "project-at", project, "?when=2026-03-02T13:00Z&path=a.md")
    assert "This file did not exist then" in _page(
        browser, "project-at", project, "?when=2026-03-01T13:00Z&path=b.md"
    )


def test_steps_lead_to_the_changes_before_and_after(project: Project) -> None:
    found = pages.directory(project, HOURS[1] + dt.timedelta(hours=1))
    assert found["since"] and found["previous"] and found["next"]
    assert (found["since"]["at"], found["previous"]["at"], found["next"]["at"]) == (
        HOURS[1],
        HOURS[0],
        HOURS[2],
    )
    first = pages.directory(project, HOURS[0])
    assert first["previous"] is None
    last = pages.directory(project, timezone.now())
    assert last["next"] is None
    assert last["is_now"]


def test_a_step_lands_on_the_far_side_of_its_change(project: Project) -> None:
    when = time_travel.moment_of(pages.iso(HOURS[1]))
    assert when == HOURS[1]
    assert time_travel.states_at(project, when) != time_travel.states_at(
        project, when - dt.timedelta(microseconds=1)
    )


def test_what_an_agent_loaded_then_is_the_index_of_then(browser: Client, project: Project) -> None:
    (Path(project.memory_dir) / "MEMORY.md").write_text("- [B](b.md) — two\n")
    syncing.refresh(project)
    then = _page(browser, "project-at", project, "?when=2026-03-02")
    assert "[A](a.md) — one" in then
    assert "[B](b.md) — two" not in then
    assert "No index (MEMORY.md) is known" in _page(browser, "project-at", project, "?when=2026-02-01")


def test_before_the_first_look_the_page_says_what_it_cannot_know(browser: Client, project: Project) -> None:
    assert "before memoryweb’s first check" in _page(browser, "project-at", project, "?when=2026-02-28")
    assert "before memoryweb’s first check" not in _page(browser, "project-at", project, "?when=2026-03-02")


def test_what_an_import_knows_of_before_the_first_look_here_is_not_said_to_be_unknown(
    browser: Client, project: Project
) -> None:
    told = "before memoryweb’s first check"
    Project.objects.filter(pk=project.pk).update(first_seen_at=HOURS[3])
    asking = [("project-at", "?when="), ("project-restore", "?when="), ("project-between", "?a=")]
    for name, asked in asking:
        assert told in _page(browser, name, project, f"{asked}2026-02-28T12:00")
        assert told not in _page(browser, name, project, f"{asked}2026-03-02T18:00")


def test_what_is_only_not_known_of_a_moment_before_the_first_look_is_not_said_to_be_otherwise(
    browser: Client, project: Project
) -> None:
    told, days = "before memoryweb’s first check", ("2026-02-20T12:00", "2026-03-02T18:00")
    page = _page(browser, "project-between", project, "?a={}&b={}".format(*days))
    assert told in page and "2 files" in page
    assert told not in _page(browser, "project-between", project, f"?a={days[1]}")
    shown = _page(browser, "project-at", project, f"?when={days[0]}")
    assert "nothing was loaded" not in shown and "been added since" not in shown
    assert "did not exist" not in _page(browser, "project-at", project, f"?when={days[0]}&path=a.md")


def test_a_moment_that_is_none_is_said_to_be_none(browser: Client, project: Project) -> None:
    for typed in ("yesterday-ish", "9999-99-99", "0001-01-01T00:00:00%2B14:00", "%00"):
        response = browser.get(reverse("project-at", args=[project.pk]) + f"?when={typed}")
        assert response.status_code == 200
    assert "That is not a date and time." in _page(browser, "project-at", project, "?when=soon")


def test_the_queries_do_not_grow_with_files_and_versions(
    browser: Client, project: Project, tmp_path: Path
) -> None:
    counts = []
    for more in (0, 15):
        for number in range(more):
            (Path(project.memory_dir) / f"n{number}.md").write_text("Some text.\n")
        syncing.refresh(project)
        _page(browser, "project-at", project)  # what is kept until something changes is counted again
        with CaptureQueriesContext(connection) as queries:
            _page(browser, "project-at", project)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_text_is_read_from_the_history_where_the_rows_have_none(browser: Client, project: Project) -> None:
    Blob.objects.all().delete()
    shown = _page(browser, "project-at", project, "?when=2026-03-01T13:00Z&path=a.md")
    assert "<p>First.</p>" in shown
    assert "[A](a.md) — one" in shown
    assert not Blob.objects.exists(), "reading a page repairs nothing"


# --- Comparing ----------------------------------------------------------------------------------------------------


def test_two_moments_are_compared_file_by_file(browser: Client, project: Project) -> None:
    shown = _page(browser, "project-between", project, "?a=2026-03-01T13:00Z&b=2026-03-03T13:00Z")
    assert "2 files</b> differ: 1 added, 1 changed." in shown
    assert "<del>First" in shown
    assert "<ins>Second" in shown
    assert "new proposal" not in shown
    assert "No differences" in _page(browser, "project-between", project, "?a=2026-03-03&b=2026-03-03")


def test_without_moments_the_last_change_is_shown(browser: Client, project: Project) -> None:
    shown = _page(browser, "project-between", project)
    assert "1 file</b> differs: 1 removed." in shown


def test_comparing_once_more_as_the_form_has_it_shows_the_same(browser: Client, project: Project) -> None:
    Version.objects.filter(memory__project=project, at=HOURS[3]).update(
        at=HOURS[3].replace(microsecond=500_000)
    )
    first = _page(browser, "project-between", project)
    shown = [re.search(f'name="{name}" step="1" value="([^"]*)"', first) for name in "ab"]
    again = "&".join(f"{name}={found[1]}" for name, found in zip("ab", shown, strict=True) if found)
    assert "1 file</b> differs: 1 removed." in _page(browser, "project-between", project, f"?{again}")


def test_two_moments_in_the_wrong_order_are_turned(browser: Client, project: Project) -> None:
    shown = _page(browser, "project-between", project, "?a=2026-03-03T13:00Z&b=2026-03-01T13:00Z&path=b.md")
    assert "2 files</b> differ: 1 added, 1 changed." in shown
    assert shown.index('name="a" step="1" value="2026-03-01') < shown.index('value="2026-03-03')
    assert '<input type="hidden" name="path" value="b.md">' in shown, "other moments of the same file"


def test_many_files_are_named_and_shown_one_by_one(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_SHOWN", 1)
    shown = _page(browser, "project-between", project, "?a=2026-03-01T13:00Z&b=2026-03-03T13:00Z")
    assert shown.count("Show the lines of this file") == 1
    one = _page(browser, "project-between", project, "?a=2026-03-01T13:00Z&b=2026-03-03T13:00Z&path=b.md")
    assert "Of b." in one
    assert "First." not in one


def test_bytes_that_are_lost_are_said_to_be(browser: Client, project: Project) -> None:
    Blob.objects.all().delete()
    shown = _page(browser, "project-between", project, "?a=2026-03-01T13:00Z&b=2026-03-03T13:00Z")
    assert "Its content is not stored." in shown


# --- Bringing back ------------------------------------------------------------------------------------------------


def test_before_anything_is_made_the_page_shows_what_would_change(browser: Client, project: Project) -> None:
    shown = _page(browser, "project-restore", project, "?when=2026-03-01T13:00Z")
    assert "Propose restoring 2 files" in shown
    assert "First." in shown
    assert not Proposal.objects.exists()


@pytest.mark.more
def test_the_whole_directory_comes_back_by_a_review_and_goes_again_by_an_undo(
    browser: Client, project: Project
) -> None:
    then = time_travel.states_at(project, HOURS[0])
    now = time_travel.states_now(project)
    response = browser.post(
        reverse("project-propose", args=[project.pk]),
        {"when": pages.iso(HOURS[0]), "reason": "It was better"},
    )
    made = Proposal.objects.get()
    assert response["Location"] == reverse("review", args=[made.public_id])
    assert (made.origin, made.state, made.summary, made.created_by) == (
        "restore",
        "open",
        "It was better",
        "owner",
    )
    assert time_travel.states_now(project) == now
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, real.ME)
    assert applying.apply(made, real.ME).complete
    assert time_travel.states_now(project) == then
    rollback.rollback(made, real.ME)
    assert time_travel.states_now(project) == now


def test_each_file_of_it_is_decided_on_by_itself(project: Project) -> None:
    made = hand_edits.propose_moment(project, HOURS[0], real.ME)
    assert made is not None
    a = review.select_hunks(made, paths=["a.md"])
    b = review.select_hunks(made, paths=["b.md"])
    review.decide(made, a, Hunk.Verdict.APPROVED, real.ME)
    review.decide(made, b, Hunk.Verdict.REJECTED, real.ME)
    applying.apply(made, real.ME)
    folder = Path(project.memory_dir)
    assert (folder / "a.md").read_text() == "First.\n"
    assert (folder / "b.md").read_text() == "Of b.\n"


def test_one_file_alone_comes_back(browser: Client, project: Project) -> None:
    browser.post(reverse("project-propose", args=[project.pk]), {"when": pages.iso(HOURS[1]), "path": "a.md"})
    made = Proposal.objects.get()
    assert [file.path for file in made.files.all()] == ["a.md"]
    assert made.summary.startswith("As it was on 2 Mar 2026")


def test_a_restore_says_what_it_restores_and_what_it_removes(browser: Client, project: Project) -> None:
    made = hand_edits.propose_moment(project, HOURS[0], real.ME)
    assert made is not None
    made.operations.update(kind="edit")  # as it was stored before
    importlib.import_module("dreams.migrations.0072_restored_files").name_restores(apps, None)
    assert summaries.of_proposal(made).text == "Proposes to restore 1 file, remove 1 newer file"
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, real.ME)
    applying.apply(made, real.ME)
    assert summaries.of_proposal(made).text == "Restored 1 file, removed 1 newer file"
    written = made.applications.get()
    assert summaries.of_applications([written])[written.pk].text == (
        "Restored 1 file, removed 1 newer file: “a.md”, “b.md”"
    )
    settings = browser.get(reverse("settings")).content.decode()
    assert "Restored files" not in settings, "no policy is about what a person asked for"


def test_bytes_are_taken_from_the_history_where_the_rows_have_none(project: Project) -> None:
    Blob.objects.all().delete()
    made = hand_edits.propose_moment(project, HOURS[0], real.ME, ["a.md"])
    assert made is not None
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, real.ME)
    applying.apply(made, real.ME)
    assert (Path(project.memory_dir) / "a.md").read_text() == "First.\n"


def test_a_damaged_text_is_repaired_by_the_proposal_that_restores_it(project: Project) -> None:
    wanted = time_travel.states_at(project, HOURS[0])["a.md"]
    Blob.objects.filter(pk=wanted).update(data=b"Fjrst.\n")
    made = hand_edits.propose_moment(project, HOURS[0], real.ME, ["a.md"])
    assert made is not None and bytes(Blob.objects.get(pk=wanted).data) == b"First.\n"
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, real.ME)
    assert applying.apply(made, real.ME).complete


def test_where_nothing_differs_no_proposal_is_made(browser: Client, project: Project) -> None:
    response = browser.post(
        reverse("project-propose", args=[project.pk]), {"when": pages.iso(timezone.now())}, follow=True
    )
    assert "Nothing differs from the current files." in response.content.decode()
    assert not Proposal.objects.exists()
    shown = _page(browser, "project-restore", project)
    assert "Nothing to restore" in shown


def test_a_folder_that_cannot_be_read_is_said_to_be(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise PermissionError("permission denied")

    monkeypatch.setattr(hand_edits, "propose_moment", refuses)
    given = {"when": pages.iso(HOURS[0]), "reason": "As before the move"}
    response = browser.post(reverse("project-propose", args=[project.pk]), given)
    assert response.status_code == 409 and "No proposal was made" in response.content.decode()
    assert 'value="As before the move"' in response.content.decode()


def test_more_files_than_can_be_reviewed_are_refused_with_a_way_on(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hand_edits, "MAX_RESTORED", 1)
    response = browser.post(
        reverse("project-propose", args=[project.pk]), {"when": pages.iso(HOURS[0])}, follow=True
    )
    assert "Restore them one by one" in response.content.decode()
    assert not Proposal.objects.exists()


def test_a_restore_without_a_moment_is_no_page(browser: Client, project: Project) -> None:
    assert browser.post(reverse("project-propose", args=[project.pk])).status_code == 404


# --- What was typed -----------------------------------------------------------------------------------------------


@each(
    ("typed", "read"),
    [
        ("2026-03-01", "2026-03-01T23:59:59.999999"),
        ("2026-03-01T12:30", "2026-03-01T12:30:59.999999"),
        ("2026-03-01T12:30:05", "2026-03-01T12:30:05.999999"),
        ("2026-03-01T12:30:05.250000", "2026-03-01T12:30:05.250000"),
    ],
)
def test_a_time_without_an_offset_is_the_end_of_what_was_typed_in_the_pages_zone(
    typed: str, read: str
) -> None:
    with timezone.override("Europe/Berlin"):
        found = time_travel.moment_of(typed)
        assert found == timezone.make_aware(dt.datetime.fromisoformat(read))
    assert time_travel.moment_of("2026-03-01T12:30:05Z") == dt.datetime(2026, 3, 1, 12, 30, 5, tzinfo=dt.UTC)
