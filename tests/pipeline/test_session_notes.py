"""Notes that an agent kept on a session are read, shown in the session's page, and found by search."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dreams.models import SearchText, Session, SessionNotes
from dreams.services import blobs, discovery
from dreams.services.search import finding, index
from dreams.services.search.query import parse
from tests.world.agent_folder import Root, project, session

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]
NOTES = "# Session Title\n_A short title_\n\nMove the queue\n\n# Learnings\n\nThe zeppelin worker needs two cores.\n"
KEY = "sk-ant-api03-" + "abcDEF123_" * 9


def _noted(root: Root, text: str = NOTES, name: str = "s1") -> Path:
    cwd = root.base / "work" / "app"
    cwd.mkdir(parents=True, exist_ok=True)
    path = root.session(cwd, name).with_suffix("") / "session-memory" / "summary.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    root.discover()
    return path


def _found(word: str) -> list[finding.SessionHit]:
    index.catch_up(5)
    query = parse(word)
    return finding.session_hits(finding.sessions(query, finding.Filters()), query)


def test_notes_of_a_session_are_shown_in_its_page(root: Root, browser: Client) -> None:
    _noted(root)
    text = browser.get(reverse("session", args=[session("s1").pk])).content.decode()
    assert "Notes kept by the agent" in text
    assert "<p>The zeppelin worker needs two cores.</p>" in text


def test_a_session_is_found_by_its_notes_and_the_line_is_shown(root: Root, browser: Client) -> None:
    _noted(root)
    (hit,) = _found("zeppelin")
    assert (hit.session, hit.excerpts[0].line) == (session("s1"), 8)
    text = browser.get(reverse("search"), {"q": "zeppelin"}).content.decode()
    assert f"{reverse('session', args=[hit.session.pk])}#notes" in text


def test_changed_notes_replace_the_earlier_ones_in_the_page_and_in_search(root: Root) -> None:
    _noted(root)
    assert _found("zeppelin")
    _noted(root, NOTES.replace("zeppelin", "balloon"))
    assert not _found("zeppelin")
    assert _found("balloon")
    assert SessionNotes.objects.count() == 1


def test_unchanged_notes_are_not_read_again(root: Root) -> None:
    _noted(root)
    before = SessionNotes.objects.values().get()
    index.catch_up(5)
    root.discover()
    assert SessionNotes.objects.values().get() == before
    assert Session.objects.get().title_indexed_at is not None


def test_notes_outlive_their_file(root: Root) -> None:
    _noted(root).unlink()
    root.discover()
    assert _found("zeppelin")


def test_secrets_in_notes_are_neither_kept_nor_indexed(root: Root) -> None:
    _noted(root, f"# Learnings\n\nThe key is {KEY}\n")
    assert KEY not in blobs.get_text(SessionNotes.objects.get().sha256)
    index.catch_up(5)
    assert not SearchText.objects.filter(text__contains=KEY.lower()).exists()


def test_notes_that_are_a_link_are_not_followed(root: Root, tmp_path: Path) -> None:
    path = _noted(root)
    SessionNotes.objects.all().delete()
    path.unlink()
    (tmp_path / "other.md").write_text("Something else")
    path.symlink_to(tmp_path / "other.md")
    root.discover()
    assert not SessionNotes.objects.exists()


def test_notes_that_are_too_large_are_named_among_what_was_skipped(root: Root) -> None:
    path = _noted(root)
    path.write_text("x" * (1 << 20) + "y")
    report = root.discover()
    assert [skipped.path for skipped in report.skipped] == [str(path)]


@pytest.mark.also_on_postgresql
def test_many_notes_cost_the_session_page_and_a_search_no_more_queries(root: Root, browser: Client) -> None:
    _noted(root)
    index.catch_up(5)

    def asked() -> int:
        with CaptureQueriesContext(connection) as caught:
            _found("zeppelin")
            browser.get(reverse("session", args=[session("s1").pk]))
        return len(caught)

    asked()  # settings and the like are read once
    few = asked()
    for number in range(2, 6):
        _noted(root, name=f"s{number}")
    index.catch_up(5)
    assert asked() == few


@pytest.mark.also_on_postgresql
def test_a_look_at_one_project_asks_for_the_notes_of_its_sessions_only(root: Root) -> None:
    path = _noted(root)
    with CaptureQueriesContext(connection) as caught:
        discovery.refresh(project())
    transcript = str(path.parent.parent.with_suffix(".jsonl"))
    about_notes = [query["sql"] for query in caught.captured_queries if "sessionnotes" in query["sql"]]
    assert about_notes and all(transcript in sql for sql in about_notes)
