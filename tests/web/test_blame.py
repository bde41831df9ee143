"""The page that says of each line of a memory which dream, session or hand it came from."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.models import Hunk, Memory, MemoryWrite, Project, Session, TranscriptFile, Version
from dreams.services import blobs, review, rollback
from dreams.services.apply import applying
from dreams.services.memories import hand_edits, syncing
from dreams.web.pages import blame as selector
from tests.world import directory as real, rows as world


@pytest.fixture
def project(db: None, tmp_path: Path) -> Project:
    return real.make_project(tmp_path)


@pytest.fixture
def deploy(project: Project) -> Memory:
    return project.memories.get(path="project_deploy.md")


def _page(browser: Client, memory: Memory, query: str = "") -> str:
    return " ".join(browser.get(reverse("memory-blame", args=[memory.pk]) + query).content.decode().split())


def _kinds(memory: Memory) -> dict[str, str]:
    """Each line with text, and the kind of place it came from."""
    newest = memory.versions.exclude(sha256="").order_by("-at", "-pk")[0]
    runs = selector.blame(memory, newest)["runs"]
    return {line.text: run["source"]["kind"] for run in runs for line in run["lines"] if line.text.strip()}


def _write_outside(memory: Memory, content: str) -> None:
    (Path(memory.project.memory_dir) / memory.path).write_text(content)
    syncing.refresh(memory.project)
    memory.refresh_from_db()


def _wrote(memory: Memory, path: Path, added: str, at: dt.datetime) -> Session:
    """A session whose transcript shows that it added a line to the memory."""
    session = world.make_session(memory.project, title="Where it runs", path=str(path))
    target = str(Path(memory.project.memory_dir) / memory.path)
    result = {"filePath": target, "structuredPatch": [{"lines": [" x", "+" + added]}], "originalFile": "x"}
    path.write_text('{"type":"user"}\n' + json.dumps({"type": "user", "toolUseResult": result}) + "\n")
    TranscriptFile.objects.create(session=session, path=str(path))
    MemoryWrite.objects.create(session=session, path=target, offset=16, at=at)
    return session


def test_what_stood_there_first_is_said_to_be_older_than_the_first_look(
    browser: Client, deploy: Memory
) -> None:
    assert set(_kinds(deploy).values()) == {"found"}
    assert "Already there when memoryweb started" in _page(browser, deploy)


def test_a_dreams_line_has_its_change_its_reason_and_the_quote_behind_it(
    browser: Client, project: Project
) -> None:
    proposal = real.three_changes(project)
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, real.ME)
    review.submit(proposal, real.ME)
    applying.apply(proposal, real.ME)
    testing = project.memories.get(path="feedback_testing.md")
    kinds = _kinds(testing)
    assert kinds["Use make fresh before a run."] == "dream"
    assert kinds["Tests run against a real database."] == "found"
    shown = _page(browser, testing)
    hunk = Hunk.objects.get(operation__reason__contains="reset")
    assert f'href="{reverse("review", args=[proposal.public_id])}#hunk-{hunk.pk}"' in shown
    assert "Because of reset." in shown
    assert "<blockquote>as I said</blockquote>" in shown
    assert "Because of snapshots." in shown


@pytest.mark.more
def test_a_line_that_a_dream_moved_from_another_memory_says_from_which(
    browser: Client, project: Project
) -> None:
    line = "Snapshots are reviewed by hand.\n"
    proposal = real.propose(
        project,
        real.edit("feedback_testing.md", real.TESTING, real.TESTING.replace(line, ""), "move"),
        real.edit("project_deploy.md", real.DEPLOY, real.DEPLOY + line, "move"),
    )
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, real.ME)
    applying.apply(proposal, real.ME)
    deploy = project.memories.get(path="project_deploy.md")
    assert _kinds(deploy)["Snapshots are reviewed by hand."] == "dream"
    assert 'Its words came from <span class="path">feedback_testing.md</span>.' in _page(browser, deploy)


def test_a_wording_of_the_reviewer_is_marked_as_such(project: Project, browser: Client) -> None:
    one = real.TESTING.replace("make reset", "make fresh")
    proposal = real.propose(project, real.edit("feedback_testing.md", real.TESTING, one, "reset"))
    review.edit(proposal, review.select_hunks(proposal)[0], "Use make clean before a run.\n", real.ME)
    review.submit(proposal, real.ME)
    applying.apply(proposal, real.ME)
    testing = project.memories.get(path="feedback_testing.md")
    assert _kinds(testing)["Use make clean before a run."] == "dream"
    assert "Reworded in the review." in _page(browser, testing)


def test_a_line_that_a_session_wrote_leads_to_the_place_in_its_transcript(
    browser: Client, deploy: Memory, tmp_path: Path
) -> None:
    _write_outside(deploy, real.DEPLOY + "Backups run at noon.\nNobody wrote this.\n")
    session = _wrote(deploy, tmp_path / "s.jsonl", "Backups run at noon.", timezone.now())
    kinds = _kinds(deploy)
    assert kinds["Backups run at noon."] == "session"
    assert kinds["Nobody wrote this."] == "outside"
    assert f'href="{reverse("session", args=[session.pk])}?from=16"' in _page(browser, deploy)


def test_a_line_found_at_the_first_look_is_of_the_session_that_wrote_it_whatever_the_files_time(
    deploy: Memory, tmp_path: Path
) -> None:
    _wrote(deploy, tmp_path / "s.jsonl", "The API runs on host alpha.", timezone.now())
    assert deploy.versions.get().at < timezone.now() - dt.timedelta(days=300)
    kinds = _kinds(deploy)
    assert kinds["The API runs on host alpha."] == "session"
    assert kinds["name: Deploy"] == "found"


def test_a_session_whose_transcript_is_gone_is_named_with_doubt(
    browser: Client, deploy: Memory, tmp_path: Path
) -> None:
    _write_outside(deploy, real.DEPLOY + "Backups run at noon.\n")
    _wrote(deploy, tmp_path / "s.jsonl", "Backups run at noon.", timezone.now())
    (tmp_path / "s.jsonl").unlink()
    assert "Perhaps written in a session" in _page(browser, deploy)


def test_a_write_that_came_later_than_the_line_did_not_bring_it(deploy: Memory, tmp_path: Path) -> None:
    _write_outside(deploy, real.DEPLOY + "Backups run at noon.\n")
    _wrote(deploy, tmp_path / "s.jsonl", "Backups run at noon.", timezone.now() + dt.timedelta(hours=1))
    assert _kinds(deploy)["Backups run at noon."] == "outside"


def test_a_hands_line_names_the_hand_and_its_reason(browser: Client, deploy: Memory) -> None:
    hand_edits.edit(
        deploy, real.DEPLOY + "Backups run at noon.\n", deploy.sha256, real.ME, reason="Asked the team"
    )
    assert _kinds(deploy)["Backups run at noon."] == "hand"
    shown = _page(browser, deploy)
    assert "Edited by hand" in shown
    assert "Asked the team" in shown


@pytest.mark.more
def test_lines_that_an_undo_brought_back_say_where_they_first_stood(
    browser: Client, project: Project, deploy: Memory
) -> None:
    beta = real.DEPLOY.replace("host alpha", "host beta")
    proposal = real.propose(project, real.edit(deploy.path, real.DEPLOY, beta, "move"))
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, real.ME)
    applying.apply(proposal, real.ME)
    rollback.rollback(proposal, real.ME)
    newest = deploy.versions.order_by("-at", "-pk")[0]
    found = selector.blame(deploy, newest)
    assert [share["kind"] for share in found["shares"]] == ["found"], "nobody wrote it by hand"
    run = next(run for run in found["runs"] if any("alpha" in line.text for line in run["lines"]))
    assert run["source"]["what"] == "Undone"
    assert run["before"] is not None
    assert run["before"]["kind"] == "found"
    assert "The same words were here before" in _page(browser, deploy)


def test_an_older_version_can_be_asked_for_and_a_foreign_one_is_not_found(
    browser: Client, project: Project, deploy: Memory
) -> None:
    first = deploy.versions.get()
    _write_outside(deploy, real.DEPLOY + "Backups run at noon.\n")
    assert "Backups run at noon." not in _page(browser, deploy, f"?version={first.pk}")
    other = project.memories.get(path="feedback_testing.md").versions.get()
    address = reverse("memory-blame", args=[deploy.pk])
    assert browser.get(f"{address}?version={other.pk}").status_code == 404


def test_a_removed_memory_shows_its_last_text(browser: Client, deploy: Memory) -> None:
    (Path(deploy.project.memory_dir) / deploy.path).unlink()
    syncing.refresh(deploy.project)
    assert "The API runs on host alpha." in _page(browser, deploy)


def test_markup_and_what_cannot_be_seen_are_written_out(browser: Client, deploy: Memory) -> None:
    _write_outside(deploy, "<script>x()</script>\n\u202ehidden\n")
    shown = _page(browser, deploy)
    assert "<script>x()" not in shown
    assert "⟨U+202E⟩hidden" in shown


def test_bytes_that_are_lost_are_said_to_be(browser: Client, deploy: Memory) -> None:
    blobs.Blob.objects.filter(sha256=deploy.sha256).delete()
    assert "Its content is not stored" in _page(browser, deploy)


@pytest.mark.sweep
def test_the_queries_do_not_grow_with_versions_or_lines(browser: Client, deploy: Memory) -> None:
    _page(browser, deploy)
    counts = []
    for more in (1, 12):
        for number in range(more):
            hand_edits.edit(
                deploy,
                blobs.get_text(deploy.sha256) + f"Line {more} {number}.\n",
                deploy.sha256,
                real.ME,
            )
            deploy.refresh_from_db()
        with CaptureQueriesContext(connection) as queries:
            shown = _page(browser, deploy)
        counts.append(len(queries))
    assert len(re.findall(r'class="blame-why"', shown)) == 14
    assert counts[0] == counts[1]


def test_versions_of_one_moment_are_taken_in_their_order(deploy: Memory) -> None:
    at = timezone.now()
    for text in ("One long enough line.\n", "Two long enough lines.\n"):
        sha = blobs.put(text.encode())
        Version.objects.create(
            memory=deploy, sha256=sha, size=len(text), at=at, origin=Version.Origin.OUTSIDE
        )
    assert list(_kinds(deploy)) == ["Two long enough lines."]
